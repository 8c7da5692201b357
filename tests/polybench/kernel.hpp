// The kernels of PolyBench, written from their mathematics as programs of loops: what one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lathe/dsl/dsl.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <string>
#include <vector>

namespace polybench {

namespace lt = lathe;

using Size = lt::Expr<std::int64_t>;  ///< a number, or a Dim
using Sizes = std::vector<Size>;
using Counts = std::vector<std::int64_t>;
using Matrix = lt::ScriptBuffer<double, 2>;

/// The elements of each parameter, in order; a scalar has one.
class Arrays {
 public:
  explicit Arrays(std::vector<void*> data) : data_(std::move(data)) {}
  double* doubles(std::size_t k) const { return static_cast<double*>(data_[k]); }
  int* ints(std::size_t k) const { return static_cast<int*>(data_[k]); }
  double scalar(std::size_t k) const { return *doubles(k); }
  void* data(std::size_t k) const { return data_[k]; }

 private:
  std::vector<void*> data_;
};

/// A step that must be refused, by this id and with these words: the dependence that forbids it.
struct Refusal {
  std::string step;
  void (*take)(lt::Schedule&);
  std::string id;
  std::vector<std::string> says;
  void (*before)(lt::Schedule&) = nullptr;  ///< legal steps that come first
};

struct Kernel {
  std::string name;
  std::vector<Counts> small;  ///< sizes for tests
  Counts large;               ///< for benchmarks
  lt::Program (*script)(const Sizes&);
  /// The same in C++. Each element sees the same operations in the same order.
  void (*loops)(const Counts&, const Arrays&);
  std::vector<Refusal> refused;
  void (*schedule)(lt::Schedule&);  ///< legal steps that make it fast
  /// Makes what the kernel needs of arrays that hold numbers between 0 and 1: a matrix to be
  /// factored, say. May be null.
  void (*prepare)(const Counts&, const Arrays&) = nullptr;
  bool steps_first = false;  ///< the first size is a number of steps in time, which no array tells
  /// The same computation in an order that no step makes of `script`, for `schedule`. Null: the
  /// steps are of `script`.
  lt::Program (*reordered)(const Sizes&) = nullptr;

  lt::Program for_speed(const Sizes& n) const { return (reordered ? reordered : script)(n); }
};

/// Gives a square matrix a dominant diagonal.
inline void dominant(std::int64_t n, double* A) {
  for (std::int64_t i = 0; i < n; ++i) A[i * n + i] += static_cast<double>(n);
}

// Each in a file of that name, with the C++ loops beside.
std::vector<Kernel> products();
std::vector<Kernel> triangles();
std::vector<Kernel> vectors();
std::vector<Kernel> factors();
std::vector<Kernel> solvers();
std::vector<Kernel> stencils();
std::vector<Kernel> fields();
std::vector<Kernel> statistics();
std::vector<Kernel> others();

inline std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const auto& group : {products(), triangles(), vectors(), factors(), solvers(), stencils(),
                            fields(), statistics(), others()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

/// Each iteration of a loop, innermost, becomes a lane; what the extent leaves over is guarded.
inline void vectorize_by(lt::Schedule& s, const lt::LoopRef& loop, std::int64_t lanes) {
  s.vectorize(s.split<2>(loop, {lt::infer, lanes})[1]);
}

/// The same with `copies` vectors in a tile: of half a register, which is the better half of one
/// where addresses are no multiple of its size.
inline void vectorize_by(lt::Schedule& s, const lt::LoopRef& loop, std::int64_t copies,
                         std::int64_t lanes) {
  auto [outer, copy, lane] = s.split<3>(loop, {lt::infer, copies, lanes});
  s.unroll(copy);
  s.vectorize(lane);
}

}  // namespace polybench
