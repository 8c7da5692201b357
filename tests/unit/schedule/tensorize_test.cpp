// tensorize: what it takes, what it makes of it, and the first difference of what it does not take.
#include "intrinsics.hpp"
#include "kernels.hpp"

using namespace test;

namespace {

/// Four products of f32 added one after the other, as a program's own row.
const lt::TensorIntrin kQuad{"quad",
                             R"(program quad(in X: f32[4], in Y: f32[4], inout Z: f32[]):
  for k in 0..4:
    block dot(reduce vk in 0..4 = k) reduce sum:
      Z[] sum= X[vk] * Y[vk]
)",
                             R"(program quad(in X: f32[4], in Y: f32[4], inout Z: f32[]):
  Z[] = Z[] + X[0] * Y[0] + X[1] * Y[1] + X[2] * Y[2] + X[3] * Y[3]
)",
                             ""};

/// Y = 3·X, in lanes.
const lt::TensorIntrin kTriple{"triple",
                               R"(program triple(in X: f32[8], out Y: f32[8]):
  for i in 0..8:
    block triple(vi in 0..8 = i):
      Y[vi] = 3.0 * X[vi]
)",
                               R"(program triple(in X: f32[8], out Y: f32[8]):
  Y[ramp(0, 1, 8)] = X[ramp(0, 1, 8)] * broadcast(3.0, 8)
)",
                               ""};

lt::TensorIntrin changed(lt::TensorIntrin row, const std::string& from, const std::string& to,
                         bool both = true) {
  for (std::string* text : {&row.description, &row.implementation}) {
    for (std::size_t at = text->find(from); at != text->npos; at = text->find(from, at + to.size()))
      text->replace(at, from.size(), to);
    if (!both) break;
  }
  return row;
}

/// Bytes where both are signed.
using SignedGemm = NarrowGemm<std::int8_t, std::int8_t, std::int32_t>;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The first line and the help of a refusal.
template <class Step>
std::string told(lt::Schedule& s, Step&& step) {
  std::string text = refused(s, step);
  const std::size_t help = text.find("\n  help: ");
  return first_line(text) + (help == text.npos ? "" : text.substr(help));
}

}  // namespace

TEST_CASE("tensorize: a packed product of bytes") {
  ByteGemm k(3, 32, 8);
  Tile t = packed_tile(k, 4);
  t.s.tensorize(t.jj, "vpdpbusd");
  CHECK(t.s.numerics().empty());
  check_kept(lt::Schedule(k.C), t.s);
  CHECK(t.s.str() == R"(program C(in A: u8[3, 8], in B: i8[8, 32], out C: i32[3, 32]) scheduled:
  alloc B_cache: i8[2, 2, 64]
  for i in 0..8:
    for j in 0..32:
      block B_cache(vi in 0..8 = i, vj in 0..32 = j):
        B_cache[floordiv(vi, 4), floordiv(vj, 16), floormod(vj, 16) * 4 + floormod(vi, 4)] = B[vi, vj]
  for i in 0..3:
    for jo in 0..2:
      for ji in 0..16:
        block C_init(vi in 0..3 = i, vj in 0..32 = jo * 16 + ji):
          C[vi, vj] = 0i32
      for ro in 0..2:
        block C(vi in 0..3 = i, vj in 0..17 = jo * 16, reduce vr in 0..5 = ro * 4) reads C[vi..+1, vj..+16], A[vi..+1, vr..+4], B_cache[floordiv(vr, 4)..+1, floordiv(vj, 16)..+1, floormod(vj, 16) * 4 + floormod(vr, 4)..+64] writes C[vi..+1, vj..+16]:
          C[vi, ramp(vj, 1, 16)] = dot4(C[vi, ramp(vj, 1, 16)], broadcast(A[vi, ramp(vr, 1, 4)], 16), B_cache[floordiv(vr, 4), floordiv(vj, 16), ramp(floormod(vj, 16) * 4 + floormod(vr, 4), 1, 64)])
)");
  CHECK(t.s.trace().str().find(", \"vpdpbusd\")\n") != std::string::npos);
  CHECK(t.s.trace().cpp().find(", \"vpdpbusd\");\n") != std::string::npos);
  CHECK(refused_id(t.s, [&](lt::Schedule& s) { s.split(t.rr, {2, 2}); }) == "L0201");
}

TEST_CASE("tensorize: sizes of one tile, of none, and known at the call") {
  for (auto [m, n, d] : {std::array{1, 16, 4}, std::array{5, 48, 12}, std::array{0, 16, 4}}) {
    ByteGemm k(m, n, d);
    Tile t = packed_tile(k, 4);
    t.s.tensorize(t.jj, "vpdpbusd");
    check_kept(lt::Schedule(k.C), t.s);
  }
  lt::Dim m("m"), n("n", {.multiple_of = 16}), d("d", {.multiple_of = 4});
  ByteGemm k(m, n, d);
  Tile t = packed_tile(k, 4);
  t.s.tensorize(t.jj, "vpdpbusd");
  check_kept(lt::Schedule(k.C), t.s, {{"m", 3}, {"n", 32}, {"d", 8}});
  check_kept(lt::Schedule(k.C), t.s, {{"m", 1}, {"n", 16}, {"d", 0}});
  check_kept(lt::Schedule(k.C), t.s, {{"m", 2}, {"n", 0}, {"d", 4}});
}

TEST_CASE("tensorize: operands and loops in another order") {
  // B first, and the loop over r outside of that over j.
  lt::Input<std::uint8_t, 2> A("A", {3, 8});
  lt::Input<std::int8_t, 2> B("B", {8, 32});
  lt::Reduce r("r", 8);
  auto C = lt::compute("C", {3, 32}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<std::int32_t>(B(r, j)) * lt::cast<std::int32_t>(A(i, r)), r);
  });
  struct {
    lt::Input<std::uint8_t, 2>& A;
    lt::Input<std::int8_t, 2>& B;
    lt::Tensor<std::int32_t, 2>& C;
  } k{A, B, C};
  Tile t = packed_tile(k, 4);
  t.s.reorder({t.rr, t.jj});
  t.s.add_unit_loop(t.jj);
  t.s.tensorize(t.rr, "vpdpbusd");
  check_kept(lt::Schedule(C), t.s);
}

TEST_CASE("tensorize: factors of one type, whichever is written first") {
  const lt::Input<std::int16_t, 2> A("A", {3, 8}), B("B", {8, 32});
  lt::Reduce r("r", 8);
  for (const bool turned : {false, true}) {
    const auto C = lt::compute("C", {3, 32}, [&](lt::Var i, lt::Var j) {
      const auto a = lt::cast<std::int32_t>(A(i, r)), b = lt::cast<std::int32_t>(B(r, j));
      return lt::sum(turned ? b * a : a * b, r);
    });
    struct {
      const lt::Input<std::int16_t, 2>& B;
      const lt::Tensor<std::int32_t, 2>& C;
    } k{B, C};
    Tile t = packed_tile(k, 2);
    t.s.tensorize(t.jj, "vpmaddwd");
    CHECK(t.s.str().find(" = dot_words(C[vi, ramp(vj, 1, 16)], broadcast(A[") != std::string::npos);
    check_kept(lt::Schedule(C), t.s);
  }
}

TEST_CASE("tensorize: full tiles apart from the rest") {
  ByteGemm k(3, 20, 8);
  lt::Schedule s(k.C);
  auto [i, j, r] = s.loops<3>(k.C);
  lt::BlockRef b = s.cache_read(k.C, k.B, lt::Scope::global);
  s.transform_layout(b, [](lt::Index at, lt::Index column) {
    return lt::layout(at / 4, column / 16, (column % 16) * 4 + at % 4);
  });
  s.decompose_reduction(k.C, i);
  auto [full, rest] = s.loop_partition(j, {16});
  lt::BlockRef tiles;
  for (const auto& block : s.blocks())
    if (s.loops(block).size() == 3 && s.loops(block)[1] == full) tiles = block;
  CHECK(tiles.name() == "C_0");
  auto inside = s.loops(tiles);
  auto [jo, jj] = s.split(inside[1], {lt::infer, 16});
  auto [ro, rr] = s.split(inside[2], {lt::infer, 4});
  s.reorder({jo, ro, jj, rr});
  s.tensorize(jj, "vpdpbusd");
  check_kept(lt::Schedule(k.C), s);
}

TEST_CASE("tensorize: sums in registers, threads, later steps") {
  ByteGemm k(8, 64, 12);
  lt::Schedule s = register_tile(k, 4, "vpdpbusd");
  check_kept(lt::Schedule(k.C), s);
  auto loops = s.loops(k.C);
  s.split(loops[1], {1, 2});
  s.annotate(k.C, "user.note", 1);
  check_kept(lt::Schedule(k.C), s);
  // The block can't be looked into any more.
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.cache_read(k.C, k.A, lt::Scope::global); }) ==
        "L0216");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(t.loops(k.C).back()); }) == "L0204");
}

TEST_CASE("tensorize: bf16 changes the rounding, and says so") {
  HalfGemm k(3, 32, 8);
  Tile t = packed_tile(k, 2);
  t.s.tensorize(t.jj, "vdpbf16ps");
  CHECK(t.s.numerics() ==
        std::vector<std::string>{"tensorize: by 'vdpbf16ps', two products are added at a time, the "
                                 "second first, and subnormal numbers are zeros"});
  check_kept(lt::Schedule(k.C), t.s);  // of small integers
  lt::Schedule strict(lt::Schedule(k.C).program(), {.strict = true});
  CHECK(refused_id(strict, [&](lt::Schedule& s) {
          lt::Schedule end = lt::replay(t.s.trace(), s);
        }) == "L0226");
}

TEST_CASE("tensorize: rows of a program's own") {
  RowSum x(5, 8);
  lt::Input<float, 2> P("P", {5, 8}), Q("Q", {5, 8});
  lt::Reduce r("r", 8);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(P(i, r) * Q(i, r), r); });
  lt::Schedule start(S), s = start;
  auto [i, k] = s.loops<2>(S);
  auto [ko, ki] = s.split(k, {lt::infer, 4});
  s.decompose_reduction(S, ko);
  s.tensorize(ki, kQuad);
  CHECK(s.numerics().empty());
  check_kept(start, s);
  s.parallel(i);
  check_kept(start, s);
  CHECK(s.str().find("S[vi] = S[vi] + P[vi, vr] * Q[vi, vr] + P[vi, vr + 1] * Q[vi, vr + 1]") !=
        std::string::npos);
  // The trace holds the row, which nobody else knows.
  CHECK(s.trace().str().find("description=\"program quad(") != std::string::npos);
  CHECK(s.trace().cpp().find(
            R"(, "quad", "program quad(in X: f32[4], in Y: f32[4], inout Z: f32[]):\n  for k)") !=
        std::string::npos);
}

TEST_CASE("tensorize: a row without a reduction, on part of a loop") {
  lt::Input<float, 2> X("X", {3, 16});
  auto Y = lt::compute("Y", {3, 16}, [&](lt::Var i, lt::Var j) { return X(i, j) * 3.0f; });
  auto Z = lt::compute("Z", {3, 16}, [&](lt::Var i, lt::Var j) { return Y(i, 15 - j) + 1.0f; });
  lt::Schedule start(Z), s = start;
  auto [i, j] = s.loops<2>(Y);
  auto [jo, ji] = s.split(j, {2, 8});
  s.tensorize(ji, kTriple);
  check_kept(start, s);
  s.unroll(jo);
  s.parallel(i);
  check_kept(start, s);
}

TEST_CASE("tensorize: the first difference is told") {
  SignedGemm bad(3, 32, 8);
  Tile t = packed_tile(bad, 4);
  CHECK(
      refused(t.s, [&](lt::Schedule& s) { s.tensorize(t.jj, "vpdpbusd"); }) ==
      R"(error[L0235] tensorize: 'vpdpbusd' does not do what block 'C' does: the description has A[vk] of u8; block 'C' has A[vi, vr] of i8
  at tensorize_test.cpp:#
  loops of 'C': i(3) jo(2) ro:reduce(2) ji(16) ri:reduce(4)
    for ro in 0..2:
      for ji in 0..16:
        for ri in 0..4:
          block C(vi in 0..3 = i, vj in 0..32 = jo * 16 + ji, reduce vr in 0..8 = ro * 4 + ri) reduce sum:
                ^
            C[vi, vj] sum= i32(A[vi, vr]) * i32(B_cache[floordiv(vr, 4), floordiv(vj, 16), floormod(vj, 16) * 4 + floormod(vr, 4)]))");
  ByteGemm k(3, 32, 8);
  Tile good = packed_tile(k, 4);
  CHECK(told(good.s, [&](lt::Schedule& s) { s.tensorize(good.rr, "vpdpbusd"); }) ==
        "error[L0235] tensorize: 'vpdpbusd' does not do what block 'C' does: its loops are j(16) "
        "k:reduce(4); those of the block are ri:reduce(4)\n"
        "  help: split and reorder so that these are the innermost loops, and tensorize the "
        "outermost");
  CHECK(told(good.s, [&](lt::Schedule& s) { s.tensorize(good.i, "vpdpbusd"); }) ==
        "error[L0235] tensorize: loop 'i'(3) does not hold one block alone\n"
        "  help: an intrinsic takes the place of one block's innermost loops");
  CHECK(told(good.s, [&](lt::Schedule& s) { s.tensorize(good.jj, kQuad); }) ==
        "error[L0235] tensorize: 'quad' does not do what block 'C' does: the description reduces "
        "by sum of f32; block 'C' reduces by sum of i32");
}

TEST_CASE("tensorize: an operand that the row reads twice is one") {
  const lt::TensorIntrin squares{"squares",
                                 R"(program squares(in X: f32[4], inout Z: f32[]):
  for k in 0..4:
    block dot(reduce vk in 0..4 = k) reduce sum:
      Z[] sum= X[vk] * X[vk]
)",
                                 R"(program squares(in X: f32[4], inout Z: f32[]):
  Z[] = Z[] + X[0] * X[0] + X[1] * X[1] + X[2] * X[2] + X[3] * X[3]
)",
                                 ""};
  lt::Input<float, 2> P("P", {5, 4}), Q("Q", {5, 4});
  lt::Reduce r("r", 4);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(P(i, r) * Q(i, r), r); });
  lt::Schedule s(S);
  s.decompose_reduction(S, s.loops(S)[1]);
  CHECK(told(s, [&](lt::Schedule& t) { t.tensorize(t.loops(S)[1], squares); }) ==
        "error[L0235] tensorize: 'squares' does not do what block 'S' does: the description has "
        "X[vk] of f32; block 'S' has Q[vi, vr] of f32");
}

TEST_CASE("tensorize: what else is refused, and what to do") {
  ByteGemm k(3, 32, 8);
  lt::Schedule s(k.C);
  auto [i, j, r] = s.loops<3>(k.C);
  auto [jo, jj] = s.split(j, {lt::infer, 16});
  auto [ro, rr] = s.split(r, {lt::infer, 4});
  s.reorder({jo, ro, jj, rr});
  const std::string of = "error[L0235] tensorize: 'vpdpbusd' does not do what block 'C' does: ";
  CHECK(told(s, [&, jj = jj](lt::Schedule& t) { t.tensorize(jj, "vpdpbusd"); }) ==
        of + "it sets its identity itself\n  help: decompose_reduction it first");
  s.decompose_reduction(k.C, ro);
  CHECK(told(s, [&, jj = jj](lt::Schedule& t) { t.tensorize(jj, "vpdpbusd"); }) ==
        of + "elements of 'B' along 'ji' are 1 apart, those of 'B' in the description 4\n"
             "  help: transform_layout of a copy (cache_read, cache_write) lays elements out");
  lt::Schedule lanes = s;
  lanes.unroll(rr);
  CHECK(refused_id(lanes, [&, jj = jj](lt::Schedule& t) { t.tensorize(jj, "vpdpbusd"); }) ==
        "L0204");

  ByteGemm ragged(3, 20, 8);
  Tile t = packed_tile(ragged, 4);
  CHECK(told(t.s, [&](lt::Schedule& u) { u.tensorize(t.jj, "vpdpbusd"); }) ==
        of + "iterator 'vj' = jo * 16 + ji may leave its domain inside of a tile\n"
             "  help: split by a divisor, or take the full tiles apart with loop_partition");
  lt::Dim n("n");
  ByteGemm open(3, n, 8);
  lt::Schedule whole(open.C);
  auto [i2, j2, r2] = whole.loops<3>(open.C);
  whole.reorder({r2, j2});
  CHECK(told(whole, [&, j2 = j2](lt::Schedule& u) { u.tensorize(j2, "vpdpbusd"); }) ==
        "error[L0235] tensorize: loop 'j'(n) has no constant extent from 1 to 4096\n"
        "  help: split it by what the intrinsic takes");
}

TEST_CASE("tensorize: elements that a tile takes backwards are no tile") {
  lt::Schedule s(lt::parse(R"(program o(in X: f32[8], in W: f32[4], inout Z: f32[5]):
  for i in 0..5:
    for k in 0..4:
      block Z(v in 0..5 = i, reduce w in 0..4 = k) reduce sum:
        Z[v] sum= X[v + 3 - w] * W[w]
)"));
  const lt::TensorIntrin dot{"dot",
                             R"(program dot(in X: f32[4], in W: f32[4], inout Z: f32[]):
  for k in 0..4:
    block dot(reduce vk in 0..4 = k) reduce sum:
      Z[] sum= X[vk] * W[vk]
)",
                             R"(program dot(in X: f32[4], in W: f32[4], inout Z: f32[]):
  Z[] = Z[] + X[0] * W[0] + X[1] * W[1] + X[2] * W[2] + X[3] * W[3]
)",
                             ""};
  const std::string why =
      told(s, [&](lt::Schedule& t) { t.tensorize(t.loops(t.block("Z"))[1], dot); });
  CHECK(why.find("error[L0235] tensorize: 'dot' does not do what block 'Z' does: ") == 0);
}

TEST_CASE("tensorize: parameters whose rows a call may lay out take lanes along the last axis") {
  lt::Input<std::uint8_t, 2> A("A", {3, 4});
  lt::Input<std::int8_t, 3> B("B", {2, 16, 4});
  lt::Input<std::int8_t, 2> P("P", {2, 64});
  lt::Reduce r("r", 4);
  auto product = [&](auto&& factor) {
    return lt::compute("C", {3, 32}, [&](lt::Var i, lt::Var j) {
      return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(factor(j)), r);
    });
  };
  auto tiled = [&](const lt::Tensor<std::int32_t, 2>& C) {
    lt::Schedule s(C);
    auto [i, j, k] = s.loops<3>(C);
    auto [jo, ji] = s.split(j, {2, 16});
    s.decompose_reduction(C, ji);
    return std::pair(s, s.loops(C)[2]);
  };
  auto [s, tile] = tiled(product([&](lt::Var j) { return B(j / 16, j % 16, r); }));
  CHECK(told(s, [&, at = tile](lt::Schedule& t) { t.tensorize(at, "vpdpbusd"); }) ==
        "error[L0235] tensorize: 'vpdpbusd' does not do what block 'C' does: elements of 'B' along "
        "'ji' are apart by what a call says, those of 'B' in the description 4\n"
        "  help: transform_layout of a copy (cache_read, cache_write) lays elements out");
  auto flat = product([&](lt::Var j) { return P(j / 16, j % 16 * 4 + r); });
  auto [u, at] = tiled(flat);
  u.tensorize(at, "vpdpbusd");
  check_kept(lt::Schedule(flat), u);
}

TEST_CASE("tensorize: rows of no use") {
  lt::Input<float, 2> X("X", {3, 8});
  auto Y = lt::compute("Y", {3, 8}, [&](lt::Var i, lt::Var j) { return X(i, j) * 3.0f; });
  lt::Schedule s(Y);
  auto loop = s.loops(Y)[1];
  CHECK(
      told(s, [&](lt::Schedule& t) { t.tensorize(loop, "vpdpbussd"); }) ==
      "error[L0236] tensorize: no intrinsic is called 'vpdpbussd'\n"
      "  help: Lathe has vpdpbusd vpdpbusd_su vdpbf16ps vpdpbusd_256 vpdpbusd_su_256 vpdpbssd_256 "
      "vpdpbuud_256 vpmaddwd vpmaddwd_256 sdot udot usdot usdot_su bfdot smmla ummla usmmla bfmmla "
      "vfmaddph fmla_f16 tdpbf16ps "
      "tdpbssd tdpbsud tdpbusd tdpbuud "
      "tilezero_f32 tilecopy_f32 tilezero_i32 tilecopy_i32; a row of your own needs its "
      "description and its implementation");
  auto use = [&](const lt::TensorIntrin& row) {
    const std::string text = told(s, [&](lt::Schedule& t) { t.tensorize(loop, row); });
    const std::string begin = "error[L0236] tensorize: intrinsic 'triple' is of no use: ";
    CHECK(text.substr(0, begin.size()) == begin);
    return text.size() > begin.size() ? text.substr(begin.size()) : text;
  };
  CHECK(use(changed(kTriple, "f32[8]", "f32[8", false)) ==
        "its description can't be read: parse: line 1, column 29: expected an expression, found "
        "'out'");
  CHECK(use(changed(kTriple, "for i in 0..8", "for i in 1..9", false)) ==
        "its description is not one block under loops from 0 of constant extent");
  CHECK(use(changed(kTriple, "f32[8]", "f32[7]", false)) ==
        "its description and its implementation differ in their parameters");
  CHECK(use(changed(kTriple, "X[vi]", "X[vi + 0]", false)) ==
        "an index of 'X' in its description is not an iterator of its own");
  CHECK(use(changed(kTriple, "* X[vi]", "* f32(vi)", false)) ==
        "its description computes with an iterator");
  CHECK(use(changed(kTriple, "ramp(0, 1, 8)", "ramp(1, 1, 8)")) ==
        "'Y' of its implementation is used outside of its shape");
  CHECK(use(changed(kTriple, "  Y[ramp(0", "  for i in 0..1:\n    Y[ramp(0")) ==
        "its implementation is not stores to 'Y'");
  CHECK(use(changed(kTriple, "program triple(in X: f32[8],",
                    "program triple(in W: f32[8], in X: f32[8],")) ==
        "'W' is not used in its description");
}
