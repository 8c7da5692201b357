// Facts about variables: ranges, divisibility, and conditions that hold where an expression is
// evaluated.
#pragma once

#include <cstdint>
#include <lathe/ir/stmt.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace lathe {
namespace detail {
class Simplifier;
}

/// All integers from min to max; an end at the end of i64 means unbounded. Empty if min > max.
struct ConstInterval {
  static constexpr std::int64_t kNegInf = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kPosInf = std::numeric_limits<std::int64_t>::max();
  std::int64_t min = kNegInf, max = kPosInf;

  bool operator==(const ConstInterval&) const = default;
  bool empty() const { return min > max; }
  bool is_point() const { return min == max && min != kNegInf && min != kPosInf; }
  bool has_min() const { return min != kNegInf; }
  bool has_max() const { return max != kPosInf; }
  bool contains(std::int64_t v) const { return min <= v && v <= max; }
};

/// A set of facts, valid wherever a query with it is asked. Copying costs one reference count, so a
/// walk copies it at each scope and adds to the copy. Facts are added from the outside in: a range
/// may name variables bound before it.
///
/// Assumption (stated once, for all of arith and analysis): dims, loops of symbolic extent, what
/// their bounds load, and products of these are at most 2^40. Sums and products of them whose
/// constants are small enough do not leave i64 then, and only those are compared, divided and
/// bounded as if integers had no end. Anything else over i64 may wrap: values that come from
/// memory, from a caller or from a float, which are marked with data() where a variable stands for
/// them, and hashes of indices.
class Facts {
 public:
  Facts() = default;
  /// The program's dims.
  explicit Facts(const Program& program);

  /// min <= var < min + extent, and extent >= 1 (the variable exists here). Rebinding a variable
  /// adds to what is known.
  void bind(const VarRef& var, const AnyExpr& min, const AnyExpr& extent);
  void bind(const VarRef& var, ConstInterval range);
  void bind(const DimRef& dim);
  /// The loop's range, seen from inside. Bounds that load from a buffer which the body writes count
  /// by their type only.
  void bind(const ForNode& loop);
  void bind(const IterVar& iter) { bind(iter.var, iter.min, iter.extent); }
  /// var is a multiple of factor >= 1.
  void multiple_of(const VarRef& var, std::int64_t factor);
  /// The i64 variable holds data, whose arithmetic may wrap.
  void data(const VarRef& var);
  /// A boolean expression that holds. Comparisons of index expressions (and conjunctions of them)
  /// are used, the rest is kept for literal matches.
  void assume(const AnyExpr& condition);
  /// assume, but for a condition that was read before statements which may write memory: parts with
  /// loads are left out.
  void assume_before(const AnyExpr& condition);
  Facts with(const AnyExpr& condition) const {
    Facts next = *this;
    next.assume(condition);
    return next;
  }
  /// simplify doesn't replace a variable whose range is one point (unit loops stay visible before
  /// lowering).
  void keep_unit_vars(bool keep = true) { keep_unit_vars_ = keep; }
  bool keeps_unit_vars() const { return keep_unit_vars_; }

  /// The constant range of a variable: everything if nothing is known.
  ConstInterval range(const VarRef& var) const { return range(var.get()); }
  ConstInterval range(const VarNode* var) const;
  /// The largest known constant that divides var; 1 if nothing is known.
  std::int64_t factor(const VarNode* var) const;
  bool is_data(const VarNode* var) const;

  enum class Kind : std::uint8_t { symbolic, constant, factor, data, index, nonneg, zero, truth };
  /// One fact. symbolic: min, max (inclusive) of var; constant: interval; factor: interval.min
  /// divides; nonneg, zero: min >= 0, min == 0; truth: the boolean min holds.
  struct Node : RefCounted {
    Kind kind = Kind::truth;
    VarRef var;
    AnyExpr min, max;
    ConstInterval interval;
    Ref<Node> next;
  };
  /// The newest fact, or null; the chain runs from new to old.
  const Node* newest() const { return head_.get(); }

 private:
  friend class detail::Simplifier;
  void push(Node node);
  /// assume of a condition that is simplified already, as a part of the asker's query.
  void learn(const AnyExpr& condition, detail::Simplifier& asker);
  bool learn_comparison(const BinaryNode& n, detail::Simplifier& asker);
  void learn_factor(const AnyExpr& atom);
  Ref<Node> head_;
  bool keep_unit_vars_ = false;
};

}  // namespace lathe
