// Vectors whose lanes go together: what computes lane by lane may do so in any order.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/target_caps.hpp>

namespace lathe::detail {

/// What an expression does to lanes.
enum class LaneRole : std::uint8_t {
  uniform,  ///< all lanes are the same
  by_lane,  ///< lane l of the result is of lane l of each operand
  shuffle,  ///< of vectors that a register holds
  other,    ///< its operands are as they were, and so is the result
};
LaneRole lane_role(const AnyExpr& e, const TargetCaps& caps);
/// Whether a buffer is one register, which is loaded and stored as a whole.
bool is_whole_register(const Buffer& buffer, const Vec<AnyExpr>& indices);

/// Webs of a program: vectors that have one order of lanes, as each is computed from others of
/// them lane by lane, or is a name or a register for them.
class LaneWebs : public Visitor {
 public:
  static constexpr int kInOrder = -1;

  /// Lanes on their way from some webs to one: a shuffle, or where lanes are, or have to be, as
  /// they were (from or to kInOrder, each lane in its place).
  struct Move {
    DType type;
    Vec<int> from;
    int to = kInOrder;
    int lanes = 0;          ///< of each source
    Vec<int> map{};         ///< lane l is this one of the sources side by side
    int depth = 0;          ///< loops around it
    bool keeps = false;     ///< lanes are, or have to be, as they were
    bool constant = false;  ///< known to the compiler, in any order
  };

  LaneWebs(const Stmt& body, const TargetCaps& caps);

  const Vec<Move>& moves() const { return moves_; }
  std::size_t size() const { return parents_.size(); }
  /// kInOrder for a scalar, or where all lanes are the same.
  int web_of(const AnyExpr& e) const;

 private:
  void stmt(const Stmt& s) override;
  void expr(const AnyExpr& e) override { use(e); }
  int find(int web) const;
  int fresh();
  int joined(int a, int b);
  int visit(const AnyExpr& e);
  int visit_by_lane(const AnyExpr& e);
  int visit_shuffle(const ShuffleNode& n);
  int source(const AnyExpr& e);
  void use(const AnyExpr& e);
  void bind(const VarRef& var, const AnyExpr& value);
  Move in_place(const AnyExpr& e, Vec<int> from, int to) const;
  int web_of_buffer(const Buffer& buffer);

  const TargetCaps& caps_;
  mutable Vec<int> parents_;
  Vec<Move> moves_;
  NodeMap<int> webs_;
  DenseMap<const BufferNode*, int> buffers_;
  int depth_ = 0;
};

}  // namespace lathe::detail
