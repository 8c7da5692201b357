// Errors that help: each has an id, names what is involved, says what would have been legal, and
// gives your line.
#include <cstring>
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

// Prints what the step is refused with; the folder that this file was compiled in is left out.
template <class F>
static void refused(F step) {
  try {
    step();
  } catch (const lt::UserError& e) {
    std::string text = e.what();
    const std::string file = e.where().file;
    const std::size_t at = text.find(file);
    if (at != std::string::npos) text.replace(at, file.rfind('/') + 1, "");
    std::printf("%s\n\n", text.c_str());
    return;
  }
  std::printf("was not refused\n");
  std::exit(1);
}

int main() {
  const int m = 100, n = 64;
  lt::Input<float, 2> A("A", {m, n}), B("B", {n, n});
  lt::Reduce r("r", n);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto P = lt::compute("P", {m, n}, [&](lt::Var i, lt::Var j) { return lt::max(C(i, j), 0.0f); });

  // [errors]
  refused([&] {
    lt::Schedule s(P);
    s.split<2>(s.loops(C)[0], {2, 48});  // a step that would change the program
  });
  refused([&] {
    lt::Schedule s(P);
    s.parallel(s.loops(C)[2]);  // sums would race
  });
  refused([&] { lt::compute("bad", {m}, [&](lt::Var i) { return A(i, r); }); });  // r is left over
  refused([&] {
    std::vector<float> x(m * n), w(n * n), y(m * n);
    auto f = lt::jit(P, A, B, P);
    f(lt::view(x, {m, n}), lt::view(w, {n, n}), lt::view(y, {n, m}));  // rows and columns mixed up
  });
  // [errors]
  // These do not compile at all: A(i) for a matrix, A(i, j) + 1.5 for integers, sum(...) * 2.
}
