// The state of a script: its statements so far, and the names that are visible where it stands.
#pragma once

#include <lathe/dsl/checks.hpp>
#include <lathe/dsl/script_any.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// What a variable or buffer of a script is, and whether it still holds.
struct ScriptName {
  enum Kind : std::uint8_t { input, memory, loop, let, iterator };
  Kind kind = input;
  std::string name;
  int level = 0;     ///< how many blocks are around its declaration
  bool open = true;  ///< false once the body that declared it has ended
};

/// A local or a let, which holds for the statements of its list from `first` on.
struct ScriptScope {
  Buffer buffer;
  VarRef var;
  AnyExpr value;
  std::size_t first = 0;
};

/// The statements of a body that is running.
struct ScriptBody {
  Vec<Stmt> stmts;
  Vec<ScriptScope> scopes;
  BlockNode* block = nullptr;  ///< whose body this is, if it is one's
};

struct ScriptLoop {
  VarRef var;
  Range over;
};

class ScriptState : public RefCounted {
 public:
  ScriptState(std::string its_name, Location its_where);

  // What stands in statements. Each checks, and notes the Dims that are used.
  void check(const std::string& what, const AnyExpr& e, Location where);
  void check_condition(const std::string& what, const AnyExpr& e, Location where);
  void check_range(const std::string& what, const Range& over, Location where);
  void check_known(const std::string& what, const Buffer& buffer, Location where);
  /// The element that a statement writes.
  const LoadNode& target(const AnyExpr& element, const AnyExpr& value, Location where);
  /// L0111 unless the name is new; keeps it.
  void claim(Vec<std::string>& names, const char* kind, const std::string& name, Location where);

  void declare(const RefCounted* node, ScriptName::Kind kind, const std::string& name);
  void open(ScriptScope scope, Location where);
  void add(Stmt s, Location where);
  /// The statements that a body adds; if it throws, all is as before.
  Stmt record(const std::string& what, FunctionRef<void()> body, Location where,
              BlockNode* block = nullptr);
  /// The block whose body is running, at its top. L0130 if there is none.
  BlockNode& current_block(const char* what, Location where);
  /// L0130 if the block whose body is running holds something already.
  void check_folds_alone(const BlockNode& block, Location where) const;
  /// L0130 inside a body.
  void check_at_top(const std::string& what, Location where) const;
  /// A loop's variable or a let of this script.
  bool is_hidden_in_blocks(const VarNode& var) const;
  bool is_input(const Buffer& buffer) const;
  Program program(Location where) const;

  std::string name;
  Location where;
  Vec<Param> params;
  Vec<VarRef> dims;
  Vec<ScriptLoop> loops;  ///< whose bodies are running
  Vec<std::string> buffer_names, block_names;

 private:
  struct Mark {
    std::size_t bodies, declared, loops;
    int level;
  };
  Mark mark() const { return {bodies_.size(), declared_.size(), loops.size(), level_}; }
  void return_to(const Mark& before);
  void check_var(const std::string& what, const VarNode& var, Location where);
  void note_dim(const VarNode& var);

  Vec<ScriptBody> bodies_;
  NodeMap<ScriptName> names_;
  Vec<const RefCounted*> declared_;  ///< what is open, in order
  int level_ = 0;                    ///< of blocks whose bodies are running

  friend class ScriptExprs;
};

}  // namespace lathe::detail
