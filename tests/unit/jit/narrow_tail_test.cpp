#include <doctest/doctest.h>

#include <algorithm>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/skip.hpp>
#include <vector>

namespace lt = lathe;

namespace {

/// Whether a masked tail of n elements leaves what lies behind it.
template <class T>
void check_tail(std::int64_t n, int lanes) {
  lt::Input<std::int32_t, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return lt::cast<T>(X(i)); });
  lt::Schedule s(Y);
  s.vectorize(s.split(s.loops(Y)[0], {lt::infer, lanes}, lt::Tail::mask)[1]);
  std::vector<std::int32_t> x(static_cast<std::size_t>(n), 3);
  std::vector<T> memory(static_cast<std::size_t>(n) + 32, T(7));
  lt::jit(s, X, Y)(x, lt::View<T, 1>(memory.data(), {n}));
  INFO(n << " elements of " << sizeof(T) << " bytes, " << lanes << " lanes");
  std::vector<float> wanted(memory.size(), 7), found;
  std::fill_n(wanted.begin(), n, 3.0f);
  for (T v : memory) found.push_back(static_cast<float>(v));
  CHECK(found == wanted);
}

}  // namespace

// LLVM 22 makes a store of 4 bytes of a masked one of one lane of 2.
TEST_CASE("masked tails of narrow types store their own elements alone") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  for (std::int64_t n : {1, 3, 8, 9, 17, 25, 31})
    for (int lanes : {4, 8, 16, 32}) {
      check_tail<std::int8_t>(n, lanes);
      check_tail<std::int16_t>(n, lanes);
      check_tail<lt::f16>(n, lanes);
      check_tail<lt::bf16>(n, lanes);
    }
}
