// The parser's state: tokens, names in scope, and how deep it is.
#pragma once

#include <lathe/ir/lex.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/vec.hpp>
#include <string>

namespace lathe {
namespace detail {

/// What a name stands for: one of the two.
struct Meaning {
  VarRef var;
  Buffer buffer;
  explicit operator bool() const { return bool(var) || bool(buffer); }
};

/// The names in scope. A block (level + 1) hides the loop variables and lets of the levels around
/// it.
class ParsedNames {
 public:
  void bind(const std::string& name, Meaning meaning, bool hidden_in_blocks);
  void release(const std::string& name);
  /// Empty if there is no such name; hidden tells whether there would be one outside the block.
  Meaning find(const std::string& name, bool* hidden = nullptr) const;

  void enter_block() { ++level_; }
  void leave_block() { --level_; }

 private:
  struct Entry {
    Meaning meaning;
    int level;
    bool hidden_in_blocks;
  };
  NameMap<Vec<Entry>> entries_;
  int level_ = 0;
};

class Parser {
 public:
  Parser(std::string_view source, Location where, const ConstantLookup* constants)
      : source_(source), where_(where), constants_(constants), tokens_(tokenize(source, where)) {}
  Program program();

 private:
  /// An expression and the height of its tree.
  struct Value {
    AnyExpr e;
    int height = 1;
  };
  /// An alloc or let whose body is the rest of the lines around it.
  struct Open {
    std::string name;
    Buffer buffer;
    VarRef var;
    AnyExpr value;
    std::size_t first;  ///< of its statements
  };
  struct Place {
    Vec<AnyExpr> indices;
    AnyExpr mask;
    int height = 1;
  };
  /// Counts a level of nesting until its end.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool accept(std::string_view symbol);
  bool accept_word(std::string_view word);
  void expect(std::string_view symbol);
  void expect_word(std::string_view word);
  bool line_ended() const { return peek().starts_line; }
  [[noreturn]] void fail(const Token& at, std::string_view id, std::string_view problem) const;
  [[noreturn]] void expected(std::string_view what) const;
  std::string name(std::string_view what);
  std::string string();
  std::int64_t integer(std::string_view what, std::int64_t least, std::int64_t most);
  DType dtype();
  template <class Enum>
  Enum one_of(std::string_view what, Enum last);

  // Names.
  void declare(const Token& at, const std::string& name, Meaning meaning, bool hidden_in_blocks);
  Meaning meaning_of(const Token& at, const std::string& name) const;
  Buffer known_buffer();

  // Expressions.
  Value expr(int precedence = 1);
  Value unary();
  Value primary();
  Value let_chain();
  Value call(const Token& word);
  Value function(const Token& word);
  Value arguments(const Token& word, CallOp op);
  Value vector(const Token& word);
  Value shuffle(const Token& word);
  Value reinterpret(const Token& word);
  bool literal(bool negative, Value& out);
  AnyExpr number(bool negative);
  AnyExpr nan(DType type, bool negative);
  Value reference();
  template <class Node, class... Args>
  Value build(const Token& at, int height, Args&&... args);
  Vec<AnyExpr> exprs(std::string_view close, int& height);
  /// What is behind the name of a buffer, which stands at a token.
  Place place(const Token& at, const BufferNode& buffer);
  void check_rank(const Token& at, const BufferNode& buffer, std::size_t count) const;
  void range(AnyExpr& min, AnyExpr& extent);
  Buffer buffer_type(const std::string& name, DType type, bool is_param);
  Vec<AnyExpr> param_strides();
  StrideRule stride_rule();

  // Statements.
  Stmt body(int owner_column);
  Stmt lines(int column);
  Stmt statement();
  void scoped_line(Vec<Stmt>& stmts, Vec<Open>& opened);
  Stmt scoped(const Open& o, Stmt body);
  Stmt for_loop();
  Stmt block();
  void block_iter(BlockNode& n, Vec<std::string>& bound);
  const Token* block_clauses(BlockNode& n);
  void resolve_reducer(BlockNode& n, const Token& word);
  void try_folds(const Stmt& program) const;
  Vec<Region> regions();
  Stmt store();
  Stmt atomic();
  Stmt conditional();
  Stmt loop_while();
  Stmt assertion();
  Stmt reducer();
  void reducer_vars(ReducerNode& r, Vec<std::string>& bound);
  void attribute(Attributes& out, bool on_loop);
  void fields_of(Attribute& out, const Token& at, bool on_loop);

  // Program.
  DimRef dim();
  Param param();
  Constancy constancy(bool is_argument);
  void constant(Param& p, const Token& at);

  std::string_view source_;
  Location where_;
  const ConstantLookup* constants_;
  Vec<Token> tokens_;
  std::size_t at_ = 0;
  ParsedNames names_;
  NameMap<ReducerRef> reducers_;
  /// Blocks with such a reducer of several values, and the tokens that name it.
  Vec<std::pair<Stmt, std::size_t>> folds_;
  NameSet blocks_;
  std::string reducer_word_;  ///< of the block whose stores are read
  bool in_reducer_block_ = false;
  Stage stage_ = Stage::blocks;
  int depth_ = 0, opened_ = 0;
};

}  // namespace detail
}  // namespace lathe
