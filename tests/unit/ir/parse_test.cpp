#include <doctest/doctest.h>

#include <clocale>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

#include "support/programs.hpp"
#include "support/random_ir.hpp"

using namespace lathe;

namespace {

void check_round_trip(const Program& p) {
  std::string text = p.str();
  Program again = parse(text);
  CHECK(again.str() == text);
  CHECK(structurally_equal(p, again));
  CHECK(structural_hash(p) == structural_hash(again));
}

/// The error's text from its id to the line and the mark under it; the help and the caller's place
/// are left out.
std::string error_of(std::string_view text) {
  try {
    parse(text, {"here.cpp", 7});
  } catch (const UserError& error) {
    std::string what = error.what();
    auto at = what.find("\n  at here.cpp:7");
    return at == std::string::npos ? "no place in: " + what : what.erase(at, 16);
  }
  return "no error";
}
std::string message_of(std::string_view text) {
  std::string what = error_of(text);
  return what.substr(0, what.find('\n'));
}
/// The same for a body of one statement line.
std::string statement_error(std::string_view line) {
  return message_of("program p<n>(in A: f32[n, 4], out B: f32[4]):\n  " + std::string(line) + "\n");
}

}  // namespace

TEST_CASE("a range's min that binds a name stands in its length with another") {
  Program p = parse(
      "program p<n>(out X: f32[n]):\n  for i in (let a = n in a / 2 + a)..n:\n    X[i] = 1.0\n");
  check_round_trip(p);
}

TEST_CASE("programs come back as they were") {
  for (const Program& p :
       {test::gemm(4, 8, 16), test::symbolic_gemm(), test::online_softmax(4, 9),
        test::row_argmax(3, 5), test::stencil(10), test::stencil(10, false), test::gather(5, 6, 7),
        test::flat_axpb(100), test::gemm(0, 1, 2, kBF16), test::row_argmax(3, 5, kE4M3)})
    check_round_trip(p);
}

TEST_CASE("a program says whether it is scheduled") {
  const std::string plain = test::gemm(4, 8, 16).str();
  std::string text = plain;
  text.replace(text.find("):\n"), 3, ") scheduled:\n");
  const Program p = parse(text);
  CHECK(p->scheduled);
  CHECK(p.str() == text);
  check_round_trip(p);
  const Program other = parse(plain);
  CHECK_FALSE(structurally_equal(p, other));
  CHECK(structural_hash(p) != structural_hash(other));
  // What is lowered has no other loops to become.
  const Program lowered = p.with(p->body, Stage::loops);
  CHECK_FALSE(lowered->scheduled);
  CHECK(message_of("program p(out X: f32[1]) scheduled stage loops:\n  X[0] = 1.0\n") ==
        "error[L0501] parse: line 1, column 36: expected ':', found 'stage'");
  ProgramNode node = *lowered;
  node.scheduled = true;
  CHECK(verify_reason(Program(node), Stage::loops)
            .find("a lowered program that is called scheduled") != std::string::npos);
}

TEST_CASE("hand-written text may leave out what is usual and break lines inside brackets") {
  Program p = parse(
      "# adds one\n"
      "program add<n>(\n"
      "  X: f32[n],   # in is usual\n"
      "  out Y: f32[n]):\n"
      "\n"
      "   for i in 1..n:   # any deeper indentation will do\n"
      "        Y[i]=X[\n"
      "  i]+1.0\n");
  CHECK(p.str() ==
        "program add<n>(in X: f32[n], out Y: f32[n]):\n"
        "  for i in 1..n:\n"
        "    Y[i] = X[i] + 1.0\n");
  check_round_trip(p);
}

TEST_CASE("strides of parameters declare their variables") {
  Program p = parse(
      "program p<n>(in X: f32[n, 4] strides [row, 1], out Y: f32[n] strides [row]):\n  Y[0] = X[0, "
      "0]\n");
  const auto* x = p->params[0].buffer->strides[0].as<VarNode>();
  REQUIRE(x);
  CHECK(x == p->params[1].buffer->strides[0].get());
  check_round_trip(p);
}

TEST_CASE("built-in reducers need no definition; a definition of the same name wins") {
  std::string head = "program p(in X: f32[4], out Y: f32[]):\n";
  std::string tail =
      "  for r in 0..4:\n"
      "    block Y(reduce r in 0..4 = r) reduce sum init:\n"
      "      Y[] sum= X[r]\n";
  Program built_in = parse(head + tail);
  Program own = parse(
      head + "  reducer nonassociative noncommutative sum(a: f32 = 0.0; b) = a * 2.0 + b\n" + tail);
  Program same = parse(head + "  reducer sum(x: f32 = 0.0; y) = x + y\n" + tail);
  CHECK(structurally_equal(built_in, same));
  CHECK(same.str() == head + tail);
  CHECK(!structurally_equal(built_in, own));
  check_round_trip(own);
}

TEST_CASE("errors name line, column and what was expected") {
  CHECK(error_of("program p(in A: f32[4])\n  pass\n") ==
        "error[L0501] parse: line 1, column 24: expected ':', found the end of the line\n"
        "  program p(in A: f32[4])\n"
        "                         ^");
  CHECK(error_of("program p(out A: f32[4]):\n  for i in 0..:\n    pass\n") ==
        "error[L0501] parse: line 2, column 15: expected an expression, found ':'\n"
        "    for i in 0..:\n"
        "                ^");
  CHECK(message_of("") ==
        "error[L0501] parse: line 1, column 1: expected 'program', found the end of the text");
  CHECK(message_of("program p():\npass\n") ==
        "error[L0501] parse: line 2, column 1: expected a statement, indented further than what it "
        "belongs to ('pass' is none)");
  CHECK(message_of("program p():\n    pass\n  pass\n") ==
        "error[L0501] parse: line 3, column 3: expected the end of the text, found 'pass'");
  CHECK(message_of("program p():\n  pass\n    pass\n") ==
        "error[L0501] parse: line 3, column 5: the indentation is not that of the lines before");
  CHECK(message_of("program p():\n\tpass\n") ==
        "error[L0501] parse: line 2, column 1: a tab in an indentation; use blanks");
  CHECK(message_of("program p():\n  pass $\n") ==
        "error[L0501] parse: line 2, column 8: this character begins nothing");
  CHECK(message_of("program p(in x: f33):\n  pass\n") ==
        "error[L0501] parse: line 1, column 17: expected a type, found 'f33'");
  CHECK(statement_error("B[0] += 1.0") ==
        "error[L0501] parse: line 2, column 8: expected '=', found '+'");
  CHECK(statement_error("B[0] = 1.0 2.0") ==
        "error[L0501] parse: line 2, column 14: expected the end of the line, found '2.0'");
  CHECK(message_of("program p(out B: f32[4]):\n  for i in 0..4 @user.x=wide:\n    B[i] = 1.0\n") ==
        "error[L0501] parse: line 2, column 25: expected an integer or a string, found 'wide'");
  CHECK(statement_error("alloc C: f32[4]") ==
        "error[L0501] parse: line 3, column 1: expected a statement that uses 'C', or 'pass'");
}

TEST_CASE("errors of names") {
  CHECK(statement_error("B[i] = 1.0") ==
        "error[L0502] parse: line 2, column 5: there is no 'i' here");
  CHECK(statement_error("n[0] = 1.0") ==
        "error[L0502] parse: line 2, column 3: 'n' is a variable, not a buffer");
  CHECK(statement_error("B[0] = sinus(1.0)") ==
        "error[L0502] parse: line 2, column 10: there is no function 'sinus'");
  CHECK(statement_error("for n in 0..4:\n    pass") ==
        "error[L0502] parse: line 2, column 7: there is a 'n' already");
  CHECK(statement_error("for i in 0..4:\n    block b():\n      B[i] = 1.0") ==
        "error[L0502] parse: line 4, column 9: 'i' belongs to the loops around this block; use the "
        "block's iterators");
  CHECK(statement_error("block b(reduce r in 0..4 = 0) reduce median:\n    B[0] median= A[r, 0]") ==
        "error[L0502] parse: line 2, column 40: there is no reducer 'median' for (f32)");
  CHECK(statement_error("block b():\n    pass\n  block b():\n    pass") ==
        "error[L0502] parse: line 4, column 9: there is a block 'b' already");
}

TEST_CASE("errors of types and literals") {
  CHECK(statement_error("B[0] = 1.0 + 1") ==
        "error[L0503] parse: line 2, column 14: the operands of '+' differ in type: f32 and i64");
  CHECK(statement_error("B[0] = 1") ==
        "error[L0503] parse: line 2, column 3: store of i64: the value has another type than the "
        "buffer's elements");
  CHECK(statement_error("B[0] = A[0]") ==
        "error[L0503] parse: line 2, column 10: 'A' has rank 2 and 1 index");
  CHECK(statement_error("B[0] = exp(1)") ==
        "error[L0503] parse: line 2, column 10: the argument is not a float");
  CHECK(statement_error("B[0] = f32(256u8)") ==
        "error[L0504] parse: line 2, column 14: 256u8 does not fit u8");
  CHECK(statement_error("B[9223372036854775808] = 0.0") ==
        "error[L0504] parse: line 2, column 5: 9223372036854775808 does not fit i64");
  CHECK(statement_error("B[0] = 1e39") ==
        "error[L0504] parse: line 2, column 10: 1e39 does not fit f32");
  CHECK(statement_error("B[0] = 1.0f31") ==
        "error[L0504] parse: line 2, column 10: '1.0f31' is no number; after the digits comes "
        "nothing or a scalar type");
  CHECK(statement_error("assert true, \"x") ==
        "error[L0504] parse: line 2, column 16: the string has no closing '\"' on its line");
  CHECK(statement_error("B[0] = nan(0x1)") ==
        "error[L0504] parse: line 2, column 14: expected the bits of a NaN of type f64 as a "
        "hexadecimal number");
}

TEST_CASE("what the grammar allows and the stage does not") {
  CHECK(error_of("program p(in A: f32[4]):\n  for i in 0..4:\n    A[i] = 0.0\n") ==
        "error[L0506] program 'p': a store to 'A', which is an 'in' parameter\n"
        "  for i in 0..4:\n"
        "    A[i] = 0.0\n"
        "    ^^^^^^^^^^");
  CHECK(message_of(
            "program p(out A: f32[4]) stage loops:\n  block A(i in 0..4 = 0):\n    A[i] = 0.0\n") ==
        "error[L0506] program 'p': block 'A' at stage loops");
}

TEST_CASE("depth is bounded") {
  auto brackets = [](int n) {
    return message_of(
        "program p(out A: i64[]):\n  A[] = " + std::string(static_cast<std::size_t>(n), '(') + "1" +
        std::string(static_cast<std::size_t>(n), ')') + "\n");
  };
  auto sum = [](int n) {
    std::string text = "program p(out A: i64[]):\n  A[] = 1";
    for (int k = 0; k < n; ++k) text += " + 1";
    return message_of(text + "\n");
  };
  auto lets = [](int n) {
    std::string text = "program p(out A: i64[]):\n";
    for (int k = 0; k < n; ++k) text += "  let x" + std::to_string(k) + " = 1\n";
    return message_of(text + "  A[] = 1\n");
  };
  CHECK(brackets(150) == "no error");
  CHECK(brackets(250) ==
        "error[L0505] parse: line 2, column 208: brackets and bodies are nested more than 200 "
        "levels deep");
  CHECK(brackets(1000000).substr(0, 12) == "error[L0505]");
  CHECK(sum(1900) == "no error");
  CHECK(sum(2100).substr(0, 12) == "error[L0505]");
  CHECK(sum(1000000).substr(0, 12) == "error[L0505]");
  CHECK(lets(1900) == "no error");
  CHECK(lets(2100).substr(0, 12) == "error[L0505]");
  CHECK(message_of("program p(out A: i64[]):\n  A[] = " + std::string(1000000, '-') + "x")
            .substr(0, 12) == "error[L0505]");
  CHECK(message_of(std::string((1 << 24) + 1, ' ')).substr(0, 12) == "error[L0505]");
}

TEST_CASE("numbers read the same under every locale") {
  const char* old = std::setlocale(LC_ALL, nullptr);
  std::string keep = old ? old : "C";
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  std::setlocale(LC_ALL, "C.UTF-8");
  Program p = parse("program p(out A: f32[]):\n  A[] = 1.5\n");
  std::string text = p.str();
  std::setlocale(LC_ALL, keep.c_str());
  CHECK(text == "program p(out A: f32[]):\n  A[] = 1.5\n");
}

TEST_CASE("random programs round-trip") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Program p = test::RandomIr(seed).program();
    REQUIRE(verify_reason(p, p->stage) == "");
    check_round_trip(p);
  }
}

TEST_CASE("damaged text gives a program or a UserError") {
  int accepted = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    std::string text =
        seed % 3 ? test::symbolic_gemm().str() : test::RandomIr(seed).program().str();
    for (int k = 1 + random.below(4); k > 0; --k) {
      auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
      auto from = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
      switch (random.below(6)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text[at] = "()[]:,.;@=+-*/%<>\"` \n09aim"[random.below(25)];
          break;
        case 2:
          text.erase(at, 1 + static_cast<std::size_t>(random.below(8)));
          break;
        case 3:
          text.insert(at, text.substr(from, static_cast<std::size_t>(random.below(12))));
          break;
        case 4:
          text.resize(at + 1);
          break;
        default:
          std::swap(text[at], text[from]);
      }
    }
    CAPTURE(text);
    try {
      Program p = parse(text);
      check_round_trip(p);
      ++accepted;
    } catch (const UserError& error) {
      CHECK(error.id().substr(0, 3) == "L05");
      ++refused;
    }
  }
  CHECK(accepted > 15);
  CHECK(refused > 500);
}
