// Vectors of elements that are known numbers apart, from dense loads and shuffles.
#pragma once

#include <lathe/ir/expr.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// Lane l, of those that a mask takes, is element base + offsets[l] of a buffer.
class NearLanes {
 public:
  Buffer buffer;
  DType type;
  AnyExpr base;
  Vec<std::int64_t> offsets;
  AnyExpr mask;  ///< of the first lanes; empty: all are there

  /// What a load takes, if its index says so and is no ramp.
  bool set(const LoadNode& load);
  /// Whether the lanes lie in at most two groups, each within the length of two vectors. Must be
  /// asked before what follows.
  bool group();
  /// The vector, whose other lanes are 0; empty if a mask that a call tells is too much work.
  AnyExpr loaded(const TargetCaps& caps) const;
  /// How many instructions that is, about.
  int cost(const TargetCaps& caps) const;

 private:
  struct Group {
    std::int64_t first, last;
    std::int64_t span() const { return last - first + 1; }
    bool holds(std::int64_t offset) const { return first <= offset && offset <= last; }
  };

  bool count_active();
  bool follow_each_other() const;
  std::int64_t offset_of(int lane) const;
  AnyExpr vector_at(std::int64_t first, int length, const AnyExpr& chosen = {}) const;
  AnyExpr gathered(const Group& group) const;
  AnyExpr counted(const TargetCaps& caps) const;

  int active_ = 0;
  AnyExpr count_;  ///< of the active lanes, where it is no number: any of them may be
  Vec<Group> groups_;
};

}  // namespace lathe::detail
