#include <doctest/doctest.h>

#include <lathe/analysis/dependence.hpp>
#include <support/capture.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

Program nest(const std::string& store, const std::string& extent = "n") {
  return parse(
      "program p<n in 0..=4096>(inout A: f32[n + 9, n + 9], inout X: f32[n + 9], in B: f32[n + "
      "9]):\n  for i in 0.." +
      extent + ":\n    for j in 0.." + extent + ":\n      block S(v in 0.." + extent +
      " = i, w in 0.." + extent + " = j):\n        " + store + "\n");
}
std::string carried(const Program& p, const char* loop) {
  auto c = carried_by(p->body, loop_named(p, loop), Facts(p));
  return c ? c->explanation : "free";
}
bool may_swap(const Program& p) {
  return !reorder_violation(p->body, {loop_named(p, "i"), loop_named(p, "j")}, {1, 0}, Facts(p));
}

}  // namespace

TEST_CASE("loops of independent stores carry nothing") {
  Program p = nest("A[v, w] = B[w]");
  CHECK(carried(p, "i") == "free");
  CHECK(carried(p, "j") == "free");
  CHECK(may_swap(p));
}

TEST_CASE("what carries a dependence is named") {
  Program row = nest("A[v + 1, w] = A[v, w]");
  CHECK(carried(row, "i") ==
        "block 'S' reads A[i, j] and block 'S' writes A[i + 1, j]: different iterations of 'i' "
        "touch one element");
  CHECK(carried(row, "j") == "free");
  CHECK(may_swap(row));
  Program wave = nest("A[v + 1, w] = A[v, w + 1]");
  CHECK_FALSE(may_swap(wave));
  CHECK(may_swap(nest("A[v + 1, w + 1] = A[v, w]")));
  CHECK(carried(nest("X[v] = B[w]"), "j") ==
        "block 'S' writes X[i]: different iterations of 'j' touch one element");
  CHECK(carried(nest("X[v] = B[w]"), "i") == "free");
  CHECK(carried(nest("X[v] = X[v + 5]", "4"), "i") == "free");
  CHECK(carried(nest("X[v * 2] = X[v * 2 + 1]"), "i") == "free");
  // A short loop is run: what each iteration touches is counted.
  CHECK(carried(nest("X[select(v < 2, 1 - v, v)] = B[w]", "4"), "i") == "free");
  CHECK(carried(nest("X[select(v < 2, 2 - v, v)] = B[w]", "4"), "i") != "free");
}

namespace {

// What the vectors say of iterations that differ in the last loop alone.
bool vectors_meet(const AccessSite& a, const std::vector<ForRef>& loops, const Facts& facts) {
  for (const auto& v : dependence(a, a, loops, facts).vectors) {
    bool others_equal = true;
    for (std::size_t k = 0; k + 1 < v.size(); ++k)
      others_equal = others_equal && (v[k] & Direction::eq) == Direction::eq;
    if (others_equal && (v.back() & Direction::ne) != Direction::none) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("several elements at once, of which a block declares nothing, may be any") {
  const Program p = parse(
      "program p(in S: i8[3], inout Y: i8[5, 3]):\n"
      "  for i in 0..5:\n"
      "    for j in 0..3:\n"
      "      block Z(v in 0..5 = i, w in 0..3 = j):\n"
      "        Y[v, w] = Y[v, w] + 1i8\n"
      "    block Y(v in 0..5 = i):\n"
      "      atomic Y[v, ramp(0, 1, 3)] += S[ramp(0, 1, 3)]\n");
  const auto found = carried_by(p->body, loop_named(p, "i"));
  REQUIRE(found);
  CHECK(!found->proven);
  CHECK(!carried_by(p->body, loop_named(p, "j")));
}

TEST_CASE("one direction is decided as all of them are") {
  const std::pair<const char*, bool> stores[] = {{"A[v, w] = B[w]", false},
                                                 {"A[v, min(w, 5)] = B[w]", true},
                                                 {"A[w, v] = B[w]", false},
                                                 {"X[v] = B[w]", true},
                                                 {"X[v + w] = B[w]", false},
                                                 {"X[floordiv(v * 7 + w, 2)] = B[w]", true},
                                                 {"X[max(v - 1, 0) + w] = B[w]", false},
                                                 {"A[min(v, w), w] = B[w]", false},
                                                 {"A[min(v, w), max(v, w)] = B[w]", true}};
  for (const auto& [store, meets] : stores) {
    for (const char* extent : {"n", "7", "100"}) {
      LATHE_CAPTURE(store);
      CAPTURE(extent);
      Program p = nest(store, extent);
      const Facts facts(p);
      const AccessSite write = accesses(p->body).back();
      CHECK(meet_along_last(write, write, write.loops, facts) ==
            vectors_meet(write, write.loops, facts));
      if (std::string(extent) == "n")
        CHECK(meet_along_last(write, write, write.loops, facts) == meets);
    }
  }
}

TEST_CASE("lockstep is looser than any order") {
  auto lock = [](const char* store) {
    Program p = nest(store);
    return !lockstep_violation(p->body, loop_named(p, "j"), Facts(p));
  };
  CHECK(lock("A[v, w] = A[v, w + 1]"));
  CHECK_FALSE(lock("A[v, w + 1] = A[v, w]"));
  CHECK_FALSE(lock("X[v] = B[w]"));
  CHECK(lock("A[v, w] = A[v + 1, w + 1]"));
}

TEST_CASE("split, fused and guarded loops keep their independence") {
  Program split = parse(
      "program p<n in 1..=4096>(in B: f32[n], out X: f32[n]):\n  for io in 0..floordiv(n + 7, "
      "8):\n    for ii in 0..8:\n"
      "      block S(v in 0..n = io * 8 + ii):\n        X[v] = B[v]\n");
  CHECK(carried(split, "io") == "free");
  CHECK(carried(split, "ii") == "free");
  Program fused = parse(
      "program p<n in 1..=4096, m in 1..=4096>(in B: f32[n, m], out X: f32[n, m]):\n  for f in "
      "0..n * m:\n"
      "    block S(v in 0..n = floordiv(f, m), w in 0..m = floormod(f, m)):\n      X[v, w] = B[v, "
      "w]\n");
  CHECK(carried(fused, "f") == "free");
  Program sum = parse(
      "program p(in A: f32[8, 9], out X: f32[8]):\n  for f in 0..72:\n"
      "    block S(v in 0..8 = floordiv(f, 9), reduce k in 0..9 = floormod(f, 9)) reduce sum "
      "init:\n      X[v] sum= A[v, k]\n");
  CHECK(carried(sum, "f") != "free");
}

TEST_CASE("buffers inside the body belong to the iteration, moving indices to nobody") {
  Program p = parse(
      "program p(in A: f32[64], out X: f32[64]):\n  for i in 0..64:\n    alloc T: f32[1]\n"
      "    block P(v in 0..64 = i):\n      T[0] = A[v]\n    block Q(v in 0..64 = i):\n      X[v] = "
      "T[0]\n");
  CHECK(carried(p, "i") == "free");
  Program moving = parse(
      "program p(inout C: i64[1], out X: f32[64]):\n  for i in 0..9:\n    X[C[0]] = 1.0\n    "
      "X[C[0] + 1] = 2.0\n    C[0] = C[0] + 1\n");
  CHECK(carried(moving, "i") != "free");
}

namespace {

/// A random nest of two loops with one or two statements over small arrays.
struct RandomNest {
  index_test::Random random;
  VarRef i = make_var("i"), j = make_var("j");
  Buffer x = make_buffer("X", kF32, {AnyExpr(99)}),
         y = make_buffer("Y", kF32, {AnyExpr(99), AnyExpr(99)});
  std::int64_t ni, nj;

  explicit RandomNest(std::uint64_t seed)
      : random{seed}, ni(random.between(1, 4)), nj(random.between(1, 4)) {}
  AnyExpr index() {
    AnyExpr I(i), J(j);
    switch (random.below(9)) {
      case 0:
        return I + J;
      case 1:
        return J;
      case 2:
        return I * 2 + random.between(0, 2);
      case 3:
        return AnyExpr(8) - I;
      case 4:
        return floordiv(I * nj + J, AnyExpr(2));
      case 5:
        return I * nj + J;
      case 6:
        return AnyExpr(random.between(0, 3));
      case 7:
        return make_binary(BinaryOp::max, J - 1, AnyExpr(0));
      default:
        return I + random.between(0, 2);
    }
  }
  AnyExpr load() {
    return random.below(2) ? make_load(x, {index()}) : make_load(y, {index(), index()});
  }
  Stmt statement() {
    AnyExpr value = load();
    if (random.below(3) == 0)
      value = make_select(AnyExpr(i) > AnyExpr(j), load(), make_float(kF32, 0));
    Stmt s = random.below(2) ? make_store(x, {index()}, value)
                             : make_store(y, {index(), index()}, value);
    return random.below(5) ? s : make_if(AnyExpr(j) < random.between(0, 3), s);
  }
  Stmt make() {
    Stmt body = random.below(2) ? statement() : make_seq({statement(), statement()});
    AnyExpr inner = random.below(6) ? AnyExpr(nj) : AnyExpr(i) + 1;
    return make_for(i, AnyExpr(0), AnyExpr(ni), make_for(j, AnyExpr(0), inner, body));
  }
};

/// Whether two touches conflict.
bool conflict(const Touch& a, const Touch& b) {
  return a.buffer == b.buffer && a.element == b.element && (a.write || b.write);
}

}  // namespace

TEST_CASE("fuzz: carried dependences and permutations against what runs") {
  int free_loops = 0, found_free = 0, legal_swaps = 0, found_legal = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomNest nest(seed);
    Stmt root = nest.make();
    INFO("seed " << seed << "\n" << str(root));
    std::vector<Touch> touches = run(root);
    const bool rectangular =
        as_const_int(root.as<ForNode>()->body.as<ForNode>()->extent) != nullptr;
    bool by_i = false, by_j = false, swap_breaks = false;
    for (std::size_t p = 0; p < touches.size(); ++p) {
      for (std::size_t q = p + 1; q < touches.size(); ++q) {
        if (!conflict(touches[p], touches[q])) continue;
        auto &a = touches[p].loops, &b = touches[q].loops;
        std::int64_t di = b[nest.i.get()] - a[nest.i.get()], dj = b[nest.j.get()] - a[nest.j.get()];
        by_i = by_i || di != 0;
        by_j = by_j || (di == 0 && dj != 0);
        swap_breaks = swap_breaks || dj < 0 || (dj == 0 && di < 0);
      }
    }
    const bool free_i = !carried_by(root, nest.i), free_j = !carried_by(root, nest.j);
    CHECK((!free_i || !by_i));
    CHECK((!free_j || !by_j));
    free_loops += !by_i + !by_j, found_free += free_i + free_j;
    if (!rectangular) continue;
    const bool legal = !reorder_violation(root, {nest.i, nest.j}, {1, 0});
    CHECK((!legal || !swap_breaks));
    legal_swaps += !swap_breaks, found_legal += legal;
  }
  MESSAGE("free loops: found " << found_free << " of " << free_loops << ", swaps: " << found_legal
                               << " of " << legal_swaps);
  CHECK(found_free * 10 >= free_loops * 8);
  CHECK(found_legal * 10 >= legal_swaps * 9);
}
