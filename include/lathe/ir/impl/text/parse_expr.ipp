#pragma once

#include <bit>
#include <charconv>
#include <lathe/ir/impl/text/parser.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline constexpr int kParseHeight = 2000;

struct InfixRow {
  std::string_view text;
  BinaryOp op;
};
inline constexpr InfixRow kInfixRows[] = {
#define LATHE_OP(name, text) {text, BinaryOp::name},
    LATHE_BINARY_OPS(LATHE_OP)
#undef LATHE_OP
};
struct CallRow {
  std::string_view text;
  CallOp op;
};
inline constexpr CallRow kCallRows[] = {
#define LATHE_OP(name, arity, pure) {#name, CallOp::name},
    LATHE_CALL_OPS(LATHE_OP)
#undef LATHE_OP
};

/// The operator with this spelling; whether it is a word or a symbol is the caller's to ask.
inline const BinaryOp* binary_op(std::string_view text) {
  for (const auto& row : kInfixRows)
    if (row.text == text) return &row.op;
  return nullptr;
}

/// Checks the node's types; they are the only thing in it that can be wrong.
template <class Node, class... Args>
Parser::Value Parser::build(const Token& at, int height, Args&&... args) {
  if (height >= kParseHeight)
    fail(at, "L0505", cat("an expression of more than ", kParseHeight, " levels"));
  Value value{make_ref<Node>(std::forward<Args>(args)...), height + 1};
  auto problem = typing_problem(value.e);
  if (!problem.empty()) fail(at, "L0503", problem);
  return value;
}

inline Parser::Value Parser::expr(int precedence) {
  Value left = unary();
  while (peek().kind == TokenKind::symbol && !line_ended()) {
    const BinaryOp* op = binary_op(peek().text);
    if (!op || infix_precedence(*op) < precedence) break;
    const Token& at = take();
    Value right = expr(infix_precedence(*op) + 1);
    DType type = left.e.dtype();
    if (type != right.e.dtype())
      fail(at, "L0503",
           cat("the operands of '", at.text, "' differ in type: ", type.str(), " and ",
               right.e.dtype().str()));
    if (is_comparison(*op)) type = kBool.with_lanes(type.lanes);
    left = build<BinaryNode>(at, std::max(left.height, right.height), type, *op, left.e, right.e);
  }
  return left;
}

inline Parser::Value Parser::unary() {
  Level level(*this);
  Value value;
  const Token& at = peek();
  if (at.kind != TokenKind::symbol) return literal(false, value) ? value : primary();
  if (at.is("-") && peek(1).glued) {
    take();
    if (literal(true, value)) return value;
    --at_;
  }
  for (UnaryOp op : {UnaryOp::neg, UnaryOp::not_, UnaryOp::bit_not}) {
    if (!accept(op_text(op))) continue;
    value = unary();
    return build<UnaryNode>(at, value.height, op, value.e);
  }
  if (!accept("(")) expected("an expression");
  if (peek().is_word("let")) return let_chain();
  value = expr();
  expect(")");
  return value;
}

inline Parser::Value Parser::primary() {
  if (peek().kind != TokenKind::name || line_ended()) expected("an expression");
  const Token& word = peek();
  if (!word.quoted && (peek(1).is("(") || word.text == "reinterpret")) return call(word);
  return reference();
}

inline Parser::Value Parser::reference() {
  const Token& at = peek();
  std::string text = name("an expression");
  Meaning meaning = meaning_of(at, text);
  if (meaning.var) return {meaning.var, 1};
  if (!peek().is("["))
    fail(at, "L0501", cat("'", text, "' is a buffer; write its indices between brackets"));
  Place to = place(at, *meaning.buffer);
  int lanes = 1;
  for (const auto& i : to.indices)
    if (i.dtype().is_vector()) lanes = i.dtype().lanes;
  DType type = lanes == 1 ? meaning.buffer->dtype : meaning.buffer->dtype.with_lanes(lanes);
  return build<LoadNode>(at, to.height, type, meaning.buffer, std::move(to.indices),
                         std::move(to.mask));
}

inline void Parser::check_rank(const Token& at, const BufferNode& buffer, std::size_t count) const {
  if (static_cast<int>(count) == buffer.rank() || (stage_ >= Stage::flat && count == 1)) return;
  fail(at, "L0503",
       cat('\'', buffer.name, "' has rank ", buffer.rank(), " and ", count,
           count == 1 ? " index" : " indices"));
}

inline Parser::Place Parser::place(const Token& at, const BufferNode& buffer) {
  Level level(*this);
  Place out;
  expect("[");
  if (!peek().is("]") && !peek().is_word("where")) {
    do {
      Value index = expr();
      out.height = std::max(out.height, index.height);
      out.indices.push_back(std::move(index.e));
    } while (accept(","));
  }
  if (accept_word("where")) {
    Value value = expr();
    out.height = std::max(out.height, value.height);
    out.mask = std::move(value.e);
  }
  expect("]");
  check_rank(at, buffer, out.indices.size());
  return out;
}

/// Expressions up to the closing symbol, which is taken.
inline Vec<AnyExpr> Parser::exprs(std::string_view close, int& height) {
  Vec<AnyExpr> list;
  if (accept(close)) return list;
  do {
    Value value = expr();
    height = std::max(height, value.height);
    list.push_back(std::move(value.e));
  } while (accept(","));
  expect(close);
  return list;
}

inline Parser::Value Parser::let_chain() {
  const Token& first = peek();
  Vec<LetBinding> bindings;
  int height = 1;
  while (accept_word("let")) {
    const Token& at = peek();
    std::string text = name("a name");
    expect("=");
    Value value = expr();
    expect_word("in");
    VarRef var = make_var(text, value.e.dtype());
    declare(at, text, {var, {}}, true);
    height = std::max(height, value.height);
    bindings.push_back({var, std::move(value.e)});
  }
  Value result = expr();
  expect(")");
  height = std::max(height, result.height);
  for (const auto& b : reversed(bindings)) names_.release(b.var->name);
  if (const auto* inner = result.e.as<LetNode>()) {
    bindings.append(inner->bindings.begin(), inner->bindings.end());
    return build<LetNode>(first, height, std::move(bindings), inner->body);
  }
  return build<LetNode>(first, height, std::move(bindings), result.e);
}

// A word and an opening parenthesis.
inline Parser::Value Parser::call(const Token& word) {
  DType type;
  if (word.text == "select") {
    take(), take();
    int height = 1;
    auto args = exprs(")", height);
    if (args.size() != 3) fail(word, "L0501", "select has three arguments");
    return build<SelectNode>(word, height, args[0], args[1], args[2]);
  }
  if (word.text == "ramp" || word.text == "broadcast") return vector(word);
  if (word.text == "shuffle") return shuffle(word);
  if (word.text == "reinterpret") return reinterpret(word);
  if (!parse_dtype(word.text, type)) return function(word);
  take(), take();
  Value value = expr();
  expect(")");
  return build<CastNode>(word, value.height, type, value.e);
}

inline Parser::Value Parser::function(const Token& word) {
  const BinaryOp* op = binary_op(word.text);
  for (const auto& row : kCallRows)
    if (row.text == word.text) return arguments(word, row.op);
  if (!op) fail(word, "L0502", cat("there is no function ", describe(word)));
  take(), take();
  int height = 1;
  auto args = exprs(")", height);
  if (args.size() != 2) fail(word, "L0501", cat(describe(word), " has two arguments"));
  return build<BinaryNode>(word, height, args[0].dtype(), *op, args[0], args[1]);
}

inline Parser::Value Parser::arguments(const Token& word, CallOp op) {
  take(), take();
  int height = 1;
  auto args = exprs(")", height);
  if (static_cast<int>(args.size()) != op_arity(op))
    fail(
        word, "L0501",
        cat(describe(word), " has ", op_arity(op), op_arity(op) == 1 ? " argument" : " arguments"));
  DType type = args[0].dtype();
  if (op == CallOp::is_nan) type = kBool.with_lanes(type.lanes);
  return build<CallNode>(word, height, type, op, std::move(args));
}

inline Parser::Value Parser::reinterpret(const Token& word) {
  take();
  expect("<");
  DType type = dtype();
  expect(">");
  expect("(");
  Value value = expr();
  expect(")");
  return build<CallNode>(word, value.height, type, CallOp::reinterpret, Vec<AnyExpr>{value.e});
}

inline Parser::Value Parser::vector(const Token& word) {
  take(), take();
  Value value = expr(), stride;
  expect(",");
  if (word.text == "ramp") stride = expr(), expect(",");
  const Token& at = peek();
  int lanes = static_cast<int>(integer("a number of lanes", 2, 65535));
  if (lanes * static_cast<int>(value.e.dtype().lanes) > 65535)
    fail(at, "L0504", "a vector has at most 65535 lanes");
  expect(")");
  int height = std::max(value.height, stride.height);
  if (word.text == "ramp") return build<RampNode>(word, height, value.e, stride.e, lanes);
  return build<BroadcastNode>(word, height, value.e, lanes);
}

inline Parser::Value Parser::shuffle(const Token& word) {
  take(), take();
  int height = 1;
  Vec<AnyExpr> vectors = exprs(";", height);
  Vec<int> lanes;
  if (vectors.empty()) fail(word, "L0501", "shuffle needs a vector");
  do lanes.push_back(static_cast<int>(integer("a lane", 0, INT32_MAX)));
  while (accept(","));
  if (lanes.size() > 65535) fail(word, "L0504", "a vector has at most 65535 lanes");
  expect(")");
  DType type = vectors[0].dtype().with_lanes(static_cast<int>(lanes.size()));
  return build<ShuffleNode>(word, height, type, std::move(vectors), std::move(lanes));
}

/// A literal, whose sign has been read; false if there is none.
inline bool Parser::literal(bool negative, Value& out) {
  const Token& at = peek();
  if (at.kind == TokenKind::number) return out.e = number(negative), true;
  if (at.kind != TokenKind::name || at.quoted || line_ended()) return false;
  if (!negative && (at.text == "true" || at.text == "false"))
    return out.e = make_bool(take().text == "true"), true;
  DType type = kF32;
  std::string_view word = at.text;
  auto dot = word.find('.');
  if (dot != std::string_view::npos) {
    if (!parse_dtype(word.substr(0, dot), type)) return false;
    word.remove_prefix(dot + 1);
    if (word != "inf" && word != "nan") return false;
  }
  if (word != "inf" && word != "nan") return false;
  if (!type.is_float() || type.is_vector()) fail(at, "L0504", "this is not a scalar floating type");
  take();
  if (word == "nan") return out.e = nan(type, negative), true;
  AnyExpr inf = make_float(type, negative ? -HUGE_VAL : HUGE_VAL);
  if (type.code == TypeCode::e4m3) fail(at, "L0504", "f8e4m3 has no infinity");
  return out.e = inf, true;
}

inline AnyExpr Parser::nan(DType type, bool negative) {
  std::uint64_t bits = 0x7ff8000000000000;
  if (accept("(")) {
    const Token& at = take();
    const char* end = at.text.data() + at.text.size();
    bool hex = at.kind == TokenKind::number && at.text.size() > 2 && at.text[1] == 'x';
    auto read = hex ? std::from_chars(at.text.data() + 2, end, bits, 16) : std::from_chars_result{};
    if (!hex || read.ptr != end || read.ec != std::errc() ||
        std::bit_cast<double>(bits) == std::bit_cast<double>(bits))
      fail(at, "L0504", "expected the bits of a NaN of type f64 as a hexadecimal number");
    expect(")");
  }
  if (negative) bits ^= std::uint64_t{1} << 63;
  // Bits that the type has no room for are lost, as they are by any other way to a constant.
  return make_float(type, std::bit_cast<double>(bits));
}

/// The value of an integer literal in its type; false if it does not fit.
inline bool integer_value(std::string_view digits, DType type, bool negative, std::int64_t& out) {
  std::uint64_t magnitude = 0;
  auto read = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return false;
  std::uint64_t top = ~std::uint64_t{0} >> (64 - type.bits);
  if (type.is_signed())
    top = negative ? top / 2 + 1 : top / 2;
  else if (negative && magnitude != 0)
    return false;
  out = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return magnitude <= top;
}

inline bool float_value(std::string_view digits, DType type, bool negative, double& out) {
  float single = 0;
  if (type.bits == 32 ? !parse_float(digits, single) : !parse_float(digits, out)) return false;
  if (type.bits == 32) out = static_cast<double>(single);
  out = round_to(type, negative ? -out : out);
  return out - out == 0;
}

inline AnyExpr Parser::number(bool negative) {
  const Token& at = take();
  std::string_view text = at.text;
  std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits < text.size() && text[digits] == 'e')
    digits = std::min(text.find_first_not_of("0123456789", digits + 2), text.size());
  digits = std::min(digits, text.size());
  bool is_float = text.substr(0, digits).find_first_of(".e") != std::string_view::npos;
  DType type = is_float ? kF32 : kIndex;
  if (digits < text.size() &&
      (!parse_dtype(text.substr(digits), type) || type.is_vector() || type.is_bool()))
    fail(at, "L0504",
         cat(describe(at), " is no number; after the digits comes nothing or a scalar type"));
  std::int64_t i = 0;
  double f = 0;
  bool fits = type.is_float() ? float_value(text.substr(0, digits), type, negative, f)
              : is_float      ? false
                              : integer_value(text.substr(0, digits), type, negative, i);
  if (!fits)
    fail(at, "L0504",
         cat(negative ? "-" : "", at.text.substr(0, 60), " does not fit ", type.str()));
  return make_ref<ConstNode>(type, i, f);
}

inline void Parser::range(AnyExpr& min, AnyExpr& extent) {
  min = expr().e;
  const Token& at = peek();
  if (accept("..+")) return void(extent = expr().e);
  expect("..");
  AnyExpr end = expr().e;
  const auto *lo = min.as<ConstNode>(), *hi = end.as<ConstNode>();
  std::int64_t count = 0;
  if (lo && lo->dtype == kIndex && lo->i == 0) return void(extent = end);
  if (!lo || !hi || lo->dtype != kIndex || hi->dtype != kIndex)
    return void(extent =
                    build<BinaryNode>(at, 1, end.dtype(), BinaryOp::sub, end, fresh_lets(min)).e);
  if (__builtin_sub_overflow(hi->i, lo->i, &count))
    fail(at, "L0504", "the range is longer than an i64 can count");
  extent = make_int(kIndex, count);
}

}  // namespace detail
}  // namespace lathe
