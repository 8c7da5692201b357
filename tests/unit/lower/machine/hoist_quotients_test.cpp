// Quotients of indices ahead of the loops that they do not depend on.
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <support/text.hpp>

#include "../../codegen/against.hpp"

using namespace lathe;
using namespace test;

namespace {

/// The pass on a program of `n` and `i32` arrays, whose results stay what they are for these n.
std::string hoisted(const std::string& body,
                    std::initializer_list<std::int64_t> sizes = {0, 3, 8}) {
  const Program p = parse(
      "program k<n, m>(in X: i32[n], in at: i64[n], inout Y: i32[n], in Z: i32[m]) stage flat:\n" +
      body);
  const Program out = hoist_quotients(p);
  CHECK(verify_reason(out, Stage::flat) == "");
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    const auto count = static_cast<std::size_t>(n);
    std::vector<std::int32_t> x(count), y(count);
    std::vector<std::int64_t> at(count);
    for (std::size_t k = 0; k < count; ++k)
      x[k] = static_cast<std::int32_t>(10 * k), y[k] = static_cast<std::int32_t>(k),
      at[k] = static_cast<std::int64_t>(count - k);
    const std::vector<Bytes> in{Bytes::of(x), Bytes::of(at), Bytes::of(y), Bytes::of(x)};
    const std::vector<std::uint64_t> dims{to_slot(n), to_slot(n)};
    CHECK(evaluated(p, in, dims)[2].data == evaluated(out, in, dims)[2].data);
  }
  return out.str();
}

}  // namespace

TEST_CASE("a remainder stands ahead of the inner loop, once, also where an arm needs it") {
  const std::string text = hoisted(R"(  for i in 0..n:
    for j in 0..n:
      Y[j] = select(j < 2, X[(i + 1) % n], Y[j]) + X[(i + 1) % n]
)");
  CHECK(has(text, "    let quotient = (i + 1) % n\n    for j in 0..n:\n"));
  CHECK(has(text, "select(j < 2, X[quotient], Y[j]) + X[quotient]"));
}

TEST_CASE("each goes as far as it may: what depends on nothing ahead of all loops") {
  const std::string text = hoisted(R"(  for i in 0..n:
    for j in 0..n:
      Y[(i + n / m + j % n) % n] = X[m / n - 1]
)");
  CHECK(text.find("let quotient = n / m") < text.find("for i in"));
  CHECK(text.find("m / n") < text.find("for i in"));
  CHECK(text.find("j % n") > text.find("for j in"));
}

TEST_CASE("a let moves as a whole, and what it binds does not leave it") {
  const std::string text = hoisted(R"(  for i in 0..n:
    for j in 0..n:
      Y[j] = Y[j] + X[(let a = i + 2 in let rest = a % n in rest + select(rest < 0, n, 0))]
)");
  CHECK(has(text, "let quotient = (let a = i + 2 in let rest = a % n in"));
  CHECK(has(text, "Y[j] = Y[j] + X[quotient]"));
}

TEST_CASE("what is loaded, constant, or bound in the loop stays where it is") {
  CHECK(!has(hoisted(R"(  for i in 0..n:
    for j in 0..n:
      let s = j + 1:
        Y[j] = X[at[i] % n] + X[i / 2] + X[s % n] + X[j % n]
)"),
             "quotient"));
}

TEST_CASE("threads compute their own: nothing leaves a loop that runs in parallel") {
  const std::string text = hoisted(R"(  parallel for i in 0..n:
    for j in 0..n:
      Y[i] = Y[i] + X[n / m - 1]
)");
  CHECK(has(text, "  parallel for i in 0..n:\n    let quotient = n / m\n    for j"));
}
