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
/// Whether all of a register of vectors is stored.
bool stores_register(const StoreNode& n);

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
    int lanes = 0;   ///< of each source
    Vec<int> map{};  ///< lane l is this one of the sources side by side
    int depth = 0;   ///< loops around it
    bool is_shuffle = false;
    bool keeps = false;     ///< lanes are, or have to be, as they were
    bool constant = false;  ///< known to the compiler, in any order
  };

  LaneWebs(const Stmt& body, const TargetCaps& caps);

  const Vec<Move>& moves() const { return moves_; }
  std::size_t size() const { return parents_.size(); }
  /// kInOrder for a scalar, or where all lanes are the same.
  int web_of(const AnyExpr& e) const;
  /// Whether the lanes of a web have to stay as they were.
  bool is_pinned(int web) const { return pinned_[static_cast<std::size_t>(web)]; }

 private:
  void stmt(const Stmt& s) override;
  void expr(const AnyExpr& e) override { use(e); }
  /// A register of vectors that is not loaded or stored as a whole.
  void buffer(const Buffer& b) override {
    if (b->dtype.lanes > 1) pin(web_of_buffer(b));
  }
  int find(int web) const;
  int fresh();
  void pin(int web);
  int joined(int a, int b);
  int visit(const AnyExpr& e);
  int visit_by_lane(const AnyExpr& e);
  int visit_select(const SelectNode& n);
  int visit_shuffle(const ShuffleNode& n);
  int source(const AnyExpr& e);
  void use(const AnyExpr& e);
  void bind(const VarRef& var, const AnyExpr& value);
  Move in_place(const AnyExpr& e, Vec<int> from, int to) const;
  int web_of_buffer(const Buffer& buffer);

  const TargetCaps& caps_;
  mutable Vec<int> parents_;
  Vec<bool> pinned_;
  Vec<Move> moves_;
  NodeMap<int> webs_;
  NodeSet in_arms_;
  DenseMap<const BufferNode*, int> buffers_;
  int depth_ = 0;
  int arms_ = 0;  ///< of selects by lanes, around what is visited
};

}  // namespace lathe::detail
