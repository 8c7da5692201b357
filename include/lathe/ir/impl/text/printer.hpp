// The printer's state: which names are taken where, and what has been written.
#pragma once

#include <lathe/ir/lex.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {
namespace detail {

/// Words that are no names in the text form.
bool is_reserved(std::string_view word);
/// A name as the text form writes it.
std::string quoted_name(std::string_view name);

/// Gives each variable and buffer a name that nothing else visible has.
/// A block (level + 1) hides the loop variables of the levels around it, so their names are free
/// again.
class PrintedNames {
 public:
  /// Makes the name visible until release; the result is ready to print.
  std::string bind(const RefCounted* node, std::string_view name, bool hidden_in_blocks = false);
  void release(const RefCounted* node);
  /// The name of something bound, else a fresh one that stays.
  std::string use(const RefCounted* node, std::string_view name);

  void enter_block() { ++level_; }
  void leave_block() { --level_; }

 private:
  struct Entry {
    const RefCounted* node;
    int level;
    bool hidden_in_blocks;
  };
  struct Bound {
    std::string base, name, text;  ///< as asked for, as given, as printed
  };
  bool taken(const std::string& name) const;
  std::string unique(const std::string& base) const;

  NodeMap<Bound> bound_;
  NameMap<Vec<Entry>> entries_;
  NameMap<std::size_t> numbered_;  ///< visible names made from this base
  int level_ = 0;
};

class Printer {
 public:
  void program(const Program& p);
  void body(const Stmt& s, int indent);
  void expr(const AnyExpr& e, int precedence = 0);
  void reducers_of(const Stmt& s, int indent);

  PrintedText take() { return {std::move(out_), std::move(places_)}; }

 private:
  template <class... Parts>
  void put(const Parts&... parts);
  void begin_line(int indent);
  void end_line();
  void mark(const RefCounted* node, std::size_t begin);

  void exprs(const Vec<AnyExpr>& list);
  void constant(const ConstNode& n);
  void infix(const BinaryNode& n, int precedence);
  void unary(const UnaryNode& n);
  void call(std::string_view name, std::initializer_list<const AnyExpr*> args);
  void let(const LetNode& n);
  void shuffle(const ShuffleNode& n);
  void access(const Buffer& buffer, const Vec<AnyExpr>& indices, const AnyExpr& mask);
  void range(const AnyExpr& min, const AnyExpr& extent);

  void stmt(const Stmt& s, int indent, bool last);
  void seq(const Vec<Stmt>& stmts, int indent);
  void for_loop(const ForNode& n, int indent);
  void block(const BlockNode& n, int indent);
  void block_iters(const BlockNode& n);
  void block_clauses(const BlockNode& n);
  void regions(std::string_view word, const Vec<Region>& list);
  void alloc(const AllocNode& n, int indent, bool last);
  void let_stmt(const LetStmtNode& n, int indent, bool last);
  void store(const StoreNode& n);
  void conditional(const IfNode& n, int indent);
  void attributes(const Attributes& all);
  void buffer_type(const BufferNode& b);
  void reducer(const ReducerNode& r, int indent);
  void params(const ProgramNode& p, bool one_per_line);
  void param(const Param& p);
  void dims(const ProgramNode& p);

  std::string out_;
  Vec<TextPlace> places_;
  NodeSet marked_;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  PrintedNames names_;
  NameSet block_names_, reducer_names_;
  NodeMap<std::string> reducers_;
  std::string store_word_;  ///< the reducer's name while its block's stores are printed
};

/// excerpt() of any node that has a place.
std::string excerpt_of(const Program& program, const RefCounted* node);

/// The infix operators' precedence: 1 (||) to 10 (* / %); 0 for those that are words.
int infix_precedence(BinaryOp op);

}  // namespace detail
}  // namespace lathe
