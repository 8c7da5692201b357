// reindex: a block's operand or result by the block's own iterators.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::Dims;
using test::error_of;

namespace {

/// Y[i] = sum over r of X[stride * i + r] * W[r].
struct Conv {
  lt::Input<float, 1> X, W;
  lt::Reduce r;
  lt::Tensor<float, 1> Y;

  Conv(std::int64_t n, std::int64_t k, std::int64_t stride)
      : X("X", {n == 0 ? 0 : stride * (n - 1) + k}),
        W("W", {k}),
        r("r", k),
        Y(lt::compute("Y", {n}, [&](lt::Var i) { return lt::sum(X(stride * i + r) * W(r), r); })) {}
};

std::string shape_of(const lt::Schedule& s, const std::string& buffer) {
  const std::string text = s.str(), head = "alloc " + buffer + ": ";
  const std::size_t at = text.find(head);
  return at == std::string::npos
             ? "none"
             : text.substr(at + head.size(), text.find('\n', at) - at - head.size());
}

}  // namespace

TEST_CASE("reindex: a convolution becomes a matrix product") {
  for (std::int64_t n : {1, 7, 13})
    for (std::int64_t k : {1, 3})
      for (std::int64_t stride : {1, 2, 5}) {
        Conv c(n, k, stride);
        lt::Schedule start(c.Y), s = start;
        lt::BlockRef copy = s.reindex(c.Y, "X");
        CHECK(copy.tag->name == "X_reindex");
        CHECK(shape_of(s, "X_reindex") ==
              "f32[" + std::to_string(n) + ", " + std::to_string(k) + "]");
        CHECK(s.str().find("X_reindex[vi, vr] * W[vr]") != std::string::npos);
        check_kept(start, s);
      }
}

TEST_CASE("reindex: under the loops that the writer shares, and where these are cut") {
  lt::Input<float, 1> X("X", {26});
  auto P = lt::compute("P", {26}, [&](lt::Var i) { return X(i) * 2.0f; });
  lt::Reduce r("r", 3);
  auto Y = lt::compute("Y", {12}, [&](lt::Var i) { return lt::sum(P(2 * i + r), r); });
  lt::Schedule start(Y), s = start;
  auto loops = s.loops<2>(Y);
  auto [io, ii] = s.split(loops[0], {lt::infer, 5});
  s.compute_at(P, io);
  s.reindex(Y, P);
  check_kept(start, s);
  s.vectorize(ii);
  s.parallel(io);
  check_kept(start, s);
}

TEST_CASE("reindex: a result that is stored transposed, reversed or strided") {
  lt::Input<float, 2> A("A", {5, 7});
  auto T = lt::compute("T", {7, 5}, [&](lt::Var i, lt::Var j) { return A(4 - j, i) + 1.0f; });
  lt::Schedule start(T), s = start;
  s.reindex(T, "A");
  lt::BlockRef out = s.reindex(T, T);
  CHECK(out.tag->name == "T_copy");
  check_kept(start, s);
}

TEST_CASE("reindex: the result of a reduction") {
  test::Gemm k(5, 4, 3);
  lt::Schedule start(k.D), s = start;
  auto [i, j, r] = s.loops<3>(k.C);
  s.reorder({r, i, j});
  s.reindex(k.C, k.C);
  s.reindex(k.C, "A");
  s.reindex(k.C, "B");
  CHECK(shape_of(s, "A_reindex") == "f32[5, 3]");
  check_kept(start, s);
}

TEST_CASE("reindex: iterators that the index does not name are no axes; none at all is rank 0") {
  lt::Input<float, 1> W("W", {9});
  auto Y = lt::compute("Y", {4, 6}, [&](lt::Var i, lt::Var j) {
    return W(3) * lt::cast<float>(i) + lt::cast<float>(j);
  });
  lt::Schedule start(Y), s = start;
  s.reindex(Y, "W");
  CHECK(shape_of(s, "W_reindex") == "f32[]");
  check_kept(start, s);
}

TEST_CASE("reindex: symbolic, empty and unit extents") {
  lt::Dim m("m"), n("n");
  test::Gemm k(m, n, 4);
  lt::Schedule start(k.D), s = start;
  s.reindex(k.C, "B");
  s.reindex(k.C, k.C);
  for (std::int64_t rows : {0, 1, 5})
    for (std::int64_t columns : {1, 7}) check_kept(start, s, {{"m", rows}, {"n", columns}});
  lt::Input<float, 1> X("X", {8});
  lt::Reduce none("none", 0);
  auto Y = lt::compute("Y", {3}, [&](lt::Var i) { return lt::sum(X(i + none), none); });
  lt::Schedule empty(Y), e = empty;
  e.reindex(Y, "X");
  check_kept(empty, e);
}

TEST_CASE("reindex: the mark for streaming stores moves to the copy") {
  test::Add k(32);
  lt::Schedule start(k.Y), s = start;
  s.annotate(k.Y, "stream", 1);
  s.reindex(k.Y, k.Y);
  const std::string text = s.str();
  CHECK(text.find("@`stream`=1") > text.find("block Y_copy"));
  CHECK(text.find("@`stream`=1") != std::string::npos);
  check_kept(start, s);
}

TEST_CASE("reindex: refusals") {
  test::Blur b(9);
  lt::Schedule s(b.C);
  const lt::Program before = s.program();
  CHECK(error_of([&] { s.reindex(b.C, b.P); }) ==
        "L0232 reindex: block 'C' does not touch 'P' at one place only");
  CHECK(error_of([&] { s.reindex(b.C, "A"); }) == "L0232 reindex: block 'C' does not read 'A'");
  CHECK(s.program() == before);

  lt::Input<float, 1> X("X", {8});
  lt::Input<std::int64_t, 1> I("I", {4});
  auto G = lt::compute("G", {4}, [&](lt::Var i) { return lt::clamp(X)(I(i)); });
  lt::Schedule gather(G);
  CHECK(error_of([&] { gather.reindex(G, "X"); }) ==
        "L0232 reindex: block 'G' reads the index of X[max(min(I[vi], 7), 0)] from memory");

  auto Z = lt::compute("Z", {12}, [&](lt::Var i) { return lt::select(i < 8, X(i), 0.0f); });
  lt::Schedule padded(Z);
  CHECK(error_of([&] { padded.reindex(Z, "X"); }) ==
        "L0232 reindex: block 'Z' is not proved to stay inside of the buffer at X[vi] for all of "
        "its iterators: the copy would not");

  test::Gemm k(5, 4, 3);
  lt::Schedule apart(k.D);
  apart.decompose_reduction(k.C, apart.loops(k.C)[2]);
  CHECK(error_of([&] { apart.reindex(k.C, k.C); }) ==
        "L0232 reindex: block 'C' is not the only writer of 'C'");
}

TEST_CASE("copies of what loops write that may not run are refused") {
  for (const char* turns : {"k", "i64(e[0])"}) {
    lt::Schedule s(lt::parse(std::string("program P<k>(in e: u8[k], inout C: u32[16]):\n"
                                         "  for t in 0..") +
                             turns +
                             ":\n    for i in 0..16:\n      block C(v in 0..16 = i):\n"
                             "        C[v] = 1u32\n"));
    CHECK(test::refused_id(s, [](lt::Schedule& t) { t.reindex("C", "C"); }) == "L0232");
    CHECK(test::refused_id(s, [](lt::Schedule& t) { t.cache_write("C", lt::Scope::global); }) ==
          "L0217");
  }
}
