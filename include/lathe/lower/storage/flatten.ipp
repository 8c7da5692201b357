#pragma once

#include <lathe/arith/lane_offsets.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

class Flatten : public Mutator {
 public:
  explicit Flatten(const Program& program) : facts_(program) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    if (!n) return descend(e);
    Vec<AnyExpr> indices;
    for (const auto& i : n->indices) indices.push_back(expr(i));
    return make_load(replacement(n->buffer), offset(*n->buffer, indices), optional(n->mask));
  }

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) {
      Vec<AnyExpr> indices;
      for (const auto& i : n->indices) indices.push_back(expr(i));
      return make_ref<StoreNode>(replacement(n->buffer), offset(*n->buffer, indices),
                                 expr(n->value), optional(n->mask), n->streaming);
    }
    if (const auto* n = s.as<AtomicNode>()) {
      Vec<AnyExpr> indices;
      for (const auto& i : n->indices) indices.push_back(expr(i));
      return make_ref<AtomicNode>(n->op, replacement(n->buffer), offset(*n->buffer, indices),
                                  expr(n->value));
    }
    if (const auto* n = s.as<AllocNode>()) {
      Buffer flat = flatten(*n->buffer);
      flat_.emplace_back(n->buffer, flat);
      return make_alloc(flat, stmt(n->body));
    }
    if (const auto* f = s.as<ForNode>()) {
      const AnyExpr min = expr(f->min), extent = expr(f->extent);
      const Facts outer = facts_;
      facts_.bind(*f);
      const Stmt body = stmt(f->body);
      facts_ = outer;
      return make_for(f->var, min, extent, body, f->loop_kind, f->attributes);
    }
    return descend(s);
  }

 private:
  // A temporary as one dimension; temporaries are row-major. An extent below 0 makes it empty.
  Buffer flatten(const BufferNode& b) const {
    AnyExpr size = simplify(b.rank() == 0 ? AnyExpr(1) : b.shape[0] * row_major(b)[0]);
    if (!prove_le(AnyExpr(0), size, facts_)) size = fold_max(size, AnyExpr(0));
    BufferNode node(b.name, b.dtype, {size}, {}, b.scope, b.alignment);
    return Buffer(new BufferNode(std::move(node)));
  }

  // The strides of a buffer without declared ones: what lies inside, and what its rules add.
  static Vec<AnyExpr> row_major(const BufferNode& b) {
    Vec<AnyExpr> strides(b.shape.size(), AnyExpr(1));
    for (std::size_t axis = b.shape.size(); axis-- > 1;) {
      AnyExpr stride = b.shape[axis] * strides[axis];
      for (const auto& rule : b.aligned)
        if (rule.dim + 1 == static_cast<int>(axis))
          stride = stride + floormod(AnyExpr(rule.offset) - stride, AnyExpr(rule.factor));
      strides[axis - 1] = simplify(stride);
    }
    return strides;
  }

  Buffer replacement(const Buffer& b) const {
    for (const auto& [from, to] : flat_)
      if (from == b) return to;
    return b;
  }

  static AnyExpr times(const AnyExpr& index, const AnyExpr& stride) {
    return is_const(stride, 1) ? index : index * make_broadcast(stride, index.dtype().lanes);
  }

  Vec<AnyExpr> offset(const BufferNode& b, const Vec<AnyExpr>& indices) const {
    int lanes = 1;
    for (const auto& i : indices)
      if (i.dtype().lanes != 1) lanes = i.dtype().lanes;
    // Scalar terms are summed before they are widened, so that one ramp carries the whole offset.
    AnyExpr scalar = 0, vector;
    const Vec<AnyExpr> strides = b.strides.empty() ? row_major(b) : b.strides;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      AnyExpr term = times(indices[axis], strides[axis]);
      if (term.dtype().lanes == 1)
        scalar = is_const(scalar, 0) ? term : scalar + term;
      else
        vector = vector.get() ? vector + term : term;
    }
    if (!vector.get()) return {scalar};
    // What walks over several axes may be one run of elements.
    if (has_nested_lanes(vector))
      if (auto lane = lane_offsets(vector))
        if (AnyExpr run = with_offsets(scalar + lane->base, lane->offsets)) return {run};
    if (holds_quotient(vector))
      if (AnyExpr run = even_lanes(vector, facts_)) return {run + make_broadcast(scalar, lanes)};
    return {is_const(scalar, 0) ? vector : vector + make_broadcast(scalar, lanes)};
  }

  // Quotient and remainder of a loop that was fused, whose sum may be its variable.
  static bool holds_quotient(const AnyExpr& e) {
    const auto* n = e.as<BinaryNode>();
    return n && (n->op == BinaryOp::floordiv || n->op == BinaryOp::floormod ||
                 holds_quotient(n->a) || holds_quotient(n->b));
  }

  Facts facts_;
  Vec<std::pair<Buffer, Buffer>> flat_;
};

}  // namespace detail

LATHE_DECL Program flatten_buffers(const Program& program) {
  return program.with(detail::Flatten(program).stmt(program->body), Stage::flat);
}

}  // namespace lathe
