#pragma once

#include <algorithm>
#include <lathe/ir/impl/text/parser.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline constexpr int kParseDepth = 200;

inline void ParsedNames::bind(const std::string& name, Meaning meaning, bool hidden_in_blocks) {
  entries_[name].push_back({std::move(meaning), level_, hidden_in_blocks});
}
inline void ParsedNames::release(const std::string& name) { entries_[name].pop_back(); }

inline Meaning ParsedNames::find(const std::string& name, bool* hidden) const {
  const auto* found = entries_.find(name);
  if (!found) return {};
  for (const Entry& entry : reversed(*found)) {
    if (entry.level > level_) continue;
    if (!entry.hidden_in_blocks || entry.level == level_) return entry.meaning;
    if (hidden) *hidden = true;
  }
  return {};
}

inline Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ <= kParseDepth) return;
  parser_.fail(parser_.peek(), "L0505",
               cat("brackets and bodies are nested more than ", kParseDepth, " levels deep"));
}

inline const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

inline const Token& Parser::take() {
  const Token& token = peek();
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

inline bool Parser::accept(std::string_view symbol) {
  if (!peek().is(symbol) || line_ended()) return false;
  return take(), true;
}
inline bool Parser::accept_word(std::string_view word) {
  if (!peek().is_word(word) || line_ended()) return false;
  return take(), true;
}
inline void Parser::expect(std::string_view symbol) {
  if (!accept(symbol)) expected(cat("'", symbol, "'"));
}
inline void Parser::expect_word(std::string_view word) {
  if (!accept_word(word)) expected(cat("'", word, "'"));
}

inline void Parser::fail(const Token& at, std::string_view id, std::string_view problem) const {
  int length = static_cast<int>(at.text.size()) + (at.quoted ? 2 : 0);
  fail_at(source_, at.line, at.column, length, id, problem, where_);
}

// At the end of a line the place is behind its last token.
inline void Parser::expected(std::string_view what) const {
  const Token& at = peek();
  bool inside = at_ == 0 || !at.starts_line || at.kind == TokenKind::end;
  if (inside) fail(at, "L0501", cat("expected ", what, ", found ", describe(at)));
  const Token& last = tokens_[at_ - 1];
  int behind = last.column + static_cast<int>(last.text.size()) + (last.quoted ? 2 : 0);
  fail_at(source_, last.line, behind, 1, "L0501",
          cat("expected ", what, ", found the end of the line"), where_);
}

inline std::string Parser::name(std::string_view what) {
  const Token& at = peek();
  if (at.kind != TokenKind::name || (!at.quoted && is_reserved(at.text))) expected(what);
  std::string text(at.text);
  if (at.quoted && !unescape(at.text, text)) fail(at, "L0504", "the name holds an unknown escape");
  take();
  return text;
}

inline std::string Parser::string() {
  const Token& at = peek();
  std::string text;
  if (at.kind != TokenKind::string) expected("a string");
  if (!unescape(at.text.substr(1, at.text.size() - 2), text))
    fail(at, "L0504", "the string holds an unknown escape");
  take();
  return text;
}

inline std::int64_t Parser::integer(std::string_view what, std::int64_t least, std::int64_t most) {
  bool negative = accept("-");
  const Token& at = peek();
  if (at.kind != TokenKind::number || line_ended()) expected(what);
  take();
  std::string digits = cat(negative ? "-" : "", at.text);
  std::int64_t value = 0;
  if (!parse_int(digits, value) || value < least || value > most)
    fail(at, "L0504", cat(digits.substr(0, 60), " is no integer from ", least, " to ", most));
  return value;
}

inline DType Parser::dtype() {
  const Token& at = peek();
  DType type;
  if (at.kind != TokenKind::name || at.quoted || line_ended() || !parse_dtype(at.text, type))
    expected("a type");
  take();
  return type;
}

template <class Enum>
Enum Parser::one_of(std::string_view what, Enum last) {
  for (int k = 0; k <= static_cast<int>(last); ++k)
    if (accept_word(to_text(static_cast<Enum>(k)))) return static_cast<Enum>(k);
  expected(what);
}

inline void Parser::declare(const Token& at, const std::string& name, Meaning meaning,
                            bool hidden_in_blocks) {
  if (names_.find(name)) fail(at, "L0502", cat("there is a '", name, "' already"));
  names_.bind(name, std::move(meaning), hidden_in_blocks);
}

inline Meaning Parser::meaning_of(const Token& at, const std::string& name) const {
  bool hidden = false;
  Meaning meaning = names_.find(name, &hidden);
  if (meaning) return meaning;
  if (hidden)
    fail(at, "L0502",
         cat("'", name, "' belongs to the loops around this block; use the block's iterators"));
  fail(at, "L0502", cat("there is no '", name, "' here"));
}

inline Buffer Parser::known_buffer() {
  const Token& at = peek();
  std::string text = name("a statement");
  Meaning meaning = meaning_of(at, text);
  if (!meaning.buffer) fail(at, "L0502", cat("'", text, "' is a variable, not a buffer"));
  return meaning.buffer;
}

inline Vec<AnyExpr> Parser::param_strides() {
  Vec<AnyExpr> list;
  expect("[");
  while (!accept("]")) {
    if (!list.empty()) expect(",");
    const Token& at = peek();
    bool bare = at.kind == TokenKind::name && (peek(1).is(",") || peek(1).is("]")) &&
                (at.quoted || !is_reserved(at.text));
    if (bare) {
      std::string text = name("a stride");
      if (!names_.find(text)) declare(at, text, {make_var(text), {}}, false);
      --at_;
    }
    list.push_back(expr().e);
  }
  return list;
}

inline StrideRule Parser::stride_rule() {
  StrideRule rule;
  expect("[");
  rule.dim = static_cast<int>(integer("a dimension", 0, 1 << 20));
  expect(",");
  rule.factor = integer("a factor", 1, kMostStrideFactor);
  expect(",");
  rule.offset = integer("an offset", 0, kMostStrideFactor);
  expect("]");
  return rule;
}

inline Buffer Parser::buffer_type(const std::string& name, DType type, bool is_param) {
  int height = 1;
  BufferNode b(name, type, {});
  expect("[");
  b.shape = exprs("]", height);
  if (accept_word("strides")) {
    if (is_param)
      b.strides = param_strides();
    else
      expect("["), b.strides = exprs("]", height);
  }
  if (accept_word("scope"))
    b.scope = one_of("global, shared, local, register or fragment", Scope::fragment);
  if (accept_word("tile")) b.tile = static_cast<int>(integer("the number of a tile", 0, 7));
  if (accept_word("align"))
    b.alignment = static_cast<int>(integer("a number of bytes", 0, 1 << 30));
  while (accept_word("aligned")) b.aligned.push_back(stride_rule());
  return make_ref<BufferNode>(std::move(b));
}

inline DimRef Parser::dim() {
  const Token& at = peek();
  std::string text = name("a dim's name");
  std::int64_t min = 0, max = INT64_MAX, multiple = 1;
  if (accept_word("in")) {
    min = integer("the least extent", INT64_MIN, INT64_MAX);
    expect("..");
    if (accept("=")) max = integer("the greatest extent", INT64_MIN, INT64_MAX);
  }
  if (accept_word("by")) multiple = integer("a factor of the extent", 1, INT64_MAX);
  VarRef var = make_var(text);
  declare(at, text, {var, {}}, false);
  return make_ref<DimNode>(var, min, max, multiple);
}

inline Constancy Parser::constancy(bool is_argument) {
  // A parameter may bear that name.
  if (!peek().is_word("constant") || peek(1).is(":")) return Constancy::none;
  take();
  return is_argument ? Constancy::promised : Constancy::owned;
}

inline Param Parser::param() {
  Param p;
  if (accept_word("out"))
    p.access = Access::out;
  else if (accept_word("inout"))
    p.access = Access::inout;
  else
    p.constancy = constancy(accept_word("in"));
  const Token& at = peek();
  std::string text = name("a parameter's name");
  expect(":");
  DType type = dtype();
  if (peek().is("["))
    p.buffer = buffer_type(text, type, true);
  else
    p.var = make_scalar_argument(text, type);
  if (p.buffer && p.constancy == Constancy::owned) constant(p, at);
  declare(at, text, {p.var, p.buffer}, false);
  return p;
}

inline void Parser::constant(Param& p, const Token& at) {
  if (p.buffer->strides.empty()) {
    BufferNode node = *p.buffer;
    node.strides = constant_buffer(node.name, node.dtype, node.shape)->strides;
    p.buffer = make_ref<BufferNode>(std::move(node));
  }
  if (!accept_word("hash")) return;
  const Token& digits = peek();
  ContentHash hash;
  if (!ContentHash::parse(string(), hash))
    fail(digits, "L0504", "a hash has 32 digits of 0 to 9 and a to f");
  p.content = make_ref<ConstantData>(hash);
  if (!constants_) return;
  ConstantRef given = (*constants_)(p.buffer->name, hash);
  if (!given || !given->data())
    fail(at, "L0508", cat("no elements are given for constant '", p.buffer->name, "'"));
  if (!(given->hash() == hash))
    fail(at, "L0508",
         cat("the elements that are given for constant '", p.buffer->name,
             "' are others: their "
             "hash is ",
             given->hash().str()));
  p.content = std::move(given);
}

inline Program Parser::program() {
  ProgramNode p;
  int column = peek().column;
  if (!peek().is_word("program")) expected("'program'");
  take();
  p.name = name("the program's name");
  if (accept("<")) {
    do p.dims.push_back(dim());
    while (accept(","));
    expect(">");
  }
  expect("(");
  if (!accept(")")) {
    do p.params.push_back(param());
    while (accept(","));
    expect(")");
  }
  if (accept_word("scheduled"))
    p.scheduled = true;
  else if (accept_word("stage"))
    p.stage = one_of("blocks, loops, vector, flat or machine", Stage::machine);
  stage_ = p.stage;
  p.body = body(column);
  if (peek().kind != TokenKind::end)
    fail(peek(), "L0501", cat("expected the end of the text, found ", describe(peek())));
  try_folds(p.body);
  return Program(std::move(p));
}

}  // namespace detail

namespace detail {

inline Program parse_with(std::string_view text, const ConstantLookup* constants, Location where) {
  return within_memory("parse", where, [&] {
    Program program = Parser(text, where, constants).program();
    verify_user(program, where);
    return program;
  });
}

}  // namespace detail

LATHE_DECL Program parse(std::string_view text, Location where) {
  return detail::parse_with(text, nullptr, where);
}
LATHE_DECL Program parse(std::string_view text, ConstantLookup constants, Location where) {
  return detail::parse_with(text, &constants, where);
}

}  // namespace lathe
