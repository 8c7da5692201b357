// Accesses whose lanes lie a constant number of elements apart, and loads that share memory.
#pragma once

#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/lower/shuffles/deinterleave.hpp>
#include <optional>

namespace lathe::detail {

/// Lane l is element base + constant + l * stride, the last lane first if `reversed`.
struct Strided {
  Poly base;  ///< without its constant
  std::int64_t constant = 0, stride = 0;
  AnyExpr step;  ///< instead of the stride where that is no constant
  bool reversed = false;
  AnyExpr limit;  ///< how many of the first lanes are accessed; none: all

  /// Whether it is one: of memory, by more than one element, with no mask but of the first lanes.
  bool set(const Buffer& buffer, const Vec<AnyExpr>& indices, const AnyExpr& mask, int lanes);
  /// Whether lanes are rows of a matrix: one vector of a run that is longer than it has lanes would
  /// hold few of its elements.
  bool is_matrix(int lanes) const { return step.get() || stride > lanes; }
  AnyExpr row_stride() const { return step ? step : AnyExpr(stride); }
  /// Whether lanes of both lie the same number of elements apart, from bases that a constant parts.
  bool same_rows(const Strided& other) const;
};

/// Instructions of so many vectors that are moved element by element.
inline int by_elements(DType type, int vectors, const TargetCaps& caps) {
  return caps.kElementMove * type.lanes * vectors;
}
/// Instructions of a dense access.
int dense_access(DType type, bool masked, const TargetCaps& caps);

/// Loads that lie within one stride of each other, and within one vector.
class StridedGroup {
 public:
  StridedGroup(const LoadNode& n, const Strided& load);

  /// Empty if the load is none of these; else the variable that holds it.
  AnyExpr add(const LoadNode& n, const Strided& load);
  /// What a load is, under any mask, whose elements others read anyway; empty if they do not.
  AnyExpr shared(const LoadNode& n, const Strided& load);
  /// Whether a store to the buffer may change what it reads.
  bool depends_on(const Buffer& stored) const;
  /// Variables and what they hold; empty if loads one element after the other cost no more.
  Vec<LetBinding> lets(const TargetCaps& caps, const Facts& facts) const;

 private:
  struct Member {
    std::int64_t constant;
    bool reversed;
    VarRef var;
  };
  /// Variables, and the instructions that they take.
  struct Way {
    Vec<LetBinding> lets;
    int cost = 0;
  };
  /// Memory that holds the lanes of all members; those of the least offset begin at `lead`.
  struct Held {
    Run run;
    std::int64_t lead = 0;
  };
  Way lanes(const Held& held, Vec<LetBinding> lets, const TargetCaps& caps) const;
  Way columns(const TargetCaps& caps) const;
  Way of_registers(const Held& held, Vec<LetBinding> lets, const TargetCaps& caps) const;
  Held held(Vec<LetBinding>& lets, const Facts& facts) const;
  std::optional<std::int64_t> whole_lead(const Facts& facts) const;
  Run run_of(std::int64_t extent, Vec<LetBinding>& lets, std::int64_t lead = 0) const;
  template <class Source>
  AnyExpr directed(AnyExpr value, const Member& m, Source& source, const TargetCaps& caps) const;

  Buffer buffer_;
  DType type_;
  AnyExpr mask_;
  Strided first_;
  AnyExpr base_;  ///< of the first load, its constant included
  std::int64_t least_, most_;
  Vec<Member> members_;
};

}  // namespace lathe::detail
