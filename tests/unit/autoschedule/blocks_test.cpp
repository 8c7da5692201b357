// Weights that no near cache holds: in which order loops meet them, and how they are laid out.
#include <lathe/autoschedule/default_schedule.hpp>
#include <support/text.hpp>

#include "../schedule/kernels.hpp"
#include "one_core.hpp"

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
  return lt::default_schedule(program, test::one_core(name)).str();
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
  const auto largest = [](const lt::Extent& columns) {
    lt::Input<float, 2> X("X", {500, columns});
    lt::Reduce i("i", 500);
    return planned(lt::program_of(lt::compute(
                       "Y", {columns}, [&](lt::Var j) { return lt::reduce_max(X(i, j), i); })),
                   "znver4");
  };
  const lt::Dim n("n");
  CHECK(has(largest(1024), "vectorized for ii in 0..128"));
  CHECK(has(largest(n), "vectorized for ii in 0..64"));
}

namespace {

struct Product {
  std::int64_t m, n, k;
  bool turned = false;  ///< A' B

  lt::Program program() const {
    lt::Input<float, 2> A("A", {turned ? k : m, turned ? m : k}), B("B", {k, n});
    lt::Reduce r("r", k);
    return lt::program_of(lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) {
      return lt::sum((turned ? A(r, i) : A(i, r)) * B(r, j), r);
    }));
  }
  lt::Schedule planned(int cores = 1) const {
    lt::Target target("x86-64-v3");
    target.cores = cores;
    return lt::default_schedule(program(), target, {.strict = true});
  }
  std::string text(int cores = 1) const { return planned(cores).str(); }
  bool keeps_results() const { return test::run(planned().program()) == test::run(program()); }
};

}  // namespace

TEST_CASE("what few rows meet is read as it lies, a few terms of whole rows at a time") {
  for (const std::int64_t rows : {1, 3, 9}) {
    const Product p{rows, 300, 70};
    const std::string text = p.text();
    INFO(text);
    CHECK(has(text, "for ro in 0..9"));
    CHECK(has(text, "for ri in 0..8"));
    CHECK(!has(text, "B_cache"));
    CHECK(p.keeps_results());
  }
  CHECK(has(Product{1, 3000, 700}.text(2), "parallel for j0"));
  CHECK(!has(Product{1, 100, 70}.text(), "for ro in"));  // the first cache holds it
}

TEST_CASE("short tiles have panels from few rows on, and blocks of them where they are used") {
  CHECK(!has(Product{64, 64, 64}.text(), "B_cache"));  // the first cache holds it
  const Product few{20, 700, 150};
  CHECK(has(few.text(), "alloc B_cache"));
  CHECK(few.keeps_results());
  // A panel meets all of few rows before the next one comes.
  const auto around_sums = [](const std::string& text) {
    const std::size_t sums = text.find("block D(");
    REQUIRE(sums != std::string::npos);
    return std::pair{text.rfind("for j1 in", sums), text.rfind("for io in", sums)};
  };
  const auto [panel, row] = around_sums(few.text());
  CHECK(panel < row);
  const auto [block, tile] = around_sums(Product{100, 700, 1500}.text());
  CHECK(tile < block);
  // Blocks of tiles of 24 columns, all terms of which take half of the second cache.
  const Product large{1000, 1000, 600};
  const std::string blocks = large.text(), copy = "B_cache[floordiv(vj, 24), vi";
  REQUIRE(has(blocks, copy.c_str()));
  CHECK(has(blocks.substr(0, blocks.find(copy)), "j0 in"));
  // Threads share one copy where blocks are too few for them.
  const std::string shared = large.text(64);
  REQUIRE(has(shared, copy.c_str()));
  CHECK(!has(shared.substr(0, shared.find(copy)), "j0"));
  CHECK(has(shared, "j0"));
}

TEST_CASE(
    "few rows have no panels where 32 registers make tiles wide, if terms are those of one loop") {
  const auto has_panels = [](std::int64_t rows, const char* name, bool constant = false) {
    lt::Input<float, 2> A("A", {rows, 768});
    lt::Input<float, 2> B("B", {768, 768}, {.constant = constant});
    lt::Reduce r("r", 768);
    const auto C = lt::compute("C", {rows, 768},
                               [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
    return has(planned(lt::program_of(C), name), "alloc B_cache");
  };
  for (const std::int64_t rows : {16, 32}) {
    CHECK(!has_panels(rows, "x86-64-v4"));
    CHECK(has_panels(rows, "x86-64-v4", true));
    CHECK(has_panels(rows, "x86-64-v3"));
  }
  CHECK(has_panels(64, "x86-64-v4"));
}

TEST_CASE(
    "panels of a constant meet a tile's registers over all terms, if its rows come from near") {
  const auto planned_for = [](bool constant, bool far, std::int64_t rows) {
    lt::Input<float, 2> A("A", {rows, 3000}), B("B", {3000, 500}, {.constant = constant});
    lt::Reduce r("r", 3000);
    lt::Target target("x86-64-v3");
    target.far_last_cache = far, target.l2_bytes = 1 << 20;
    return lt::default_schedule(lt::program_of(lt::compute("D", {rows, 500},
                                                           [&](lt::Var i, lt::Var j) {
                                                             return lt::sum(A(i, r) * B(r, j), r);
                                                           })),
                                target)
        .str();
  };
  CHECK(!has(planned_for(true, false, 20), "ro in"));
  CHECK(!has(planned_for(true, false, 200), "ro in"));
  CHECK(!has(planned_for(true, true, 20), "ro in"));
  CHECK(has(planned_for(true, true, 200), "ro in"));    // rows come from far
  CHECK(has(planned_for(true, false, 1000), "ro in"));  // and from memory
  CHECK(has(planned_for(false, false, 200), "ro in"));  // panels are made where they are used
}

TEST_CASE("rows that a quarter of the last cache does not hold come in blocks") {
  const auto large = [](std::int64_t rows, std::int64_t terms, bool constant = false,
                        std::int64_t columns = 200) {
    lt::Input<float, 2> A("A", {rows, terms}), B("B", {terms, columns}, {.constant = constant});
    lt::Reduce r("r", terms);
    return lt::program_of(lt::compute(
        "D", {rows, columns}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); }));
  };
  lt::Target target("x86-64-v3");
  target.cores = 1, target.l3_bytes = 1 << 20, target.l2_bytes = 64 << 10;
  const auto planned_for = [&](const lt::Program& p) {
    return lt::default_schedule(p, target, {.strict = true});
  };
  for (const bool constant : {false, true}) {
    // All of 140 terms fit, 1500 need blocks of their own.
    for (const std::int64_t terms : {512, 1500}) {
      const lt::Program p = large(258, terms, constant);
      const lt::Schedule s = planned_for(p);
      INFO(s.str());
      const std::string text = s.str();
      const std::size_t sums = text.find("block D("), copy = text.find("block B_cache(");
      // 128 rows of 512 terms fit, and no fewer are taken: 43 tiles of six are three blocks. Panels
      // are copied for each.
      CHECK(has(text.substr(0, sums), "for i1 in 0..15"));
      CHECK(has(text.substr(0, copy), "i0_j0 in") != constant);
      CHECK(has(s.str(), "ro in") == (terms == 1500));
    }
    CHECK(!has(planned_for(large(258, 140, constant)).str(), "i0"));
  }
  // Rows that threads share, behind a mesh, are left to the second cache.
  target.far_last_cache = true;
  CHECK(!has(planned_for(large(258, 512)).str(), "i0"));
  target.far_last_cache = false, target.l3_bytes = 64 << 10, target.l2_bytes = 16 << 10;
  const lt::Program small = large(132, 150, false, 33);
  const lt::Schedule s = planned_for(small);
  CHECK(has(s.str(), "i0"));
  CHECK(test::run(s.program()) == test::run(small));
}

TEST_CASE("rows of narrow floats are converted once for all tiles that come back to them") {
  const auto rows = [](std::int64_t columns, std::int64_t terms) {
    lt::Input<lt::f16, 2> A("A", {128, terms}), B("B", {terms, columns}, {.constant = true});
    lt::Reduce r("r", terms);
    lt::Target target("x86-64-v3");
    target.cores = 1;
    return lt::default_schedule(lt::program_of(lt::compute(
                                    "D", {128, columns},
                                    [&](lt::Var i, lt::Var j) {
                                      return lt::sum(
                                          lt::cast<float>(A(i, r)) * lt::cast<float>(B(r, j)), r);
                                    })),
                                target)
        .str();
  };
  const auto is_ahead = [](const std::string& text) {
    const std::size_t copy = text.find("block A_cache");
    REQUIRE(copy < text.find("block D("));
    return !has(text.substr(0, copy), "for j0") && has(text, "alloc A_cache: f32[128,");
  };
  // One panel at a time in the second cache, or some, whose rows are converted next to them.
  CHECK(is_ahead(rows(768, 3072)));
  CHECK(!is_ahead(rows(768, 700)));
  // Too few tiles to go through memory.
  CHECK(!has(rows(48, 3072), "A_cache"));
  lt::Input<lt::f16, 2> A("A", {16, 64}), B("B", {64, 100}, {.constant = true});
  lt::Reduce r("r", 64);
  const lt::Program small = lt::program_of(lt::compute("D", {16, 100}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<float>(A(i, r)) * lt::cast<float>(B(r, j)), r);
  }));
  lt::Target target("x86-64-v3");
  target.cores = 1, target.l2_bytes = 16 << 10;
  const lt::Schedule s = lt::default_schedule(small, target, {.strict = true});
  CHECK(has(s.str(), "alloc A_cache: f32[16, 64]"));
  CHECK(test::run(s.program()) == test::run(small));
}

TEST_CASE("rows of a tile that lie side by side, terms apart, have panels of their own") {
  const Product turned{50, 70, 300, true};
  CHECK(has(turned.text(), "alloc A_cache: f32[13, 300, 4]"));
  CHECK(turned.keeps_results());
  CHECK(!has(Product{50, 70, 300}.text(), "A_cache"));
  CHECK(!has(Product{50, 70, 20, true}.text(), "A_cache"));  // the first cache holds all terms
}

TEST_CASE("tiles end where groups of whole vectors end") {
  // 128 filters are 16 vectors of AVX2: tiles of three would meet the next group, and be refused.
  CHECK(has(planned(convolution(7, 3, 4, 16, 128), "x86-64-v3"),
            "alloc Y_cache: f32[7, 7, 512] scope register"));
}
