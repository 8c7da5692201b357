#include <doctest/doctest.h>

#include <lathe/lathe.hpp>

namespace lt = lathe;

namespace {

/// The first line of what a schedule of the text, or code for it, is refused with.
std::string adopted(const std::string& body, const std::string& head =
                                                 "program p(in A: i32[16], in I: i64[16], "
                                                 "inout B: i32[16], inout C: i32[16]):\n") {
  const lt::Program p = lt::parse(head + body);
  std::string scheduled = "fine", compiled = "fine";
  try {
    const lt::Schedule s(p);
  } catch (const lt::UserError& e) {
    scheduled = std::string(e.what()).substr(0, std::string(e.what()).find('\n'));
  }
  try {
    lt::jit_any(lt::Source(p), {});
  } catch (const lt::UserError& e) {
    compiled = std::string(e.what()).substr(0, std::string(e.what()).find('\n'));
  }
  CHECK(scheduled == compiled);
  return scheduled;
}

}  // namespace

TEST_CASE("loops of a text are held to what their kinds promise") {
  for (const char* kind : {"parallel", "vectorized", "blockIdx.x"}) {
    const std::string loop = std::string("  ") + kind + " for i in 1..16:\n";
    CHECK(adopted(loop + "    block B(v in 1..15 = i):\n      B[v] = A[v] + 1i32\n") == "fine");
    CHECK(adopted(loop + "    block B(v in 1..15 = i):\n      B[v] = B[v - 1] + 1i32\n")
              .starts_with("error[L0207]"));
    CHECK(adopted(loop + "    B[i] = B[i - 1] + 1i32\n").starts_with("error[L0207]"));
    CHECK(adopted(loop + "    block B(reduce v in 1..15 = i) reduce sum:\n      B[0] sum= A[v]\n")
              .starts_with("error[L0208]"));
  }
  CHECK(adopted("  unrolled for i in 0..9000:\n    B[0] = A[0]\n").starts_with("error[L0210]"));
}

TEST_CASE("regions that blocks declare hold what the blocks touch") {
  auto block = [](const std::string& clauses, const std::string& body) {
    return "  for i in 0..16:\n    block B(v in 0..16 = i) " + clauses + ":\n      " + body + "\n";
  };
  CHECK(adopted(block("reads A[v..+1] writes B[v..+1]", "B[v] = A[v]")) == "fine");
  CHECK(adopted(block("reads A[0..16], I[v..+1] writes B[v..+1]", "B[v] = A[I[v]]")) == "fine");
  CHECK(adopted(block("reads A[v..+1] writes B[v..+1]", "B[v] = A[v] + C[v]")) ==
        "error[L0130] schedule: block 'B' declares what it touches, but it is not found that what "
        "it reads of 'C' lies in there");
  CHECK(
      adopted(block("reads A[v..+1] writes C[v..+1]", "B[v] = A[v]")).starts_with("error[L0130]"));
  CHECK(adopted(block("reads A[v..+1] writes B[v..+1]", "B[15 - v] = A[v]"))
            .starts_with("error[L0130]"));
  CHECK(adopted(block("reads A[v..+1], I[v..+1] writes B[v..+1]", "B[v] = A[I[v]]"))
            .starts_with("error[L0130]"));
}

TEST_CASE("stores past the caches are not read") {
  CHECK(
      adopted("  for i in 0..16:\n    block B(v in 0..16 = i) @`stream`=1:\n      B[v] = A[v]\n") ==
      "fine");
  CHECK(adopted("  for i in 0..16:\n    block B(v in 0..16 = i) @`stream`=1:\n      B[v] = A[v]\n"
                "  for i in 0..16:\n    block C(v in 0..16 = i):\n      C[v] = B[v]\n")
            .starts_with("error[L0223]"));
}

TEST_CASE("elements of a temporary are apart") {
  auto text = [](const std::string& type) {
    return "  alloc T: " + type +
           "\n  for i in 0..16:\n    T[floordiv(i, 4), i % 4] = A[i]\n"
           "    B[i] = T[floordiv(i, 4), i % 4]\n";
  };
  CHECK(adopted(text("i32[4, 4] strides [8, 1]")) == "fine");
  CHECK(adopted(text("i32[4, 4] strides [1, 4]")) == "fine");
  CHECK(adopted(text("i32[4, 4] strides [1, 1]")).starts_with("error[L0221]"));
  CHECK(adopted(text("i32[4, 4] strides [0, 1]")).starts_with("error[L0221]"));
}

TEST_CASE("a scheduled program that is read back is accepted") {
  lt::Input<float, 2> A("A", {37, 21}), B("B", {21, 50});
  lt::Reduce r("r", 21);
  auto C = lt::compute("C", {37, 50},
                       [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  const auto l = s.loops(C);
  const auto tile = s.split_any(l[1], lt::Vec<lt::Factor>{lt::infer, 8});
  s.reorder({l[0], tile[0], l[2], tile[1]});
  s.vectorize(tile[1]);
  s.parallel(l[0]);
  const lt::Schedule again(lt::parse(s.str()));
  CHECK(again.str() == s.str());
}
