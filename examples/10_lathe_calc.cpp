// A formula typed on the command line, parsed into an expression and compiled: 10_lathe_calc
// "exp(-x*x)*sin(8*x)"
#include <cctype>
#include <lathe/lathe.hpp>
#include <stdexcept>

#include "common/check.hpp"
#include "peers/calc.hpp"

namespace lt = lathe;

// [calc parser]
// sum     := product (("+" | "-") product)*
// product := factor (("*" | "/") factor)*
// factor  := "-" factor | atom ["^" factor]
// atom    := number | "x" | name "(" sum, ... ")" | "(" sum ")"
class Formula {
 public:
  Formula(std::string text, lt::AnyExpr x) : text_(std::move(text)), x_(std::move(x)) {}

  lt::AnyExpr parse() {
    lt::AnyExpr all = sum();
    if (next() != '\0') fail("an operator or the end");
    return all;
  }

 private:
  lt::AnyExpr sum() {
    lt::AnyExpr left = product();
    for (;;) {
      if (take('+'))
        left = left + product();
      else if (take('-'))
        left = left - product();
      else
        return left;
    }
  }
  lt::AnyExpr product() {
    lt::AnyExpr left = factor();
    for (;;) {
      if (take('*'))
        left = left * factor();
      else if (take('/'))
        left = left / factor();
      else
        return left;
    }
  }
  lt::AnyExpr factor() {
    if (take('-')) return -factor();
    lt::AnyExpr base = atom();
    return take('^') ? lt::make_call(lt::CallOp::pow, {base, factor()}) : base;
  }
  lt::AnyExpr atom() {
    const char c = next();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      std::size_t length = 0;
      const double value = std::stod(text_.substr(at_), &length);
      at_ += length;
      return lt::make_float(lt::kF32, value);
    }
    if (take('(')) return closed(sum());
    const std::size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string name = text_.substr(start, at_ - start);
    if (name == "x") return x_;
    if (name.empty() || !take('(')) fail("a number, x, or a function");
    return call(name, start);
  }
  // Any function of floats that expressions have: exp, sin, tanh, erf, pow, fma, min, ...
  lt::AnyExpr call(const std::string& name, std::size_t start) {
    std::vector<lt::AnyExpr> args = {sum()};
    while (take(',')) args.push_back(sum());
    closed(args[0]);
    for (lt::BinaryOp op : {lt::BinaryOp::min, lt::BinaryOp::max})
      if (name == lt::op_text(op) && args.size() == 2) return lt::make_binary(op, args[0], args[1]);
    for (int k = 0; k <= static_cast<int>(lt::CallOp::copysign); ++k) {
      const lt::CallOp op = static_cast<lt::CallOp>(k);
      if (name == lt::op_text(op) && args.size() == static_cast<std::size_t>(lt::op_arity(op)))
        return lt::make_call(op, args);
    }
    at_ = start;
    fail("a function with this number of arguments");
  }

  lt::AnyExpr closed(lt::AnyExpr inner) {
    if (!take(')')) fail("')'");
    return inner;
  }
  char next() {
    while (text_[at_] == ' ') ++at_;
    return text_[at_];
  }
  bool take(char c) { return next() == c && ++at_; }
  [[noreturn]] void fail(const std::string& expected) const {
    throw std::invalid_argument(text_ + "\n" + std::string(at_, ' ') + "^ expected " + expected);
  }

  std::string text_;
  lt::AnyExpr x_;
  std::size_t at_ = 0;
};
// [calc parser]

static void calculate(const std::string& text, bool beside_plain) {
  constexpr int n = 1 << 22;
  // [calc]
  lt::AnyTensor x = lt::make_input("x", lt::kF32, {n});
  lt::AnyTensor y = lt::compute_any("y", {n}, [&](std::span<const lt::VarRef> i) {
    return lt::AnyValue(Formula(text, x.at({i[0]})).parse());
  })[0];
  // A formula need not mention x.
  const lt::Source formula(y, {.unread_inputs = lt::UnreadInputs::allow});
  const lt::AnyKernel compiled = lt::jit_any(formula, {x, y});
  const lt::AnyKernel interpreted = lt::evaluate_any(formula, {x, y});
  // [calc]

  std::vector<float> from(n), to(n), wanted(n);
  for (int i = 0; i < n; ++i) from[i] = static_cast<float>(i) * (8.0f / n) - 4.0f;
  const auto in = lt::view(from), out = lt::view(to), reference = lt::view(wanted);
  const lt::AnyView args[] = {in, out}, reference_args[] = {in, reference};
  compiled(args);
  interpreted(reference_args);
  std::printf("%s\n", text.c_str());
  for (int i : {n / 4, n / 2, n / 8 * 5}) std::printf("  at x = %g: %.4f\n", from[i], to[i]);
  example::expect_close("compiled against the evaluator", to, wanted, 1e-5);

  const auto ms = example::best_ms({[&] { compiled(args); }, [&] { interpreted(reference_args); }});
  std::printf("all threads: evaluator %.2f ms, compiled %.2f ms: %.0fx\n", ms[1], ms[0],
              ms[1] / ms[0]);
  if (!beside_plain) return;

  lt::Context one_thread({.threads = 1});
  const lt::AnyKernel alone = lt::jit_any({y, {.context = &one_thread}}, {x, y});
  const auto single =
      example::best_ms({[&] { alone(args); }, [&] { peers::default_formula(from, wanted); }});
  example::expect_close("compiled against C++ that was compiled ahead", to, wanted, 1e-5);
  std::printf("one thread: C++ compiled ahead %.2f ms, compiled now %.2f ms: %.1fx\n", single[1],
              single[0], single[1] / single[0]);
}

int main(int argc, char** argv) try {
  const std::string formula = "exp(-x*x)*sin(8*x)";
  calculate(argc > 1 ? argv[1] : formula, argc < 2 || argv[1] == formula);
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 1;
}
