// The verifier's state: what is bound where, and the first rule that was broken.
#pragma once

#include <lathe/ir/loads_met.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {
namespace detail {

/// Walks the program until something is wrong. After the first failure every function returns at
/// once.
class Verifier : public Visitor {
 public:
  Verifier(Stage stage, const TargetCaps& caps) : stage_(stage), caps_(caps) {}
  void program(const ProgramNode& p);

  const std::string& reason() const { return reason_; }
  const RefCounted* place() const { return place_; }

  LATHE_DECL void expr(const AnyExpr& e) override;
  LATHE_DECL void stmt(const Stmt& s) override;

 private:
  struct Entry {
    int level;  ///< the number of blocks around the binding
    bool hidden_in_blocks, in_scope, writable;
  };

  bool ok() const { return reason_.empty(); }
  void fail(std::string reason);
  bool check(bool holds, std::string_view problem);
  bool is_index(DType t) const { return t == kI64 || (stage_ >= Stage::flat && t == kI32); }
  bool scalar(const AnyExpr& e, std::string_view what);
  bool index(const AnyExpr& e, std::string_view what);
  bool condition(const AnyExpr& e, std::string_view what);

  void bind(const RefCounted* node, std::string_view name, bool hidden_in_blocks,
            bool writable = true);
  void release(const RefCounted* node) { entries_[node].in_scope = false; }
  void use_var(const VarNode& v);
  const Entry* use_buffer(const Buffer& b);
  void access(const Buffer& b, const Vec<AnyExpr>& indices, bool writes);

  bool names_bound(const AnyExpr& e) const;
  void param(const Param& p);
  void constant(const Param& p);
  bool layout(const AnyExpr& e, const std::string& what);
  void buffer_fields(const Buffer& b, bool is_param);
  void node(const Stmt& s);
  void for_loop(const ForNode& n);
  void loop_kind(const ForNode& n);
  void attributes(const Attributes& all, const ForNode* loop);
  void guards(const BlockNode& n);
  void slots(const ProgramNode& p);
  static unsigned axis_bit(const ForNode& n) { return 1u << static_cast<int>(n.loop_kind); }
  void block(const BlockNode& n);
  void block_iter(const IterVar& it);
  void reducer_block(const BlockNode& n);
  void reducer(const ReducerNode& r);
  void closed(const ReducerNode& r, const AnyExpr& e, bool operands_visible);
  void regions(const Vec<Region>& list);
  void alloc(const AllocNode& n);
  void store(const StoreNode& n);
  void tile_value(const StoreNode& n);
  void atomic(const AtomicNode& n);
  void let(const LetNode& n);
  void call(const CallNode& n);
  void select(const SelectNode& n);
  bool happened(const LoadNode& n) const;
  void lanes_of_arm(const LoadNode& n, const AnyExpr& e);

  Stage stage_;
  const TargetCaps& caps_;
  std::string reason_;
  const RefCounted* place_ = nullptr;
  Vec<const RefCounted*> path_;  ///< the statements around
  Vec<const BlockNode*> blocks_;
  NodeMap<Entry> entries_;
  NodeSet tags_, reducers_, lets_;
  NameSet block_names_;
  int level_ = 0;
  unsigned axes_ = 0;  ///< which the loops around are bound to
  bool in_evaluate_ = false;
  const CallNode* tile_of_store_ = nullptr;  ///< that may come next
  bool in_layout_ = false;                   ///< of a parameter, which no code computes
  int arms_ = 0;                             ///< of selects by lanes, around
  LoadsMet met_{};  ///< of all lanes, which have happened where an expression is computed
};

/// What is wrong with an access of a value of this type (its lanes included); empty if nothing is.
std::string_view access_problem(const Buffer& buffer, const Vec<AnyExpr>& indices, DType value,
                                const AnyExpr& mask);

}  // namespace detail
}  // namespace lathe
