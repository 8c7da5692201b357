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
    return planned(
        lt::program_of(lt::compute("Y", {columns}, [&](lt::Var j) { return lt::sum(X(i, j), i); })),
        "znver4");
  };
  const lt::Dim n("n");
  CHECK(has(sums(1024), "vectorized for ii in 0..128"));
  CHECK(has(sums(n), "vectorized for ii in 0..64"));
}
