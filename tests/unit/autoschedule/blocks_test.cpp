// Weights that no near cache holds: in which order loops meet them, and how they are laid out.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"

namespace lt = lathe;
using test::has;

namespace {

/// Of images of rows x rows x 7, `groups` groups of `in` channels to `out` filters each; the
/// weights are constant.
lt::Program convolution(int rows, int taps, int groups, int in, int out) {
  lt::Input<float, 3> X("X", {rows + taps - 1, rows + 2, in * groups});
  lt::Input<float, 4> K("K", {taps, 3, in, out * groups}, {.constant = true});
  lt::Reduce a("a", taps), b("b", 3), c("c", in);
  return lt::program_of(
      lt::compute("Y", {rows, rows, out * groups}, [&](lt::Var i, lt::Var j, lt::Var f) {
        return lt::sum(X(i + a, j + b, (f / out) * in + c) * K(a, b, c, f), {a, b, c});
      }));
}

/// For one thread, so that no loops are fused to run in parallel.
std::string planned(const lt::Program& program, const char* name = "x86-64-v4") {
  lt::Target target(name);
  target.cores = 1;
  return lt::default_schedule(program, target).str();
}

/// From the loop over rows of the window to the block.
std::string inside_of_taps(const std::string& text) {
  const std::size_t from = text.find("for a in");
  return text.substr(from, text.find("block Y(", from) - from);
}

}  // namespace

TEST_CASE("loops of a window stand around as many terms as the second cache holds") {
  CHECK(has(inside_of_taps(planned(convolution(7, 9, 1, 512, 512))), "for j in 0..7"));
  CHECK(!has(inside_of_taps(planned(convolution(7, 3, 1, 64, 64))), "for j in 0..7"));
}

TEST_CASE("sums that wait between blocks of a window are added up in the same order") {
  lt::Target target("x86-64-v4");
  target.l2_bytes = 4096;
  const lt::Program start = convolution(7, 3, 1, 8, 32);
  const lt::Schedule s = lt::default_schedule(start, target);
  CHECK(has(inside_of_taps(s.str()), "for j in 0..7"));
  CHECK(s.numerics().empty());
  CHECK(test::run(s.program()) == test::run(start));
}

TEST_CASE("groups have panels of their own, and come one after the other where all are too many") {
  const std::string text = planned(convolution(7, 3, 4, 128, 128));
  CHECK(has(text, "alloc K_cache: f32[16, 3, 3, 128, 32]"));
  const std::string order = text.substr(text.find("alloc Y_cache"));
  CHECK(order.find("for ko in 0..4") < order.find("for j in 0..7"));
}

TEST_CASE("panels that the second cache does not hold are fetched a page ahead") {
  // Three vectors of 64 bytes a term: 4096 / 192.
  CHECK(has(planned(convolution(7, 3, 1, 512, 512)),
            "@prefetch(buffer=\"K_cache\", distance=21, locality=3)"));
  CHECK(!has(planned(convolution(7, 1, 1, 128, 128)), "@prefetch"));
}

TEST_CASE("groups of no whole vectors are an iterator of their own, with one tail") {
  const lt::Program start = convolution(5, 3, 4, 3, 25);
  const lt::Schedule s = lt::default_schedule(start, lt::Target("x86-64-v4"));
  CHECK(has(s.str(), "alloc Y_reindex: f32[5, 5, 4, 25] scope register"));
  CHECK(test::run(s.program()) == test::run(start));
}

TEST_CASE("rows of a tile are those that lie in different sets of the first cache") {
  const auto tile = [](std::int64_t channels) {
    lt::Input<float, 3> X("X", {14, 16, channels});
    lt::Input<float, 3> K("K", {3, channels, 64}, {.constant = true});
    lt::Reduce q("q", 3), c("c", channels);
    return planned(
        lt::program_of(lt::compute("Y", {14, 14, 64}, [&](lt::Var i, lt::Var j, lt::Var f) {
          return lt::sum(X(i, j + q, c) * K(q, c, f), {q, c});
        })));
  };
  CHECK(has(tile(256), "unrolled for ji"));  // a column lies 16 KiB from the one above
  CHECK(has(tile(240), "unrolled for ii"));
}

TEST_CASE("columns that are turned in registers have tiles without many tails") {
  const auto gram = [](std::int64_t rows, std::int64_t terms) {
    lt::Input<float, 2> A("A", {rows, terms});
    lt::Reduce q("q", terms);
    return planned(lt::program_of(lt::compute(
        "Y", {rows, rows}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, q) * A(j, q), q); })));
  };
  const std::string ragged = gram(50, 73);
  CHECK(has(ragged, "unrolled for ii in 0..10:"));
  CHECK(has(ragged, "vectorized for ji in 0..16 @tail"));
}

TEST_CASE("of unknown columns fewer vectors are taken where more are no faster") {
  const auto sums = [](const lt::Extent& columns) {
    lt::Input<float, 2> X("X", {500, columns});
    lt::Reduce i("i", 500);
    return planned(lt::program_of(lt::compute(
                       "Y", {columns}, [&](lt::Var j) { return lt::reduce_max(X(i, j), i); })),
                   "znver4");
  };
  const lt::Dim n("n");
  CHECK(has(sums(1024), "vectorized for ii in 0..128"));
  CHECK(has(sums(n), "vectorized for ii in 0..64"));
}

namespace {

/// A product for one thread of `cores`, A or A' times B.
lt::Schedule product(std::int64_t m, std::int64_t n, std::int64_t k, bool turned = false,
                     int cores = 1) {
  lt::Input<float, 2> A("A", {turned ? k : m, turned ? m : k}), B("B", {k, n});
  lt::Reduce r("r", k);
  lt::Target target("x86-64-v3");
  target.cores = cores;
  return lt::default_schedule(
      lt::compute(
          "D", {m, n},
          [&](lt::Var i, lt::Var j) { return lt::sum((turned ? A(r, i) : A(i, r)) * B(r, j), r); }),
      target, {.strict = true});
}
bool same_results(const lt::Schedule& s, std::int64_t m, std::int64_t n, std::int64_t k,
                  bool turned = false) {
  lt::Input<float, 2> A("A", {turned ? k : m, turned ? m : k}), B("B", {k, n});
  lt::Reduce r("r", k);
  return test::run(s.program()) ==
         test::run(lt::program_of(lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) {
           return lt::sum((turned ? A(r, i) : A(i, r)) * B(r, j), r);
         })));
}

}  // namespace

TEST_CASE("what few rows meet is read as it lies, a few terms of whole rows at a time") {
  for (const std::int64_t rows : {1, 3, 9}) {
    const lt::Schedule s = product(rows, 300, 70);
    INFO(s.str());
    CHECK(has(s.str(), "for ro in 0..9"));
    CHECK(has(s.str(), "for ri in 0..8"));
    CHECK(!has(s.str(), "B_cache"));
    CHECK(same_results(s, rows, 300, 70));
  }
  CHECK(has(product(1, 3000, 700, false, 2).str(), "parallel for j0"));
  CHECK(!has(product(1, 100, 70).str(), "for ro in"));  // the first cache holds it
}

TEST_CASE("short tiles have panels from few rows on, and blocks of them where they are used") {
  CHECK(!has(product(64, 64, 64).str(), "B_cache"));  // the first cache holds it
  const lt::Schedule few = product(20, 700, 150);
  CHECK(has(few.str(), "alloc B_cache"));
  CHECK(same_results(few, 20, 700, 150));
  // Blocks of tiles of 24 columns, all terms of which take half of the second cache.
  const std::string blocks = product(1000, 1000, 600).str();
  CHECK(blocks.find("for j0 in") < blocks.find("B_cache["));
  // Threads share one copy where blocks are too few for them.
  const std::string shared = product(1000, 1000, 600, false, 64).str();
  CHECK(shared.find("B_cache[") < shared.find("for j0 in"));
}

TEST_CASE("rows of a tile that lie side by side, terms apart, have panels of their own") {
  const lt::Schedule s = product(50, 70, 300, true);
  CHECK(has(s.str(), "alloc A_cache: f32[13, 300, 4]"));
  CHECK(same_results(s, 50, 70, 300, true));
  CHECK(!has(product(50, 70, 300).str(), "A_cache"));
  CHECK(!has(product(50, 70, 20, true).str(), "A_cache"));  // the first cache holds all terms
}
