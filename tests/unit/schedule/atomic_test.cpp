// atomic: updates that several iterations make of one element, so that they may run at once.
#include <lathe/jit/jit.hpp>
#include <lathe/lower/pipeline.hpp>

#include "kernels.hpp"

using namespace test;

namespace {

/// Counts of four bins, the block's body as given.
lt::Program histogram(const std::string& block, const char* type = "i32", int n = 40) {
  const std::string t = type, to = std::to_string(n), zero = t[0] == 'f' ? "0.0" + t : "0" + t;
  return lt::parse("program hist(in X: " + t + "[" + to + "], in I: i64[" + to + "], out H: " + t +
                   R"([4]):
  for b in 0..4:
    block zero(vb in 0..4 = b):
      H[vb] = )" + (t == "f32" ? "0.0" : zero) +
                   "\n  for i in 0..40:\n    block " + block);
}
const char* const kPlain = "H(vi in 0..40 = i):\n      H[I[vi] & 3] = H[I[vi] & 3] + X[vi]\n";

std::string first_line(lt::Schedule& s, const char* block = "H") {
  const std::string text = refused(s, [&](lt::Schedule& t) { t.atomic(block); });
  return text.substr(0, text.find('\n'));
}
std::string first_line(const lt::Program& p) {
  lt::Schedule s(p);
  return first_line(s);
}

void check_lowered(const lt::Schedule& start, const lt::Schedule& s) {
  for (const char* pass : {"lower_blocks", "hoist_guards", "simplify_flat"}) {
    INFO(pass);
    lt::Program lowered = lt::lower_until(pass, s.program(), lt::host());
    INFO(lowered.str());
    CHECK(run(lowered, {}, false) == run(start.program(), {}));
  }
}

/// Atomic, then cut in pieces that run at once.
void check_parallel(const lt::Program& p, const char* update) {
  lt::Schedule start(p), s = start;
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.parallel(t.loops("H")[0]); }).substr(0, 4) ==
        "L020");
  s.atomic("H");
  INFO(s.str());
  CHECK(s.str().find(update) != std::string::npos);
  check_kept(start, s);
  auto [io, ii] = s.split(s.loops("H")[0], {lt::infer, 7});
  s.parallel(io);
  check_kept(start, s);
  check_lowered(start, s);
}

}  // namespace

TEST_CASE("atomic: a histogram in each way to write it") {
  check_parallel(histogram(kPlain), "atomic H[I[vi] & 3] += X[vi]");
  check_parallel(histogram("H(vi in 0..40 = i):\n      H[I[vi] & 3] = X[vi] + H[I[vi] & 3]\n"),
                 "atomic H[I[vi] & 3] += X[vi]");
  check_parallel(histogram("H(vi in 0..40 = i):\n      H[I[vi] & 3] = H[I[vi] & 3] - X[vi]\n"),
                 "atomic H[I[vi] & 3] -= X[vi]");
  check_parallel(
      histogram("H(reduce vi in 0..40 = i) reduce sum:\n      H[I[vi] & 3] sum= X[vi]\n"),
      "atomic H[I[vi] & 3] += X[vi]");
  check_parallel(
      histogram(R"(H(opaque vi in 0..40 = i) reads I[vi..+1], X[vi..+1], H[0..4] writes H[0..4]:
      let b = I[vi] & 3
      if X[vi] > 0i32:
        H[b] = min(H[b], X[vi])
)"),
      "atomic H[b] min= X[vi]");
}

TEST_CASE("atomic: iterations over the threads of a GPU") {
  lt::Schedule start(histogram(kPlain)), s = start;
  s.atomic("H");
  auto [io, ii] = s.split(s.loops("H")[0], {lt::infer, 8});
  s.bind(io, "blockIdx.x");
  s.bind(ii, "threadIdx.x");
  check_kept(start, s);
  check_lowered(start, s);
}

TEST_CASE("atomic: the reduce loop of a sum whose init is apart") {
  lt::Input<int, 2> X("X", {5, 13});
  lt::Reduce r("r", 13);
  auto S = lt::compute("S", {5}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  lt::Schedule start(S), s = start;
  auto [i, k] = s.loops<2>(S);
  CHECK(first_line(s, "S") ==
        "error[L0256] atomic: block 'S' sets its elements before it updates them");
  s.decompose_reduction(S, i);
  CHECK(refused_id(s, [&, k = k](lt::Schedule& t) { t.parallel(k); }) == "L0208");
  s.atomic(S);
  s.parallel(k);
  check_kept(start, s);
  check_lowered(start, s);
}

TEST_CASE("atomic: sums of floats in any order") {
  const lt::Program p = histogram(kPlain, "f32");
  lt::Schedule start(p), s = start;
  s.atomic("H");
  CHECK(s.str().find("@any_order") != std::string::npos);
  CHECK(s.numerics() == std::vector<std::string>{"atomic: 'H' updates in any order"});
  s.parallel(s.loops("H")[0]);
  check_kept(start, s);
  check_lowered(start, s);
  lt::Schedule strict(p, {.strict = true});
  CHECK(first_line(strict) ==
        "error[L0226] atomic: may change the rounding of floating-point results: 'H' updates in "
        "any order");
  // Without a step that says so, the order of floats shows.
  lt::Schedule script(lt::parse(R"(program script(in X: f32[40], inout H: f32[4]):
  for i in 0..40:
    block H(vi in 0..40 = i):
      atomic H[vi & 3] += X[vi]
)"));
  CHECK(refused_id(script, [&](lt::Schedule& t) { t.parallel(t.loops("H")[0]); }) == "L0207");
  CHECK(first_line(script) == "error[L0256] atomic: block 'H' has no store that is not atomic");
  // The largest of floats does not depend on it.
  lt::Schedule top(
      histogram("H(vi in 0..40 = i):\n      H[I[vi] & 3] = max(H[I[vi] & 3], X[vi])\n", "f32"),
      {.strict = true});
  top.atomic("H");
  CHECK(top.numerics().empty());
  top.parallel(top.loops("H")[0]);
}

TEST_CASE("atomic: compiled, on several threads") {
  const int n = 20000;
  lt::Program p = lt::parse(R"(program hist(in I: i32[20000], out H: i32[8]):
  for b in 0..8:
    block zero(vb in 0..8 = b):
      H[vb] = 0i32
  for i in 0..20000:
    block H(vi in 0..20000 = i):
      H[i64(I[vi]) & 7] = H[i64(I[vi]) & 7] + 1i32
)");
  lt::Schedule s(p);
  s.atomic("H");
  s.parallel(s.split(s.loops("H")[0], {lt::infer, 500})[0]);
  std::vector<int> from(n), bins(8), want(8);
  for (int k = 0; k < n; ++k)
    ++want[static_cast<std::size_t>(from[static_cast<std::size_t>(k)] = (k * 7 + k / 9) % 8)];
  lt::jit<lt::View<const int, 1>, lt::View<int, 1>>(s)(from, bins);
  CHECK(bins == want);
}

TEST_CASE("atomic: refusals") {
  lt::Schedule s(histogram("H(vi in 0..40 = i):\n      H[I[vi] & 3] = H[I[vi] & 3] + H[vi & 3]\n"));
  CHECK(refused(s, [](lt::Schedule& t) { t.atomic("H"); }) ==
        R"(error[L0256] atomic: block 'H' reads 'H' besides updating it
  at atomic_test.cpp:#
  loops of 'H': i(40)
    for i in 0..40:
      block H(vi in 0..40 = i):
            ^
        H[I[vi] & 3] = H[I[vi] & 3] + H[vi & 3])");
  auto body = [](const std::string& lines) {
    return first_line(histogram("H(vi in 0..40 = i):\n" + lines));
  };
  CHECK(
      body("      H[I[vi] & 3] = X[vi]\n") ==
      "error[L0256] atomic: block 'H' stores to 'H' what is no update of the element: x = x op y");
  CHECK(
      body("      H[I[vi] & 3] = H[vi & 3] + X[vi]\n") ==
      "error[L0256] atomic: block 'H' stores to 'H' what is no update of the element: x = x op y");
  CHECK(
      body("      H[I[vi] & 3] = X[vi] - H[I[vi] & 3]\n") ==
      "error[L0256] atomic: block 'H' stores to 'H' what is no update of the element: x = x op y");
  CHECK(body("      H[I[vi] & 3] = H[I[vi] & 3] / 2i32\n") ==
        "error[L0256] atomic: block 'H' updates 'H' with an operator whose order matters");
  CHECK(body("      if H[0] > 3i32:\n        H[I[vi] & 3] = H[I[vi] & 3] + 1i32\n") ==
        "error[L0256] atomic: block 'H' reads 'H' besides updating it");
  CHECK(body("      while X[vi] > 3i32:\n        H[I[vi] & 3] = H[I[vi] & 3] + 1i32\n") ==
        "error[L0256] atomic: block 'H' holds more than stores");
  CHECK(first_line(histogram("H(vi in 0..40 = i) where H[0] > 1i32:\n      H[I[vi] & 3] = "
                             "H[I[vi] & 3] + 1i32\n")) ==
        "error[L0256] atomic: block 'H' reads 'H' besides updating it");
  CHECK(first_line(histogram(kPlain, "f16")) ==
        "error[L0256] atomic: block 'H' updates elements of f16, which no machine does atomically");
  CHECK(first_line(histogram(kPlain, "i4")) ==
        "error[L0256] atomic: block 'H' updates elements of i4, which share bytes");
  CHECK(
      first_line(
          lt::parse(R"(program p(in X: f32[8], in I: i64[8], inout V: f32[4], inout H: i64[4]):
  for i in 0..8:
    block H(reduce vi in 0..8 = i) reduce argmax:
      V[I[vi] & 3] argmax= X[vi]
      H[I[vi] & 3] argmax= vi
)")) ==
      "error[L0256] atomic: block 'H' folds with reducer 'argmax', which is no single operator of "
      "which the order is free");
}

TEST_CASE("atomic: later steps") {
  lt::Schedule start(histogram(kPlain)), s = start;
  s.atomic("H");
  auto loop = s.loops("H")[0];
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.vectorize(loop); }) == "L0209");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.compute_at("zero", loop); }) != "not refused");
  CHECK(refused_id(s, [&](lt::Schedule& t) { t.cache_write("H", lt::Scope::global); }) == "L0217");
  // A loop that reads the counts as they grow is none that threads may share.
  lt::Schedule other(lt::parse(R"(program p(in I: i64[40], inout H: i32[4], out Y: i32[40]):
  for i in 0..40:
    block H(vi in 0..40 = i):
      H[I[vi] & 3] = H[I[vi] & 3] + 1i32
    block Y(vi in 0..40 = i):
      Y[vi] = H[vi & 3]
)"));
  other.atomic("H");
  CHECK(refused_id(other, [&](lt::Schedule& t) { t.parallel(t.loops("H")[0]); }) == "L0207");
}
