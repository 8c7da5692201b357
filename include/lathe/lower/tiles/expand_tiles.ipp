#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/legalize_dots.ipp>
#include <lathe/lower/tiles/fragment_tiles.ipp>

namespace lathe::detail {

// A loop over 0 .. count - 1.
template <class Body>
Stmt counted_loop(const char* name, int count, Body body) {
  if (count == 1) return body(AnyExpr(0));
  const VarRef var = make_var(name);
  return make_for(var, AnyExpr(0), AnyExpr(count), body(AnyExpr(var)));
}

/// Stores of tiles as loops over rows, with the bits that tile registers give; fragments are
/// memory.
class ExpandTiles : public Mutator {
 public:
  explicit ExpandTiles(Location where) : where_(where) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    return n && n->buffer->scope == Scope::fragment
               ? make_load(in_memory(n->buffer), n->indices, n->mask)
               : descend(e);
  }
  Stmt stmt(const Stmt& s) override {
    if (const auto* a = s.as<AllocNode>(); a && a->buffer->scope == Scope::fragment)
      return make_alloc(in_memory(a->buffer), stmt(a->body));
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    if (is_tile_value(n->value)) return tile(*n, *n->value.as<CallNode>());
    const Buffer to = n->buffer->scope == Scope::fragment ? in_memory(n->buffer) : n->buffer;
    return make_ref<StoreNode>(to, n->indices, expr(n->value), optional(n->mask), n->streaming);
  }

 private:
  Buffer in_memory(const Buffer& fragment) {
    for (const auto& [from, to] : memory_)
      if (from == fragment) return to;
    BufferNode node = *fragment;
    node.scope = Scope::local;
    memory_.emplace_back(fragment, make_ref<BufferNode>(std::move(node)));
    return memory_.back().second;
  }
  TilePlace place(const Buffer& buffer, const Vec<AnyExpr>& indices, int rows) {
    TilePlace out = known_place(buffer, indices, rows, where_);
    if (buffer->scope == Scope::fragment) out.buffer = in_memory(buffer);
    return out;
  }
  TilePlace place(const AnyExpr& load, int rows) {
    const auto* n = load.as<LoadNode>();
    return place(n->buffer, n->indices, rows);
  }
  static AnyExpr part(const TilePlace& at, const AnyExpr& row, const AnyExpr& first, int lanes,
                      int step = 1) {
    return make_load(at.buffer, {index_in_row(at, row, first, lanes, step)});
  }

  Stmt tile(const StoreNode& n, const CallNode& call) {
    if (call.op == CallOp::tile_dot) return call.dtype.is_int() ? bytes(n, call) : halves(n, call);
    const int rows = static_cast<int>(*as_const_int(call.args[1]));
    const TilePlace to = place(n.buffer, n.indices, rows);
    return counted_loop("row", rows, [&](const AnyExpr& row) {
      const AnyExpr value = call.args[0].as<LoadNode>()
                                ? part(place(call.args[0], rows), row, AnyExpr(0), to.columns)
                                : zeros_of(call.dtype.scalar().with_lanes(to.columns));
      return make_store(to.buffer, {index_in_row(to, row, AnyExpr(0), to.columns)}, value);
    });
  }

  static Buffer partial(const char* name, DType type) {
    return make_ref<BufferNode>(name, type, Vec<AnyExpr>{}, Vec<AnyExpr>{}, Scope::reg);
  }
  static AnyExpr spread(const AnyExpr& v, int lanes) {
    return lanes == 1 ? v : make_broadcast(v, lanes);
  }

  struct Product {
    TileShape shape;
    TilePlace to, a, b;
  };
  Product product(const StoreNode& n, const CallNode& call) {
    const TileShape shape = shape_of_tiles(call);
    return {shape, place(n.buffer, n.indices, shape.rows), place(call.args[1], shape.rows),
            place(call.args[2], shape.depth / shape.group)};
  }

  Stmt bytes(const StoreNode& n, const CallNode& call) {
    const Product of = product(n, call);
    const int lanes = of.shape.columns, group = of.shape.group;
    return counted_loop("row", of.shape.rows, [&](const AnyExpr& row) {
      const Buffer sum = partial("sum", call.dtype.with_lanes(lanes));
      const Vec<AnyExpr> at{index_in_row(of.to, row, AnyExpr(0), lanes)};
      const Stmt products = counted_loop("group", of.shape.depth / group, [&](const AnyExpr& k) {
        const AnyExpr x = part(of.a, row, fold_mul(k, AnyExpr(group)), group);
        return make_store(sum, {},
                          make_call(CallOp::dot4, {make_load(sum, {}), spread(x, lanes),
                                                   part(of.b, k, AnyExpr(0), lanes * group)}));
      });
      return make_alloc(sum, make_seq({make_store(sum, {}, make_load(of.to.buffer, at)), products,
                                       make_store(of.to.buffer, at, make_load(sum, {}))}));
    });
  }

  Stmt halves(const StoreNode& n, const CallNode& call) {
    const Product of = product(n, call);
    const int lanes = of.shape.columns;
    const DType t = kF32.with_lanes(lanes);
    return counted_loop("row", of.shape.rows, [&](const AnyExpr& row) {
      const Buffer parts[2] = {partial("first", t), partial("second", t)};
      const Stmt products = counted_loop("group", of.shape.depth / 2, [&](const AnyExpr& k) {
        Vec<Stmt> both;
        for (int p = 0; p < 2; ++p) {
          const AnyExpr x = part(of.a, row, fold_add(fold_mul(k, AnyExpr(2)), AnyExpr(p)), 1);
          const AnyExpr y = part(of.b, k, AnyExpr(p), lanes, 2);
          both.push_back(
              make_store(parts[p], {},
                         LegalDots::step(make_load(parts[p], {}), spread(make_cast(kF32, x), lanes),
                                         make_cast(t, y))));
        }
        return make_seq(std::move(both));
      });
      const Vec<AnyExpr> at{index_in_row(of.to, row, AnyExpr(0), lanes)};
      const AnyExpr one = make_float(t, 1),
                    added = LegalDots::step(make_load(parts[0], {}), one, make_load(parts[1], {}));
      Stmt all = make_seq(
          {make_store(parts[0], {}, make_float(t, 0)), make_store(parts[1], {}, make_float(t, 0)),
           products,
           make_store(of.to.buffer, at, LegalDots::step(added, one, make_load(of.to.buffer, at)))});
      return make_alloc(parts[0], make_alloc(parts[1], std::move(all)));
    });
  }

  Location where_;
  Vec<std::pair<Buffer, Buffer>> memory_;
};

}  // namespace lathe::detail
