#include <doctest/doctest.h>

#include <algorithm>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/skip.hpp>
#include <vector>

namespace lt = lathe;

namespace {

constexpr std::int64_t kBehind = 32;

/// The memory of n results, 3 each, and of the 7s behind them, after a kernel with a masked tail.
template <class T>
std::vector<float> with_masked_tail(std::int64_t n, int lanes) {
  lt::Input<std::int32_t, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::cast<T>(X(i)); });
  lt::Schedule s(Y);
  s.vectorize(s.split(s.loops(Y)[0], {lt::infer, lanes}, lt::Tail::mask)[1]);
  std::vector<std::int32_t> x(static_cast<std::size_t>(n), 3);
  std::vector<T> memory(static_cast<std::size_t>(n + kBehind), T(7));
  lt::jit(s, X, Y)(x, lt::View<T, 1>(memory.data(), {n}));
  std::vector<float> found;
  for (T v : memory) found.push_back(static_cast<float>(v));
  return found;
}

}  // namespace

// LLVM 22 makes a store of 4 bytes of a masked one of one lane of 2.
TEST_CASE("masked tails of narrow types store their own elements alone") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (std::int64_t n : {1, 3, 8, 9, 17, 25, 31})
    for (int lanes : {4, 8, 16, 32}) {
      CAPTURE(n);
      CAPTURE(lanes);
      std::vector<float> wanted(static_cast<std::size_t>(n + kBehind), 7);
      std::fill_n(wanted.begin(), n, 3.0f);
      CHECK(with_masked_tail<std::int8_t>(n, lanes) == wanted);
      CHECK(with_masked_tail<std::int16_t>(n, lanes) == wanted);
      CHECK(with_masked_tail<lt::f16>(n, lanes) == wanted);
      CHECK(with_masked_tail<lt::bf16>(n, lanes) == wanted);
    }
}
