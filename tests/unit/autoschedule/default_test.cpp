#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>
#include <support/errors.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

using namespace test;
namespace {

struct Stencil {
  lt::Input<float, 2> X;
  lt::Tensor<float, 2> Y;
  Stencil(std::int64_t h, std::int64_t w)
      : X("X", {h + 2, w + 2}), Y(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
          return X(i, j) + X(i + 1, j) + X(i + 2, j + 1);
        })) {}
};

lt::Program scheduled(const lt::AnyTensor& out, const char* target = "x86-64-v4") {
  lt::Program start = lt::program_of(out);
  lt::Schedule s = lt::default_schedule(start, lt::Target(target));
  CHECK(test::run(s.program()) == test::run(start));
  return s.program();
}

}  // namespace

TEST_CASE(
    "the default schedule takes a tensor, several, or a program, for this machine if none is "
    "named") {
  const Stencil one(10, 64);
  const std::string wanted = scheduled(one.Y).str();
  const lt::Target v4("x86-64-v4");
  CHECK(lt::default_schedule(one.Y, v4).str() == wanted);
  CHECK(lt::default_schedule(lt::outputs(one.Y), v4).str() == wanted);
  CHECK(lt::default_schedule(one.Y).str() ==
        lt::default_schedule(lt::program_of(one.Y), lt::host()).str());
  CHECK(has(lt::default_schedule(one.Y, v4).trace().cpp(), "s.vectorize("));
  CHECK(test::error_of([] { lt::default_schedule(lt::AnyTensor()); }) ==
        "L0116 an output is undefined");
}

TEST_CASE("sums along the unit-stride axis have a partial result in each lane") {
  lt::Input<float, 2> X("X", {4, 128});
  lt::Reduce r("r", 128);
  auto rows = lt::compute("rows", {4}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  CHECK(has(scheduled(rows).str(),
            R"(
    unrolled for ro in 0..2:
      vectorized for ri in 0..64:
        block rows_lanes(vi in)"));
  auto all = lt::compute("all", {}, [&] { return lt::sum(X(3, r), r); });
  CHECK(has(scheduled(all).str(), "vectorized for ri"));
  lt::Reduce q("q", 100);
  auto tail = lt::compute("tail", {4}, [&](lt::Var i) { return lt::sum(X(i, q), q); });
  CHECK(has(scheduled(tail).str(), "vectorized for qi"));
  const lt::Program start = lt::program_of(rows);
  const lt::Target v4("x86-64-v4");
  const lt::Schedule strict = lt::default_schedule(start, v4, {.strict = true});
  CHECK(strict.numerics().empty());
  CHECK_FALSE(has(strict.str(), "rows_lanes"));
}

TEST_CASE("rows of a matrix that meet one vector fold in turn; short rows fold together") {
  lt::Input<float, 2> A("A", {10, 64});
  lt::Input<float, 1> X("X", {64});
  lt::Reduce r("r", 64);
  auto Y = lt::compute("Y", {10}, [&](lt::Var i) { return lt::sum(A(i, r) * X(r), r); });
  CHECK(has(scheduled(Y).str(), R"(
  for io in 0..3:
    for ro in 0..4:
      for ii in 0..4 @tail="guard":
        vectorized for ri in 0..16:
          block Y_lanes(vi in)"));
  lt::Input<float, 3> P("P", {8, 14, 14});
  lt::Reduce p("p", 14), q("q", 14);
  auto pool = lt::compute("pool", {8}, [&](lt::Var c) { return lt::sum(P(c, p, q), {p, q}); });
  CHECK(has(scheduled(pool).str(), "vectorized for p_qi in 0..64"));
  auto row = lt::compute("row", {8}, [&](lt::Var c) { return lt::sum(P(c, 3, q), q); });
  CHECK_FALSE(has(scheduled(row).str(), "row_lanes"));
  lt::Dim n("n");
  lt::Input<float, 2> S("S", {4, n});
  lt::Reduce any("any", n);
  auto sums = lt::compute("sums", {4}, [&](lt::Var i) { return lt::sum(S(i, any), any); });
  CHECK(has(lt::default_schedule(sums, lt::Target("x86-64-v4")).str(), "for anyi in 0..32"));
}

TEST_CASE("largest of short rows fold as their sums do, narrow floats are turned") {
  const auto largest = [](auto zero) {
    lt::Input<decltype(zero), 2> X("X", {100, 64});
    lt::Reduce r("r", 64);
    auto Y = lt::compute("Y", {100}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
    return scheduled(Y).str();
  };
  CHECK(has(largest(0.0f), "block Y_lanes"));
  CHECK(has(largest(0.0), "block Y_lanes"));
  CHECK_FALSE(has(largest(lt::f16()), "block Y_lanes"));
}

TEST_CASE("rows of a window that slides are computed together, none left over if possible") {
  CHECK(scheduled(Stencil(10, 64).Y).str() ==
        R"(program Y(in X: f32[12, 66], out Y: f32[10, 64]) scheduled:
  for io in 0..2:
    for jo in 0..4:
      unrolled for ii in 0..5:
        vectorized for ji in 0..16:
          block Y(vi in 0..10 = io * 5 + ii, vj in 0..64 = jo * 16 + ji):
            Y[vi, vj] = X[vi, vj] + X[vi + 1, vj] + X[vi + 2, vj + 1]
)");
  CHECK(has(scheduled(Stencil(11, 64).Y).str(), "unrolled for ii in 0..6 @tail=\"guard\""));
  CHECK(has(scheduled(Stencil(3, 40).Y).str(), "unrolled for ii in 0..3:"));
  CHECK(has(scheduled(Stencil(16, 64).Y).str(), "unrolled for ii in 0..8:"));
}

TEST_CASE("fewer rows where they fall on the same sets of the first cache") {
  CHECK(has(scheduled(Stencil(24, 1024).Y).str(), "unrolled for ii in 0..6:"));
  CHECK(has(scheduled(Stencil(24, 1021).Y).str(), "unrolled for ii in 0..6:"));
  CHECK(has(scheduled(Stencil(24, 1000).Y).str(), "unrolled for ii in 0..8:"));
}

TEST_CASE(
    "of few operations vectors are what one load moves, with more registers, with math some") {
  lt::Input<float, 1> X("X", {1000});
  auto twice = lt::compute("twice", {1000}, [&](lt::Var i) { return X(i) * 2.0f; });
  auto curve = lt::compute("curve", {1000}, [&](lt::Var i) { return lt::exp(X(i)); });
  const char* four = "for io in 0..125 @unroll_explicit=4:";
  CHECK(has(scheduled(twice, "znver4").str(), four));
  CHECK(has(scheduled(twice, "x86-64-v3").str(), four));
  CHECK(has(scheduled(twice, "x86-64-v4").str(), "vectorized for ii in 0..16"));
  CHECK(has(scheduled(curve, "znver4").str(), "vectorized for ii in 0..64"));
  CHECK(has(scheduled(curve, "x86-64-v3").str(), "vectorized for ii in 0..32"));
  auto cubic = lt::compute("cubic", {1000}, [&](lt::Var i) {
    return ((X(i) * 3.0f + 1.0f) * X(i) + 2.0f) * X(i) + 4.0f;
  });
  CHECK(has(scheduled(cubic, "znver4").str(), "vectorized for ii in 0..16"));
  auto few = lt::compute("few", {40}, [&](lt::Var i) { return lt::exp(X(i)); });
  CHECK(has(scheduled(few, "x86-64-v3").str(), "vectorized for ii in 0..16"));
}

TEST_CASE("an operand in panels is read a panel at a time, in vectors") {
  auto product = [](std::int64_t n, std::int64_t width) {
    lt::Input<float, 2> A("A", {8, 5});
    lt::Input<float, 3> P("P", {(n + width - 1) / width, 5, width});
    lt::Reduce r("r", 5);
    return lt::compute("C", {8, n}, [&](lt::Var i, lt::Var j) {
      return lt::sum(A(i, r) * P(lt::floordiv(j, width), r, lt::floormod(j, width)), r);
    });
  };
  const auto lanes = [&](std::int64_t n, std::int64_t width, const char* target) {
    const lt::Program p = scheduled(product(n, width), target);
    const std::string lowered = lt::lower_until("vectorize", p, lt::Target(target)).str();
    CAPTURE(lowered);
    for (const char* gathered : {"floordiv(ramp", "floormod(ramp", "floordiv(broadcast"})
      CHECK_FALSE(has(lowered, gathered));
    const std::string text = p.str();
    const std::size_t at = text.find("vectorized for ");
    REQUIRE(at != text.npos);
    return std::stoi(text.substr(text.find("0..", at) + 3));
  };
  // No vector crosses the border of a panel; the last panel need not be full.
  for (std::int64_t n : {72, 70})
    for (const char* target : {"x86-64-v3", "x86-64-v4"}) CHECK(lanes(n, 24, target) % 8 == 0);
  CHECK(lanes(96, 48, "x86-64-v3") % 8 == 0);
  CHECK(lanes(96, 48, "x86-64-v4") % 16 == 0);
  CHECK(lanes(100, 64, "x86-64-v4") % 16 == 0);
  CHECK(lanes(80, 40, "x86-64-v3") % 8 == 0);
  CHECK(lanes(60, 20, "x86-64-v3") > 1);
}

TEST_CASE("rows are taken together where they read the same, and only there") {
  lt::Input<float, 2> X("X", {8, 64});
  lt::Input<float, 1> b("b", {64});
  auto bias = lt::compute("bias", {8, 64}, [&](lt::Var i, lt::Var j) { return X(i, j) + b(j); });
  auto alone = lt::compute("alone", {8, 64}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2.0f; });
  auto along = lt::compute(
      "along", {8, 62}, [&](lt::Var i, lt::Var j) { return X(i, j) + X(i, j + 1) + X(i, j + 2); });
  auto far =
      lt::compute("far", {3, 64}, [&](lt::Var i, lt::Var j) { return X(i, j) + X(i + 5, j); });
  auto down =
      lt::compute("down", {7, 64}, [&](lt::Var i, lt::Var j) { return X(i, j) + X(i + 1, j); });
  auto math = lt::compute("math", {7, 64},
                          [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j)) + X(i + 1, j); });
  CHECK(has(scheduled(down).str(), "unrolled for"));
  CHECK_FALSE(has(scheduled(bias).str(), "unrolled for"));  // what all rows read is near anyway
  CHECK_FALSE(has(scheduled(alone).str(), "unrolled for"));
  CHECK_FALSE(has(scheduled(along).str(), "unrolled for"));
  CHECK_FALSE(has(scheduled(far).str(), "unrolled for"));
  CHECK_FALSE(has(scheduled(math).str(), "unrolled for"));
}

TEST_CASE("what does not fit the caches is written past them") {
  lt::Target target("x86-64-v4");
  auto streams = [&](std::int64_t n) {
    lt::Input<float, 1> X("X", {n});
    auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) + 1.0f; });
    return has(lt::default_schedule(lt::program_of(Y), target).str(), "@`stream`=2");
  };
  CHECK(streams(target.l3_bytes / 4 + 1));
  CHECK_FALSE(streams(target.l3_bytes / 4));
}

TEST_CASE("math in vectors of 32 bytes is not") {
  for (const char* name : {"x86-64-v4", "x86-64-v3"}) {
    lt::Target target(name);
    target.l3_bytes = 1 << 20;
    lt::Input<float, 1> X("X", {300001});
    auto curve = lt::compute("curve", {300001}, [&](lt::Var i) { return lt::exp(X(i)); });
    const std::string text = lt::default_schedule(lt::program_of(curve), target).str();
    CHECK(has(text, "stream") == (target.vector_bytes == 64));
  }
}

TEST_CASE("where memory is far away, rows go one by one, and streams too") {
  lt::Target far("sapphirerapids");
  auto text = [&](const lt::AnyTensor& out) {
    lt::Program start = lt::program_of(out);
    lt::Program p = lt::default_schedule(start, far).program();
    CHECK(test::run(p) == test::run(start));
    return p.str();
  };
  const Stencil stencil(256, 1100);  // 2.2 MiB in and out, of 2 MiB a core
  far.cores = 1;
  CHECK_FALSE(has(text(stencil.Y), "unrolled for ii"));
  far.cores = 2;
  CHECK(has(text(stencil.Y), "unrolled for ii in 0..8"));
  far.cores = 1;
  far.l3_bytes = 1 << 20;
  CHECK(has(text(stencil.Y), "vi in 0..256 = io * 4 + ii, vj in 0..1100 = jo * 16 + ji"));
  lt::Input<float, 1> X("X", {300001});
  auto twice = lt::compute("twice", {300001}, [&](lt::Var i) { return X(i) * 2.0f; });
  CHECK(has(text(twice), "@prefetch(buffer=\"X\", distance=1, locality=2)"));
  CHECK(has(text(twice), "i1 in 0..1"));
}

TEST_CASE("runs of one loop, or rows, are taken in turn where no cache holds the result") {
  lt::Target target("x86-64-v4");
  target.l3_bytes = 1 << 20;
  auto text = [&](const lt::AnyTensor& out) {
    lt::Program start = lt::program_of(out);
    lt::Program p = lt::default_schedule(start, target).program();
    CHECK(test::run(p) == test::run(start));
    return p.str();
  };
  lt::Input<float, 1> X("X", {300001}), W("W", {300001});
  auto sum = lt::compute("sum", {300001}, [&](lt::Var i) { return X(i) + W(i); });
  const std::string runs = text(sum);
  CHECK(has(runs,
            "@prefetch(buffer=\"X\", distance=1, locality=2) "
            "@prefetch(buffer=\"W\", distance=1, locality=2)"));
  CHECK(has(runs, "unrolled for i1 in 0..4"));
  CHECK(has(runs, "i0 * 32768 + i1 * 8192 + i2 * 16 + i3"));
  lt::Input<float, 2> P("P", {200, 2000}), Q("Q", {20000, 20});
  auto rows = lt::compute("rows", {200, 2000}, [&](lt::Var i, lt::Var j) { return P(i, j) * 2; });
  CHECK(has(text(rows), "vi in 0..200 = io * 4 + ii, vj in 0..2000 = jo * 16 + ji"));
  auto few = lt::compute("few", {20000, 20}, [&](lt::Var i, lt::Var j) { return Q(i, j) * 2; });
  CHECK(has(text(few), "vi in 0..20000 = floordiv(i_j0 * 32768 + i_j1 * 8192"));
  lt::Input<float, 1> b("b", {20});
  auto biased =
      lt::compute("biased", {20000, 20}, [&](lt::Var i, lt::Var j) { return Q(i, j) + b(j); });
  CHECK(has(text(biased), "vj in 0..20 = jo * 16 + ji) @`stream`=2"));
}

TEST_CASE("a block of several results is computed for what is read of them") {
  lt::Input<float, 2> X("X", {6, 40});
  lt::Reduce r("r", 40);
  auto best = lt::compute("best", {6}, [&](lt::Var i) { return lt::argmin(X(i, r), r); });
  auto least = best.get<0>();
  auto where = best.get<1>();
  auto Y = lt::compute("Y", {6, 40}, [&](lt::Var i, lt::Var j) { return X(i, j) - least(i); });
  const lt::Program one = lt::program_of(Y);
  lt::Schedule s(one);
  s.compute_at("best", s.loops(Y)[0]);
  CHECK(has(s.str(), "for i_1 in 0..1:"));
  CHECK(test::run(s.program()) == test::run(one));
  CHECK_FALSE(has(lt::default_schedule(one, lt::host()).program().str(), "for i_1 in 0..6"));
  auto Z = lt::compute("Z", {6, 40}, [&](lt::Var i, lt::Var j) {
    return X(i, j) - least(i) + lt::cast<float>(where(lt::max(i - 1, 0)));
  });
  const lt::Program both = lt::program_of(Z);
  lt::Schedule t(both);
  t.compute_at("best", t.loops(Z)[0]);
  CHECK(test::run(t.program()) == test::run(both));
  CHECK(test::run(lt::default_schedule(both, lt::host()).program()) == test::run(both));
}

TEST_CASE("loops of scripts become vectors where all memory lies along them") {
  const lt::Program horner = lt::script("horner", [](lt::Script& p) {
    auto x = p.input<float>("x", {100});
    auto c = p.input<float>("c", {5});
    auto y = p.output<float>("y", {100});
    p.for_("i", 100, [&](lt::Var i) {
      auto value = p.local<float>("value", {});
      p.store(value(), c(4));
      p.for_("k", 4, [&](lt::Var k) { p.store(value(), value() * x(i) + c(3 - k)); });
      p.store(y(i), value());
    });
  });
  const lt::Target v4("x86-64-v4");
  const lt::Schedule s = lt::default_schedule(horner, v4);
  // Four vectors in step, as each waits for itself.
  CHECK(has(s.str(), "vectorized for ii in 0..64"));
  CHECK(test::run(s.program()) == test::run(horner));
}

TEST_CASE("what jumps along the lanes is turned in registers, or packed where it is read often") {
  lt::Input<float, 2> X("X", {40, 50});
  auto turned = lt::compute("turned", {50, 40}, [&](lt::Var i, lt::Var j) { return X(j, i); });
  CHECK(has(scheduled(turned).str(), "unrolled for ii in 0..16"));
  auto product = [](std::int64_t rows) {
    lt::Input<float, 2> A("A", {rows, 24}), B("B", {48, 24});
    lt::Reduce r("r", 24);
    return lt::compute("C", {rows, 48},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(j, r), r); });
  };
  CHECK(has(scheduled(product(40)).str(), "block B_cache"));
  CHECK_FALSE(has(scheduled(product(4)).str(), "block B_cache"));
  lt::Input<float, 2> A("A", {40, 24});
  lt::Reduce q("q", 24);
  auto gram = lt::compute("gram", {40, 40},
                          [&](lt::Var i, lt::Var j) { return lt::sum(A(i, q) * A(j, q), q); });
  CHECK(has(scheduled(gram).str(), "gram_cache: f32[40, 40] scope register"));
  lt::Input<std::uint8_t, 2> planes("planes", {3, 200});
  auto pixels = lt::compute("pixels", {200, 3}, [&](lt::Var i, lt::Var c) { return planes(c, i); });
  CHECK(has(scheduled(pixels).str(), "unrolled for j in 0..3"));
  CHECK(has(scheduled(pixels).str(), "vectorized for ii in 0..64"));
}

TEST_CASE("what is left out is said to whoever asks") {
  const Stencil one(10, 64);
  std::vector<std::string> left_out;
  const lt::Program start = lt::program_of(one.Y);
  const lt::Target v4("x86-64-v4");
  CHECK(lt::default_schedule(start, v4, {}, left_out).str() ==
        lt::default_schedule(start, v4).str());
  CHECK(left_out.empty());
  // The last sum needs those before: no lanes, and no threads.
  const lt::Program carried = lt::script("carried", [](lt::Script& p) {
    auto x = p.input<float>("x", {100, 40000});
    auto y = p.output<float>("y", {40000});
    p.for_("i", 100, [&](lt::Var i) {
      p.for_("j", 1, 40000, [&](lt::Var j) { p.store(y(j), y(j - 1) + x(i, j)); });
    });
  });
  lt::default_schedule(carried, v4, {}, left_out);
  REQUIRE(!left_out.empty());
  CHECK(left_out[0].find("L02") == 0);
  CHECK(left_out[0].find('\n') == std::string::npos);
}

TEST_CASE("groups that an index divides are linear in the parts of the loop") {
  lt::Input<float, 2> X("X", {10, 64}), K("K", {16, 64});
  lt::Reduce q("q", 16);
  auto Y = lt::compute("Y", {10, 64}, [&](lt::Var i, lt::Var f) {
    return lt::sum(X(i, lt::floordiv(f, 16) * 16 + q) * K(q, f), q);
  });
  const std::string text = scheduled(Y).str();
  CHECK(has(text, "for jo in 0..4"));
  CHECK(has(text, "scope register"));
}

TEST_CASE("terms and columns of a product are taken in blocks that fit the caches") {
  lt::Target small("x86-64-v4");
  small.l1_bytes = 4096, small.l2_bytes = 65536, small.cores = 1;
  for (const auto [m, n, k] : {std::array{24, 192, 140}, std::array{26, 210, 143}}) {
    lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
    lt::Reduce r("r", k);
    auto C = lt::compute("C", {m, n},
                         [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
    auto D = lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return C(i, j) * 2.0f; });
    lt::Input<float, 3> X("X", {2, m, k}), Y("Y", {2, n, k});
    auto E = lt::compute("E", {2, m, n}, [&](lt::Var q, lt::Var i, lt::Var j) {
      return lt::sum(X(q, i, r) * Y(q, j, r), r);
    });
    for (const lt::AnyTensor& out : {lt::AnyTensor(C), lt::AnyTensor(D), lt::AnyTensor(E)}) {
      const lt::Program start = lt::program_of(out);
      const lt::Schedule s = lt::default_schedule(start, small, {.strict = true});
      INFO(s.str());
      CHECK(has(s.str(), "for ro in"));
      CHECK(test::run(s.program()) == test::run(start));
    }
  }
}

TEST_CASE("runs that lie a page apart are fetched ahead, unless their terms are written out") {
  lt::Target v4("x86-64-v4");
  v4.l2_bytes = 1 << 16;
  for (const int k : {2, 40}) {
    lt::Input<float, 2> A("A", {1, k}), B("B", {k, 10000});
    lt::Reduce r("r", k);
    auto C = lt::compute("C", {1, 10000},
                         [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
    std::vector<std::string> left_out;
    const lt::Schedule s = lt::default_schedule(lt::program_of(C), v4, {}, left_out);
    CHECK(left_out.empty());
    CHECK(has(s.str(), "@prefetch(buffer=\"B\", distance=8") == (k == 40));
    CHECK(has(s.str(), "scope register"));
  }
}
