// Vectors along fused loops: one run of memory where the buffer is contiguous.
#include <lathe/ir/visit.hpp>
#include <support/capture.hpp>

#include "stages.hpp"

namespace lt = lathe;

namespace {

template <class M, class N>
lt::Schedule fused(const M& rows, const N& columns, int lanes) {
  lt::Input<float, 3> X("X", {3, rows, columns});
  auto Y = lt::compute("Y", {3, rows, columns},
                       [&](lt::Var c, lt::Var i, lt::Var j) { return X(c, i, j) * 2.0f; });
  lt::Schedule s(Y);
  auto [c, i, j] = s.template loops<3>(Y);
  auto [fo, fi] = s.split(s.fuse(i, j), {lt::infer, lanes});
  s.vectorize(fi);
  return s;
}

std::string flat(const lt::Program& p) {
  return lt::lower_until("simplify_flat", p, lt::Target("x86-64-v4"), {.dense = true}).str();
}

bool divides(const std::string& text) {
  return text.find("floordiv") != std::string::npos || text.find("floormod") != std::string::npos;
}

}  // namespace

TEST_CASE("lanes of a fused loop are one run of a contiguous buffer, and its end is a count") {
  for (const auto& [rows, columns] : {std::pair{14, 14}, {7, 7}, {5, 30}, {4, 16}, {1, 3}, {9, 2}})
    for (const int lanes : {4, 16, 32, 24}) {
      LATHE_CAPTURE(rows);
      LATHE_CAPTURE(columns);
      CAPTURE(lanes);
      const lt::Program p = fused(rows, columns, lanes).program();
      const std::string text = flat(p);
      INFO(text);
      CHECK_FALSE(divides(text));
      test::check_stages(p);
    }
}

TEST_CASE("all loops of a buffer fused are one run, also with unknown lengths") {
  lt::Dim n("n"), m("m");
  lt::Input<float, 2> X("X", {n, m});
  auto Y = lt::compute("Y", {n, m}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
  lt::Schedule s(Y);
  auto [i, j] = s.loops<2>(Y);
  auto [fo, fi] = s.split(s.fuse(i, j), {lt::infer, 16});
  s.vectorize(fi);
  const std::string text = flat(s.program());
  INFO(text);
  CHECK(text.find("Y[ramp(i_jo * 16, 1, 16)] = X[ramp(i_jo * 16, 1, 16)]") != std::string::npos);
  for (std::int64_t size : {0, 1, 3, 16, 17})
    test::check_stages(s.program(), {{"n", size}, {"m", 5}});
  test::check_stages(s.program(), {{"n", 3}, {"m", 0}});
}

TEST_CASE("lanes of a fused loop stay apart where a buffer has gaps or is turned") {
  const lt::Program open = fused(6, 5, 10).program();
  CHECK(divides(lt::lower_until("simplify_flat", open, lt::Target("x86-64-v4")).str()));
  const lt::Program p = lt::parse(R"(
program P(in X: f32[30], out Y: f32[30]):
  alloc T: f32[6, 5] aligned [0, 8, 0]
  for i in 0..30:
    T[i / 5, i % 5] = X[i] * 2.0
  for o in 0..3:
    vectorized for i in 0..10:
      Y[o * 10 + i] = T[(o * 10 + i) / 5, (o * 10 + i) % 5]
)");
  CHECK(divides(flat(p)));
  test::check_stages(p);
  lt::Input<float, 2> Z("Z", {5, 6});
  auto T = lt::compute("T", {6, 5}, [&](lt::Var a, lt::Var b) { return Z(b, a); });
  lt::Schedule t(T);
  auto [k, l] = t.loops<2>(T);
  t.vectorize(t.fuse(k, l));
  test::check_stages(t.program());
}
