// What a benchmark is about: problems as data, and the competitors that solve them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/operator.hpp"
#include "core/product.hpp"

namespace bench {

/// C[m,n] = A[m,k] * B[k,n]; with an epilogue, gelu(C + bias). `packed`: B never changes, so a
/// competitor may bring it into any layout before the clock starts.
struct Gemm {
  std::int64_t m, n, k;
  bool epilogue, packed;
  bool a_transposed = false, b_transposed = false;  ///< lies in memory as [k,m], as [n,k]

  bool transposed() const { return a_transposed || b_transposed; }
};

/// Over n elements: y = a | y = a + 0.5 b | y = exp(a) | y = gelu(a), with the error function.
struct Elementwise {
  enum class Op { copy, triad, exp, gelu };
  Op op;
  std::int64_t n;
};

/// From an image with one more row and column on each side: a 3x3 binomial blur, or the mean of the
/// four neighbours (a Jacobi step).
struct Stencil {
  enum class Op { blur3x3, jacobi };
  Op op;
  std::int64_t h, w;
};

/// Local contrast of a planar RGB image, in seven stages: luma, blur in x, blur in y (5 taps, edges
/// repeated), sharpen, gain, grade (three channels), tone.
struct Photo {
  std::int64_t h, w;
};

/// One of Halide's applications; apps/apps.hpp has a row for each.
struct App {
  enum class Kind : std::uint8_t {
    harris,
    unsharp,
    max_filter,
    iir_blur,
    bilateral_grid,
    nl_means,
    local_laplacian,
  };
  Kind kind;
  std::int64_t h, w;  ///< rows and columns of the result
};

using Problem = std::variant<Gemm, Elementwise, Stencil, Photo, App>;

struct Case {
  std::string suite, name;
  Problem problem;
  double flops = 0;                ///< nominal
  double bytes = 0;                ///< each input read once, each output written once
  std::optional<unsigned> seed{};  ///< that sizes of its suite were drawn with
};

/// A case with its memory, which all competitors share.
struct Job {
  const Case& what;
  std::vector<std::span<const float>>
      in;  ///< Gemm: A, B, bias · Elementwise: a, b · else the image
  std::span<float> out;
  int threads;
  bool hand;  ///< use Lathe's hand-written schedules
};

struct Competitor {
  std::string name;
  std::function<void()> run;
  double setup_ms = 0;
  double plan_ms = 0;  ///< what of setup_ms Lathe's default schedule took
  /// Brings the last result to where the job has it, from memory of the competitor's own; null: it
  /// is there.
  std::function<void()> finish{};
};

/// Computes what a program over images does, on one thread: takes pointers in the order of its
/// parameters, and its sizes.
using ImageFunction = std::function<void(const std::vector<void*>&, const std::vector<int>&)>;

/// A library to compare with. It offers nothing for problems that it has no code for;
/// a null function says so for a whole kind of problem.
struct Peer {
  std::string name;
  std::string missing;  ///< why it is not here; empty if it is
  std::vector<Competitor> (*make)(const Job&) = nullptr;
  /// Compiles one GEMM with epilogue, as that library's users do at run time; null: it does not
  /// compile.
  void (*compile)(const Gemm&) = nullptr;
  std::string header{};  ///< what its users include
  /// Products of other types, on one thread.
  std::vector<Competitor> (*products)(const ProductJob&) = nullptr;
  /// Operators of neural networks.
  std::vector<Competitor> (*operators)(const OperatorJob&) = nullptr;
  /// Programs of the suite `image`, by name, up to rounding; null for those it has no code for.
  ImageFunction (*image)(const std::string& program) = nullptr;
};

inline std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

}  // namespace bench
