#include <doctest/doctest.h>

#include <lathe/analysis/footprint.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <random>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;

namespace {

std::string size_text(const AnyExpr& e) { return e ? str(e) : "unknown"; }

std::string text(const Work& work) {
  std::string out = size_text(work.bytes) + " B," + (work.exact ? " " : " <= ") +
                    size_text(work.operations) + " op:";
  for (const auto& f : work.buffers) {
    out += std::string(f.exact ? " " : " <=") + f.buffer->name + "(";
    for (std::size_t d = 0; d < f.extents.size(); ++d)
      out += (d ? ", " : "") + size_text(f.extents[d]);
    out += std::string(")") + (f.reads ? "r" : "") + (f.writes ? "w" : "");
  }
  return out;
}

/// The work of the whole program and of one iteration of each loop, outermost first.
std::string works(const std::string& source) {
  const Program p = parse(source);
  std::string out = "all: " + text(work_of(p)) + "\n";
  each_statement(p->body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>())
      out += f->var->name + ": " + text(work_of(p, f->var)) + "\n";
  });
  return out;
}

/// Three loops around a block whose indices are strided, clamped, halved or shifted.
class RandomNest {
 public:
  explicit RandomNest(unsigned seed) : random_(seed) {}
  std::string text() {
    const int tile = 1 + pick(4), domain = 1 + pick(14);
    std::string inner[] = {number(pick(5)), "a + 1", "b + 2", "min(4, a + 2)"};
    return "program p(in X: f32[70, 70], in Z: f32[70], out Y: f32[70]):\n"
           "  for a in 0.." +
           number(1 + pick(4)) +
           ":\n"
           "    for b in 0.." +
           number(tile) +
           ":\n"
           "      for c in 0.." +
           inner[pick(4)] +
           ":\n"
           "        block B(v in 0.." +
           number(domain) + " = a * " + number(tile) + " + b, w in 0.." + number(3 + pick(6)) +
           " = c" + (pick(3) ? "" : " + b") +
           "):\n"
           "          Y[" +
           index("v") + "] = X[" + index("v") + ", " + index("w") + "] + X[" + index("v") + ", " +
           index("w") + "] + select(v > 1, Z[" + index("w") + "], 0.0)\n";
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  static std::string number(int n) { return std::to_string(n); }
  std::string index(const std::string& v) {
    switch (pick(6)) {
      case 0:
        return v + " * " + number(1 + pick(3)) + " + " + number(pick(4));
      case 1:
        return "max(min(" + v + " - " + number(pick(3)) + ", " + number(pick(9)) + "), 0)";
      case 2:
        return "floordiv(" + v + ", 2)";
      case 3:
        return "15 - " + v;
      case 4:
        return number(pick(3));
      default:
        return v;
    }
  }
  std::mt19937 random_;
};

/// Elements of one buffer that one iteration touched.
using Elements = std::set<touch_test::Point>;

/// Fails unless the footprint holds the elements, and all of its box if it is exact.
void check_holds(const Footprint& f, const Elements& touched) {
  std::int64_t volume = 1;
  for (std::size_t d = 0; d < f.extents.size(); ++d) {
    std::int64_t lo = touched.begin()->at(d), hi = lo;
    for (const auto& at : touched) lo = std::min(lo, at[d]), hi = std::max(hi, at[d]);
    const std::int64_t* extent = as_const_int(f.extents[d]);
    REQUIRE(extent != nullptr);
    CHECK(hi - lo + 1 <= *extent);
    volume *= *extent;
  }
  if (f.exact) CHECK(static_cast<std::int64_t>(touched.size()) == volume);
}

/// Each iteration of the loop against what it is said to touch; counts what is exact.
void check_loop(const Program& p, const VarRef& loop, const std::vector<VarRef>& outer,
                const std::vector<touch_test::Touch>& touches, int& exact) {
  const Work work = work_of(p, loop);
  for (const auto& f : work.buffers) {
    exact += f.exact;
    std::map<std::vector<std::int64_t>, Elements> iterations;
    for (const auto& t : touches) {
      if (t.buffer != f.buffer.get()) continue;
      std::vector<std::int64_t> values;
      for (const auto& v : outer) values.push_back(t.loops.at(v.get()));
      iterations[values].insert(t.element);
    }
    for (const auto& [values, touched] : iterations) check_holds(f, touched);
  }
}

}  // namespace

TEST_CASE("footprint: holds what a run of random nests touches") {
  int exact = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::string source = RandomNest(seed).text();
    INFO(source);
    const Program p = parse(source);
    const auto touches = touch_test::run(p->body);
    std::vector<VarRef> outer;
    check_loop(p, {}, outer, touches, exact);
    each_statement(p->body, [&](const Stmt& s) {
      const auto* f = s.as<ForNode>();
      if (!f) return;
      outer.push_back(f->var);
      check_loop(p, f->var, outer, touches, exact);
    });
  }
  CHECK(exact > 500);
}

TEST_CASE("footprint: a tiled matrix product, counted by hand") {
  // All: A 64*128*4, B 128*96*4, C 64*96*4 bytes; 2*64*96*128 operations. Rows io: 8*128*4 + 49152
  // + 8*96*4. A tile of 8 x 32: A 8*128*4 = 4096, B 128*32*4 = 16384, C 8*32*4 = 1024 bytes;
  // 2*8*32*128 = 65536 operations. A step of r in it: A 8*4, B 32*4, C 1024.
  CHECK(works("program C(in A: f32[64, 128], in B: f32[128, 96], out C: f32[64, 96]):\n"
              "  for io in 0..8:\n"
              "    for jo in 0..3:\n"
              "      for r in 0..128:\n"
              "        for ii in 0..8:\n"
              "          for ji in 0..32:\n"
              "            block C(vi in 0..64 = io * 8 + ii, vj in 0..96 = jo * 32 + ji, reduce "
              "vr in 0..128 = r) reduce sum init:\n"
              "              C[vi, vj] sum= A[vi, vr] * B[vr, vj]\n") ==
        "all: 106496 B, 1572864 op: A(64, 128)r B(128, 96)r C(64, 96)rw\n"
        "io: 56320 B, 196608 op: A(8, 128)r B(128, 96)r C(8, 96)rw\n"
        "jo: 21504 B, 65536 op: A(8, 128)r B(128, 32)r C(8, 32)rw\n"
        "r: 1184 B, 512 op: A(8, 1)r B(1, 32)r C(8, 32)rw\n"
        "ii: 260 B, 64 op: A(1, 1)r B(1, 32)r C(1, 32)rw\n"
        "ji: 12 B, 2 op: A(1, 1)r B(1, 1)r C(1, 1)rw\n");
}

TEST_CASE("footprint: a guarded tail counts whole tiles, and says that they may be less") {
  CHECK(works("program Y(in X: f64[100], out Y: f64[100]):\n"
              "  for io in 0..13:\n"
              "    for ii in 0..8:\n"
              "      block Y(v in 0..100 = io * 8 + ii):\n"
              "        Y[v] = X[v] + 1.0f64\n") ==
        "all: 1600 B, <= 104 op: <=X(100)r <=Y(100)w\n"
        "io: 128 B, <= 8 op: <=X(8)r <=Y(8)w\n"
        "ii: 16 B, <= 1 op: <=X(1)r <=Y(1)w\n");
}

TEST_CASE("footprint: a stencil that is clamped at the borders stays as small as its window") {
  CHECK(works("program C(in P: f32[100], out C: f32[100]):\n"
              "  for xo in 0..13:\n"
              "    for xi in 0..8:\n"
              "      block C(v in 0..100 = xo * 8 + xi):\n"
              "        C[v] = P[max(min(v - 2, 99), 0)] + P[v] + P[max(min(v + 2, 99), 0)]\n") ==
        "all: 800 B, <= 208 op: <=P(100)r <=C(100)w\n"
        "xo: 80 B, <= 16 op: <=P(12)r <=C(8)w\n"
        "xi: 24 B, <= 2 op: <=P(5)r <=C(1)w\n");
}

TEST_CASE("footprint: windows that join are touched in full") {
  CHECK(works("program C(in P: f32[34], out C: f32[32]):\n"
              "  for x in 0..32:\n"
              "    block C(v in 0..32 = x):\n"
              "      C[v] = P[v] + P[v + 1] + P[v + 2]\n") ==
        "all: 264 B, 64 op: P(34)r C(32)w\n"
        "x: 16 B, 2 op: P(3)r C(1)w\n");
}

TEST_CASE("footprint: sizes over Dims, and indices that are data") {
  CHECK(works("program Y<n, m in 0..=100>(in I: i32[n], in X: f32[n, m], out Y: f32[n, m]):\n"
              "  for io in 0..floordiv(n + 7, 8):\n"
              "    for ii in 0..8:\n"
              "      for j in 0..m:\n"
              "        block Y(vi in 0..n = io * 8 + ii, vj in 0..m = j):\n"
              "          Y[vi, vj] = X[i64(I[vi]), vj] * 2.0\n") ==
        "all: n * 4 + n * m * 8 B, <= floordiv(n + 7, 8) * m * 8 op: <=I(n)r <=X(n, m)r "
        "<=Y(n, m)w\n"
        "io: n * m * 4 + m * 32 + 32 B, <= m * 8 op: <=I(8)r <=X(n, m)r <=Y(8, m)w\n"
        "ii: n * m * 4 + m * 4 + 4 B, <= m op: <=I(1)r <=X(n, m)r <=Y(1, m)w\n"
        "j: n * 4 + 8 B, <= 1 op: <=I(1)r <=X(n, 1)r <=Y(1, 1)w\n");
}

TEST_CASE("footprint: loops that run nothing, and bounds that an outer loop sets") {
  CHECK(works("program Y(in X: f32[8], out Y: f32[8], out Z: f32[0, 8]):\n"
              "  for i in 0..0:\n"
              "    for j in 0..8:\n"
              "      block Z(v in 0..0 = i, w in 0..8 = j):\n"
              "        Z[v, w] = X[w] * 2.0\n"
              "  for a in 0..8:\n"
              "    for b in 0..a + 1:\n"
              "      block Y(v in 0..8 = b):\n"
              "        Y[v] = X[v] + X[v] * 3.0\n") ==
        "all: 64 B, <= 128 op: <=X(8)r <=Z(0, 0)w <=Y(8)w\n"
        "i: 32 B, 8 op: X(8)r <=Z(0, 8)w\n"
        "j: 4 B, 1 op: X(1)r <=Z(0, 1)w\n"
        "a: 64 B, <= 16 op: <=X(8)r <=Y(8)w\n"
        "b: 8 B, 2 op: X(1)r Y(1)w\n");
}

TEST_CASE("footprint: what is unknown") {
  CHECK(works("program Y(inout X: f32[8]):\n"
              "  while X[0] > 0.0:\n"
              "    X[0] = X[0] - 1.0\n") == "all: 4 B, <= unknown op: X(1)rw\n");
  // 2^61 elements of 8 bytes are beyond i64.
  CHECK(works("program Y(in X: f64[2305843009213693952], out Y: f64[1]):\n"
              "  for i in 0..1:\n"
              "    block Y(v in 0..1 = i):\n"
              "      Y[v] = X[i64(Y[v])] + 1.0f64\n")
            .find("unknown B") != std::string::npos);
}

TEST_CASE("footprint: which operations count") {
  // Index arithmetic, casts and selects do not; fma does twice; exp and a comparison once.
  CHECK(works("program Y(in X: f32[9], out Y: f32[8]):\n"
              "  for i in 0..8:\n"
              "    block Y(v in 0..8 = i):\n"
              "      Y[v] = select(X[v] > 0.0, exp(X[v * 1 + 1]), fma(X[v], 2.0, 1.0))\n") ==
        "all: 68 B, 32 op: <=X(9)r Y(8)w\n"
        "i: 12 B, 4 op: <=X(2)r Y(1)w\n");
}
