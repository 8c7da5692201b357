// Which stages of a chain are computed row by row, and which stay nests of their own.
#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

#include "../schedule/kernels.hpp"
#include "one_core.hpp"

namespace lt = lathe;

namespace {

lt::Program softmax(const lt::Extent& m, const lt::Extent& n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto M = lt::compute("M", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto E = lt::compute("E", {m, n}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - M(i)); });
  auto S = lt::compute("S", {m}, [&](lt::Var i) { return lt::sum(E(i, q), q); });
  return lt::program_of(
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return E(i, j) / S(i); }));
}

/// Scores of each image's heads, less the largest of a row.
lt::Program scores(std::int64_t images, std::int64_t heads, std::int64_t n) {
  const std::int64_t width = 8;
  lt::Input<float, 4> Q("Q", {images, heads, n, width}), K("K", {images, heads, n, width});
  lt::Reduce k("k", width), t("t", n);
  auto C = lt::compute("C", {images, heads, n, n}, [&](lt::Var b, lt::Var h, lt::Var i, lt::Var j) {
    return lt::sum(Q(b, h, i, k) * K(b, h, j, k), k);
  });
  auto M = lt::compute("M", {images, heads, n}, [&](lt::Var b, lt::Var h, lt::Var i) {
    return lt::reduce_max(C(b, h, i, t), t);
  });
  return lt::program_of(lt::compute(
      "Y", {images, heads, n, n},
      [&](lt::Var b, lt::Var h, lt::Var i, lt::Var j) { return C(b, h, i, j) - M(b, h, i); }));
}

lt::Schedule planned(const lt::Program& program) {
  lt::Target target = test::one_core();
  target.l2_bytes = 1 << 20;
  return lt::default_schedule(program, target);
}

/// The outermost loops of a program.
std::size_t nests(const lt::Schedule& s) {
  const std::string text = s.str();
  std::size_t count = 0;
  for (const char* loop : {"\n  for ", "\n  parallel for "})
    for (std::size_t at = 0; (at = text.find(loop, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// How often a nest around a block runs as a whole: loops that it shares with other blocks.
std::int64_t runs(const lt::Schedule& s, const char* name) {
  std::int64_t out = 1;
  for (const auto& loop : lt::find_block(s.program()->body, s.block(name).tag).loops)
    if (lt::detail::block_tags(loop->body).size() > 4) out *= *lt::as_const_int(loop->extent);
  return out;
}

}  // namespace

TEST_CASE("a softmax of long rows takes one row after the other") {
  CHECK(nests(planned(softmax(128, 1024))) == 1);
  CHECK(nests(planned(softmax(64, 1000))) == 1);
  const lt::Dim m("m"), n("n");
  CHECK(nests(planned(softmax(m, n))) == 1);
  CHECK(nests(planned(softmax(4096, 2048))) == 1);
}

TEST_CASE("rows that are short stay together while the second cache holds them") {
  CHECK(nests(planned(softmax(1000, 10))) > 1);
  CHECK(nests(planned(softmax(128, 128))) > 1);
  CHECK(nests(planned(softmax(16384, 128))) == 1);
}

TEST_CASE("a chain over images and heads is computed head by head") {
  const lt::Schedule s = planned(scores(3, 2, 40));
  CHECK(nests(s) == 1);
  for (const char* block : {"C", "Y", "K_cache"}) CHECK(runs(s, block) == 6);
  CHECK(runs(planned(scores(1, 4, 40)), "C") == 4);
  // One head for eight cores: rows are shared out instead.
  lt::Target many("x86-64-v4");
  many.cores = 8;
  CHECK(nests(lt::default_schedule(scores(1, 1, 40), many)) > 1);
}

TEST_CASE("chains by rows compute what the program says") {
  for (const lt::Program& program : {scores(2, 3, 12), scores(1, 2, 70), scores(3, 1, 33)})
    CHECK(test::run(planned(program).program()) == test::run(program));
}

namespace {

/// Weights of scores C[head, row, column], not yet divided by their sums, and the sums. `exact`:
/// something else than exponentials, of which sums are exact.
struct Weights {
  lt::Tensor<float, 3> E;
  lt::Tensor<float, 2> S;
};
Weights weights_of(const lt::Tensor<float, 3>& C, std::int64_t heads, std::int64_t n, bool exact) {
  lt::Reduce r("r", n), q("q", n);
  auto M = lt::compute("M", {heads, n},
                       [&](lt::Var h, lt::Var i) { return lt::reduce_max(C(h, i, r), r); });
  auto E = lt::compute("E", {heads, n, n}, [&](lt::Var h, lt::Var i, lt::Var j) {
    const lt::Expr<float> below = C(h, i, j) - M(h, i);
    return exact ? lt::Expr<float>(lt::select(lt::floor(below) < -9.0f, 1.0f, 2.0f))
                 : lt::exp(below);
  });
  auto S =
      lt::compute("S", {heads, n}, [&](lt::Var h, lt::Var i) { return lt::sum(E(h, i, q), q); });
  return {E, S};
}

/// Softmax of Q K', times V, head by head.
lt::Program attention(std::int64_t heads, std::int64_t n, std::int64_t width, bool exact = false) {
  lt::Input<float, 3> Q("Q", {heads, n, width}), K("K", {heads, n, width}),
      V("V", {heads, n, width});
  lt::Reduce k("k", width), t("t", n);
  auto C = lt::compute("C", {heads, n, n}, [&](lt::Var h, lt::Var i, lt::Var j) {
    return lt::sum(Q(h, i, k) * K(h, j, k), k);
  });
  const Weights of = weights_of(C, heads, n, exact);
  auto P = lt::compute("P", {heads, n, n}, [&](lt::Var h, lt::Var i, lt::Var j) {
    const lt::Expr<float> weight = of.E(h, i, j), all = of.S(h, i);
    return exact ? weight - lt::ceil(all * 0.125f) : weight / all;
  });
  return lt::program_of(lt::compute("Y", {heads, n, width}, [&](lt::Var h, lt::Var i, lt::Var c) {
    return lt::sum(P(h, i, t) * V(h, t, c), t);
  }));
}

/// The same of Q, K, V in which heads lie inside of places, divided by the sums at the end.
lt::Program attention_by_places(std::int64_t n, std::int64_t heads, std::int64_t width,
                                std::int64_t shared = 1, bool exact = false) {
  lt::Input<float, 3> Q("Q", {n, heads, width}), K("K", {n, heads / shared, width}),
      V("V", {n, heads / shared, width});
  lt::Reduce k("k", width), t("t", n);
  auto C = lt::compute("C", {heads, n, n}, [&](lt::Var h, lt::Var i, lt::Var j) {
    return lt::sum(Q(i, h, k) * K(j, lt::floordiv(h, shared), k), k);
  });
  const Weights of = weights_of(C, heads, n, exact);
  auto O = lt::compute("O", {n, heads, width}, [&](lt::Var i, lt::Var h, lt::Var c) {
    return lt::sum(of.E(h, i, t) * V(t, lt::floordiv(h, shared), c), t);
  });
  return lt::program_of(lt::compute("Y", {n, heads, width}, [&](lt::Var i, lt::Var h, lt::Var c) {
    const lt::Expr<float> sum = O(i, h, c), all = of.S(h, i);
    return exact ? sum - all : sum / all;
  }));
}

/// Rows scaled by their norms, times a matrix. `exact`: changed by whether these are large.
lt::Program norm_and_product(const lt::Extent& m, std::int64_t terms, std::int64_t n,
                             bool exact = false) {
  lt::Input<float, 2> X("X", {m, terms}), W("W", {terms, n});
  lt::Reduce r("r", terms), t("t", terms);
  auto S = lt::compute("S", {m}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
  auto N = lt::compute("N", {m, terms}, [&](lt::Var i, lt::Var j) {
    const lt::Expr<float> x = X(i, j), norm = S(i);
    return exact ? x + lt::select(norm > 500.0f, 1.0f, 0.0f) : x * lt::rsqrt(norm + 1);
  });
  return lt::program_of(lt::compute(
      "Y", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(N(i, t) * W(t, j), t); }));
}

/// Iterations of loops around a block that hold other blocks too.
std::vector<std::int64_t> shared_loops(const lt::Schedule& s, const char* name) {
  std::vector<std::int64_t> out;
  for (const auto& loop : lt::find_block(s.program()->body, s.block(name).tag).loops) {
    bool others = false;
    for (const char* block : {"C", "N"})
      for (const auto& tag : lt::detail::block_tags(loop->body)) others |= tag->name == block;
    if (others && *lt::as_const_int(loop->extent) > 1)
      out.push_back(*lt::as_const_int(loop->extent));
  }
  return out;
}

}  // namespace

TEST_CASE("rows of a product are not computed one by one, which reads the other operand for each") {
  CHECK(shared_loops(planned(norm_and_product(128, 256, 256)), "Y").empty());
  lt::Dim n("n");
  CHECK(shared_loops(planned(norm_and_product(n, 256, 256)), "Y").empty());
}

TEST_CASE("weights of a head that leave the second cache are computed by blocks of rows") {
  CHECK(shared_loops(planned(attention(3, 128, 64)), "Y") == std::vector<std::int64_t>{3});
  // 16 MB a head, of which 32 rows and their scores are half of 1 MB.
  CHECK(shared_loops(planned(attention(3, 2048, 64)), "Y") == std::vector<std::int64_t>{3, 64});
  // Each weight is read by 512 columns.
  CHECK(shared_loops(planned(attention(3, 2048, 512)), "Y") == std::vector<std::int64_t>{3});
}

TEST_CASE("weights are computed head by head where heads lie inside of places") {
  CHECK(shared_loops(planned(attention_by_places(2048, 4, 64)), "Y") ==
        std::vector<std::int64_t>{4, 64});
  CHECK(shared_loops(planned(attention_by_places(2048, 4, 64)), "S") ==
        std::vector<std::int64_t>{4, 64});
  // What the copy of V for one head counts is its places.
  const std::string text =
      lt::default_schedule(attention_by_places(2048, 4, 64), test::one_core("x86-64-v3")).str();
  const std::size_t copy = text.find("block V_cache(");
  REQUIRE(copy != std::string::npos);
  CHECK(text.rfind("0..8 @tail=\"guard\"", copy) == std::string::npos);
}

TEST_CASE("keys that several heads share are read once for all where there is one query") {
  lt::Input<float, 3> Q("Q", {1, 8, 64}), K("K", {2048, 2, 64});
  lt::Reduce k("k", 64), r("r", 2048);
  auto C = lt::compute("C", {8, 1, 2048}, [&](lt::Var h, lt::Var i, lt::Var j) {
    return lt::sum(Q(i, h, k) * K(j, lt::floordiv(h, 4), k), k);
  });
  auto S = lt::compute("S", {8, 1}, [&](lt::Var h, lt::Var i) { return lt::sum(C(h, i, r), r); });
  CHECK(shared_loops(planned(lt::program_of(S)), "S").empty());
}

TEST_CASE("blocks of rows compute what the program says") {
  for (const auto& name : {"x86-64-v3", "x86-64-v4"}) {
    lt::Target small = test::one_core(name);
    small.l2_bytes = 8 << 10;
    for (const lt::Program& program :
         {attention(2, 48, 8, true), attention(1, 67, 5, true), attention(2, 40, 17, true),
          attention(3, 100, 1, true), norm_and_product(37, 48, 40, true),
          norm_and_product(48, 65, 3, true), attention_by_places(64, 3, 8, 1, true),
          attention_by_places(67, 4, 5, 2, true), attention_by_places(40, 4, 20, 4, true)}) {
      INFO(name, program.str());
      CHECK(test::run(lt::default_schedule(program, small).program()) == test::run(program));
    }
  }
}

TEST_CASE("a row of few vectors is written out, a longer one and one of any size is counted") {
  const auto writes_out = [](auto n) {
    lt::Input<std::int32_t, 2> X("X", {9, n});
    lt::Reduce r("r", n);
    const auto S = lt::compute("S", {9}, [&](lt::Var i) { return lt::sum(X(i, r) * X(i, r), r); });
    return planned(lt::program_of(S)).str().find("unrolled for ro") != std::string::npos;
  };
  // Vectors of sixteen, four at a time.
  for (const int n : {21, 40, 64, 100, 128}) CHECK(writes_out(n));
  for (const int n : {300, 400}) CHECK(!writes_out(n));
  CHECK(!writes_out(lt::Dim("n")));
}

TEST_CASE("results that are folded together by much work lie along lanes where rows are short") {
  const auto shape = [](const char* what, int n) {
    lt::Input<float, 2> X("X", {64, n});
    lt::Reduce r("r", n);
    const auto row = [&](auto reduce) {
      return lt::program_of(
          lt::compute("S", {64}, [&](lt::Var i) { return reduce(X(i, r)); }).template get<1>());
    };
    const lt::Program program = what == std::string("argmax")
                                    ? row([&](const auto& x) { return lt::argmax(x, r); })
                                : what == std::string("welford")
                                    ? row([&](const auto& x) { return lt::welford(x, r); })
                                    : row([&](const auto& x) { return lt::log_sum_exp(x, r); });
    const lt::Target target = test::one_core("x86-64-v3");
    if (what == std::string("argmax"))  // the others round in another order
      CHECK(test::run(lt::default_schedule(program, target).program()) == test::run(program));
    return lt::default_plan(program, target).find("S", "shape")->taken.name;
  };
  for (const char* what : {"argmax", "welford", "log_sum_exp"}) {
    INFO(what);
    CHECK(shape(what, 10) == "register_tile");
    CHECK(shape(what, 1200) == "partial_lanes");
  }
  CHECK(shape("log_sum_exp", 64) == "register_tile");
  CHECK(shape("argmax", 64) == "partial_lanes");
}

TEST_CASE("a user's reducer of one result costs what it computes") {
  using F = lt::Expr<float>;
  const auto length =
      lt::reducer("length", F(0.0f), [](F a, F b) { return lt::sqrt(a * a + b * b); },
                  {.associative = true, .commutative = true});
  const auto shape = [&](int n) {
    lt::Input<float, 2> X("X", {64, n});
    lt::Reduce r("r", n);
    const lt::Program program =
        lt::program_of(lt::compute("S", {64}, [&](lt::Var i) { return length(X(i, r), r); }));
    return lt::default_plan(program, test::one_core("x86-64-v3")).find("S", "shape")->taken.name;
  };
  CHECK(shape(10) == "register_tile");
  CHECK(shape(1200) == "partial_lanes");
}
