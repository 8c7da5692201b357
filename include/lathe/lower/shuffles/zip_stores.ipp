#pragma once

#include <algorithm>
#include <cstdlib>
#include <lathe/analysis/access.hpp>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/lane_masks.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/lane_blocks.hpp>
#include <lathe/lower/shuffles/near_lanes.hpp>
#include <lathe/lower/shuffles/strided_loads.hpp>

namespace lathe {
namespace detail {

/// The lanes of s vectors in turn, as s vectors. By the prime factors of s, as Deinterleave.
class Zip {
 public:
  explicit Zip(const TargetCaps& caps) : caps_(caps) {}

  Vec<LetBinding> lets;
  int instructions = 0;

  Vec<AnyExpr> zipped(const Vec<AnyExpr>& vectors) {
    if (fill_registers(vectors)) return in_registers(vectors);
    if (LaneBlocks::pays(vectors[0].dtype(), static_cast<std::int64_t>(vectors.size()), caps_)) {
      LaneBlocks blocks(vectors[0].dtype(), static_cast<int>(vectors.size()));
      const Vec<AnyExpr> out = blocks.in_turn(vectors);
      lets.append(blocks.lets);
      instructions += blocks.instructions;
      return out;
    }
    const std::size_t all = vectors.size(), factor = static_cast<std::size_t>(least_factor(all)),
                      rest = all / factor;
    if (rest == 1) return all == 1 ? vectors : merged(vectors);
    Vec<Vec<AnyExpr>> streams;
    for (std::size_t r = 0; r < rest; ++r) {
      Vec<AnyExpr> part;
      for (std::size_t j = 0; j < factor; ++j) part.push_back(vectors[r + rest * j]);
      streams.push_back(merged(part));
    }
    Vec<AnyExpr> out;
    for (std::size_t chunk = 0; chunk < factor; ++chunk) {
      Vec<AnyExpr> part;
      for (const Vec<AnyExpr>& stream : streams) part.push_back(stream[chunk]);
      for (const AnyExpr& v : zipped(part)) out.push_back(v);
    }
    return out;
  }

 private:
  static std::int64_t least_factor(std::size_t n) {
    const Vec<std::int64_t> factors = prime_factors(static_cast<std::int64_t>(n));
    return factors.empty() ? 1 : factors[0];
  }

  // Whether three or four vectors are halves of registers, as bytes that were widened: side by side
  // they are two registers, of which each result is one shuffle. Of two, halves are merged at once.
  bool fill_registers(const Vec<AnyExpr>& vectors) const {
    const DType type = vectors[0].dtype();
    return (vectors.size() == 3 || vectors.size() == 4) &&
           2 * type.bytes() == caps_.register_bytes &&
           merge_cost(type, type.element_bytes(), caps_) <= 2;
  }
  Vec<AnyExpr> in_registers(const Vec<AnyExpr>& vectors) {
    const int count = static_cast<int>(vectors.size()), lanes = vectors[0].dtype().lanes,
              all = count * lanes;
    const Vec<AnyExpr> sources{side_by_side(vectors[0], vectors[1]),
                               side_by_side(vectors[2], vectors[vectors.size() - 1])};
    Vec<AnyExpr> out;
    for (int first = 0, length = 0; first < all; first += length) {
      length = std::min(2 * lanes, all - first);
      Vec<int> map;
      for (int l = first; l < first + length; ++l) map.push_back(l % count * lanes + l / count);
      out.push_back(named(make_shuffle(sources, std::move(map))));
      instructions += merge_cost(out.back().dtype(), out.back().dtype().element_bytes(), caps_);
    }
    return out;
  }
  AnyExpr side_by_side(const AnyExpr& a, const AnyExpr& b) {
    Vec<int> map;
    for (int l = 0; l < 2 * a.dtype().lanes; ++l) map.push_back(l);
    ++instructions;
    return named(make_shuffle({a, b}, std::move(map)));
  }
  AnyExpr named(AnyExpr value) {
    lets.push_back({make_var("v", value.dtype()), std::move(value)});
    return lets.back().var;
  }

  // One source after the other is merged in; a lane that is not there yet stays what it is.
  Vec<AnyExpr> merged(const Vec<AnyExpr>& vectors) {
    const int count = static_cast<int>(vectors.size()), lanes = vectors[0].dtype().lanes;
    Vec<AnyExpr> out;
    for (int first = 0; first < count * lanes; first += lanes) {
      AnyExpr value = vectors[0];
      for (int v = 1; v < count; ++v) {
        Vec<int> map;
        for (int l = 0; l < lanes; ++l) {
          const int from = (first + l) % count, lane = (first + l) / count;
          map.push_back(from == v ? lanes + lane : from == 0 && v == 1 ? lane : l);
        }
        const AnyExpr& next = vectors[static_cast<std::size_t>(v)];
        value = named(make_shuffle({value, next}, std::move(map)));
        instructions += merge_cost(value.dtype(), value.dtype().element_bytes(), caps_);
      }
      out.push_back(std::move(value));
    }
    return out;
  }

  const TargetCaps& caps_;
};

/// A sequence of stores, each alone or at the end of lets, as all lets and then all stores.
struct StoresAtEnd {
  Vec<LetBinding> lets;
  Vec<Stmt> stores;
  int nests = 0;  ///< how many ends of lets there were

  /// Whether the sequence is like this, and no let reads what is stored before it.
  bool set(const SeqNode& seq) {
    return std::all_of(seq.stmts.begin(), seq.stmts.end(), [&](const Stmt& s) { return add(s); });
  }

 private:
  bool add(Stmt s) {
    if (s.as<LetStmtNode>()) {
      const Vec<Buffer> read = buffers_read(s);
      for (const Stmt& store : stores)
        if (contains(read, store.as<StoreNode>()->buffer)) return false;
      ++nests;
    }
    for (const auto* let = s.as<LetStmtNode>(); let; let = s.as<LetStmtNode>()) {
      lets.push_back({let->var, let->value});
      s = let->body;
    }
    if (const auto* n = s.as<SeqNode>())
      return std::all_of(n->stmts.begin(), n->stmts.end(),
                         [&](const Stmt& one) { return add_store(one); });
    return add_store(s);
  }
  bool add_store(const Stmt& s) {
    if (!s.as<StoreNode>()) return false;
    stores.push_back(s);
    return true;
  }
};

class ZipStores : public Mutator {
 public:
  explicit ZipStores(const TargetCaps& caps) : caps_(caps) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }

  Stmt stmt(const Stmt& s) override {
    const auto* seq = s.as<SeqNode>();
    if (!seq) return descend(s);
    StoresAtEnd opened;
    if (opened.set(*seq) && opened.nests > 0)
      if (auto [out, zipped] = in_runs(opened.stores); zipped) return under(opened.lets, out);
    return in_runs(seq->stmts).first;
  }

 private:
  /// The statements, and whether any became dense.
  std::pair<Stmt, bool> in_runs(const Vec<Stmt>& stmts) {
    Vec<Stmt> out;
    Vec<bool> taken(stmts.size(), false);
    bool any = false;
    for (std::size_t k = 0; k < stmts.size(); ++k) {
      if (taken[k]) continue;
      Stmt zipped = neighbours(stmts, k, taken);
      any = any || zipped;
      out.push_back(zipped ? std::move(zipped) : stmt(stmts[k]));
    }
    return {make_seq(std::move(out)), any};
  }
  static Stmt under(const Vec<LetBinding>& lets, Stmt body) {
    for (std::size_t b = lets.size(); b-- > 0;)
      body = make_let_stmt(lets[b].var, lets[b].value, body);
    return body;
  }

  struct Member {
    const StoreNode* store;
    std::int64_t constant;
  };

  static bool set(const Stmt& s, Strided& out) {
    const auto* n = s.as<StoreNode>();
    return n && n->streaming == Streaming::none &&
           out.set(n->buffer, n->indices, n->mask, n->value.dtype().lanes) && !out.reversed;
  }

  /// Whether the store may stand among those of a group. Values are computed before all stores.
  static bool follows(const StoreNode& first, const Strided& a, const StoreNode& n,
                      const Strided& b) {
    return n.buffer.get() == first.buffer.get() && b.same_rows(a) &&
           !contains(buffers_read(Ref<StoreNode>(&n)), n.buffer);
  }
  static bool same_lanes(const StoreNode& a, const StoreNode& b) {
    const bool masked = static_cast<bool>(a.mask);
    return a.value.dtype() == b.value.dtype() && masked == static_cast<bool>(b.mask) &&
           (!masked || structurally_equal(a.mask, b.mask));
  }

  /// Empty unless as many stores as their stride says, of this one and those that follow, fill a
  /// run of memory. Between them may be those of other runs: parts of longer vectors.
  Stmt neighbours(const Vec<Stmt>& stmts, std::size_t at, Vec<bool>& taken) const {
    Strided first;
    if (!set(stmts[at], first) || first.is_matrix(stmts[at].as<StoreNode>()->value.dtype().lanes))
      return {};
    const StoreNode& head = *stmts[at].as<StoreNode>();
    const auto all = static_cast<std::size_t>(first.stride);
    Vec<Member> members{{&head, first.constant}}, between;
    Vec<std::size_t> places{at};
    for (std::size_t k = at + 1; k < stmts.size() && members.size() < all; ++k) {
      if (taken[k]) continue;
      Strided next;
      if (!set(stmts[k], next) || !follows(head, first, *stmts[k].as<StoreNode>(), next) ||
          k - at > kRuns * all)
        return {};
      const bool near = std::abs(next.constant - first.constant) < first.stride;
      if (near && !same_lanes(head, *stmts[k].as<StoreNode>())) return {};
      (near ? members : between).push_back({stmts[k].as<StoreNode>(), next.constant});
      if (near) places.push_back(k);
    }
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.constant < b.constant; });
    if (members.size() < all || !is_run(members) || !are_apart(members, between, first.stride))
      return {};
    Stmt out = dense(head, first, members);
    if (out)
      for (std::size_t k : places) taken[k] = true;
    return out;
  }
  static constexpr std::size_t kRuns = 8;

  static bool is_run(const Vec<Member>& members) {
    for (std::size_t k = 1; k < members.size(); ++k)
      if (members[k].constant != members[k - 1].constant + 1) return false;
    return true;
  }
  // Whether no element is one of both.
  static bool are_apart(const Vec<Member>& some, const Vec<Member>& others, std::int64_t stride) {
    for (const Member& a : some)
      for (const Member& b : others) {
        const std::int64_t d = a.constant - b.constant;
        const Member& lower = d < 0 ? a : b;
        if (d % stride == 0 && std::abs(d) < stride * lower.store->value.dtype().lanes)
          return false;
      }
    return true;
  }

  /// One store of all: LLVM looks for the vectors in one shuffle of two operands.
  static Stmt whole(const StoreNode& head, const Strided& first, const Vec<Member>& members) {
    const DType type = head.value.dtype();
    const int lanes = type.lanes;
    Vec<LetBinding> values;
    for (const Member& m : members) values.push_back({make_var("value", type), m.store->value});
    Vec<int> in_order, turns;
    for (int l = 0; l < 2 * lanes; ++l) in_order.push_back(l);
    for (int l = 0; l < 4 * lanes; ++l) turns.push_back(l % 4 * lanes + l / 4);
    const auto pair = [&](std::size_t a, std::size_t b) {
      return make_shuffle({values[a].var, values[b].var}, in_order);
    };
    const AnyExpr base =
        fold_add(lane_base(head.indices[0]), AnyExpr(members[0].constant - first.constant));
    Stmt out = make_store(head.buffer, {make_ramp(base, AnyExpr(1), 4 * lanes)},
                          make_shuffle({pair(0, 1), pair(2, 3)}, std::move(turns)));
    return under(values, out);
  }

  /// Where all values are elements near each other, each dense vector is shuffled from those, in
  /// so many instructions at most.
  Stmt of_near_elements(const StoreNode& head, const Strided& first, const Vec<Member>& members,
                        int most) const {
    const std::size_t all = members.size();
    Vec<NearLanes> loads(all);
    for (std::size_t k = 0; k < all; ++k)
      if (!set_near(loads[k], *members[k].store, loads[0])) return {};
    const AnyExpr base =
        fold_add(lane_base(head.indices[0]), AnyExpr(members[0].constant - first.constant));
    const int lanes = loads[0].type.lanes;
    int cost = 0;
    Vec<Stmt> body;
    for (int k = 0; k < static_cast<int>(all); ++k) {
      NearLanes out = loads[0];
      out.offsets.clear();
      for (int l = k * lanes; l < (k + 1) * lanes; ++l) {
        const NearLanes& from = loads[static_cast<std::size_t>(l) % all];
        out.offsets.push_back(from.offsets[static_cast<std::size_t>(l) / all]);
      }
      if (!out.group()) return {};
      cost += out.cost(caps_);
      const AnyExpr to = fold_add(base, AnyExpr(k * lanes));
      body.push_back(
          make_store(head.buffer, {make_ramp(to, AnyExpr(1), lanes)}, out.loaded(caps_)));
    }
    return cost <= most ? make_seq(std::move(body)) : Stmt();
  }

  static bool is_strided_load(const AnyExpr& e) {
    const auto* n = e.as<LoadNode>();
    std::int64_t stride = 1;
    return n && n->indices.size() == 1 && !(lane_stride(n->indices[0], stride) && stride == 1);
  }

  /// Whether all lanes are stored, of elements that are numbers apart from those of the first.
  static bool set_near(NearLanes& out, const StoreNode& store, const NearLanes& first) {
    const auto* load = store.value.as<LoadNode>();
    if (!load || store.mask.get() || load->mask.get() || load->indices.size() != 1) return false;
    const auto known = lane_offsets(load->indices[0]);
    if (!known || known->offsets.size() != static_cast<std::size_t>(load->dtype.lanes))
      return false;
    out.buffer = load->buffer, out.type = load->dtype;
    out.base = known->base, out.offsets = known->offsets;
    if (!first.base) return true;
    const AnyExpr difference = simplify(out.base - first.base);
    const std::int64_t* apart = as_const_int(difference);
    if (!apart || out.buffer.get() != first.buffer.get() || out.type != first.type) return false;
    for (std::int64_t& o : out.offsets) o += *apart;
    return true;
  }

  Stmt dense(const StoreNode& head, const Strided& first, const Vec<Member>& members) const {
    const DType type = head.value.dtype();
    if (members.size() == 4 && turns_bytes(type, caps_) && !first.limit)
      return whole(head, first, members);
    Vec<LetBinding> lets;
    const auto named = [&](const char* name, const AnyExpr& value) {
      lets.push_back({make_var(name, value.dtype()), value});
      return AnyExpr(lets.back().var);
    };
    Vec<AnyExpr> values;
    for (const Member& m : members) values.push_back(named("value", m.store->value));
    Zip zip(caps_);
    const Vec<AnyExpr> out = zip.zipped(values);
    const int stores = static_cast<int>(members.size());
    // Each value is a load at least, and takes a merge where its elements lie apart.
    const int loads = stores * (is_strided_load(members[0].store->value)
                                    ? 1 + merge_cost(type, type.element_bytes(), caps_)
                                    : 1);
    if (Stmt moved = of_near_elements(head, first, members, loads + zip.instructions)) return moved;
    const bool masked = head.mask.get() != nullptr;
    if (stores * dense_access(type, masked, caps_) + zip.instructions >=
        by_elements(type, stores, caps_))
      return {};
    const AnyExpr base = named(
        "to", fold_add(lane_base(head.indices[0]), AnyExpr(members[0].constant - first.constant)));
    AnyExpr limit = AnyExpr(first.stride * type.lanes);
    if (first.limit) {
      const std::int64_t* known = as_const_int(first.limit);
      limit = known ? AnyExpr(*known * first.stride)
                    : named("limit", fresh_lets(first.limit) * first.stride);
    }
    Vec<Stmt> body;
    std::int64_t at = 0;
    for (const AnyExpr& vector : out) {
      const int lanes = vector.dtype().lanes;
      const AnyExpr count = lanes_before(limit, at, lanes), from = fold_add(base, AnyExpr(at));
      at += lanes;
      if (is_const(count, 0)) continue;
      AnyExpr mask;
      if (!is_const(count, lanes)) mask = first_lanes(count, lanes, caps_);
      body.push_back(make_store(head.buffer, {make_ramp(from, AnyExpr(1), lanes)}, vector, mask));
    }
    return under(lets, under(zip.lets, make_seq(std::move(body))));
  }

  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program zip_stores(const Program& program, const TargetCaps& caps) {
  return program.with(detail::ZipStores(caps).stmt(program->body));
}

}  // namespace lathe
