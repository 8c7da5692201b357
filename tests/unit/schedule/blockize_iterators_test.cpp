// blockize: which iterators and bounds separate into tiles and what is inside them.
#include "excerpt.hpp"
#include "intrinsics.hpp"
#include "kernels.hpp"
#include "lowered.hpp"

using namespace test;

TEST_CASE("blockize: numbers beyond 32 bits") {
  const std::int64_t n = std::int64_t{1} << 34;
  Add k(n);
  lt::Schedule s(k.Y);
  auto [i] = s.loops<1>("Y");
  auto [io, ii] = s.split<2>(i, {lt::infer, std::int64_t{1} << 32});
  s.blockize(ii);
  CHECK(part(s, "block Y") ==
        "    block Y(vio in 0..4 = io):\n      for ii in 0..4294967296:\n"
        "        Y[vio * 4294967296 + ii] = X[vio * 4294967296 + ii] + 1.0\n");
  CHECK(lt::verify_reason(s.program(), lt::Stage::blocks) == "");
}

TEST_CASE("blockize: fused loops, steps over several loops, reversed and shifted iterators") {
  Gemm k(12, 10, 4);
  lt::Schedule start(k.D), s = start;
  auto [i, j] = s.loops<2>("D");
  auto [io, ii] = s.split<2>(i, {lt::infer, 3});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 5});
  s.reorder({io, jo, ii, ji});
  lt::LoopRef tiles = s.fuse(io, jo);
  lt::LoopRef points = s.fuse(ii, ji);
  s.blockize(points);
  CHECK(part(s, "block D") ==
        R"(    block D(vio in 0..4 = floordiv(io_jo, 2), vjo in 0..2 = floormod(io_jo, 2)):
      for ii_ji in 0..15:
        D[vio * 3 + floordiv(ii_ji, 5), vjo * 5 + floormod(ii_ji, 5)] = max(C[vio * 3 + floordiv(ii_ji, 5), vjo * 5 + floormod(ii_ji, 5)], 0.0)
)");
  check_lowered(start, s);
  s.parallel(tiles);
  check_lowered(start, s);

  lt::Schedule deep(k.D);
  auto [x, y] = deep.loops<2>("D");
  auto [x0, x1, x2, x3] = deep.split<4>(x, {2, 1, 3, 2});
  lt::Schedule deepest = deep;
  deep.blockize(x2);
  CHECK(deep.str().find("block D(vio in 0..2 = i0 + i1):") != std::string::npos);
  check_lowered(start, deep);
  deepest.blockize(x3);
  CHECK(deepest.str().find("block D(vio in 0..6 = i0 * 3 + i1 * 3 + i2):") != std::string::npos);
  check_lowered(start, deepest);

  lt::Schedule turned = schedule_of(R"(program turned(in x: f32[30], out y: f32[30]):
  for a in 0..4:
    for b in 0..7:
      block y(vi in 2..30 = 29 - a * 7 - b):
        y[vi] = x[vi] * 2.0
  for i in 0..2:
    block rest(vi in 0..2 = i):
      y[vi] = 0.0
)");
  lt::Schedule once = turned;
  turned.blockize(turned.loop("b"));
  CHECK(part(turned, "block y") == R"(    block y(vio in 0..4 = 3 - a):
      for b in 0..7:
        y[vio * 7 - b + 8] = x[vio * 7 - b + 8] * 2.0
)");
  check_lowered(once, turned);
}

TEST_CASE("blockize: a loop of the nest that cancels out of an iterator") {
  const lt::Schedule sum = schedule_of(R"(program sum(in x: i32[5, 4], inout y: i32[]):
  for i in 0..5:
    for j in 0..4:
      block y(reduce vi in 0..5 = i, reduce vj in 0..4 = j) reduce sum:
        y[] sum= x[vi, vj]
)");
  lt::Schedule s = sum;
  auto [i, j] = s.loops<2>("y");
  auto [o, inner] = s.split<2>(s.fuse({i, j}), {lt::infer, 4}, lt::Tail::round_up);
  CHECK(head(s, "block y").find("vi in 0..5 = floordiv(i_jo * 4 + i_ji, 4)") != std::string::npos);
  s.blockize(inner);
  CHECK(head(s, "block y") == "block y(reduce vi in 0..5 = i_jo):");
  check_lowered(sum, s);
}

TEST_CASE("blockize: tiles that overlap, and bounds that depend on tiles") {
  Blur k(24);
  lt::Schedule start(k.C), s = start;
  auto [x] = s.loops<1>("C");
  auto [xo, xi] = s.split<2>(x, {lt::infer, 8});
  s.compute_at("P", xo);
  s.blockize(s.loops("P")[1]);
  CHECK(part(s, "block P") == R"(    block P(vio in 0..3 = io):
      for i in 0..10:
        P[vio * 8 + i] = A[vio * 8 + i] * 2.0
)");
  check_lowered(start, s);
  s.blockize(xi);
  check_lowered(start, s);
  s.parallel(xo);
  check_lowered(start, s);
  s = start;  // both at once
  auto [y] = s.loops<1>("C");
  auto [yo, yi] = s.split<2>(y, {lt::infer, 8});
  s.compute_at("P", yo);
  s.blockize(yo);
  CHECK(part(s, "block C") == R"(  block C():
    for io in 0..3:
      for i in 0..10:
        P[io * 8 + i] = A[io * 8 + i] * 2.0
      for ii in 0..8:
        C[io * 8 + ii] = P[io * 8 + ii] + P[io * 8 + ii + 1] + P[io * 8 + ii + 2]
)");
  check_lowered(start, s);

  lt::Schedule triangle = schedule_of(R"(program triangle(in x: f32[12, 12], inout y: f32[12, 12]):
  for io in 0..4:
    for ii in 0..3:
      for j in 0..io * 3 + ii + 1:
        block y(vi in 0..12 = io * 3 + ii, vj in 0..12 = j):
          y[vi, vj] = x[vi, vj] + 1.0
)");
  lt::Schedule rows = triangle;
  rows.blockize(rows.loop("j"));
  CHECK(head(rows, "block y") == "block y(vi in 0..12 = io * 3 + ii):");
  CHECK(rows.str().find("\n        for j in 0..vi + 1:\n") != std::string::npos);
  check_lowered(triangle, rows);
  CHECK(refused_line(rows, [](lt::Schedule& t) { t.vectorize(t.loop("ii")); }) ==
        "error[L0209] vectorize: the bound of loop 'j' differs between the lanes of 'ii'");
  lt::Schedule tiles = triangle;
  tiles.blockize(tiles.loop("ii"));
  CHECK(part(tiles, "block y") == R"(    block y(vio in 0..4 = io):
      for ii in 0..3:
        for j in 0..vio * 3 + ii + 1:
          y[vio * 3 + ii, j] = x[vio * 3 + ii, j] + 1.0
)");
  check_lowered(triangle, tiles);
  tiles.parallel(tiles.loop("io"));
  check_lowered(triangle, tiles);

  lt::Schedule ragged = schedule_of(R"(program ragged<n>(in x: f32[n], out y: f32[n]):
  for io in 0..floordiv(n + 7, 8):
    for ii in 0..min(8, n - io * 8):
      block y(vi in 0..n = io * 8 + ii):
        y[vi] = x[vi] + 1.0
)");
  lt::Schedule cut = ragged;
  cut.blockize(cut.loop("ii"));
  for (std::int64_t n : {0, 1, 8, 13}) check_lowered(ragged, cut, {{"n", n}});

  lt::Schedule untold = schedule_of(R"(program untold(in x: f32[12], inout y: f32[12]):
  for t in 0..4:
    for i in 0..t * 3:
      block y(vi in 0..12 = i):
        y[vi] = x[vi] + y[vi]
)");
  CHECK(refused_help(untold, [](lt::Schedule& s) { s.blockize(s.loop("i")); }) ==
        "error[L0257] blockize: the bound t * 3 of loop 'i' depends on a loop around the nest that "
        "no iterator tells\n  help: blockize a loop outside of it");
}

TEST_CASE("blockize: conditions, bounds in memory, and what instances read of themselves") {
  // The condition of the block goes inside where it names what is inside.
  lt::Schedule start = schedule_of(R"(program some(in x: f32[24], inout y: f32[24], in k: i64):
  for io in 0..3:
    for ii in 0..8:
      block y(vi in 0..24 = io * 8 + ii) where vi != k:
        y[vi] = x[vi]
)");
  lt::Schedule s = start;
  s.blockize(s.loop("ii"));
  CHECK(part(s, "block y") == R"(    block y(vio in 0..3 = io):
      for ii in 0..8:
        if vio * 8 + ii != k:
          y[vio * 8 + ii] = x[vio * 8 + ii]
)");
  check_lowered(start, s);
  s.parallel(s.loop("io"));
  s.vectorize(s.loop("ii"));
  check_lowered(start, s);

  lt::Schedule rows = schedule_of(R"(program rows(in at: i64[5], in x: f32[64], inout y: f32[4]):
  for i in 0..4:
    for k in 0..min(max(at[i], 0) + 2, 64):
      block y(vi in 0..4 = i, reduce vk in 0..64 = k) reduce sum:
        y[vi] sum= x[vk]
)");
  lt::Schedule sums = rows;
  sums.blockize(sums.loop("k"));
  CHECK(part(sums, "block y") == R"(    block y(vi in 0..4 = i):
      for k in 0..min(max(at[vi], 0) + 2, 64):
        y[vi] = y[vi] + x[k]
)");
  check_lowered(rows, sums);

  lt::Schedule changed = schedule_of(R"(program changed(inout at: i64[4], inout y: f32[40]):
  for i in 0..4:
    for k in 0..8:
      block y(vi in 0..40 = at[i] * 0 + i * 8 + k, vj in 0..4 = at[i] * 0 + i):
        y[vi] = 1.0
        at[vj] = at[vj] + 8
)");
  CHECK(
      refused_line(changed, [](lt::Schedule& t) { t.blockize(t.loop("k")); }) ==
      "error[L0257] blockize: block 'y' has iterator 'vi' = at[i] * 0 + i * 8 + k, which the nest "
      "itself changes");

  // A scan: each row continues the one before.
  lt::Schedule scan = schedule_of(R"(program scan(inout y: f32[5, 8]):
  for i in 0..4:
    for jo in 0..2:
      for ji in 0..4:
        block y(vi in 1..5 = i + 1, vj in 0..8 = jo * 4 + ji):
          y[vi, vj] = y[vi, vj] + y[vi - 1, vj]
)");
  lt::Schedule tiles = scan;
  tiles.blockize(tiles.loop("ji"));
  check_lowered(scan, tiles);
  CHECK(refused_id(tiles, [](lt::Schedule& t) { t.parallel(t.loop("i")); }) == "L0207");
  tiles.reorder({tiles.loop("jo"), tiles.loop("i")});
  tiles.parallel(tiles.loop("jo"));
  check_lowered(scan, tiles);
}

TEST_CASE("blockize: regions that a block declares cover the tile") {
  ByteGemm k(3, 32, 8);
  Tile t = packed_tile(k, 4);
  t.s.tensorize(t.jj, "vpdpbusd");
  t.s.blockize(t.ro);
  CHECK(head(t.s, "block C(") ==
        "block C(vi in 0..3 = i, vj in 0..17 = jo * 16) reads C[vi..+1, vj..+16], A[vi..+1, 0..8], "
        "B_cache[0..2, floordiv(vj, 16)..+1, floormod(vj, 16) * 4..+64] writes C[vi..+1, "
        "vj..+16]:");
  check_lowered(lt::Schedule(k.C), t.s);
  Tile rows = packed_tile(k, 4);
  rows.s.tensorize(rows.jj, "vpdpbusd");
  rows.s.blockize(rows.ro);
  CHECK(refused_line(rows.s, [&](lt::Schedule& s) { s.vectorize(rows.ro); }) ==
        "error[L0209] vectorize: loop 'ro'(2) holds vectors already, those of an intrinsic");
  t.s.parallel(t.i);
  check_lowered(lt::Schedule(k.C), t.s);
  CHECK(refused_help(t.s, [&](lt::Schedule& s) { s.blockize(t.jo); }) ==
        "error[L0257] blockize: block 'C' declares what it touches, and is not alone in the nest\n"
        "  help: blockize a loop that holds this block alone");
}

TEST_CASE("blockize: blocks of one nest that run for different tiles") {
  const char* text = R"(program two(in x: f32[24], out y: f32[24], inout z: f32[24]):
  for io in 0..4:
    for a in 0..6:
      block y(vi in 0..24 = io * 6 + a):
        y[vi] = x[vi] + 1.0
    for b in 0..6:
      block z(vi in 0..18 = io * 6 + b):
        z[vi] = y[vi] * 2.0
)";
  lt::Schedule start = schedule_of(text), s = start;
  s.add_unit_loop(s.loop("io"));
  CHECK(
      refused_help(s, [](lt::Schedule& t) { t.blockize(t.loop("io")); }) ==
      "error[L0257] blockize: block 'z' has iterator 'vi' = io * 6 + b in 0..18, a guard that cuts "
      "through tiles\n  help: pad the block, or take the full tiles apart with loop_partition");
  lt::Schedule one = start;  // the guard is that of its own tile
  one.blockize(one.loop("b"));
  one.blockize(one.loop("a"));
  check_lowered(start, one);
  CHECK(one.str().find("block z(vio in 0..3 = io)") != std::string::npos);
  lt::Schedule both = schedule_of(R"(program two(in x: f32[24], out y: f32[24], inout z: f32[24]):
  for io in 0..4:
    for u in 0..1:
      for a in 0..6:
        block y(vi in 0..24 = io * 6 + a):
          y[vi] = x[vi] + 1.0
      for b in 0..6:
        block z(vi in 0..18 = io * 6 + b):
          z[vi] = y[vi] * 2.0
)");
  CHECK(
      refused_line(both, [](lt::Schedule& t) { t.blockize(t.loop("u")); }) ==
      "error[L0257] blockize: block 'y' runs where iterator 'vio' = io of another block is outside "
      "of its domain");
  lt::Schedule same = schedule_of(R"(program two(in x: f32[24], out y: f32[24], inout z: f32[24]):
  for io in 0..4:
    for u in 0..1:
      for a in 0..6:
        block y(vi in 0..24 = io * 6 + a):
          y[vi] = x[vi] + 1.0
      for c in 0..2:
        for b in 0..3:
          block z(vi in 0..24 = io * 6 + c * 3 + b):
            z[vi] = y[vi] * 2.0
)");
  lt::Schedule joined = same;
  joined.blockize(joined.loop("u"));
  CHECK(part(joined, "block z") == R"(    block z(vio in 0..4 = io):
      for u in 0..1:
        for a in 0..6:
          y[vio * 6 + a] = x[vio * 6 + a] + 1.0
        for c in 0..2:
          for b in 0..3:
            z[vio * 6 + c * 3 + b] = y[vio * 6 + c * 3 + b] * 2.0
)");
  check_lowered(same, joined);
  joined.parallel(joined.loop("io"));
  check_lowered(same, joined);
}

TEST_CASE("blockize: what a block with a triangle in it reads") {
  lt::Schedule start = schedule_of(R"(program below(in x: f32[12, 12], inout y: f32[12, 12]):
  alloc P: f32[12, 12]
  for a in 0..12:
    for b in 0..12:
      block P(vi in 0..12 = a, vj in 0..12 = b):
        P[vi, vj] = x[vi, vj] + 1.0
  for row in 0..12:
    for j in 0..row + 1:
      block y(vi in 0..12 = row, vj in 0..12 = j):
        y[vi, vj] = P[vi, vj] + 1.0
)");
  lt::Schedule s = start;
  s.blockize(s.loop("j"));
  lt::Schedule cached = s;
  cached.cache_read("y", "P", lt::Scope::global);
  check_lowered(start, cached);
  // The bound of the inner loop names an iterator, which says nothing outside of the block.
  s.compute_at("P", s.loop("row"));
  CHECK(part(s, "for i in") == R"(    for i in 0..1:
      for j_1 in 0..12:
        block P(vi in 0..12 = row + i, vj in 0..12 = j_1):
          P[vi, vj] = x[vi, vj] + 1.0
)");
  check_lowered(start, s);
  s.parallel(s.loop("row"));
  check_lowered(start, s);
}
