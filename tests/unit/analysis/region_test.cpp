#include <doctest/doctest.h>

#include <lathe/analysis/region.hpp>
#include <lathe/arith/simplify.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

/// What is below a loop reads of a buffer, with the loops from the root to that loop fixed.
RegionBound below(const Program& p, const char* loop, const char* buffer) {
  LoopSite site = find_loop(p->body, loop_named(p, loop));
  std::vector<Stmt> path = site.path;
  path.push_back(site.loop->body);
  return required_region(site.loop->body, buffer_named(p, buffer), facts_on(path, Facts(p)));
}

Program stencil() {
  return parse(
      "program p<n in 1..=4096>(in A: f32[n + 2], out C: f32[n]):\n"
      "  alloc P: f32[n + 2]\n"
      "  for i in 0..n + 2:\n"
      "    block P(v in 0..n + 2 = i):\n"
      "      P[v] = A[v] * 2.0\n"
      "  for io in 0..floordiv(n + 7, 8):\n"
      "    for ii in 0..8:\n"
      "      block C(v in 0..n = io * 8 + ii):\n"
      "        C[v] = P[v] + P[v + 1] + P[v + 2]\n");
}

}  // namespace

TEST_CASE("a tile of a stencil needs the tile and its halo") {
  Program p = stencil();
  CHECK(text(below(p, "io", "P").region) == "P[io * 8 +10]");
  RegionBound one = below(p, "ii", "P");
  CHECK(text(one.region) == "P[io * 8 + ii +3]");
  CHECK(text(required_region(p->body, buffer_named(p, "A"), Facts(p)).region) == "A[0 +n + 2]");
}

TEST_CASE("what a guarded nest surely writes is the domain") {
  Program p = stencil();
  auto all = written_region_lower(p->body, buffer_named(p, "C"), Facts(p));
  REQUIRE(all);
  CHECK(text(*all) == "C[0 +n]");
  auto p_all = written_region_lower(p->body, buffer_named(p, "P"), Facts(p));
  REQUIRE(p_all);
  CHECK(text(*p_all) == "P[0 +n + 2]");
  LoopSite io = find_loop(p->body, loop_named(p, "io"));
  Facts facts(p);
  facts.bind(*io.loop);
  auto tile = written_region_lower(io.loop->body, buffer_named(p, "C"), facts);
  REQUIRE(tile);
  CHECK(text(*tile) == "C[io * 8 +min(8, n - io * 8)]");
}

TEST_CASE("conditions narrow what is read") {
  Program p = parse(
      "program p(in X: f32[16], out Y: f32[18]):\n"
      "  for i in 0..18:\n"
      "    block Y(v in 0..18 = i):\n"
      "      Y[v] = select(v >= 1 && v < 17, X[v - 1], 0.0)\n");
  RegionBound r = required_region(p->body, buffer_named(p, "X"));
  CHECK(text(r.region) == "X[0 +16]");
  CHECK_FALSE(r.exact);
}

TEST_CASE("gathers span the whole buffer, clamped ones the clamp") {
  Program p = parse(
      "program p(in I: i64[8], in X: f32[100], out Y: f32[8]):\n"
      "  for i in 0..8:\n"
      "    block Y(v in 0..8 = i):\n"
      "      Y[v] = X[I[v]] + X[min(max(I[v], 3), 9)]\n");
  CHECK(text(required_region(p->body, buffer_named(p, "X")).region) == "X[0 +100]");
  Program q = parse(
      "program p(in I: i64[8], in X: f32[100], out Y: f32[8]):\n"
      "  for i in 0..8:\n"
      "    block Y(v in 0..8 = i):\n"
      "      Y[v] = X[min(max(I[v], 3), 9)]\n");
  CHECK(text(required_region(q->body, buffer_named(q, "X")).region) == "X[3 +7]");
}

TEST_CASE("two writers that touch cover together") {
  Program p = parse(
      "program p(in A: f32[4], in B: f32[6], out C: f32[10]):\n"
      "  for i in 0..4:\n"
      "    block C0(v in 0..4 = i):\n"
      "      C[v] = A[v]\n"
      "  for i in 0..6:\n"
      "    block C1(v in 0..6 = i):\n"
      "      C[v + 4] = B[v]\n");
  auto r = written_region_lower(p->body, buffer_named(p, "C"));
  REQUIRE(r);
  CHECK(text(*r) == "C[0 +10]");
}

TEST_CASE("gaps, conditions and reductions without init are not surely written") {
  Program gaps = parse(
      "program p(out C: f32[10]):\n"
      "  for i in 0..5:\n"
      "    block C(v in 0..5 = i):\n"
      "      C[v * 2] = 1.0\n");
  CHECK_FALSE(written_region_lower(gaps->body, buffer_named(gaps, "C")));
  Program where = parse(
      "program p(out C: f32[10]):\n"
      "  for i in 0..10:\n"
      "    block C(v in 0..10 = i) where v != 3:\n"
      "      C[v] = 1.0\n");
  CHECK_FALSE(written_region_lower(where->body, buffer_named(where, "C")));
  Program sum = parse(
      "program p<n in 0..=9>(in A: f32[10, n], out C: f32[10]):\n"
      "  for i in 0..10:\n"
      "    for r in 0..n:\n"
      "      block C(v in 0..10 = i, reduce k in 0..n = r) reduce sum init:\n"
      "        C[v] sum= A[v, k]\n");
  CHECK(written_region_lower(sum->body, buffer_named(sum, "C"), Facts(sum)));
}

TEST_CASE("an init writes also where a condition leaves the reduction no point") {
  Program p = parse(
      "program p(in A: f32[9, 9], out P: f32[9]):\n  for i in 0..9:\n    for r in 0..9:\n"
      "      block P(v in 0..9 = i, reduce k in 0..9 = r) reduce sum init where v > k + 3:\n"
      "        P[v] sum= A[v, k]\n");
  const Buffer P = buffer_named(p, "P");
  const auto lower = written_region_lower(p->body, P);
  REQUIRE(lower);
  CHECK(text(*lower) == "P[0 +9]");
  Vec<AccessSite> writes = accesses_to(P, p->body);
  CHECK(text(region_upper_guarded(P, writes, vars_of(writes[0].loops)).region) == "P[0 +9]");
}

TEST_CASE("loops inside a block: what no index names decides as well, and tiles may be none") {
  auto lower = [](const char* loops, const char* store) {
    Program p =
        parse("program p<n>(in x: f32[n], inout y: f32[99]):\n" + std::string(loops) + store);
    auto box = written_region_lower(p->body, buffer_named(p, "y"), Facts(p));
    return box ? text(*box) : "none";
  };
  const char* four = "  for i in 0..4:\n    block y(v in 0..4 = i):\n";
  const char* some = "  for i in 0..n:\n    block y(v in 0..n = i):\n";
  CHECK(lower(four, "      for k in 0..8:\n        y[v * 8 + k] = 1.0\n") == "y[0 +32]");
  CHECK(lower(four, "      for k in 0..2:\n        y[v] = x[k]\n") == "y[0 +4]");
  CHECK(lower(four, "      for k in 0..n:\n        y[v] = x[k]\n") == "none");
  CHECK(lower(four, "      for k in 0..v:\n        y[v] = x[k]\n") == "none");
  CHECK(lower(four, "      for k in 0..v + 1:\n        y[v] = x[k]\n") == "y[0 +4]");
  CHECK(lower(four, "      for k in 0..v:\n        y[k] = x[v]\n") == "none");
  CHECK(lower("  for i in 0..4:\n    for k in 0..n:\n      block y(v in 0..4 = i):\n",
              "        y[v] = 1.0\n") == "none");
  CHECK(lower(some, "      for k in 0..8:\n        y[v * 8 + k] = 1.0\n") == "y[0 +n * 8]");
  CHECK(lower(some, "      for k in 0..9:\n        y[v * 8 + k] = 1.0\n") == "none");
}

TEST_CASE("fuzz: regions against what runs") {
  using index_test::Random;
  int lower_found = 0, lower_true = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random{seed};
    VarRef outer = make_var("o");
    std::vector<VarRef> loops{make_var("a"), make_var("b")}, iters{make_var("v"), make_var("w")};
    std::int64_t extents[] = {random.between(1, 5), random.between(1, 4)},
                 outer_extent = random.between(1, 3);
    Buffer x = make_buffer("X", kF32, {AnyExpr(64), AnyExpr(64)});
    std::vector<IterVar> domain;
    for (int k = 0; k < 2; ++k) {
      AnyExpr binding =
          k == 0 ? AnyExpr(outer) * extents[0] + AnyExpr(loops[0]) : AnyExpr(loops[1]);
      if (random.below(6) == 0)
        binding = binding + AnyExpr(loops[static_cast<std::size_t>(random.below(2))]);
      std::int64_t size = random.below(3) ? 64 : random.between(1, 6);
      domain.push_back({iters[static_cast<std::size_t>(k)], AnyExpr(0), AnyExpr(size),
                        IterKind::spatial, binding});
    }
    // A loop inside the block, which may run nothing for some of its instances.
    const bool inner_loop = random.below(3) == 0;
    VarRef inside_loop = make_var("c");
    const AnyExpr inside_extent =
        random.below(3) == 0 ? AnyExpr(iters[0]) : AnyExpr(random.between(0, 4));
    auto index = [&]() -> AnyExpr {
      AnyExpr v(iters[static_cast<std::size_t>(random.below(2))]), w(iters[1]);
      if (inner_loop && random.below(3) == 0)
        return v * random.between(1, 3) + AnyExpr(inside_loop);
      switch (random.below(8)) {
        case 0:
          return v * 2 + 1;
        case 1:
          return AnyExpr(40) - v;
        case 2:
          return v + w;
        case 3:
          return floordiv(v, AnyExpr(2)) + 3;
        case 4:
          return make_binary(BinaryOp::min, v + 1, AnyExpr(random.between(1, 6)));
        case 5:
          return v * extents[1] + w;
        default:
          return v + random.between(0, 3);
      }
    };
    auto load = [&] { return make_load(x, {index(), index()}); };
    AnyExpr value = load();
    if (random.below(2)) value = value + load();
    if (random.below(3) == 0)
      value = make_select(AnyExpr(iters[0]) > random.between(0, 3), value, make_float(kF32, 0));
    Buffer y = make_buffer("Y", kF32, {AnyExpr(64), AnyExpr(64)});
    Stmt store = make_store(y, {index(), index()}, value);
    if (inner_loop) store = make_for(inside_loop, AnyExpr(0), inside_extent, store);
    BlockNode block(make_ref<BlockTagNode>("Y"), domain, store);
    if (random.below(4) == 0) block.predicate = AnyExpr(iters[0]) < random.between(1, 4);
    Stmt body = make_block(block);
    for (std::size_t k = 2; k-- > 0;)
      body = make_for(loops[k], AnyExpr(0), AnyExpr(extents[k]), body);
    Stmt root = make_for(outer, AnyExpr(0), AnyExpr(outer_extent), body);
    Facts facts;
    facts.bind(outer, AnyExpr(0), AnyExpr(outer_extent));
    RegionBound upper = required_region(body, x, facts),
                wrote = written_region_upper(body, y, facts);
    auto lower = written_region_lower(body, y, facts);
    lower_found += lower.has_value();
    INFO("seed " << seed << "\n" << str(root));
    for (std::int64_t o = 0; o < outer_extent; ++o) {
      Env env{{outer.get(), o}};
      std::set<Point> reads, writes;
      for (const auto& t : run(body, env)) (t.write ? writes : reads).insert(t.element);
      auto inside = [&](const Region& r, const Point& at) {
        for (std::size_t d = 0; d < 2; ++d) {
          std::int64_t lo = index_test::eval(r.ranges[d].min, env)[0],
                       n = index_test::eval(r.ranges[d].extent, env)[0];
          if (at[d] < lo || at[d] >= lo + n) return false;
        }
        return true;
      };
      bool all_reads = true, all_writes = true, all_lower = true;
      for (const auto& e : reads) all_reads = all_reads && inside(upper.region, e);
      for (const auto& e : writes) all_writes = all_writes && inside(wrote.region, e);
      CHECK((all_reads && (reads.empty() || !upper.empty)));
      CHECK((all_writes && (writes.empty() || !wrote.empty)));
      if (lower) {
        for (std::int64_t a = 0; a < 64; ++a)
          for (std::int64_t b = 0; b < 64; ++b)
            all_lower = all_lower && (!inside(*lower, {a, b}) || writes.count({a, b}));
        CHECK(all_lower);
      }
      if (wrote.exact) {
        std::size_t size = 1;
        for (const auto& r : wrote.region.ranges)
          size *= static_cast<std::size_t>(index_test::eval(r.extent, env)[0]);
        CHECK(size == writes.size());
      }
      // Whether the writes fill their bounding box at all.
      if (o == 0 && !writes.empty()) {
        Point lo = *writes.begin(), hi = lo;
        for (const auto& e : writes)
          for (std::size_t d = 0; d < 2; ++d)
            lo[d] = std::min(lo[d], e[d]), hi[d] = std::max(hi[d], e[d]);
        lower_true +=
            writes.size() == static_cast<std::size_t>((hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1));
      }
    }
  }
  MESSAGE("surely written: found " << lower_found << " of " << lower_true);
  CHECK(lower_found * 10 >= lower_true * 4);
}
