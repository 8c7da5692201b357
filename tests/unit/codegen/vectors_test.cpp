// Vector loads and stores of every shape, masks, and lazy selects, against the evaluator.
#include <numeric>
#include <support/capture.hpp>
#include <support/text.hpp>

#include "against.hpp"

using namespace lathe;
using namespace test;

namespace {

Bytes numbers(DType t, int n) {
  Bytes b;
  b.data.resize(static_cast<std::size_t>(n * t.element_bytes()));
  for (int i = 0; i < n; ++i) {
    unsigned char* at = b.data.data() + i * t.element_bytes();
    if (t == kF32) {
      float f = static_cast<float>(i) * 0.5f;
      std::memcpy(at, &f, 4);
    } else if (t == kF64) {
      double d = i * 0.25;
      std::memcpy(at, &d, 8);
    } else {
      std::int64_t v = t.is_bool() ? i % 3 == 0 : i;
      std::memcpy(at, &v, static_cast<std::size_t>(t.element_bytes()));
    }
  }
  return b;
}

Bytes zeros(DType t, int n) {
  return Bytes{std::vector<unsigned char>(static_cast<std::size_t>(n * t.element_bytes()))};
}

std::string text_of(const Program& p) { return emit_llvm(legal(p), host(), 19).text; }

}  // namespace

// LLVM gives products of permuted quotients as 0 if it divides few bytes itself.
TEST_CASE("quotients and remainders of all bytes, reversed and multiplied") {
  for (DType t : {kI8, kU8})
    for (int lanes : {2, 7, 8, 16, 24, 32}) {
      CAPTURE(t.str());
      CAPTURE(lanes);
      Build b;
      auto x = b.buffer("x", t), y = b.output("y", t);
      Vec<Stmt> rows;
      std::int64_t count = 256 / lanes, to = 0;
      for (std::int64_t divisor : {3, 100, 127, t.is_signed() ? -7 : 255})
        for (BinaryOp op : {BinaryOp::div, BinaryOp::mod}) {
          VarRef i = make_var("i", kI64);
          AnyExpr from = AnyExpr(i) * lanes,
                  reversed = make_load(x, {ramp(from + lanes - 1, -1, lanes)});
          AnyExpr parts = make_binary(op, reversed, make_broadcast(make_int(t, divisor), lanes));
          AnyExpr times = make_load(x, {ramp(256, 1, lanes)});
          rows.push_back(
              make_for(i, 0, count, make_store(y, {ramp(from + to, 1, lanes)}, parts * times)));
          to += count * lanes;
        }
      Bytes bytes = zeros(t, 256 + lanes);
      for (int i = 0; i < 256 + lanes; ++i)
        bytes.data[static_cast<std::size_t>(i)] =
            static_cast<unsigned char>(i < 256 ? i : 2 * i + 1);
      check_against_evaluator(b.done(make_seq(rows)), {bytes, zeros(t, static_cast<int>(to))});
    }
}

TEST_CASE("vector indices of every stride, loaded and stored") {
  for (DType t : {kF32, kF64, kI8, kU16, kBool}) {
    for (int lanes : {2, 3, 8, 16, 32}) {
      for (std::int64_t stride : {1, -1, 0, 2, -2, 3, 7}) {
        CAPTURE(t.str());
        CAPTURE(lanes);
        CAPTURE(stride);
        Build b;
        auto x = b.buffer("x", t), y = b.output("y", t), z = b.output("z", t);
        auto n = b.dim("n");
        AnyExpr value = make_load(x, {ramp(n, stride, lanes)});
        Program p = b.done(make_seq({make_store(y, {ramp(1, 1, lanes)}, value),
                                     make_store(z, {ramp(n, stride, lanes)}, value)}));
        check_against_evaluator(p, {numbers(t, 500), zeros(t, 40), zeros(t, 500)}, {250});
      }
    }
  }
}

TEST_CASE("targets with narrower vectors and without gathers") {
  for (const char* name : {"x86-64", "x86-64-v3"}) {
    Target target(name);
    if (!target.runs_on(host())) continue;
    for (DType t : {kF32, kU8, kF64}) {
      for (std::int64_t stride : {1, -1, 2, 3}) {
        CAPTURE(std::string(name));
        CAPTURE(t.str());
        CAPTURE(stride);
        Build b;
        auto x = b.buffer("x", t), y = b.output("y", t), z = b.output("z", t);
        auto n = b.dim("n");
        AnyExpr at = ramp(100, stride, 8),
                mask = make_binary(BinaryOp::ge, make_broadcast(AnyExpr(n), 8), ramp(2, 1, 8));
        Program p = b.done(make_seq({make_store(y, {at}, make_load(x, {at}, mask)),
                                     make_store(z, {at}, make_load(x, {at}), mask)}));
        check_against_evaluator(p, {numbers(t, 200), zeros(t, 200), zeros(t, 200)}, {6}, target);
      }
    }
  }
}

TEST_CASE("comparisons of even steps, as masks") {
  for (const char* name : {"host", "x86-64-v3"}) {
    Target target(name);
    if (!target.runs_on(host())) continue;
    for (int lanes : {2, 4, 8, 16, 32}) {
      for (BinaryOp op : {BinaryOp::lt, BinaryOp::le, BinaryOp::gt, BinaryOp::ge}) {
        for (std::int64_t step : {-2, -1, 0, 1, 3}) {
          CAPTURE(std::string(name));
          CAPTURE(lanes);
          CAPTURE(op_text(op));
          CAPTURE(step);
          Build b;
          auto y = b.output("y", kBool);
          auto n = b.dim("n"), m = b.dim("m");
          AnyExpr wide = make_broadcast(AnyExpr(n), lanes),
                  steps = make_ramp(m, AnyExpr(step), lanes);
          Program p = b.done(
              make_seq({make_store(y, {ramp(0, 1, lanes)}, make_binary(op, steps, wide)),
                        make_store(y, {ramp(lanes, 1, lanes)}, make_binary(op, wide, steps))}));
          Kernel k(p, Llvm::get(), target);
          std::int64_t least = INT64_MIN, most = INT64_MAX;
          const std::pair<std::int64_t, std::int64_t> rows[] = {
              {5, 0}, {0, 5}, {1000, 3}, {-1000, 3}, {7, 7}, {least, 5}, {most, -200}, {-3, -10}};
          for (auto [a, c] : rows) {
            LATHE_CAPTURE(a);
            LATHE_CAPTURE(c);
            std::vector<std::uint64_t> rest{static_cast<std::uint64_t>(a),
                                            static_cast<std::uint64_t>(c)};
            std::vector<Bytes> got{zeros(kBool, 2 * lanes)};
            CHECK(k(slots_of(got, rest)) == 0);
            bool equal = got[0].data == evaluated(p, {zeros(kBool, 2 * lanes)}, rest)[0].data;
            CHECK(equal);
          }
        }
      }
    }
  }
}

TEST_CASE("sums and products of ramps are still one dense access") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  auto n = b.dim("n"), m = b.dim("m");
  AnyExpr wide = make_broadcast(AnyExpr(n) * AnyExpr(m), 8) + ramp(3, 1, 8);
  AnyExpr scaled = ramp(n, 1, 8) * make_broadcast(AnyExpr(4), 8) - ramp(0, 3, 8);
  AnyExpr rows = make_ramp(ramp(0, 1, 4), make_broadcast(AnyExpr(4), 4), 2);
  Program p = b.done(
      make_seq({make_store(y, {ramp(0, 1, 8)}, make_load(x, {wide})),
                make_store(y, {ramp(8, 1, 8)}, make_load(x, {scaled})),
                make_store(y, {rows + make_broadcast(AnyExpr(16), 8)}, make_load(x, {rows}))}));
  check_against_evaluator(p, {numbers(kF32, 100), zeros(kF32, 24)}, {5, 7});
  CHECK_FALSE(has(text_of(p), "gather"));
  CHECK_FALSE(has(text_of(p), "scatter"));
}

TEST_CASE("a ramp of ramps is one access per row") {
  for (std::int64_t pitch : {4, 10, -6}) {
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kF32);
    AnyExpr rows = make_ramp(ramp(40, 1, 4), make_broadcast(AnyExpr(pitch), 4), 4);
    AnyExpr mask = make_binary(BinaryOp::ne, rows % 5, make_int(kI64.with_lanes(16), 0));
    Program p = b.done(make_seq(
        {make_store(y, {rows}, make_load(x, {rows})),
         make_store(y, {ramp(80, 1, 16)}, make_load(x, {rows}, mask)),
         make_store(y, {rows + make_broadcast(AnyExpr(100), 16)}, make_load(x, {rows}), mask)}));
    check_against_evaluator(p, {numbers(kF32, 100), zeros(kF32, 200)});
    CHECK_FALSE(has(text_of(p), "gather"));
  }
}

TEST_CASE("gather and scatter by loaded indices, of 32 and 64 bits") {
  for (DType index : {kI32, kI64, kU8}) {
    CAPTURE(index.str());
    Build b;
    auto x = b.buffer("x", kF32), at = b.buffer("at", index), y = b.output("y", kF32);
    AnyExpr where = make_cast(kI64.with_lanes(8), make_load(at, {ramp(4, 1, 8)}));
    AnyExpr mask = make_binary(BinaryOp::lt, where, make_int(kI64.with_lanes(8), 9));
    Program p = b.done(make_seq(
        {make_store(y, {where}, make_load(x, {where + make_broadcast(AnyExpr(1), 8)}), mask),
         make_store(y, {ramp(20, 1, 8)}, make_load(x, {where}, mask))}));
    check_against_evaluator(p, {numbers(kF32, 40), numbers(index, 20), zeros(kF32, 40)});
  }
}

TEST_CASE("masked lanes are neither read nor written") {
  for (DType t : {kF32, kI8, kF64}) {
    for (std::int64_t stride : {1, -1, 0, 2, 3}) {
      for (std::int64_t keep : {0, 1, 5, 8}) {
        Build b;
        auto x = b.buffer("x", t, Access::in, 24), y = b.output("y", t);
        auto n = b.dim("n");
        AnyExpr lane = ramp(0, 1, 8);
        AnyExpr mask = make_binary(BinaryOp::lt, lane, make_broadcast(AnyExpr(n), 8));
        AnyExpr at = ramp(stride < 0 ? 20 : 0, stride, 8);
        Program p = b.done(make_seq({make_store(y, {at}, make_load(x, {at}, mask), mask),
                                     make_store(y, {ramp(30, 1, 8)}, make_load(x, {at}, mask))}));
        check_against_evaluator(p, {numbers(t, 24), zeros(t, 40)},
                                {static_cast<std::uint64_t>(keep)});
      }
    }
  }
}

TEST_CASE("a masked load may reach beyond its memory") {
  // The evaluator can't say what memory there is; here the page after the buffer is missing.
  for (const auto* llvm : llvms()) {
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kF32);
    auto n = b.dim("n");
    AnyExpr lane = ramp(0, 1, 16);
    AnyExpr mask = make_binary(BinaryOp::lt, lane, make_broadcast(AnyExpr(n), 16));
    AnyExpr lazy = make_select(mask, make_load(x, {lane * make_broadcast(AnyExpr(1), 16)}),
                               make_float(kF32.with_lanes(16), -1));
    Program p = b.done(make_seq({make_store(y, {lane}, make_load(x, {lane}, mask)),
                                 make_store(y, {ramp(16, 1, 16)}, lazy)}));
    Kernel k(p, *llvm);
    GuardedPage page;
    float* end = page.end<float>() - 3;
    for (int i = 0; i < 3; ++i) end[i] = static_cast<float>(i + 1);
    std::vector<float> out(32);
    CHECK(k.call(end, out.data(), std::int64_t{3}) == 0);
    CHECK(out[2] == 3);
    CHECK(out[3] == 0);
    CHECK(out[18] == 3);
    CHECK(out[19] == -1);
  }
}

TEST_CASE("select is lazy, on scalars and lane by lane") {
  for (const auto* llvm : llvms()) {
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kF32);
    auto n = b.dim("n");
    auto i = make_var("i");
    AnyExpr inside = make_binary(BinaryOp::lt, AnyExpr(i), AnyExpr(n));
    // The scalar that an arm broadcasts is read only if a lane wants it.
    AnyExpr lanes = ramp(AnyExpr(i), 1, 4);
    AnyExpr mask = make_binary(BinaryOp::lt, lanes, make_broadcast(AnyExpr(n), 4));
    AnyExpr spread = make_broadcast(make_load(x, {i}), 4);
    AnyExpr turned = make_shuffle({make_load(x, {lanes})}, {0, 1, 2, 3});
    auto v = make_var("v", kF32);
    AnyExpr bound = make_let(v, make_load(x, {i}), make_broadcast(AnyExpr(v) * AnyExpr(v), 4));
    AnyExpr zero = make_float(kF32.with_lanes(4), 0);
    Stmt body = make_seq(
        {make_store(y, {i}, make_select(inside, make_load(x, {i}), make_float(kF32, -1))),
         make_store(y, {ramp(AnyExpr(i) * 12 + 32, 1, 4)}, make_select(mask, spread, zero)),
         make_store(y, {ramp(AnyExpr(i) * 12 + 36, 1, 4)}, make_select(mask, turned, zero)),
         make_store(y, {ramp(AnyExpr(i) * 12 + 40, 1, 4)}, make_select(mask, bound, zero))});
    Program p = b.done(make_for(i, 0, 8, body));
    Kernel k(p, *llvm);
    GuardedPage page;
    float* end = page.end<float>() - 3;
    for (int j = 0; j < 3; ++j) end[j] = static_cast<float>(j + 1);
    std::vector<float> out(200, 9);
    CHECK(k.call(end, out.data(), std::int64_t{3}) == 0);
    CHECK(out[2] == 3);
    CHECK(out[3] == -1);
    CHECK(out[32 + 24] == 3);
    CHECK(out[32 + 25] == 0);
    CHECK(out[36 + 12] == 2);
    CHECK(out[36 + 13] == 3);
    CHECK(out[36 + 14] == 0);
    CHECK(out[40 + 24] == 9);
    CHECK(out[32 + 36] == 0);
  }
}

TEST_CASE("masks go through broadcasts and shuffles that repeat and drop lanes") {
  for (const auto* llvm : llvms()) {
    Build b;
    auto x = b.buffer("x", kF32), y = b.output("y", kF32), m = b.buffer("m", kBool);
    AnyExpr mask = make_load(m, {ramp(0, 1, 8)}), other = make_load(m, {ramp(8, 1, 8)});
    AnyExpr four = make_load(x, {ramp(0, 1, 4)});
    AnyExpr twice = make_broadcast(four, 2);
    AnyExpr picked = make_shuffle({four, make_load(x, {ramp(4, 1, 4)})}, {0, 0, 1, 7, 7, 2, 1, 0});
    AnyExpr zero = make_float(kF32.with_lanes(8), 0);
    Program p =
        b.done(make_seq({make_store(y, {ramp(0, 1, 8)}, make_select(mask, twice, zero)),
                         make_store(y, {ramp(8, 1, 8)}, make_select(other, picked, zero))}));
    Kernel k(p, *llvm);
    GuardedPage page;
    // Only x[0] and x[1] exist.
    float* x2 = page.end<float>() - 2;
    x2[0] = 5, x2[1] = 6;
    std::vector<float> out(16, 9);
    bool on[16] = {true, true, false, false, true,  true,  false, false,
                   true, true, true,  false, false, false, true,  true};
    CHECK(k.call(x2, out.data(), &on[0]) == 0);
    CHECK(out == std::vector<float>{5, 6, 0, 0, 5, 6, 0, 0, 5, 5, 6, 0, 0, 0, 6, 5});
  }
}

TEST_CASE("vector registers, partial stores to them, shuffles of unequal vectors") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.output("y", kF32);
  DType t = kF32.with_lanes(8);
  auto r = in_register("r", t);
  auto flags = in_register("flags", kBool.with_lanes(8));
  AnyExpr lanes = ramp(0, 1, 8),
          part = make_binary(BinaryOp::lt, lanes, make_int(kI64.with_lanes(8), 5));
  AnyExpr reg = make_load(r, {});
  AnyExpr joined = make_shuffle({make_load(x, {ramp(0, 1, 3)}), reg, make_load(x, {AnyExpr(9)})},
                                {11, 0, 4, 2, 10, 3});
  Program p = b.done(make_alloc(
      r, make_alloc(flags,
                    make_seq({make_store(r, {}, make_load(x, {lanes})), make_store(flags, {}, part),
                              make_store(r, {}, make_float(t, 7), make_load(flags, {})),
                              make_store(y, {lanes}, reg), make_store(y, {ramp(8, 1, 6)}, joined),
                              make_store(y, {AnyExpr(14)}, make_shuffle({reg}, {6}))}))));
  check_against_evaluator(p, {numbers(kF32, 16), zeros(kF32, 15)});
}

TEST_CASE("streaming stores with and without known alignment") {
  for (int alignment : {0, 64})
    for (Streaming how : {Streaming::any, Streaming::lines}) {
      Build b;
      auto x = b.buffer("x", kF32), y = b.buffer("y", kF32, Access::out, 1 << 20, alignment);
      auto i = make_var("i");
      AnyExpr at = ramp(AnyExpr(i) * 16, 1, 16);
      Stmt store =
          make_ref<StoreNode>(y, std::vector<AnyExpr>{at}, make_load(x, {at}), AnyExpr(), how);
      Program p = b.done(make_for(i, 0, 6, store));
      CHECK(has(text_of(p), "!nontemporal"));
      CHECK(has(text_of(p), "sfence"));
      CHECK(has(text_of(p), "ptrtoint") == (alignment == 0));
      // Parts of lines are streamed where the hint allows it.
      CHECK(has(text_of(p), "store <4 x float>") == (alignment == 0 && how == Streaming::any));
      for (const auto* llvm : llvms()) {
        Kernel k(p, *llvm);
        std::vector<float> in(96), out(116);
        std::iota(in.begin(), in.end(), 1.0f);
        float* aligned =
            out.data() + (64 - reinterpret_cast<std::uintptr_t>(out.data()) % 64) % 64 / 4;
        CHECK(k.call(in.data(), aligned) == 0);
        CHECK(std::equal(in.begin(), in.end(), aligned));
        if (alignment == 0) {
          // Aligned to 16 bytes, and to 4 only.
          for (int shift : {4, 1}) {
            std::fill(out.begin(), out.end(), 0.0f);
            CHECK(k.call(in.data(), aligned + shift) == 0);
            CHECK(std::equal(in.begin(), in.end(), aligned + shift));
          }
        }
      }
    }
}

TEST_CASE("alignment comes from the buffer, the dims' factors and constant offsets") {
  Build b;
  auto x = b.buffer("x", kF32, Access::in, 1 << 20, 64), y = b.output("y", kF32);
  auto n = b.dim("n", 8);
  auto i = make_var("i");
  auto copy = [&](const AnyExpr& from) {
    return make_store(y, {ramp(0, 1, 4)}, make_load(x, {ramp(from, 1, 4)}));
  };
  auto alignment = [&](const AnyExpr& from) {
    std::string text = text_of(b.done(make_for(i, 0, 10, copy(from))));
    std::size_t load = text.find("load <4 x float>"), at = text.find("align ", load);
    REQUIRE(load != std::string::npos);
    return std::stoi(text.substr(at + 6));
  };
  CHECK(alignment(AnyExpr(i) * 16) == 64);
  CHECK(alignment(AnyExpr(i) * AnyExpr(n)) == 32);
  CHECK(alignment(AnyExpr(i) * 16 + 4) == 16);
  CHECK(alignment(AnyExpr(i) * 16 - AnyExpr(n) * 3 + 6) == 8);
  CHECK(alignment(AnyExpr(i)) == 4);
}

TEST_CASE("accesses of different parameters are marked disjoint, also of two that are written") {
  Build b;
  auto x = b.buffer("x", kF32), y = b.buffer("y", kF32, Access::inout),
       z = b.buffer("z", kF32, Access::inout);
  Program p = b.done(
      make_seq({make_store(y, {0}, make_load(x, {0})), make_store(z, {0}, make_load(y, {0}))}));
  std::string text = text_of(p);
  for (const char* scope : {"!\"x\"}", "!\"y\"}", "!\"z\"}"}) CHECK(has(text, scope));
}
