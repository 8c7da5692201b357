// docs/coming-from.md: what users of other libraries write, and what that is here. Our side is code
// that is compiled and run.
#pragma once

#include <lathe/lathe.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace docs {

namespace lt = lathe;

/// What the phrases work on: P = 2 A, C = P·B, D = max(C, 0), scheduled by s; i, j, q are the loops
/// of C, x and y those of D.
struct Scene {
  lt::Input<float, 2> A{"A", {64, 64}}, B{"B", {64, 64}};
  lt::Reduce r{"r", 64};
  lt::Tensor<float, 2> P =
      lt::compute("P", {64, 64}, [&](lt::Var v, lt::Var w) { return A(v, w) * 2.0f; });
  lt::Tensor<float, 2> C = lt::compute(
      "C", {64, 64}, [&](lt::Var v, lt::Var w) { return lt::sum(P(v, r) * B(r, w), r); });
  lt::Tensor<float, 2> D =
      lt::compute("D", {64, 64}, [&](lt::Var v, lt::Var w) { return lt::max(C(v, w), 0.0f); });
  lt::Schedule s{D};
  lt::LoopRef i = s.loops(C)[0], j = s.loops(C)[1], q = s.loops(C)[2];
  lt::LoopRef x = s.loops(D)[0], y = s.loops(D)[1];
};

struct Phrase {
  std::string_view theirs;
  std::string_view ours;
  void (*run)(Scene&);  ///< the code; null if ours is words
  std::string_view differs;
};
struct Phrases {
  std::string_view title;
  std::vector<Phrase> rows;
};

// Plain references: older compilers don't let lambdas capture structured bindings.
#define LATHE_PHRASE(...) \
#__VA_ARGS__, [](Scene& scene) {                                                   \
    [[maybe_unused]] auto &A = scene.A, &B = scene.B;                                \
    [[maybe_unused]] auto &P = scene.P, &C = scene.C, &D = scene.D;                                \
    [[maybe_unused]] auto& s = scene.s;                                              \
    [[maybe_unused]] auto &i = scene.i, &j = scene.j, &q = scene.q, &x = scene.x, &y = scene.y; \
    [[maybe_unused]] auto& r = scene.r;                                              \
    __VA_ARGS__                                                                      \
  }
#define LATHE_NO_PHRASE(words) words, nullptr

std::vector<Phrases> from_halide();
std::vector<Phrases> from_tvm();
std::vector<Phrases> from_eigen();

/// The page.
std::string coming_from();

}  // namespace docs
