// Every schedule step on loops that run nothing: legal, and an empty reduction gives its identity.
#include <doctest/doctest.h>

#include <array>
#include <lathe/analysis/access.hpp>
#include <lathe/lathe.hpp>
#include <string>
#include <support/errors.hpp>
#include <vector>

namespace lt = lathe;
using test::error_of;

namespace {

struct Product {
  lt::Extent m, n, k;
  lt::Input<float, 2> A{"A", {m, k}}, B{"B", {k, n}};
  lt::Reduce r{"r", k};
  lt::Tensor<float, 2> P =
      lt::compute("P", {m, k}, [this](lt::Var i, lt::Var j) { return A(i, j) + 1; });
  lt::Tensor<float, 2> C = lt::compute(
      "C", {m, n}, [this](lt::Var i, lt::Var j) { return lt::sum(P(i, r) * B(r, j), r); });
  lt::Tensor<float, 2> D =
      lt::compute("D", {m, n}, [this](lt::Var i, lt::Var j) { return C(i, j) * 2 + 3; });
  Product(lt::Extent m, lt::Extent n, lt::Extent k) : m(m), n(n), k(k) {}
};

struct Step {
  const char* name;
  void (*take)(lt::Schedule& s, const Product& p);
  const char* refused_with = "";  ///< the id that a constant extent of 0 may give
};

/// The position after the first value of a loop, or its end where it has none.
lt::AnyExpr first_of(const lt::Schedule& s, const lt::LoopRef& loop) {
  return lt::make_binary(lt::BinaryOp::min, lt::find_loop(s.program()->body, loop.var).loop->extent,
                         lt::AnyExpr(1));
}

const Step kSteps[] = {
    {"none", [](lt::Schedule&, const Product&) {}},
    {"split",
     [](lt::Schedule& s, const Product& p) {
       for (auto& loop : s.loops(p.C)) s.split<2>(loop, {lt::infer, 4});
     }},
    {"split, inner inferred",
     [](lt::Schedule& s, const Product& p) {
       for (auto& loop : s.loops(p.C)) s.split<2>(loop, {4, lt::infer});
     }},
    {"fuse", [](lt::Schedule& s, const Product& p) { s.fuse(s.loops(p.C)[0], s.loops(p.C)[1]); }},
    {"loop_partition",
     [](lt::Schedule& s, const Product& p) {
       s.loop_partition(s.loops(p.D)[1], {first_of(s, s.loops(p.D)[1])});
       s.loop_partition(s.loops("D_1")[0], {first_of(s, s.loops("D_1")[0])});
     },
     "L0231"},
    {"loop_partition of a reduction",
     [](lt::Schedule& s, const Product& p) {
       auto [i, j, r] = s.loops<3>(p.C);
       s.decompose_reduction(p.C, j);
       s.loop_partition(r, {first_of(s, r)});
     },
     "L0231"},
    {"merge",
     [](lt::Schedule& s, const Product& p) {
       auto [i, j, r] = s.loops<3>(p.C);
       auto [di, dj] = s.loops<2>(p.D);
       s.merge(i, di);
       s.merge(j, dj);
     }},
    {"merge into a reduction",
     [](lt::Schedule& s, const Product& p) {
       auto [pi, pj] = s.loops<2>(p.P);
       auto [i, j, r] = s.loops<3>(p.C);
       s.merge(pi, i);
       s.reorder({r, j});
       s.merge(pj, r);
     }},
    {"reorder",
     [](lt::Schedule& s, const Product& p) {
       auto [i, j, r] = s.loops<3>(p.C);
       s.reorder({r, j, i});
     }},
    {"tile",
     [](lt::Schedule& s, const Product& p) {
       auto l = s.loops(p.C);
       s.tile(l[0], l[1], 4, 4);
     }},
    {"parallel", [](lt::Schedule& s, const Product& p) { s.parallel(s.loops(p.D)[0]); }},
    {"vectorize",
     [](lt::Schedule& s, const Product& p) {
       auto [outer, inner] = s.split<2>(s.loops(p.D)[1], {lt::infer, 8});
       s.vectorize(inner);
     }},
    {"unroll",
     [](lt::Schedule& s, const Product& p) {
       auto [outer, inner] = s.split<2>(s.loops(p.C)[2], {lt::infer, 4});
       s.unroll(inner);
     }},
    {"unroll by a factor", [](lt::Schedule& s, const Product& p) { s.unroll(s.loops(p.C)[2], 2); }},
    {"compute_at", [](lt::Schedule& s, const Product& p) { s.compute_at(p.P, s.loops(p.C)[0]); }},
    {"reverse_compute_at",
     [](lt::Schedule& s, const Product& p) { s.reverse_compute_at(p.D, s.loops(p.C)[0]); }},
    {"compute_inline", [](lt::Schedule& s, const Product& p) { s.compute_inline(p.P); }},
    {"cache_read",
     [](lt::Schedule& s, const Product& p) { s.cache_read(p.C, p.B, lt::Scope::global); }},
    {"cache_write",
     [](lt::Schedule& s, const Product& p) { s.cache_write(p.C, lt::Scope::global); }},
    {"cache_write and move",
     [](lt::Schedule& s, const Product& p) {
       auto copy = s.cache_write(p.C, lt::Scope::local);
       s.reverse_compute_at(copy, s.loops(p.C)[0]);
     }},
    {"decompose_reduction",
     [](lt::Schedule& s, const Product& p) { s.decompose_reduction(p.C, s.loops(p.C)[0]); }},
    {"decompose_reduction inside",
     [](lt::Schedule& s, const Product& p) { s.decompose_reduction(p.C, s.loops(p.C)[2]); }},
    {"rfactor",
     [](lt::Schedule& s, const Product& p) {
       auto [outer, inner] = s.split<2>(s.loops(p.C)[2], {lt::infer, 4});
       s.rfactor(inner);
     }},
    {"set_scope",
     [](lt::Schedule& s, const Product& p) {
       s.compute_at(p.P, s.loops(p.C)[0]);
       s.set_scope(p.P, lt::Scope::local);
     }},
    {"transform_layout",
     [](lt::Schedule& s, const Product& p) {
       s.transform_layout(p.C,
                          [](lt::Index a, lt::Index b) { return lt::layout(b / 4, a, b % 4); });
     }},
    {"transform_block_layout",
     [](lt::Schedule& s, const Product& p) {
       s.transform_block_layout(
           p.C, [](lt::Index i, lt::Index j, lt::Index r) { return lt::layout(r, j, i); });
     }},
    {"storage_align",
     [](lt::Schedule& s, const Product& p) {
       s.storage_align(p.C, 0, 8, 3);
       s.compute_at(p.P, s.loops(p.C)[0]);
       s.storage_align(p.P, 0, 16);
     }},
    {"hoist_storage",
     [](lt::Schedule& s, const Product& p) {
       lt::LoopRef i = s.loops(p.C)[0];
       s.compute_at(p.P, i);
       s.hoist_storage(p.P, i);
     },
     "L0240"},
    {"double_buffer",
     [](lt::Schedule& s, const Product& p) {
       lt::LoopRef i = s.loops(p.C)[0];
       s.compute_at(p.P, i);
       s.double_buffer(p.P, i);
     },
     "L0245"},
    {"software_pipeline",
     [](lt::Schedule& s, const Product& p) {
       lt::LoopRef i = s.loops(p.C)[0];
       s.compute_at(p.P, i);
       s.software_pipeline(i, {0, 1}, {1, 0});
     },
     "L0247"},
    {"prefetch", [](lt::Schedule& s, const Product& p) { s.prefetch(p.B, s.loops(p.C)[2], 4); }},
    {"annotate", [](lt::Schedule& s, const Product& p) { s.annotate(p.D, "stream", true); }},
};

/// What D is after a call of the scheduled program, or the error.
std::string result_of(const Step& step, const Product& p, std::array<std::int64_t, 3> size,
                      bool compiled) {
  const std::int64_t m = size[0], n = size[1], k = size[2];
  std::vector<float> a(static_cast<std::size_t>(m * k), 1), b(static_cast<std::size_t>(k * n), 1),
      d(static_cast<std::size_t>(m * n), -1);
  std::string error = error_of([&] {
    lt::Schedule s(p.D);
    step.take(s, p);
    auto f =
        compiled ? lt::jit({s, {.strict = true}}, p.A, p.B, p.D) : lt::evaluate(s, p.A, p.B, p.D);
    f(lt::view(a, {m, k}), lt::view(b, {k, n}), lt::view(d, {m, n}));
  });
  if (error != "none") return error;
  for (float x : d)
    if (x != static_cast<float>(4 * k + 3)) return "wrong: " + std::to_string(x);
  return "right";
}

}  // namespace

TEST_CASE("every step on extents of 0") {
  const std::array<std::int64_t, 3> sizes[] = {
      {0, 6, 5}, {6, 0, 5}, {6, 5, 0}, {0, 0, 0}, {1, 1, 0}};
  for (const Step& step : kSteps)
    for (const auto& size : sizes) {
      const std::int64_t m = size[0], n = size[1], k = size[2];
      CAPTURE(std::string(step.name));
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      Product constant(m, n, k);
      lt::Dim dm("m"), dn("n"), dk("k");
      Product symbolic(dm, dn, dk);
      for (bool compiled : {false, true}) {
        std::string result = result_of(step, constant, size, compiled);
        if (*step.refused_with && result.substr(0, 5) == step.refused_with) result = "right";
        CHECK(result == "right");
        CHECK(result_of(step, symbolic, size, compiled) == "right");
      }
    }
}

TEST_CASE("a fold over nothing gives its identity, compiled too") {
  lt::Input<float, 2> X("X", {3, 0});
  lt::Reduce r("r", 0);
  auto sums = lt::compute("sums", {3}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto tops = lt::compute("tops", {3}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto all = lt::compute("all", {3}, [&](lt::Var i) { return lt::all(X(i, r) > 0.0f, r); });
  auto best = lt::compute("best", {3}, [&](lt::Var i) { return lt::argmax(X(i, r), r); });
  auto out = lt::outputs(sums, tops, all, best.get<0>(), best.get<1>());
  for (bool compiled : {false, true}) {
    auto f = compiled ? lt::jit(out, X, sums, tops, all, best.get<0>(), best.get<1>())
                      : lt::evaluate(out, X, sums, tops, all, best.get<0>(), best.get<1>());
    std::array<float, 3> s{1, 1, 1}, t{}, b{};
    std::array<bool, 3> a{};
    std::array<std::int64_t, 3> at{};
    f(lt::View<float, 2>(nullptr, {3, 0}), s, t, a, b, at);
    CHECK(s[2] == 0);
    CHECK(t[2] == -std::numeric_limits<float>::infinity());
    CHECK(a[2]);
    CHECK(b[2] == -std::numeric_limits<float>::infinity());
    CHECK(at[2] == INT64_MAX);
  }
}
