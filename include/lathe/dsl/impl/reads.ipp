#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/dsl/checks.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// Finds loads of a compute that surely happen at an element that does not exist. Silent wherever
/// that is not certain: in the arms of selects, where a condition leaves points out, in ranges that
/// may be empty, for symbolic extents and for indices that are no sums of axes.
class ReadCheck : Visitor {
 public:
  explicit ReadCheck(const TensorSource& source) : source_(source) {}

  void run() {
    for (const auto& it : source_.iters) {
      expr(it.min), expr(it.extent);  // evaluated at each point of the axes before it
      if (!add_axis(it)) return;
    }
    if (source_.predicate) return expr(source_.predicate);
    for (const auto& v : source_.values) expr(v);
  }

 private:
  struct Axis {
    const VarNode* var;
    std::int64_t first, last;
  };

  /// False unless the axis surely has points.
  bool add_axis(const IterVar& it) {
    const auto *min = as_const_int(it.min), *extent = as_const_int(it.extent);
    std::int64_t last = 0;
    if (!min || !extent || *extent <= 0) return false;
    if (__builtin_add_overflow(*min, *extent - 1, &last)) return false;
    axes_.push_back({it.var.get(), *min, last});
    return true;
  }

  void expr(const AnyExpr& e) override {
    if (const auto* select = e.as<SelectNode>()) return expr(select->condition);
    if (const auto* load = e.as<LoadNode>(); load && !load->mask)
      for (std::size_t d = 0; d < load->indices.size(); ++d) check(*load, d);
    descend(e);
  }

  /// The first and the last value of an index, both attained; false if they are not known.
  bool range_of(const AnyExpr& index, std::int64_t& first, std::int64_t& last) const {
    const Poly sum = poly_shallow(index);
    first = last = sum.constant;
    for (const Mono& term : sum.terms) {
      const Axis* axis = nullptr;
      for (const auto& a : axes_)
        if (a.var == term.atom.get()) axis = &a;
      if (!axis || term.degree() != 1) return false;
      const std::int64_t at_first = term.coef < 0 ? axis->last : axis->first,
                         at_last = term.coef < 0 ? axis->first : axis->last;
      std::int64_t low = 0, high = 0;
      if (__builtin_mul_overflow(term.coef, at_first, &low) ||
          __builtin_mul_overflow(term.coef, at_last, &high) ||
          __builtin_add_overflow(first, low, &first) || __builtin_add_overflow(last, high, &last))
        return false;
    }
    return true;
  }

  void check(const LoadNode& load, std::size_t d) const {
    const auto* extent = as_const_int(load.buffer->shape[d]);
    std::int64_t first = 0, last = 0;
    if (!extent || !range_of(load.indices[d], first, last)) return;
    if (first >= 0 && last < *extent) return;
    const std::string& name = load.buffer->name;
    std::string values = first == last
                             ? "is " + std::to_string(first)
                             : "runs from " + std::to_string(first) + " to " + std::to_string(last);
    throw UserError("L0126",
                    "'" + source_.name + "' reads '" + name + "' outside: index " +
                        std::to_string(d) + " " + values + ", but the extent is " +
                        std::to_string(*extent),
                    source_.where, {},
                    "read lt::pad(" + name + ", value) or lt::clamp(" + name +
                        "), or only where lt::in_bounds(" + name +
                        ", …) holds, in an arm of lt::select (&& and || evaluate both sides)");
  }

  const TensorSource& source_;
  Vec<Axis> axes_;
};

LATHE_DECL void check_reads(const TensorSource& source) { ReadCheck(source).run(); }

}  // namespace lathe::detail
