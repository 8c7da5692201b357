// Dependences: whether two accesses can touch one element in different iterations, and in which
// order.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/support/function.hpp>
#include <string>

namespace lathe {

/// Of the second access's iteration relative to the first's, per loop: a set of < (later), =, >
/// (earlier).
enum class Direction : std::uint8_t {
  none = 0,
  lt = 1,
  eq = 2,
  le = 3,
  gt = 4,
  ne = 5,
  ge = 6,
  any = 7
};
constexpr Direction operator|(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr Direction operator&(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<int>(a) & static_cast<int>(b));
}

/// no: the accesses never meet. yes: they do, for each direction vector. unknown: they may, for
/// each vector that is there: what is not in the list is excluded.
enum class Answer : std::uint8_t { no, yes, unknown };

struct DependenceVectors {
  Answer answer = Answer::unknown;
  Vec<Vec<Direction>>
      vectors;  ///< one Direction per common loop; each entry a single <, = or >, or any
};

/// Direction vectors over the loops (outermost first, above both accesses) for pairs of iterations
/// in which both accesses touch one element. The rest of each access's loops is free. Accesses must
/// be written over loop variables.
DependenceVectors dependence(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                             const Facts& facts = {});

/// The same, but the list may end with the first vector that is wanted.
DependenceVectors dependence(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                             const Facts& facts, FunctionRef<bool(const Vec<Direction>&)> wanted);

/// Whether a and b can touch one element in two iterations that differ in the last of the loops
/// alone; only what is proven counts as no. The same answer as the vectors of dependence() give.
bool meet_along_last(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                     const Facts& facts = {});

/// Proven that a and b touch one element in two iterations that differ in the last of the loops
/// alone, if that runs twice and those inside it run.
bool surely_meet(const AccessSite& a, const AccessSite& b, const Vec<ForRef>& loops,
                 const Facts& facts = {});

/// Whether updates with x = op(x, a), x = op(x, b) leave the same bits in either order.
bool atomics_commute(BinaryOp op, DType t);

/// Two accesses that keep iterations of a loop from running in any order.
struct Carried {
  AccessSite first, second;
  bool proven = false;  ///< false: could not be excluded
  /// "block 'B' reads A[i - 1] and block 'B' writes A[i]: different iterations of 'i' may touch one
  /// element"
  std::string explanation;

  /// "depend on each other: …", or that they may: what a refusal says of iterations.
  std::string text() const {
    return (proven ? "depend on each other: "
                   : "may depend on each other, which could not be excluded: ") +
           explanation;
  }
};

/// A dependence between two different iterations of the loop, with the loops above it fixed; none:
/// proven free. Accumulations of one reducer block with itself through its reduce iterators count.
/// Buffers allocated inside the loop body don't (each iteration has its own). root is the statement
/// that holds the loop; facts what holds around root.
std::optional<Carried> carried_by(const Stmt& root, const VarRef& loop, const Facts& facts = {});

/// A pair of accesses that a permutation of perfectly nested loops would put in the wrong order;
/// none: legal. loops: the chain outermost first; order: their new order as positions in loops.
std::optional<Carried> reorder_violation(const Stmt& root, const Vec<VarRef>& loops,
                                         const Vec<std::size_t>& order, const Facts& facts = {});

/// A dependence that running the iterations of the loop in lockstep, statement by statement, would
/// reverse.
std::optional<Carried> lockstep_violation(const Stmt& root, const VarRef& loop,
                                          const Facts& facts = {});

namespace detail {

/// "block 'B' reads A[i - 1]"
std::string describe(const AccessSite& a);

}  // namespace detail

}  // namespace lathe
