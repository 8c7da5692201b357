// Results that no cache holds get a schedule of their own. Here the caches are small, so that small
// programs get it: against the evaluator, at every alignment and for borders of all kinds.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lathe.hpp>
#include <string>
#include <vector>

namespace lt = lathe;
using std::int64_t;

namespace {

lt::Target small_caches() {
  lt::Target t = lt::host();
  t.l2_bytes = 64 << 10, t.l3_bytes = 32 << 10;
  return t;
}

/// A result at an address that is `past` bytes behind a cache line, with its surroundings.
template <class T>
class Result {
 public:
  Result(int64_t size, std::size_t past) : memory_(bytes(size) + 512, 0x5A), size_(size) {
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    at_ = (64 - start % 64) % 64 + 64 + past;
  }
  T* data() { return reinterpret_cast<T*>(memory_.data() + at_); }
  bool equals(const std::vector<T>& wanted) const {
    for (std::size_t k = 0; k < memory_.size(); ++k)
      if ((k < at_ || k >= at_ + bytes(size_)) && memory_[k] != 0x5A) return false;
    return std::memcmp(memory_.data() + at_, wanted.data(), bytes(size_)) == 0;
  }

 private:
  static std::size_t bytes(int64_t size) { return static_cast<std::size_t>(size) * sizeof(T); }
  std::vector<unsigned char> memory_;
  int64_t size_;
  std::size_t at_;
};

/// What is wrong with Y of X, both of this shape: nothing if it is scheduled to write lines past
/// the caches and has the evaluator's results, on one thread and more, wherever it lies.
template <class T, int R>
std::string mistake(const lt::Input<T, R>& X, const lt::Tensor<T, R>& Y,
                    const lt::ViewInt (&shape)[R]) {
  const lt::Target target = small_caches();
  const std::string schedule = lt::default_schedule(lt::program_of(Y), target).str();
  if (schedule.find("@`stream`=2") == std::string::npos) return "no streams: " + schedule;
  int64_t size = 1;
  for (const auto& n : shape) size *= n.value;
  std::vector<T> x(static_cast<std::size_t>(size)), wanted(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(k * 37 % 101);
  const lt::View<T, R> in(x.data(), shape);
  lt::evaluate(Y, X, Y)(in, lt::View<T, R>(wanted.data(), shape));
  for (int threads : {1, 3}) {
    lt::Context context({.threads = threads});
    auto f = lt::jit({Y, {.context = &context, .target = target}}, X, Y);
    for (std::size_t past : {0, 16, 4}) {
      Result<T> y(size, past / sizeof(T) * sizeof(T));
      f(in, lt::View<T, R>(y.data(), shape));
      if (!y.equals(wanted))
        return std::to_string(threads) + " threads, " + std::to_string(past) +
               " bytes behind a line";
    }
  }
  return {};
}

template <class T>
std::string mistake_in_runs(int64_t n) {
  lt::Input<T, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * T(3) + X(n - 1 - i); });
  return mistake<T, 1>(X, Y, {n});
}

}  // namespace

TEST_CASE("runs of one loop, of every element size and with every rest") {
  for (int64_t n : {65536, 65537, 81919, 70001}) CHECK(mistake_in_runs<float>(n) == "");
  CHECK(mistake_in_runs<double>(40000) == "");
  CHECK(mistake_in_runs<std::int32_t>(65600) == "");
}

TEST_CASE("rows of the output, and of windows with borders") {
  for (int64_t h : {9, 10, 11, 16})
    for (int64_t w : {1024, 1030, 2047}) {
      CAPTURE(h);
      CAPTURE(w);
      lt::Input<float, 2> X("X", {h, w});
      auto twice = lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
      CHECK(mistake<float, 2>(X, twice, {h, w}) == "");
      auto window = lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
        return X(lt::clamp(i - 1, 0, h - 1), j) + X(lt::clamp(i + 1, 0, h - 1), j) +
               X(i, lt::clamp(j + 1, 0, w - 1));
      });
      CHECK(mistake<float, 2>(X, window, {h, w}) == "");
    }
}

TEST_CASE("rows of a matrix of matrices") {
  lt::Input<float, 3> X("X", {3, 9, 1100});
  auto Y = lt::compute("Y", {3, 9, 1100}, [&](lt::Var b, lt::Var i, lt::Var j) {
    return lt::select(i < 8, X(b, i, j), X(2 - b, 8 - i, j));
  });
  CHECK(mistake<float, 3>(X, Y, {3, 9, 1100}) == "");
}
