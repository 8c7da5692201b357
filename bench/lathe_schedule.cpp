// Schedules by hand of programs of 2 to 10 blocks, each step timed on its own.
#include "core/measure.hpp"
#include "lathe_side.hpp"
#include "schedule_steps.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <lathe/schedule/core/schedule.hpp>
#endif

namespace bench {

void StepTimes::add(const std::string& primitive, double seconds) {
  Sum& sum = sums_[primitive];
  sum.seconds += seconds;
  ++sum.steps;
}

StepTimes::Sum StepTimes::total() const {
  Sum all;
  for (const auto& [primitive, sum] : sums_) {
    all.seconds += sum.seconds;
    all.steps += sum.steps;
  }
  return all;
}

#ifdef BENCH_HAS_LATHE_HEADER

namespace {

// Counts the time until the end of its scope to a primitive.
class StepClock {
 public:
  StepClock(StepTimes& times, const char* primitive)
      : times_(times), primitive_(primitive), start_(seconds_now()) {}
  ~StepClock() { times_.add(primitive_, seconds_now() - start_); }

 private:
  StepTimes& times_;
  const char* primitive_;
  double start_;
};

using Loop = lt::LoopRef;
using Block = lt::BlockName;

// A schedule whose steps are timed.
class TimedSchedule {
 public:
  explicit TimedSchedule(const lt::AnyTensor& output) : s_(output) {}
  StepTimes times;

  std::vector<Loop> loops(const Block& block) const { return s_.loops(block); }
  std::array<Loop, 2> split(const Loop& loop, int factor) {
    const StepClock clock(times, "split");
    return s_.split(loop, {lt::infer, factor});
  }
  Loop fuse(const Loop& a, const Loop& b) {
    const StepClock clock(times, "fuse");
    return s_.fuse(a, b);
  }
  void reorder(const std::vector<Loop>& order) {
    const StepClock clock(times, "reorder");
    s_.reorder(order);
  }
  void vectorize(const Loop& loop) {
    const StepClock clock(times, "vectorize");
    s_.vectorize(loop);
  }
  void unroll(const Loop& loop) {
    const StepClock clock(times, "unroll");
    s_.unroll(loop);
  }
  void parallel(const Loop& loop) {
    const StepClock clock(times, "parallel");
    s_.parallel(loop);
  }
  void compute_at(const Block& block, const Loop& loop) {
    const StepClock clock(times, "compute_at");
    s_.compute_at(block, loop);
  }
  void reverse_compute_at(const Block& block, const Loop& loop) {
    const StepClock clock(times, "reverse_compute_at");
    s_.reverse_compute_at(block, loop);
  }
  void compute_inline(const Block& block) {
    const StepClock clock(times, "compute_inline");
    s_.compute_inline(block);
  }
  lt::BlockRef cache_read(const Block& block, const lt::BufferName& buffer) {
    const StepClock clock(times, "cache_read");
    return s_.cache_read(block, buffer, lt::Scope::global);
  }
  lt::BlockRef cache_write(const Block& block) {
    const StepClock clock(times, "cache_write");
    return s_.cache_write(block, lt::Scope::local);
  }
  lt::BlockRef decompose_reduction(const Block& block, const Loop& loop) {
    const StepClock clock(times, "decompose_reduction");
    return s_.decompose_reduction(block, loop);
  }
  lt::BlockRef rfactor(const Loop& loop) {
    const StepClock clock(times, "rfactor");
    return s_.rfactor(loop);
  }

 private:
  lt::Schedule s_;
};

using Image = lt::Tensor<float, 2>;

// Ten stages of one size; next gives what a stage computes from the one before, none for the first.
template <class Next>
std::vector<Image> ten_stages(std::int64_t h, std::int64_t w, const Next& next) {
  std::vector<Image> all;
  for (int k = 0; k < 10; ++k) {
    all.push_back(lt::compute(
        std::string(1, static_cast<char>('A' + k)), {h, w},
        [&](lt::Var i, lt::Var j) { return next(k, k == 0 ? nullptr : &all.back(), i, j); }));
  }
  return all;
}

// The register tile of lathe_gemm.cpp, with a packed operand and an epilogue.
StepTimes schedule_gemm() {
  constexpr std::int64_t n = 512;
  lt::Input<float, 2> A("A", {n, n}), B("B", {n, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", n);
  auto C =
      lt::compute("C", {n, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {n, n}, [&](lt::Var i, lt::Var j) { return C(i, j) + bias(j); });
  TimedSchedule s(D);
  const auto ijk = s.loops(C);
  const auto [io, ii] = s.split(ijk[0], 8);
  const auto [jo, ji] = s.split(ijk[1], 48);
  s.reorder({io, jo, ijk[2], ii, ji});
  const lt::BlockRef pack = s.cache_read(C, B);
  const auto [po, pi] = s.split(s.loops(pack).back(), 48);
  s.vectorize(pi);
  const lt::BlockRef store = s.cache_write(C);
  s.reverse_compute_at(store, jo);
  s.reverse_compute_at(D, jo);
  const lt::BlockRef init = s.decompose_reduction(C, ijk[2]);
  s.vectorize(ji);
  s.unroll(ii);
  for (const Block& block : {Block(init), Block(store), Block(D)})
    s.vectorize(s.loops(block).back());
  s.parallel(io);
  return s.times;
}

// Two stages are blurs in y, as photo pipelines have them; all are computed in strips of rows.
StepTimes schedule_strips() {
  constexpr std::int64_t h = 1080, w = 1920;
  lt::Input<float, 2> X("X", {h, w});
  const auto all =
      ten_stages(h, w, [&](int k, const Image* p, lt::Var y, lt::Var x) -> lt::Expr<float> {
        if (!p) return X(y, x) * 0.5f;
        if (k != 3 && k != 7) return (*p)(y, x) * 0.5f;
        return lt::clamp(*p)(y - 1, x) + (*p)(y, x) + lt::clamp(*p)(y + 1, x);
      });
  TimedSchedule s(all.back());
  const auto [yo, yi] = s.split(s.loops(all.back())[0], 32);
  for (std::size_t k = all.size() - 1; k-- > 0;) s.compute_at(all[k], yo);
  for (const Image& t : all) {
    const auto [xo, xi] = s.split(s.loops(t).back(), 16);
    s.vectorize(xi);
  }
  s.parallel(yo);
  return s.times;
}

// Every second stage is inlined, the others get a tiled nest each.
StepTimes schedule_nests() {
  constexpr std::int64_t h = 1000, w = 1000;
  lt::Input<float, 2> X("X", {h, w});
  const auto all =
      ten_stages(h, w, [&](int, const Image* p, lt::Var i, lt::Var j) -> lt::Expr<float> {
        return p ? (*p)(i, j) * 0.5f + X(i, j) : X(i, j) + 1.0f;
      });
  TimedSchedule s(all.back());
  for (std::size_t k = 0; k < all.size(); k += 2) s.compute_inline(all[k]);
  for (std::size_t k = 1; k < all.size(); k += 2) {
    const auto ij = s.loops(all[k]);
    const auto [io, ii] = s.split(ij[0], 4);
    const auto [jo, ji] = s.split(ij[1], 16);
    s.reorder({io, jo, ii, ji});
    s.unroll(ii);
    s.vectorize(ji);
    s.parallel(s.fuse(io, jo));
  }
  return s.times;
}

// Softmax of rows: its two reductions in lanes, one row after the other.
StepTimes schedule_softmax() {
  constexpr std::int64_t n = 256, m = 1024;
  lt::Input<float, 2> X("X", {n, m});
  lt::Reduce a("a", m), b("b", m);
  auto M = lt::compute("M", {n}, [&](lt::Var i) { return lt::reduce_max(X(i, a), a); });
  auto E = lt::compute("E", {n, m}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - M(i)); });
  auto S = lt::compute("S", {n}, [&](lt::Var i) { return lt::sum(E(i, b), b); });
  auto Y = lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return E(i, j) / S(i); });
  TimedSchedule s(Y);
  const Loop row = s.loops(Y)[0];
  for (const Block& block : {Block(S), Block(E), Block(M)}) s.compute_at(block, row);
  for (const Block& block : {Block(E), Block(Y)})
    s.vectorize(s.split(s.loops(block).back(), 16)[1]);
  for (const Block& block : {Block(S), Block(M)}) s.rfactor(s.split(s.loops(block).back(), 16)[1]);
  s.parallel(row);
  return s.times;
}

}  // namespace

std::vector<ScheduledProgram> scheduled_programs() {
  return {{"gemm, 2 blocks", schedule_gemm},
          {"strips, 10 blocks", schedule_strips},
          {"nests, 10 blocks", schedule_nests},
          {"softmax, 4 blocks", schedule_softmax}};
}

#else
std::vector<ScheduledProgram> scheduled_programs() { return {}; }
#endif

}  // namespace bench
