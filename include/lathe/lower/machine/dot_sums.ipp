#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/partial_sums.hpp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

/// A term of vectors side by side, as one vector of all their lanes.
class SideBySide {
 public:
  explicit SideBySide(const Vec<AnyExpr>& terms) : terms_(terms) {}

  /// Empty if they are not the same but for where they load.
  AnyExpr joined() const {
    for (std::size_t k = 1; k < terms_.size(); ++k)
      if (!follows(terms_[0], terms_[k], static_cast<std::int64_t>(k))) return {};
    return widened(terms_[0]);
  }

 private:
  /// Whether b is a, `by` vectors further on in memory.
  static bool follows(const AnyExpr& a, const AnyExpr& b, std::int64_t by) {
    if (a.kind() != b.kind() || a.dtype() != b.dtype()) return false;
    if (a.dtype().lanes == 1) return structurally_equal(a, b);
    if (const auto* x = a.as<LoadNode>()) {
      const auto* y = b.as<LoadNode>();
      return x->buffer == y->buffer && dense(*x) && dense(*y) &&
             is_const(simplify(lane_base(y->indices[0]) - lane_base(x->indices[0])),
                      by * a.dtype().lanes);
    }
    if (const auto* x = a.as<BinaryNode>()) {
      const auto* y = b.as<BinaryNode>();
      return x->op == y->op && follows(x->a, y->a, by) && follows(x->b, y->b, by);
    }
    if (const auto* x = a.as<CastNode>()) return follows(x->value, b.as<CastNode>()->value, by);
    if (const auto* x = a.as<CallNode>())
      return x->op == CallOp::abs && b.as<CallNode>()->op == x->op &&
             follows(x->args[0], b.as<CallNode>()->args[0], by);
    return (a.kind() == ExprKind::Broadcast || a.kind() == ExprKind::Const) &&
           structurally_equal(a, b);
  }
  static bool dense(const LoadNode& n) {
    std::int64_t stride = 0;
    return n.indices.size() == 1 && !n.mask.get() && lane_stride(n.indices[0], stride) &&
           stride == 1;
  }

  AnyExpr widened(const AnyExpr& e) const {
    const int lanes = e.dtype().lanes * static_cast<int>(terms_.size());
    if (const auto* n = e.as<LoadNode>())
      return make_load(n->buffer, {make_ramp(lane_base(n->indices[0]), AnyExpr(1), lanes)});
    if (const auto* n = e.as<BinaryNode>()) return make_binary(n->op, widened(n->a), widened(n->b));
    if (const auto* n = e.as<CastNode>())
      return make_cast(n->dtype.with_lanes(lanes), widened(n->value));
    if (const auto* n = e.as<CallNode>()) return make_call(n->op, {widened(n->args[0])});
    if (const auto* n = e.as<BroadcastNode>()) return make_broadcast(n->value, lanes);
    return make_const(e.dtype().with_lanes(lanes), *as_const_int(e));
  }

  const Vec<AnyExpr>& terms_;
};

/// Values of i32 that are computed as well in 16 bits.
class InWords {
 public:
  /// Empty where they may not be.
  static AnyExpr of(const AnyExpr& e) { return words(e).value; }

 private:
  struct Words {
    AnyExpr value;
    ConstInterval range{};
  };
  static constexpr ConstInterval kAll{INT16_MIN, INT16_MAX};

  static Words checked(const AnyExpr& value, const ConstInterval& range) {
    const bool fits = range.min >= kAll.min && range.max <= kAll.max;
    return fits ? Words{value, range} : Words{};
  }
  static Words words(const AnyExpr& e) {
    const DType t = kI16.with_lanes(e.dtype().lanes);
    if (const auto* n = e.as<CastNode>()) {
      const DType from = n->value.dtype().scalar();
      if (from == kU8) return {make_cast(t, n->value), {0, UINT8_MAX}};
      if (from == kI8) return {make_cast(t, n->value), {INT8_MIN, INT8_MAX}};
      return from == kI16 ? Words{n->value, kAll} : Words{};
    }
    if (const auto* n = e.as<BroadcastNode>()) {
      const std::int64_t* c = as_const_int(n->value);
      return c ? checked(make_const(t, *c), {*c, *c}) : Words{};
    }
    if (const auto* n = e.as<BinaryNode>()) return computed(*n);
    const auto* n = e.as<CallNode>();
    if (!n || n->op != CallOp::abs) return {};
    const Words x = words(n->args[0]);
    if (!x.value || x.range.min == kAll.min) return {};
    return {make_call(CallOp::abs, {x.value}), {0, std::max(-x.range.min, x.range.max)}};
  }
  static Words computed(const BinaryNode& n) {
    const Words a = words(n.a), b = words(n.b);
    if (!a.value || !b.value) return {};
    const AnyExpr value = make_binary(n.op, a.value, b.value);
    const ConstInterval &x = a.range, &y = b.range;
    switch (n.op) {
      case BinaryOp::add:
        return checked(value, {x.min + y.min, x.max + y.max});
      case BinaryOp::sub:
        return checked(value, {x.min - y.max, x.max - y.min});
      case BinaryOp::min:
        return {value, {std::min(x.min, y.min), std::min(x.max, y.max)}};
      case BinaryOp::max:
        return {value, {std::max(x.min, y.min), std::max(x.max, y.max)}};
      case BinaryOp::shr:
        return y.is_point() && y.min >= 0 && y.min < 16
                   ? Words{value, {x.min >> y.min, x.max >> y.min}}
                   : Words{};
      default:
        return {};
    }
  }
};

/// A term of i32 as the product of two vectors of fewer bits.
struct NarrowProduct {
  AnyExpr a, b;

  /// Of bytes; empty where the term is none.
  static NarrowProduct of_bytes(const AnyExpr& term) { return parted(term, byte_of); }
  /// The two bytes of whose difference the term is the magnitude, the other one zero where the term
  /// is a byte.
  static NarrowProduct of_differences(const AnyExpr& term) {
    if (NarrowProduct apart = difference(term); apart.a) return apart;
    const AnyExpr byte = byte_of(term);
    if (!byte || byte.dtype().scalar() != kU8) return {};
    return {byte, make_const(byte.dtype(), 0)};
  }
  /// Of values that 16 bits hold.
  static NarrowProduct of_words(const AnyExpr& term) { return parted(term, InWords::of); }

 private:
  template <class F>
  static NarrowProduct parted(const AnyExpr& term, const F& narrow) {
    if (const auto* n = term.as<BinaryNode>(); n && n->op == BinaryOp::mul) {
      const AnyExpr a = narrow(n->a), b = narrow(n->b);
      return a.get() && b.get() ? NarrowProduct{a, b} : NarrowProduct{};
    }
    const AnyExpr value = narrow(term);
    const DType t = value ? value.dtype() : kI8;
    return value ? NarrowProduct{value, make_const((t.bits == 8 ? kI8 : t).with_lanes(t.lanes), 1)}
                 : NarrowProduct{};
  }
  // abs(i32(x) - i32(y)) of bytes is one of them less the other.
  static AnyExpr byte_of(const AnyExpr& e) {
    if (const auto [x, y] = difference(e); x)
      return make_binary(BinaryOp::sub, make_binary(BinaryOp::max, x, y),
                         make_binary(BinaryOp::min, x, y));
    const auto* n = e.as<CastNode>();
    return n && n->value.dtype().is_int() && n->value.dtype().bits == 8 ? n->value : AnyExpr();
  }
  static NarrowProduct difference(const AnyExpr& term) {
    const auto* size = term.as<CallNode>();
    const auto* n = size && size->op == CallOp::abs ? size->args[0].as<BinaryNode>() : nullptr;
    const auto* x = n && n->op == BinaryOp::sub ? n->a.as<CastNode>() : nullptr;
    const auto* y = x ? n->b.as<CastNode>() : nullptr;
    if (!y || x->value.dtype().scalar() != kU8 || y->value.dtype().scalar() != kU8) return {};
    return {x->value, y->value};
  }
};

class DotSums : public Mutator {
 public:
  explicit DotSums(const TargetCaps& caps) : caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    if (const auto* alloc = s.as<AllocNode>();
        alloc && alloc->buffer->scope == Scope::reg && !reached_.contains(alloc))
      totals_.append(PartialSums::of(s, reached_));
    return s.as<SeqNode>() && !totals_.empty() ? sequence(s) : descend(s);
  }

 private:
  Stmt sequence(const Stmt& s) {
    const Vec<Stmt> steps = seq_of(s);
    Vec<Stmt> out;
    bool changed = false;
    for (std::size_t k = 0; k < steps.size();) {
      const std::size_t taken = group(steps, k, out);
      changed = changed || taken > 0;
      if (taken == 0) out.push_back(stmt(steps[k]));
      if (taken == 0) changed = changed || !out.back().same_as(steps[k]);
      k += std::max<std::size_t>(taken, 1);
    }
    return changed ? make_seq(std::move(out)) : s;
  }

  // How terms are taken apart, for which dot, of how many registers.
  struct Way {
    CallOp op;
    std::size_t count;
    NarrowProduct (*apart)(const AnyExpr& term);
  };
  static constexpr Way kWays[] = {{CallOp::sad8, 4, NarrowProduct::of_differences},
                                  {CallOp::dot4, 4, NarrowProduct::of_bytes},
                                  {CallOp::dot_words, 2, NarrowProduct::of_words}};

  /// Sums of as many registers as a dot adds up terms of, from step k on; how many steps that is.
  std::size_t group(const Vec<Stmt>& steps, std::size_t k, Vec<Stmt>& out) const {
    for (const Way& way : kWays) {
      Vec<AnyExpr> a, b;
      Buffer sum;
      for (std::size_t i = 0; i < way.count && k + i < steps.size(); ++i) {
        const auto* n = steps[k + i].as<StoreNode>();
        const AnyExpr term = n ? added_term(*n) : AnyExpr();
        if (!term || (i > 0 && !share_total(sum, n->buffer))) break;
        if (term.dtype().scalar() != kI32) break;
        const NarrowProduct factors = way.apart(term);
        if (!factors.a) break;
        if (i == 0) sum = n->buffer;
        a.push_back(factors.a), b.push_back(factors.b);
      }
      if (a.size() != way.count || !total_of(sum)) continue;
      const AnyExpr value = dot(way.op, sum, SideBySide(a).joined(), SideBySide(b).joined());
      if (!value) continue;
      out.push_back(make_store(sum, {}, value));
      return way.count;
    }
    return 0;
  }

  const Vec<Buffer>* total_of(const Buffer& b) const {
    for (const auto& total : totals_)
      if (contains(total, b)) return &total;
    return nullptr;
  }
  bool share_total(const Buffer& a, const Buffer& b) const {
    const Vec<Buffer>* total = total_of(a);
    return total && a != b && a->dtype == b->dtype && contains(*total, b);
  }

  AnyExpr dot(CallOp op, const Buffer& sum, AnyExpr a, AnyExpr b) const {
    if (!a || !b) return {};
    const AnyExpr before = make_load(sum, {});
    if (op == CallOp::dot_words) return caps_.word_dots ? make_call(op, {before, a, b}) : AnyExpr();
    if (op == CallOp::sad8) {
      // A sum of bytes alone, with zeros, is as fast as a dot where there is one for them.
      const bool pairs = caps_.byte_differences && sum->dtype.lanes % 2 == 0,
                 dots = caps_.mixed_dots && is_const(b, 0);
      return pairs && !dots ? make_call(op, {before, a, b}) : AnyExpr();
    }
    if (a.dtype().is_signed()) std::swap(a, b);
    const bool known = caps_.multiplies_bytes(a.dtype().is_signed(), b.dtype().is_signed());
    return known ? make_call(CallOp::dot4, {before, a, b}) : AnyExpr();
  }

  const TargetCaps& caps_;
  Vec<Vec<Buffer>> totals_;
  NodeSet reached_;  ///< allocs whose registers have been looked at
};

}  // namespace detail

LATHE_DECL Program dot_sums(const Program& program, const TargetCaps& caps) {
  return program.with(detail::DotSums(caps).stmt(program->body));
}

}  // namespace lathe
