// The bounds of docs/math.md, on a sample of what math_error measures.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <lathe/runtime/llvm.hpp>
#include <sstream>

#include "measure.hpp"
#include "support/root.hpp"
#include "support/skip.hpp"

using namespace test;

namespace {

constexpr lathe::Math kLevels[] = {lathe::Math::accurate, lathe::Math::normal, lathe::Math::fast};

/// That the function keeps its bound and `more`, or is refused where it has none.
template <class T, class Measure>
void check_bound(const MathFunction<T>& function, lathe::JitOptions options, double more,
                 const Measure& measure) {
  const lathe::Math math = options.math;
  CAPTURE(std::string(function.name));
  CAPTURE(static_cast<int>(math));
  const double bound = function.bounds.at(math);
  Worst<T> worst;
  std::string refusal;
  try {
    MeasuredFunction<T> measured(function, options);
    measure(measured);
    worst = measured.worst();
  } catch (const lathe::UserError& error) {
    refusal = error.what();
  }
  CAPTURE(worst.x);
  CAPTURE(worst.y);
  CAPTURE(worst.got);
  CAPTURE(refusal);
  CHECK((refusal.find("L0605") != refusal.npos) == (bound == kNone));
  if (bound != kNone) CHECK(worst.ulp <= bound + more);
}

/// 2^22 arguments for the level that users have by default, 2^18 for the others.
constexpr int sample_bits(lathe::Math math) { return math == lathe::Math::normal ? 22 : 18; }

}  // namespace

TEST_CASE("f32 functions keep their bounds on 2^22 arguments") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (const auto& function : math_functions<float>())
    for (const lathe::Math math : kLevels)
      check_bound(function, {.math = math}, 0, [&](MeasuredFunction<float>& measured) {
        const int bits = sample_bits(math);
        if (function.arguments == 1)
          measured.measure(std::int64_t{1} << bits, [bits](std::int64_t n) {
            return std::pair(spread_float(n, bits), 1.f);
          });
        else
          measured.measure(std::int64_t{1} << (bits - 2), RandomArguments<float>(5));
      });
}

TEST_CASE("levels that are not normal keep bounds 1 wider without fma") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  const lathe::Target plain("x86-64");
  if (!plain.runs_on(lathe::host())) LATHE_SKIP("no x86-64");
  for (const auto& function : math_functions<float>())
    for (const lathe::Math math : {lathe::Math::accurate, lathe::Math::fast})
      check_bound(function, {.target = plain, .math = math}, 1,
                  [](MeasuredFunction<float>& measured) {
                    measured.measure(1 << 14, RandomArguments<float>(7));
                  });
}

TEST_CASE("f64 functions keep their bounds on 2^18 arguments") {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (const auto& function : math_functions<double>())
    for (const lathe::Math math : kLevels)
      check_bound(function, {.math = math}, 0, [&](MeasuredFunction<double>& measured) {
        measured.measure(std::int64_t{1} << (sample_bits(math) - 4), RandomArguments<double>(6));
      });
}

namespace {

template <class T>
std::vector<T> results(std::string_view name, std::vector<T> x) {
  std::vector<T> out(x.size());
  for (const auto& function : math_functions<T>()) {
    if (function.name != name) continue;
    const auto kernel = MeasuredFunction<T>::compiled(function);
    kernel(x, x, out);
  }
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("functions that are made of others have the limits of what they are made of", T,
                   float, double) {
  if (!lathe::Llvm::find()) LATHE_SKIP("no LLVM here");
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (std::string_view name : {"sigmoid", "silu", "gelu", "gelu_tanh", "rsqrt"})
    CHECK(std::isnan(results<T>(name, {nan})[0]));
  CHECK(results<T>("sigmoid", {inf, -inf, 0, 1000}) == std::vector<T>{1, 0, T(0.5), 1});
  for (std::string_view name : {"silu", "gelu", "gelu_tanh"})
    CHECK(results<T>(name, {inf, 0, 1000}) == std::vector<T>{inf, 0, 1000});
  CHECK(results<T>("rsqrt", {inf, 0, T(-0.0), 4}) == std::vector<T>{0, inf, -inf, T(0.5)});
}

namespace {

/// The cells of a row of a table, of the first row that begins with this name.
std::vector<std::string> row_of(const std::string& page, const std::string& name) {
  std::vector<std::string> cells;
  const std::size_t start = page.find("\n| " + name + " |");
  if (start == page.npos) return cells;
  std::istringstream line(page.substr(start + 2, page.find('\n', start + 1) - start - 2));
  for (std::string cell; std::getline(line, cell, '|');) cells.push_back(cell);
  return cells;
}

}  // namespace

TEST_CASE("docs/math.md has errors of all functions, within their bounds") {
  std::ifstream file(test::root() / "../docs/math.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const auto narrow = math_functions<float>();
  const auto wide = math_functions<double>();
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    CAPTURE(std::string(narrow[k].name));
    // | function | is | accurate f32 | f64 | normal f32 | at | f64 | fast f32 |
    const std::vector<std::string> cells = row_of(page, std::string(narrow[k].name));
    REQUIRE(cells.size() == 8);
    const std::pair<int, double> columns[] = {{2, narrow[k].bounds.accurate},
                                              {3, wide[k].bounds.accurate},
                                              {4, narrow[k].bounds.normal},
                                              {6, wide[k].bounds.normal},
                                              {7, narrow[k].bounds.fast}};
    for (const auto& [column, bound] : columns) {
      const std::string& cell = cells[static_cast<std::size_t>(column)];
      if (bound == kNone)
        CHECK(cell == " refused ");
      else
        CHECK(std::atof(cell.c_str()) <= bound);
      if (bound != kNone) CHECK(std::atof(cell.c_str()) >= 0.5 - 1e-3);
    }
  }
}
