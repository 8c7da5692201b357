#pragma once

#include <lathe/ir/impl/attributes.ipp>
#include <lathe/ir/impl/text/parser.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/impl/verifier.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/reducer_law.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// What follows a ':' at the end of a line.
inline Stmt Parser::body(int owner_column) {
  Level level(*this);
  expect(":");
  if (!line_ended()) expected("the end of the line");
  if (peek().kind == TokenKind::end || peek().column <= owner_column)
    fail(peek(), "L0501",
         "expected a statement, indented further than what it belongs to ('pass' is none)");
  return lines(peek().column);
}

inline Stmt Parser::lines(int column) {
  Vec<Stmt> stmts;
  Vec<Open> opened;
  while (peek().kind != TokenKind::end && peek().column >= column) {
    if (peek().column != column)
      fail(peek(), "L0501", "the indentation is not that of the lines before");
    if (peek().is_word("alloc") || peek().is_word("let"))
      scoped_line(stmts, opened);
    else
      stmts.push_back(statement());
    if (!line_ended()) expected("the end of the line");
  }
  for (; !opened.empty(); opened.pop_back()) {
    Open& o = opened.back();
    if (o.first == stmts.size())
      fail(peek(), "L0501", cat("expected a statement that uses '", o.name, "', or 'pass'"));
    Stmt rest = make_seq({stmts.begin() + static_cast<std::ptrdiff_t>(o.first), stmts.end()});
    stmts.resize(o.first);
    stmts.push_back(scoped(o, std::move(rest)));
    --opened_;
  }
  return make_seq(std::move(stmts));
}

/// An alloc or let: with a body of its own it is one of the statements, else it stays open.
inline void Parser::scoped_line(Vec<Stmt>& stmts, Vec<Open>& opened) {
  const Token& word = take();
  const Token& at = peek();
  Open o;
  o.name = name("a name"), o.first = stmts.size();
  if (word.text == "alloc") {
    expect(":");
    o.buffer = buffer_type(o.name, dtype(), false);
  } else {
    expect("=");
    o.value = expr().e;
    o.var = make_var(o.name, o.value.dtype());
  }
  declare(at, o.name, {o.var, o.buffer}, static_cast<bool>(o.var));
  if (peek().is(":")) {
    Stmt inner = body(word.column);
    return stmts.push_back(scoped(o, std::move(inner)));
  }
  if (++opened_ > 2000) fail(at, "L0505", "more than 2000 lets and allocs inside one another");
  opened.push_back(std::move(o));
}

inline Stmt Parser::scoped(const Open& o, Stmt body) {
  names_.release(o.name);
  return o.buffer ? make_alloc(o.buffer, std::move(body))
                  : make_let_stmt(o.var, o.value, std::move(body));
}

inline Stmt Parser::statement() {
  const Token& at = peek();
  if (at.kind != TokenKind::name) expected("a statement");
  if (at.quoted) return store();
  if (ForKind kind; at.text == "for" || (at.text != "serial" && parse_for_kind(at.text, kind)))
    return for_loop();
  if (at.text == "block") return block();
  if (at.text == "if") return conditional();
  if (at.text == "while") return loop_while();
  if (at.text == "atomic") return atomic();
  if (at.text == "assert") return assertion();
  if (at.text == "reducer") return reducer();
  if (at.text == "pass") return take(), make_seq({});
  if (at.text == "eval") return take(), make_ref<EvaluateNode>(expr().e);
  return store();
}

inline Stmt Parser::for_loop() {
  const Token& first = take();
  ForKind kind = ForKind::serial;
  if (parse_for_kind(first.text, kind)) expect_word("for");
  const Token& at = peek();
  std::string text = name("a name");
  expect_word("in");
  AnyExpr min, extent;
  range(min, extent);
  Attributes all;
  while (peek().is("@")) attribute(all, true);
  VarRef var = make_var(text, min.dtype());
  declare(at, text, {var, {}}, true);
  Stmt inner = body(first.column);
  names_.release(text);
  return make_for(var, min, extent, std::move(inner), kind, std::move(all));
}

// Behind the key: =value of a single field, else (name=value, …).
inline void Parser::fields_of(Attribute& out, const Token& at, bool on_loop) {
  const int count = field_count(out);
  const auto misfit = [&] { fail(at, "L0506", attribute_misfit(out, on_loop)); };
  if (count > 1 && !accept("(")) misfit();
  int done = 0;
  each_field(out, [&](const auto& field, auto& value) {
    if (done++ > 0) expect(",");
    if (count > 1) expect_word(field.name);
    expect("=");
    const Token& first = peek();
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, NumbersField>) {
      expect("[");
      do value.push_back(integer("a number", INT64_MIN, INT64_MAX));
      while (accept(","));
      expect("]");
    } else {
      const AttrValue given =
          first.kind == TokenKind::string
              ? AttrValue(string())
              : AttrValue(integer("an integer or a string", INT64_MIN, INT64_MAX));
      if (!SetField{given}(field, value)) misfit();
    }
  });
  if (count > 1) expect(")");
}

inline void Parser::attribute(Attributes& out, bool on_loop) {
  expect("@");
  const Token& at = peek();
  const std::string key = name("an annotation's key");
  Attribute a;
  if (!attribute_with_key(key, on_loop, a)) fail(at, "L0506", unknown_key(key, on_loop));
  fields_of(a, at, on_loop);
  if (std::string problem = attribute_problem(a, on_loop); !problem.empty())
    fail(at, "L0506", problem);
  for (const auto& other : out)
    if (exclude_each_other(a, other))
      fail(at, "L0506", cat("there is an annotation '", key, "' already"));
  out.set(std::move(a));
}

// The domain is read inside the block, where the loops around it are hidden; the binding outside.
inline void Parser::block_iter(BlockNode& n, Vec<std::string>& bound) {
  IterVar it;
  it.kind = accept_word("reduce")   ? IterKind::reduce
            : accept_word("opaque") ? IterKind::opaque
                                    : IterKind::spatial;
  const Token& at = peek();
  std::string text = name("an iterator's name");
  expect_word("in");
  range(it.min, it.extent);
  it.var = make_var(text, it.min.dtype());
  declare(at, text, {it.var, {}}, false);
  bound.push_back(text);
  expect("=");
  names_.leave_block();
  it.binding = expr().e;
  names_.enter_block();
  n.iters.push_back(std::move(it));
}

/// The clauses up to the ':'; gives the reducer's name.
inline const Token* Parser::block_clauses(BlockNode& n) {
  const Token* reducer = nullptr;
  while (!peek().is(":")) {
    if (accept_word("where"))
      n.predicate = expr().e;
    else if (accept_word("init"))
      n.init = true;
    else if (accept_word("reads"))
      n.reads = regions();
    else if (accept_word("writes"))
      n.writes = regions();
    else if (peek().is("@"))
      attribute(n.attributes, false);
    else if (accept_word("reduce"))
      reducer = &peek(), reducer_word_ = name("a reducer's name");
    else
      expected("where, reduce, init, reads, writes, '@' or ':'");
  }
  return reducer;
}

inline Stmt Parser::block() {
  int column = take().column;
  const Token& at = peek();
  std::string text = name("a block's name");
  if (!blocks_.insert(text).second) fail(at, "L0502", cat("there is a block '", text, "' already"));
  BlockNode n(make_ref<BlockTagNode>(text), {}, {});
  Vec<std::string> bound;
  std::string outer_word = reducer_word_;
  names_.enter_block();
  expect("(");
  if (!peek().is(")")) {
    do block_iter(n, bound);
    while (accept(","));
  }
  expect(")");
  const Token* reducer = block_clauses(n);
  bool outer = std::exchange(in_reducer_block_, reducer != nullptr);
  n.body = body(column);
  in_reducer_block_ = outer;
  if (reducer) resolve_reducer(n, *reducer);
  reducer_word_ = outer_word;
  for (; !bound.empty(); bound.pop_back()) names_.release(bound.back());
  names_.leave_block();
  Stmt made = make_block(std::move(n));
  const BlockNode& block = *made.as<BlockNode>();
  if (block.reducer && block.reducer->lhs.size() > 1 && reducers_.contains(block.reducer->name))
    folds_.emplace_back(made, static_cast<std::size_t>(reducer - tokens_.data()));
  return made;
}

inline void Parser::resolve_reducer(BlockNode& n, const Token& word) {
  if (const auto* found = reducers_.find(reducer_word_)) return void(n.reducer = *found);
  Vec<DType> dtypes;
  for (const auto& s : seq_of(n.body))
    if (const auto* store = s.as<StoreNode>()) dtypes.push_back(store->value.dtype());
  n.reducer = builtin_reducer(reducer_word_, dtypes);
  if (n.reducer) return;
  std::string types = join(dtypes, ", ", [](DType t) { return t.str(); });
  fail(word, "L0502", cat("there is no reducer ", describe(word), " for (", types, ')'));
}

inline Vec<Region> Parser::regions() {
  Vec<Region> list;
  do {
    Region region;
    region.buffer = known_buffer();
    expect("[");
    while (!accept("]")) {
      if (!region.ranges.empty()) expect(",");
      Range r;
      range(r.min, r.extent);
      region.ranges.push_back(std::move(r));
    }
    list.push_back(std::move(region));
  } while (accept(","));
  return list;
}

inline Stmt Parser::store() {
  Streaming streaming = peek().is_word("stream")         ? Streaming::any
                        : peek().is_word("stream_lines") ? Streaming::lines
                                                         : Streaming::none;
  if (streaming != Streaming::none) take();
  const Token& at = peek();
  Buffer buffer = known_buffer();
  Place to = place(at, *buffer);
  if (in_reducer_block_ && (peek().kind != TokenKind::name || name("") != reducer_word_)) {
    --at_;
    expected(cat("'", reducer_word_, "=' (the block is a reduction)"));
  }
  expect("=");
  AnyExpr value = expr().e;
  auto problem = access_problem(buffer, to.indices, value.dtype(), to.mask);
  if (!problem.empty()) fail(at, "L0503", cat("store of ", value.dtype().str(), ": ", problem));
  return make_ref<StoreNode>(buffer, std::move(to.indices), std::move(value), std::move(to.mask),
                             streaming);
}

inline Stmt Parser::atomic() {
  take();
  const Token& at = peek();
  Buffer buffer = known_buffer();
  Place to = place(at, *buffer);
  if (to.mask.get()) fail(at, "L0501", "an atomic update has no mask");
  const BinaryOp* op = line_ended() ? nullptr : binary_op(peek().text);
  if (!op || is_comparison(*op)) expected("an operator such as '+' or 'max'");
  take();
  expect("=");
  AnyExpr value = expr().e;
  auto problem = access_problem(buffer, to.indices, value.dtype(), {});
  if (!problem.empty()) fail(at, "L0503", cat("update with ", value.dtype().str(), ": ", problem));
  return make_ref<AtomicNode>(*op, buffer, std::move(to.indices), std::move(value));
}

inline Stmt Parser::conditional() {
  int column = take().column;
  AnyExpr condition = expr().e;
  Stmt yes = body(column), no;
  if (peek().is_word("else") && line_ended() && peek().column == column) {
    take();
    no = body(column);
  }
  return make_if(condition, std::move(yes), std::move(no));
}

inline Stmt Parser::loop_while() {
  int column = take().column;
  AnyExpr condition = expr().e;
  return make_ref<WhileNode>(condition, body(column));
}

inline Stmt Parser::assertion() {
  take();
  AnyExpr condition = expr().e;
  expect(",");
  std::string message = string();
  Vec<AnyExpr> values;
  if (accept("%")) {
    expect("(");
    do {
      const Token& at = peek();
      values.push_back(expr().e);
      if (values.back().dtype() != kIndex) fail(at, "L0503", "a value of an assertion is no i64");
    } while (accept(","));
    expect(")");
  }
  return make_ref<AssertNode>(condition, std::move(message), std::move(values));
}

// The variables of the left operand with their identities, then those of the right one.
inline void Parser::reducer_vars(ReducerNode& r, Vec<std::string>& bound) {
  auto variable = [&](DType type, Vec<VarRef>& list, const Token& at, const std::string& text) {
    list.push_back(make_var(text, type));
    declare(at, text, {list.back(), {}}, true);
    bound.push_back(text);
  };
  do {
    const Token& at = peek();
    std::string text = name("a name");
    expect(":");
    DType type = dtype();
    expect("=");
    const Token& value_at = peek();
    r.identity.push_back(expr().e);
    if (r.identity.back().dtype() != type)
      fail(value_at, "L0503", cat("the identity of '", text, "' is no ", type.str()));
    variable(type, r.lhs, at, text);
  } while (accept(","));
  expect(";");
  do {
    if (r.rhs.size() == r.lhs.size()) expected("')'");
    const Token& at = peek();
    std::string text = name("a name");
    variable(r.lhs[r.rhs.size()]->dtype, r.rhs, at, text);
  } while (accept(","));
  if (r.rhs.size() != r.lhs.size()) expected("as many names as on the left of ';'");
  expect(")");
}

inline Stmt Parser::reducer() {
  take();
  ReducerNode r("", {}, {}, {}, {});
  r.associative = !accept_word("nonassociative");
  r.commutative = !accept_word("noncommutative");
  const Token& at = peek();
  r.name = name("a reducer's name");
  expect("(");
  Vec<std::string> bound;
  names_.enter_block();
  reducer_vars(r, bound);
  expect("=");
  do {
    const Token& value_at = peek();
    if (r.combine.size() == r.lhs.size()) expected("the end of the line");
    r.combine.push_back(expr().e);
    DType type = r.lhs[r.combine.size() - 1]->dtype;
    if (r.combine.back().dtype() != type)
      fail(value_at, "L0503", cat("this value is no ", type.str()));
  } while (accept(","));
  if (r.combine.size() != r.lhs.size()) expected("as many values as the reducer has names");
  for (; !bound.empty(); bound.pop_back()) names_.release(bound.back());
  names_.leave_block();
  ReducerRef made(new ReducerNode(std::move(r)));
  if (const std::string problem = law_problem(*made); !problem.empty())
    fail(at, "L0507", cat("reducer '", made->name, "' ", problem));
  if (!reducers_.insert(made->name, made))
    fail(at, "L0502", cat("there is a reducer '", made->name, "' already"));
  return {};
}

}  // namespace detail
}  // namespace lathe
