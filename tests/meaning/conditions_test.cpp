// Conditions on data: what they read is there when they are tested, and only where the domain and
// the conditions before them allow it.
#include "meaning.hpp"

using namespace meaning;

namespace {

/// f is computed first, in a nest of its own or in the loop of C, whose init it decides.
std::string decided(bool one_loop, const std::string& condition = "f[v] > 0i32",
                    const std::string& f = "alloc") {
  const bool param = f != "alloc";
  return "program o(in A: i32[12, 8], inout C: i32[12]" +
         std::string(param ? ", inout f: i32[12]" : "") + "):\n" +
         (param ? "" : "  alloc f: i32[12]\n") +
         "  for i in 0..12:\n    block f(v in 0..12 = i):\n      f[v] = A[v, 0] + A[v, 1]\n" +
         (one_loop ? "" : "  for i in 0..12:\n") +
         "    for r in 0..8:\n      block C(v in 0..12 = i, reduce w in 0..8 = r) where " +
         condition + " reduce sum init:\n        C[v] sum= A[v, w]\n";
}
/// A maximum over the w whose conditions on data hold.
std::string filtered(const std::string& condition, const std::string& more = "") {
  return "program o(in f: i32[10], " + more +
         "in A: i32[12, 10], out C: i32[12]):\n  for i in 0..12:\n"
         "    for r in 0..10:\n      block C(v in 0..12 = i, reduce w in 0..10 = r) where " +
         condition + " reduce max init:\n        C[v] max= A[v, w]\n";
}

}  // namespace

TEST_CASE("what an init depends on is not computed inside of its reduction") {
  CHECK(steps(decided(false), [](lt::Schedule& s) { s.compute_at("f", loop(s, "C", 1)); }) ==
        "L0259");
  CHECK(steps(decided(false), [](lt::Schedule& s) { s.compute_at("f", loop(s, "C", 0)); }) == "");
  const std::string cached =
      "program o(in A: i32[12, 8], in f: i32[12], inout C: i32[12]):\n  for i in 0..12:\n    for r "
      "in 0..8:\n"
      "      block C(v in 0..12 = i, reduce w in 0..8 = r) where f[v] > 0i32 reduce sum init:\n    "
      "    C[v] sum= A[v, w]\n";
  for (std::size_t at : {0u, 1u})
    CHECK(steps(cached, [&](lt::Schedule& s) {
            auto copy = s.cache_read("C", "f", lt::Scope::global);
            s.compute_at(copy, loop(s, "C", at));
          }) == (at == 0 ? "" : "L0259"));
  // A condition that names the reduction is none of the init.
  CHECK(steps(decided(false, "f[v] > i32(w)"),
              [](lt::Schedule& s) { s.compute_at("f", loop(s, "C", 1)); }) == "");
}

TEST_CASE("an init does not move above what its condition reads") {
  for (const char* f : {"alloc", "inout"}) {
    CHECK(steps(decided(true, "f[v] > 0i32", f),
                [](lt::Schedule& s) { s.decompose_reduction("C", loop(s, "C", 0)); }) == "L0218");
    CHECK(steps(decided(true, "f[v] > 0i32", f),
                [](lt::Schedule& s) { s.decompose_reduction("C", loop(s, "C", 1)); }) == "");
  }
}

TEST_CASE("the domain is tested before conditions that read by it") {
  Data data;
  data.fill["f"] = [](std::int64_t) { return 1; };
  for (const auto& factors :
       {lt::Vec<lt::Factor>{lt::infer, 4, 4}, lt::Vec<lt::Factor>{lt::infer, 2048}})
    for (std::size_t k = 0; k < factors.size(); ++k) {
      const auto apply = [&](lt::Schedule& s) {
        s.rfactor(s.split_any(loop(s, "C", 1), factors)[k]);
      };
      CHECK(steps(filtered("f[w] > 0i32"), apply) == "");
      CHECK(steps(filtered("f[w] > 0i32 && g[v, w] < 5i32", "in g: i32[12, 10], "), apply, data) ==
            "");
    }
}

TEST_CASE("each condition is tested where those before it hold") {
  // p[q[w]] exists where q[w] is below 4; w < 6 comes last and must not take the place of w < 8.
  const std::string chained =
      filtered("w < 8 && q[w] < 4 && p[q[w]] > 0i32 && w < 6", "in q: i64[8], in p: i32[4], ");
  Data data;
  data.fill["q"] = [](std::int64_t k) { return k % 2 ? k : 900; };
  check_plain(lt::parse(chained), data);
  CHECK(steps(
            chained,
            [](lt::Schedule& s) {
              s.vectorize(s.split_any(loop(s, "C", 0), {lt::infer, 8})[1]);
            },
            data) == "");
  CHECK(steps(
            chained,
            [](lt::Schedule& s) {
              s.rfactor(s.split_any(loop(s, "C", 1), {lt::infer, 4})[0]);
            },
            data) == "");
  CHECK(steps(
            chained,
            [](lt::Schedule& s) {
              auto copy = s.cache_read("C", "q", lt::Scope::global);
              s.compute_at(copy, loop(s, "C", 0));
            },
            data) != "L0409");
}

TEST_CASE("a masked sum of the language reads inside, with the default schedule and split") {
  for (int n : {31, 65, 1001, 4090}) {
    lt::Input<float, 1> X("X", {n}), Y("Y", {n});
    lt::Reduce r("r", n);
    auto T = lt::compute("T", {}, [&] { return lt::sum(X(r), r).where(Y(r) > 0); });
    check_plain(lt::Schedule(T).program());
    lt::Schedule s(T);
    s.rfactor(s.split_any(s.loops(T)[0], {lt::infer, 4096})[0]);
    check_kept(lt::Schedule(T).program(), s);
  }
}

TEST_CASE("masks compare without wrapping around i64") {
  const std::string text =
      "program B(in A: u8[3, 200], inout B: u8[3, 200], in I: i64[3]):\n  for i in 0..3:\n    for "
      "j in 0..200:\n"
      "      block B(v in 0..3 = i, w in 0..200 = j) where w < I[v]:\n        B[v, w] = A[v, w] + "
      "1u8\n";
  for (std::int64_t bound : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0},
                             std::int64_t{77}, INT64_MAX - 3, INT64_MAX}) {
    Data data;
    data.fill["I"] = [=](std::int64_t) { return bound; };
    CHECK(steps(
              text,
              [](lt::Schedule& s) {
                s.vectorize(s.split_any(loop(s, "B", 1), {lt::infer, 8})[1]);
              },
              data) == "");
    CHECK(steps(
              text,
              [](lt::Schedule& s) {
                auto i = s.split_any(loop(s, "B", 0), {lt::infer, 2});
                s.vectorize(s.split_any(loop(s, "B", 2), {lt::infer, 64})[1]);
                s.unroll(i[1]);
              },
              data) == "");
    lt::Input<int, 2> X("X", {3, 1000});
    lt::Input<std::int64_t, 1> len("len", {3});
    lt::Reduce r("r", 1000);
    auto T =
        lt::compute("T", {3}, [&](lt::Var i) { return lt::sum(X(i, r), r).where(r < len(i)); });
    Data lengths;
    lengths.fill["len"] = [=](std::int64_t) { return bound; };
    check_plain(lt::Schedule(T).program(), lengths);
  }
}

TEST_CASE(
    "names of lets in conditions and bindings, which stand at several places, are kept apart") {
  const std::string where =
      "program P(in X: i32[7, 9], inout Y: i32[7]):\n  for i in 0..7:\n    for r in 0..9:\n"
      "      block Y(v in 0..7 = i, reduce w in 0..9 = r) where (let q = X[v, 0] in q * q > 1i32) "
      "&& w > 1 reduce sum init:\n        Y[v] sum= X[v, w]\n";
  steps(where, [](lt::Schedule&) {});
  CHECK(steps(where, [](lt::Schedule& s) { s.decompose_reduction("Y", loop(s, "Y", 1)); }) == "");
  CHECK(steps(where, [](lt::Schedule& s) {
          s.rfactor(s.split<2>(loop(s, "Y", 1), {lt::infer, 4})[1]);
        }) == "");
  steps(where, [](lt::Schedule& s) { s.cache_write("Y", lt::Scope::local); });
  steps(where, [](lt::Schedule& s) { s.pad("Y", {4, 4}); });
  const std::string binding =
      "program P(in X: i32[40], out Y: i32[40]):\n  for i in 0..5:\n    for j in 0..8:\n"
      "      block Y(v in 0..40 = (let a = i * 4 in a * 2 + j)):\n"
      "        Y[v] = select(X[39 - v] > 0i32, X[v] * X[39 - v], 0i32)\n";
  steps(binding, [](lt::Schedule&) {});
  steps(binding, [](lt::Schedule& s) { s.split(loop(s, "Y", 1), {lt::infer, 3}); });
  steps(binding, [](lt::Schedule& s) { s.fuse(loop(s, "Y", 0), loop(s, "Y", 1)); });
  steps(binding, [](lt::Schedule& s) { s.vectorize(loop(s, "Y", 1)); });
}
