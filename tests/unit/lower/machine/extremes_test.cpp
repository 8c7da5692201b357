// Extremes that ignore NaN and the sign of zeros, and when the loop runs again.
#include <cmath>
#include <cstring>
#include <lathe/ir/parse.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <limits>

#include "../../codegen/against.hpp"

using namespace test;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;)
    text.replace(at, what.size(), by);
  return text;
}

/// Of each row of 40 a vector of 8 windows, one of 2 and all elements.
lt::Program row_extremes(const std::string& fold, const std::string& identity) {
  const std::string text = R"(program rows(in x: f32[360], out y: f32[27]) stage flat:
  for i in 0..9:
    alloc m: f32x16[] scope register
    m[] = broadcast(ID, 16)
    for r in 0..8:
      m[] = FOLD(x[ramp(i * 40 + r * 3, 1, 16)], m[])
    y[i] = FOLD(shuffle(m[]; 0), shuffle(m[]; 5))
    alloc few: f32x16[] scope register
    few[] = broadcast(ID, 16)
    for r in 0..2:
      few[] = FOLD(few[], x[ramp(i * 40 + r * 16, 1, 16)])
    y[i + 9] = shuffle(few[]; 3)
    alloc t: f32[] scope register
    t[] = x[i * 40]
    for r in 0..40:
      t[] = FOLD(t[], x[i * 40 + r])
    y[i + 18] = t[]
)";
  return lt::parse(replaced(replaced(text, "FOLD", fold), "ID", identity));
}

}  // namespace

TEST_CASE("one comparison a term, and the loop again where that may be wrong") {
  const std::string text = lt::guess_extremes(row_extremes("max", "-inf")).str();
  CHECK(text.find("fast_max(term, m[])") != std::string::npos);
  CHECK(text.find("fast_max(term, t[])") != std::string::npos);
  // Two terms are fewer than the test after them takes.
  CHECK(text.find("few_sum") == std::string::npos);
}

TEST_CASE("NaN, both zeros and both infinities in each place give what max and min mean") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {std::nanf(""), 0.0F, -0.0F, kInf, -kInf, 1.0F, -2.0F};
  for (const char* fold : {"max", "min"}) {
    const lt::Program before = row_extremes(fold, std::string(fold) == "max" ? "-inf" : "inf");
    const lt::Program after = lt::guess_extremes(before);
    for (std::size_t shift = 0; shift < 7; ++shift) {
      std::vector<float> x(9 * 40);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const std::size_t row = k / 40;
        x[k] = special[k % 11 == row ? (k / 11) % 7 : (row + shift) % 7];
      }
      Bytes in, out;
      in.data.resize(x.size() * 4), out.data.resize(27 * 4);
      std::memcpy(in.data.data(), x.data(), in.data.size());
      const std::vector<Bytes> wanted = evaluated(before, {in, out});
      CHECK(check_against_evaluator(after, {in, out})[1].data == wanted[1].data);
    }
  }
}
