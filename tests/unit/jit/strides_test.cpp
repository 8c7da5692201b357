// Code for arguments without gaps, and code for others, made before the first call or when one
// needs it (JitOptions::strides).
#include <doctest/doctest.h>

#include <algorithm>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/jit/open_code.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/llvm.hpp>
#include <numeric>
#include <string>
#include <support/skip.hpp>
#include <thread>
#include <vector>

#include "../codegen/assembly.hpp"

namespace lt = lathe;

namespace {

// Y(i, j) = 10 * X(i, j) over 3 x 4, and arrays for it, with `gap` elements after each row.
struct Rows {
  lt::Input<float, 2> X{"X", {3, 4}};
  lt::Tensor<float, 2> Y =
      lt::compute("Y", {3, 4}, [&](lt::Var i, lt::Var j) { return X(i, j) * 10.0f; });

  template <class F>
  static std::vector<float> run(const F& f, std::int64_t gap) {
    const std::int64_t pitch = 4 + gap;
    std::vector<float> x(static_cast<std::size_t>(3 * pitch)), y(x.size(), -1.0f);
    std::iota(x.begin(), x.end(), 0.0f);
    f(lt::View<const float, 2>(x.data(), {3, 4}, {pitch, 1}),
      lt::View<float, 2>(y.data(), {3, 4}, {pitch, 1}));
    return y;
  }
  static std::vector<float> expected(std::int64_t gap) {
    std::vector<float> y;
    for (std::int64_t k = 0; k < 3 * (4 + gap); ++k)
      y.push_back(k % (4 + gap) < 4 ? static_cast<float>(10 * k) : -1.0f);
    return y;
  }
};

// A context that counts what it logs of compilations during calls.
struct Listening {
  std::vector<std::string> lines;
  std::mutex mutex;
  lt::Context context{{.log = [this](lt::LogLevel level, std::string_view line) {
    std::lock_guard<std::mutex> lock(mutex);
    if (level >= lt::LogLevel::info) lines.emplace_back(line);
  }}};
};

template <class F>
std::string text_of(F&& f) {
  try {
    f();
  } catch (const lt::UserError& e) {
    const std::string text = e.what();
    const auto at = text.find("\n  at ");
    return text.substr(0, at) + text.substr(std::min(text.find('\n', at + 1), text.size()));
  }
  return "none";
}

}  // namespace

TEST_CASE("code knows the strides of arguments without gaps; a call with gaps gets its own") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Rows p;
  Listening host;
  const auto f = lt::jit({p.Y, {.context = &host.context}}, p.X, p.Y);
  CHECK(f.lowered().str().find("X.s0") == std::string::npos);
  CHECK(Rows::run(f, 0) == Rows::expected(0));
  CHECK(host.lines.empty());
  for (const std::int64_t gap : {1, 5, 1}) CHECK(Rows::run(f, gap) == Rows::expected(gap));
  CHECK(host.lines == std::vector<std::string>{"kernel 'Y' is compiled for any strides: 'X' has "
                                               "stride 5 on axis 0, where 4 is dense"});
  // An equal program finds that code.
  Rows again;
  CHECK(Rows::run(lt::jit({again.Y, {.context = &host.context}}, again.X, again.Y), 2) ==
        Rows::expected(2));
}

TEST_CASE("strides that mean nothing are no gaps") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Listening host;
  lt::Dim n("n");
  lt::Input<float, 3> X("X", {n, 1, 4});
  auto Y = lt::compute("Y", {n, 1, 4},
                       [&](lt::Var i, lt::Var j, lt::Var k) { return X(i, j, k) + 1.0f; });
  const auto f = lt::jit({Y, {.context = &host.context}}, X, Y);
  std::vector<float> x(8, 1.0f), y(8);
  f(lt::View<const float, 3>(x.data(), {2, 1, 4}, {4, 77, 1}), lt::view(y, {2, 1, 4}));
  CHECK(y == std::vector<float>(8, 2.0f));
  f(lt::View<const float, 3>(x.data(), {0, 1, 4}, {9, 9, 1}),
    lt::View<float, 3>(y.data(), {0, 1, 4}));
  CHECK(host.lines.empty());
  f(lt::View<const float, 3>(x.data() + 4, {2, 1, 4}, {-4, 4, 1}), lt::view(y, {2, 1, 4}));
  CHECK(host.lines.size() == 1);
}

// Twice an image of three channels, and a view of one whose axes have these strides.
struct Image {
  lt::Input<std::uint8_t, 3> X;
  lt::Tensor<std::uint8_t, 3> Y;
  explicit Image(const lt::Extent& h, const lt::Extent& w)
      : X("X", {h, w, 3}), Y(lt::compute("Y", {h, w, 3}, [&](lt::Var i, lt::Var j, lt::Var c) {
          return X(i, j, c) * std::uint8_t{2};
        })) {}

  template <class F>
  static bool is_right(const F& f, std::int64_t h, std::int64_t w, std::int64_t row,
                       std::int64_t pixel) {
    const auto size = static_cast<std::size_t>(h * row);
    std::vector<std::uint8_t> x(size), y(size, 7), expected(size, 7);
    for (std::size_t k = 0; k < size; ++k) x[k] = static_cast<std::uint8_t>(k * 31 + k / 7);
    for (std::int64_t i = 0; i < h; ++i)
      for (std::int64_t j = 0; j < w; ++j)
        for (std::int64_t c = 0; c < 3; ++c) {
          const auto at = static_cast<std::size_t>(i * row + j * pixel + c);
          expected[at] = static_cast<std::uint8_t>(2 * x[at]);
        }
    f(lt::View<const std::uint8_t, 3>(x.data(), {h, w, 3}, {row, pixel, 1}),
      lt::View<std::uint8_t, 3>(y.data(), {h, w, 3}, {row, pixel, 1}));
    return y == expected;
  }
};

TEST_CASE("crops of an image, and pixels with gaps, get code of their own") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const std::string crop =
      "kernel 'Y' is compiled for gaps around pixels: 'X' has stride 330 on axis 0, where 303 is "
      "dense";
  const std::string padded =
      "kernel 'Y' is compiled for any strides: 'X' has stride 4 on axis 1, where 3 is dense";
  const auto check = [&](const Image& p, lt::JitOptions options, bool ahead) {
    Listening host;
    options.context = &host.context;
    const auto f = lt::jit({p.Y, options}, p.X, p.Y);
    CHECK(host.lines.size() == (ahead ? 2 : 0));
    for (int again = 0; again < 2; ++again) {
      CHECK(Image::is_right(f, 5, 101, 303, 3));
      CHECK(Image::is_right(f, 5, 101, 330, 3));
      CHECK(Image::is_right(f, 5, 101, 404, 4));
      CHECK(Image::is_right(f, 5, 101, 411, 4));
      CHECK(Image::is_right(f, 5, 101, 505, 5));
    }
    if (!ahead) CHECK(host.lines == std::vector<std::string>{crop, padded});
    CHECK(host.lines.size() == 2);
    const auto notes = f.any().explain().notes;
    CHECK(std::count(notes.begin(), notes.end(),
                     "views with gaps around pixels have code of their own") == 1);
    CHECK(std::count(notes.begin(), notes.end(),
                     "views with gaps between rows have code of their own") == 1);
  };
  check(Image(5, 101), {}, false);
  check(Image(lt::Dim("h"), lt::Dim("w")), {}, false);
  check(Image(lt::Dim("h"), lt::Dim("w")), {.strides = lt::Strides::both}, true);
  check(Image(5, 101), {.checked = true}, false);
}

TEST_CASE("code for gaps is planned for them, but for what somebody scheduled") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const Image p(lt::Dim("h"), lt::Dim("w"));
  const auto f = lt::jit(p.Y, p.X, p.Y);
  const auto where = lt::Location::here();
  const auto& context = lt::Context::default_context();
  const auto scheduled = [&](const lt::OpenCode& open, lt::Gaps gaps) {
    return open.get(context, gaps, "a gap", where).code->scheduled.str();
  };
  const lt::OpenCode planned(f.program(), f.any().code(), lt::Strides::late, true, f.program());
  CHECK(f.scheduled().str().find("floormod(i_") != std::string::npos);
  CHECK(scheduled(planned, lt::Gaps::rows).find("floormod") == std::string::npos);
  CHECK(scheduled(planned, lt::Gaps::pixels).find("floormod(j_") != std::string::npos);
  CHECK(scheduled(planned, lt::Gaps::pixels).find("floormod(i_") == std::string::npos);
  const lt::OpenCode by_hand(f.program(), f.any().code(), lt::Strides::late, true);
  CHECK(scheduled(by_hand, lt::Gaps::rows).find("floormod(i_") != std::string::npos);
}

TEST_CASE("a schedule by hand serves crops too") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const Image p(5, 101);
  lt::Schedule s(p.Y);
  const auto loops = s.loops(p.Y);
  s.vectorize(s.split(s.fuse({loops[1], loops[2]}), {lt::infer, 16})[1]);
  const auto f = lt::jit(s, p.X, p.Y);
  CHECK(Image::is_right(f, 5, 101, 303, 3));
  CHECK(Image::is_right(f, 5, 101, 330, 3));
  CHECK(Image::is_right(f, 5, 101, 411, 4));
}

TEST_CASE("an axis of one pixel has no gaps; a batch of crops has them around images") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Listening host;
  const Image p(lt::Dim("h"), lt::Dim("w"));
  const auto f = lt::jit({p.Y, {.context = &host.context}}, p.X, p.Y);
  CHECK(Image::is_right(f, 4, 1, 9, 77));
  CHECK(host.lines.size() == 1);
  CHECK(host.lines[0].find("gaps around pixels") != std::string::npos);
  lt::Input<float, 4> X("X", {2, 3, 4, 2});
  auto Y = lt::compute("Y", {2, 3, 4, 2}, [&](lt::Var b, lt::Var i, lt::Var j, lt::Var c) {
    return X(b, i, j, c) + 1.0f;
  });
  const auto g = lt::jit({Y, {.context = &host.context}}, X, Y);
  std::vector<float> x(2 * 5 * 10), y(2 * 3 * 4 * 2);
  std::iota(x.begin(), x.end(), 0.0f);
  g(lt::View<const float, 4>(x.data(), {2, 3, 4, 2}, {50, 10, 2, 1}), lt::view(y, {2, 3, 4, 2}));
  bool right = true;
  for (std::size_t k = 0; k < y.size(); ++k)
    right = right && y[k] == static_cast<float>(k / 24 * 50 + k / 8 % 3 * 10 + k % 8 + 1);
  CHECK(right);
  CHECK(host.lines.back().find("gaps around pixels") != std::string::npos);
}

TEST_CASE("dense refuses gaps, compiled or not; both compiles ahead") {
  Rows p;
  const std::string refusal =
      "error[L0305] kernel 'Y' was made for arguments without gaps: 'X' has stride 5 on axis 0, "
      "where 4 is dense\n  help: make it with JitOptions::strides = lt::Strides::late or both";
  const auto dense = lt::jit({p.Y, {.strides = lt::Strides::dense}}, p.X, p.Y);
  CHECK(Rows::run(dense, 0) == Rows::expected(0));
  CHECK(text_of([&] { Rows::run(dense, 1); }) == refusal);
  const lt::Context nowhere({.log = [](lt::LogLevel, std::string_view) {}, .llvm = "off"});
  const auto slow = lt::jit({p.Y, {.context = &nowhere, .strides = lt::Strides::dense}}, p.X, p.Y);
  CHECK_FALSE(slow.compiled());
  CHECK(Rows::run(slow, 0) == Rows::expected(0));
  CHECK(text_of([&] { Rows::run(slow, 1); }) == refusal);
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Listening host;
  const auto both =
      lt::jit({p.Y, {.context = &host.context, .strides = lt::Strides::both}}, p.X, p.Y);
  CHECK(host.lines.size() == 1);
  CHECK(Rows::run(both, 3) == Rows::expected(3));
  CHECK(host.lines.size() == 1);
}

TEST_CASE("callers at once compile once") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Rows p;
  Listening host;
  const auto f = lt::jit({p.Y, {.context = &host.context}}, p.X, p.Y);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] { right += Rows::run(f, 1 + t) == Rows::expected(1 + t); });
  for (auto& t : threads) t.join();
  CHECK(right == 4);
  CHECK(host.lines.size() == 1);
}

TEST_CASE("where code for gaps can't be made, the evaluator stands in or the call fails") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Rows p;
  const auto f = lt::jit(p.Y, p.X, p.Y);
  std::string said;
  const lt::Context hurried({.log =
                                 [&](lt::LogLevel level, std::string_view line) {
                                   if (level == lt::LogLevel::warning) said = line;
                                 },
                             .time_budget = 1e-9});
  const auto where = lt::Location::here();
  const lt::OpenCode patient(f.program(), f.any().code(), lt::Strides::late, false);
  CHECK_FALSE(patient.get(hurried, lt::Gaps::rows, "a gap", where).code);
  CHECK(said.find("kernel 'Y' is interpreted: a gap, and its compilation failed: error[L0412]") ==
        0);
  CHECK(patient.evaluator().program());
  const lt::OpenCode strict(f.program(), f.any().code(), lt::Strides::late, true);
  CHECK(text_of([&] {
          strict.get(hurried, lt::Gaps::rows, "a gap", where);
        }).find("error[L0412]") == 0);
  CHECK(strict.get(lt::Context::default_context(), lt::Gaps::rows, "a gap", where).code);
}

TEST_CASE("a program that was lowered is for what it was lowered for") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Rows p;
  const auto f = lt::jit(p.Y, p.X, p.Y);
  using In = lt::View<const float, 2>;
  using Out = lt::View<float, 2>;
  const lt::Program flat = lt::parse(f.lowered().str());
  const std::string refusal =
      "error[L0305] 'X' axis 0: stride is 5, but the declaration takes 4\n"
      "  help: a program that was lowered for dense arguments takes no others";
  CHECK(Rows::run(lt::jit<In, Out>(flat), 0) == Rows::expected(0));
  CHECK(text_of([&] { Rows::run(lt::jit<In, Out>(flat), 1); }) == refusal);
  CHECK(text_of([&] { Rows::run(lt::evaluate<In, Out>(flat), 1); }) == refusal);
  // Loops still have the axes of what they read.
  const lt::Program loops =
      lt::lower_until("lower_blocks", f.scheduled(), lt::host(), {.dense = true});
  for (const std::int64_t gap : {0, 1}) {
    CHECK(Rows::run(lt::jit<In, Out>(loops), gap) == Rows::expected(gap));
    CHECK(Rows::run(lt::evaluate<In, Out>(loops), gap) == Rows::expected(gap));
  }
}

// With a stride that only calls know, LLVM groups the loads of a row and spills accumulators.
TEST_CASE("a tile of 24 accumulators of a product of arguments stays in registers") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  const lt::Target target("znver4");
  struct Tile {
    int rows, vectors, unroll;
  };
  for (const Tile& tile : {Tile{12, 2, 4}, Tile{8, 3, 4}, Tile{6, 4, 2}, Tile{14, 2, 1}}) {
    const int rows = tile.rows, vectors = tile.vectors, unroll = tile.unroll;
    CAPTURE(rows);
    const int m = 4 * rows, n = 4 * 16 * vectors, k = 64;
    lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
    lt::Reduce r("r", k);
    auto C = lt::compute("C", {m, n},
                         [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
    lt::Schedule s(C);
    auto [i, j, q] = s.loops<3>(C);
    auto [io, ii] = s.split<2>(i, {lt::infer, rows});
    auto [jo, ji] = s.split<2>(j, {lt::infer, 16 * vectors});
    auto [qo, qi] = s.split<2>(q, {lt::infer, unroll});
    s.reorder({io, jo, qo, qi, ii, ji});
    auto st = s.cache_write(C, lt::Scope::local);
    s.reverse_compute_at(st, jo);
    s.decompose_reduction(C, qo);
    s.unroll(qi), s.unroll(ii), s.vectorize(ji);
    const lt::LowerOptions dense{.dense = true};
    const std::string text =
        lt::emit_llvm(lt::lower(s.program(), target, dense), target, lt::Llvm::get().major()).text;
    const std::string assembly = lt::compile_to_assembly(lt::Llvm::get(), text, target);
    CHECK(test::count_of(test::innermost_loop(assembly), "vfmadd") ==
          static_cast<std::size_t>(rows * vectors * unroll));
    CHECK(test::stack_accesses(test::innermost_loop(assembly)) == 0);
  }
}
