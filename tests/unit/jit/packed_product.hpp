// A product with a matrix that a schedule packs, known when the kernel is made or promised to stay;
// and memory that shows when copies are made.
#pragma once

#include <sys/mman.h>

#include <lathe/lathe.hpp>
#include <map>
#include <mutex>
#include <vector>

namespace test::packed {

namespace lt = lathe;

inline constexpr std::int64_t kRows = 6, kColumns = 32, kDepth = 16;
using Values = std::vector<float>;
using Product = lt::Kernel<lt::View<const float, 2>, lt::View<float, 2>>;
using LateProduct =
    lt::Kernel<lt::View<const float, 2>, lt::View<const float, 2>, lt::View<float, 2>>;

inline Values values(std::int64_t count, int period) {
  Values out(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<float>(static_cast<int>(k) % period);
  return out;
}
inline const Values a = values(kRows * kDepth, 7), w = values(kDepth * kColumns, 13);
inline const lt::View<const float, 2> rows(a.data(), {kRows, kDepth});

// A product with a matrix whose panels of 8 columns a schedule packs, and then something else.
template <class Weights>
struct Packed {
  Weights W;
  lt::Input<float, 2> A{"A", {kRows, kDepth}};
  lt::Reduce r{"r", kDepth};
  lt::Tensor<float, 2> C = lt::compute(
      "C", {kRows, kColumns}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * W(r, j), r); });
  lt::Tensor<float, 2> D =
      lt::compute("D", {kRows, kColumns}, [&](lt::Var i, lt::Var j) { return C(i, j) + 1.0f; });

  lt::Schedule schedule(const lt::Tensor<float, 2>& output) const {
    lt::Schedule s(output);
    const lt::BlockRef pack = s.cache_read(C, W, lt::Scope::global);
    s.transform_layout(pack, [](lt::Index k, lt::Index j) { return lt::layout(j / 8, k, j % 8); });
    return s;
  }
};
inline Packed<lt::Constant<float, 2>> known(const Values& elements = w) {
  return {lt::constant("W", elements, {kDepth, kColumns})};
}
inline Packed<lt::Input<float, 2>> promised() {
  return {lt::Input<float, 2>("W", {kDepth, kColumns}, {.constant = true})};
}

inline Values run(const Product& f) {
  Values c(kRows * kColumns, -1.0f);
  f(rows, lt::view(c, {kRows, kColumns}));
  return c;
}
inline Values run(const LateProduct& f, const Values& elements = w) {
  Values c(kRows * kColumns, -1.0f);
  f(rows, lt::view(elements, {kDepth, kColumns}), lt::view(c, {kRows, kColumns}));
  return c;
}
inline Values expected(const Values& elements = w) {
  const auto p = known(elements);
  return run(lt::evaluate(p.C, p.A, p.C));
}

// Memory in pages of its own, which can be closed to stores.
struct Pages {
  std::mutex mutex;
  std::map<void*, std::size_t> all;
  int given = 0;
  lt::Context context{{.allocate =
                           [this](std::size_t bytes, std::size_t) {
                             std::lock_guard<std::mutex> lock(mutex);
                             void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                             all[p] = bytes;
                             ++given;
                             return p;
                           },
                       .deallocate =
                           [this](void* p, std::size_t bytes) {
                             std::lock_guard<std::mutex> lock(mutex);
                             munmap(p, bytes);
                             all.erase(p);
                           }}};
  void close() {
    for (const auto& [p, bytes] : all) mprotect(p, bytes, PROT_READ);
  }
  void open() {
    for (const auto& [p, bytes] : all) mprotect(p, bytes, PROT_READ | PROT_WRITE);
  }
};

}  // namespace test::packed
