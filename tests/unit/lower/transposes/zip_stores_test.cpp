// Which strided stores become dense ones, and that they write what they wrote and nothing else.
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "strided_stores.hpp"

using namespace lathe;
using namespace test;

namespace {

std::size_t zipped(const Program& p, const char* target = "znver4") {
  const TargetCaps caps{Target(target)};
  const Program out = zip_stores(count_lanes(p, caps), caps);
  CHECK(verify_reason(guard_operators(out, caps), Stage::machine) == "");
  return count_of(out.str(), "shuffle(");
}

}  // namespace

TEST_CASE("s stores of stride s to neighbours are shuffles and s dense stores") {
  for (int stride : {2, 3, 4, 5, 8}) {
    CAPTURE(stride);
    Columns rows(kF32, 16);
    const int steps = stride == 8 ? 8 * 3 : stride == 4 ? 4 * 2 : stride * (stride - 1);
    CHECK(zipped(rows.b.done(rows.stores(AnyExpr(5), stride, stride))) ==
          static_cast<std::size_t>(steps));
  }
}

TEST_CASE("four vectors of bytes are one store where bytes merge by trees") {
  Columns bytes(kU8, 64), words(kU16, 32);
  const Program p = bytes.b.done(bytes.stores(AnyExpr(5), 4, 4));
  const Target by_trees("x86-64-v4");
  CHECK(zip_stores(count_lanes(p, by_trees), by_trees).str().find(", 1, 256)] = ") !=
        std::string::npos);
  CHECK(zipped(p, "x86-64-v4") == 3);
  CHECK(zipped(p) == 8);
  CHECK(zipped(bytes.b.done(bytes.stores(AnyExpr(5), 3, 3)), "x86-64-v4") == 3 + 6 + 6);
  CHECK(zipped(bytes.b.done(bytes.stores(AnyExpr(5), 3, 3))) == 6);
  CHECK(zipped(words.b.done(words.stores(AnyExpr(5), 4, 4)), "x86-64-v4") == 8);
}

TEST_CASE("halves of registers are put side by side, and stored as whole ones") {
  for (const DType t : {kU8, kU16, kF32}) {
    const int lanes = 32 / t.element_bytes();
    const TargetCaps caps{Target("znver4")};
    Columns halves(t, lanes);
    const auto stored = [&](int stride) {
      const Program p = halves.b.done(halves.stores(AnyExpr(5), stride, stride));
      return zip_stores(count_lanes(p, caps), caps);
    };
    CHECK(zipped(halves.b.done(halves.stores(AnyExpr(5), 3, 3))) == 2 + 2);
    CHECK(zipped(halves.b.done(halves.stores(AnyExpr(5), 4, 4))) == 2 + 2);
    for (const int stride : {3, 4}) CHECK(count_of(stored(stride).str(), "y[ramp(") == 2);
    CHECK(zipped(halves.b.done(halves.stores(AnyExpr(5), 2, 2))) == 2);
    CHECK(count_of(stored(2).str(), "y[ramp(") == 2);
  }
  Columns quarters(kU8, 16);
  CHECK(zipped(quarters.b.done(quarters.stores(AnyExpr(5), 4, 4))) == 8);
  Columns bytes(kU8, 32);
  CHECK(zipped(bytes.b.done(bytes.stores(AnyExpr(5), 3, 3)), "x86-64-v4") > 4);
}

TEST_CASE("stores stay where one is missing, twice there, or reads what another writes") {
  Columns rows(kF32, 16);
  const auto row = [&](int k) { return rows.store(0, 3, k); };
  const Stmt reads = make_store(rows.y, {ramp(1, 3, 16)}, make_load(rows.y, {ramp(0, 1, 16)}));
  CHECK(zipped(rows.b.done(make_seq({row(0), row(1)}))) == 0);
  CHECK(zipped(rows.b.done(make_seq({row(0), row(1), row(1)}))) == 0);
  CHECK(zipped(rows.b.done(make_seq({row(0), row(1), row(3)}))) == 0);
  CHECK(zipped(rows.b.done(make_seq({row(0), reads, row(2)}))) == 0);
  CHECK(zipped(rows.b.done(make_seq({reads, row(0), row(2)}))) == 6);
  const Program any_order = rows.b.done(make_seq({row(2), row(0), row(1)}));
  CHECK(zipped(any_order) == 6);
  CHECK(count_of(zip_stores(any_order, Target("znver4")).str(), "y[ramp(") == 3);
}

TEST_CASE("stores are dense, too, where some of them have names for what they store") {
  Columns rows(kF32, 16);
  const auto named = [&](const Buffer& from) {
    const VarRef v = make_var("v", kF32.with_lanes(16));
    return make_let_stmt(v, make_load(from, {ramp(1, 1, 16)}),
                         make_seq({make_store(rows.y, {ramp(1, 3, 16)}, v), rows.store(0, 3, 2)}));
  };
  CHECK(zipped(rows.b.done(make_seq({rows.store(0, 3, 0), named(rows.x)}))) == 6);
  // What the first one stores is read.
  CHECK(zipped(rows.b.done(make_seq({rows.store(0, 3, 0), named(rows.y)}))) == 0);
}

TEST_CASE("tails whose masks step as the stores do are dense, too") {
  Columns rows(kF32, 16);
  Vec<Stmt> all;
  for (int k = 0; k < 3; ++k) {
    const AnyExpr inside = make_binary(BinaryOp::lt, make_ramp(AnyExpr(k), AnyExpr(3), 16),
                                       make_broadcast(AnyExpr(27), 16));
    all.push_back(rows.store(0, 3, k, inside));
  }
  CHECK(zipped(rows.b.done(make_seq(all))) == 6);
  // A row less in the last one: they end apart.
  all[2] = rows.store(0, 3, 2,
                      make_binary(BinaryOp::lt, make_ramp(AnyExpr(2), AnyExpr(3), 16),
                                  make_broadcast(AnyExpr(26), 16)));
  CHECK(zipped(rows.b.done(make_seq(all))) == 0);
}

TEST_CASE("stores of two runs in turn become dense ones, unless an element is one of both") {
  Columns rows(kF32, 16);
  const auto turns = [&](int apart) {
    Vec<Stmt> all;
    for (int k = 0; k < 3; ++k) all.append({rows.store(0, 3, k), rows.store(0, 3, k + apart)});
    return rows.b.done(make_seq(all));
  };
  CHECK(zipped(turns(48)) == 12);
  CHECK(zipped(turns(45)) == 0);
  CHECK(zipped(turns(-48)) == 12);
  // Each run has its own tail.
  const auto ends = [&](int first, int second) {
    const auto below = [](int k, int end) {
      return make_binary(BinaryOp::lt, make_ramp(AnyExpr(k), AnyExpr(3), 16),
                         make_broadcast(AnyExpr(end), 16));
    };
    Vec<Stmt> all;
    for (int k = 0; k < 3; ++k)
      all.append(
          {rows.store(0, 3, k, below(k, first)), rows.store(0, 3, k + 48, below(k, second))});
    return rows.b.done(make_seq(all));
  };
  CHECK(zipped(ends(27, 27)) == 12);
  CHECK(zipped(ends(27, 12)) == 12);
}

TEST_CASE("parts of other lengths in turn become dense stores, unless an element is one of both") {
  for (DType t : {kU8, kF32}) {
    Columns rows(t, 16);
    // Elements 0 to 47, and four pixels of three from `apart` on: 12 shuffles, or 6.
    const auto parts = [&](int apart) {
      Vec<Stmt> all;
      for (int k = 0; k < 3; ++k)
        all.append({rows.store(0, 3, k),
                    make_store(rows.y, {ramp(k + apart, 3, 4)},
                               make_load(rows.x, {ramp(AnyExpr(100 + 4 * k), 1, 4)}))});
      return rows.b.done(make_seq(all));
    };
    const auto strided = [](const Program& p) {
      const TargetCaps caps{Target("znver4")};
      const std::string text = zip_stores(count_lanes(p, caps), caps).str();
      return count_of(text, ", 3, 16)] = ") + count_of(text, ", 3, 4)] = ");
    };
    CHECK(strided(parts(48)) == 0);
    CHECK(strided(parts(-12)) == 0);
    CHECK(strided(parts(45)) == 6);
    CHECK(strided(parts(-9)) == 6);
    for (int apart : {12, 1, 0, -2}) CHECK(strided(parts(apart)) == 6);
    if (!Target("x86-64-v3").runs_on(host())) continue;
    Bytes in, out;
    for (int k = 0; k < 112 * t.element_bytes(); ++k)
      in.data.push_back(static_cast<unsigned char>(k * 7 % 61));
    out.data.resize(static_cast<std::size_t>(64 * t.element_bytes()));
    for (int apart : {48, 45, 12, 1, 0})
      check_against_evaluator(parts(apart), {in, out}, {}, Target("x86-64-v3"));
  }
}

TEST_CASE("each stride stores what the evaluator stores, in all lanes or the first") {
  for (const char* name : {"x86-64", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (DType t : {kF32, kU8, kF64, kBool})
      for (int lanes : {2, 5, 16}) {
        Columns rows(t, lanes);
        auto n = rows.b.dim("n");
        const AnyExpr mask = first_lanes_below(AnyExpr(n), lanes);
        Vec<Stmt> all;
        int to = 1;
        for (int stride : {2, 3, 4, 5, 6, 7, 8})
          for (bool masked : {false, true}) {
            all.push_back(rows.stores(AnyExpr(to), stride, stride, masked ? mask : AnyExpr()));
            to += stride * lanes + 1;
          }
        Bytes in, out;
        for (int k = 0; k < 8 * lanes * t.element_bytes(); ++k)
          in.data.push_back(static_cast<unsigned char>(t.is_bool() ? k % 3 == 0 : k * 7 % 61));
        out.data.resize(static_cast<std::size_t>(to * t.element_bytes()), 1);
        const Program p = rows.b.done(make_seq(all));
        const std::uint64_t kept = lanes == 2 ? 0 : lanes == 5 ? 1 : 4;
        check_against_evaluator(p, {in, out}, {kept}, target);
      }
  }
}

TEST_CASE("pieces of 16 bytes in turn are what the evaluator stores") {
  Vec<Target> targets{Target("x86-64-v2"), Target("x86-64-v3"), Target("x86-64-v4")};
  for (const Target& target : targets) {
    if (!target.runs_on(host())) continue;
    CAPTURE(target.name);
    for (DType t : {kU8, kI16})
      for (int lanes : {8, 16, 32, 64})
        for (int stride : {3, 5, 7}) {
          CAPTURE(lanes);
          CAPTURE(stride);
          Columns rows(t, lanes);
          Bytes in, out;
          for (int k = 0; k < stride * lanes * t.element_bytes(); ++k)
            in.data.push_back(static_cast<unsigned char>(k * 7 % 251));
          out.data.resize(in.data.size() + static_cast<std::size_t>(t.element_bytes()), 1);
          check_against_evaluator(rows.b.done(rows.stores(AnyExpr(1), stride, stride)), {in, out},
                                  {}, target);
        }
  }
}

TEST_CASE("three vectors of bytes are few instructions without permutes of bytes") {
  for (const auto* llvm : llvms())
    for (const char* name : {"x86-64-v3", "x86-64-v4"}) {
      CAPTURE(llvm->major());
      CAPTURE(std::string(name));
      const Target target(name);
      Columns rows(kU8, target.vector_bytes);
      const VarRef i = make_var("i");
      const Stmt row = rows.stores(AnyExpr(i) * (rows.lanes * 3), 3, 3);
      const Program p = legal(rows.b.done(make_for(i, 0, 100, row)), target);
      const std::string code =
          compile_to_assembly(*llvm, emit_llvm(p, target, llvm->major()).text, target);
      CHECK(count_of(code, "vpshufb") == 3);
      for (const char* other : {"vpalignr", "vpermw", "vpermi2w", "vpinsr"})
        CHECK(count_of(code, other) == 0);
    }
}

TEST_CASE("pieces of 16 bytes are merged in the instructions that a processor is fast at") {
  for (const auto* llvm : llvms())
    for (const char* name : {"icelake-server", "znver4"}) {
      CAPTURE(llvm->major());
      CAPTURE(std::string(name));
      const Target target = Target(name).for_llvm(llvm->major());
      Columns rows(kU8, 16);
      const VarRef i = make_var("i");
      const Stmt row = rows.stores(AnyExpr(i) * 48, 3, 3);
      const Program p = legal(rows.b.done(make_for(i, 0, 100, row)), target);
      const std::string code =
          compile_to_assembly(*llvm, emit_llvm(p, target, llvm->major()).text, target);
      const bool merges = target.has("avx512vbmi") && std::string(name) == "znver4";
      CHECK((count_of(code, "vpermt2b") + count_of(code, "vpermi2b") > 0) == merges);
      CHECK((count_of(code, "vpshufb") > 0) == !merges);
    }
}

TEST_CASE("no element is stored by itself at strides 2, 3, 4 and 8") {
  for (const auto* llvm : llvms())
    for (const char* name : {"znver4", "x86-64-v3"})
      for (DType t : {kU8, kU16, kF32})
        for (int stride : {2, 3, 4, 8}) {
          CAPTURE(std::string(name));
          CAPTURE(t.str());
          CAPTURE(stride);
          const Target target(name);
          Columns rows(t, target.lanes(t.element_bytes()));
          const VarRef i = make_var("i");
          const Stmt row = rows.stores(AnyExpr(i) * (rows.lanes * stride), stride, stride);
          const Program p = legal(rows.b.done(make_for(i, 0, 100, row)), target);
          const std::string text = emit_llvm(p, target, llvm->major()).text;
          const std::string code = compile_to_assembly(*llvm, text, target);
          for (const char* move : {"pinsr", "pextr", "extractps", "scatter", "\tmovb\t"})
            CHECK(count_of(code, move) == 0);
        }
}

TEST_CASE("elements that move near each other are shuffled once, into each dense vector") {
  // Of four bytes three: two loads and a shuffle for each of three vectors.
  Columns pixels(kU8, 64);
  const auto store = [&](int k, const AnyExpr& from, std::int64_t stride) {
    return make_store(pixels.y, {ramp(AnyExpr(k), 3, 64)},
                      make_load(pixels.x, {ramp(from, stride, 64)}));
  };
  const auto moved = [&](auto from, std::int64_t stride) {
    Vec<Stmt> all;
    for (int k = 0; k < 3; ++k) all.push_back(store(k, AnyExpr(from(k)), stride));
    return pixels.b.done(make_seq(all));
  };
  const Program drop = moved([](int k) { return k; }, 4),
                turn = moved([](int k) { return 2 - k; }, 3),
                same = moved([](int) { return 0; }, 1);
  for (const Program* p : {&drop, &turn, &same}) CHECK(zipped(*p) == 3);
  // Planes are apart.
  CHECK(zipped(moved([](int k) { return 1000 * k; }, 1)) == 6);
  Bytes in, out;
  for (int k = 0; k < 256; ++k) in.data.push_back(static_cast<unsigned char>(k * 7 % 251));
  out.data.resize(192, 1);
  for (const char* name : {"x86-64-v2", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (const Program* p : {&drop, &turn, &same})
      check_against_evaluator(*p, {in, out}, {}, target);
  }
}

TEST_CASE("stores at the ends of computations become dense ones behind all of them") {
  Columns rows(kF32, 16);
  const auto behind = [&](int k, const Buffer& read) {
    const VarRef v = make_var("v", kF32.with_lanes(16));
    const AnyExpr load = make_load(read, {ramp(AnyExpr(64 + k), 1, 16)});
    return make_let_stmt(v, load, make_store(rows.y, {ramp(AnyExpr(k), 3, 16)}, AnyExpr(v)));
  };
  const auto of = [&](const Buffer& last) {
    return rows.b.done(make_seq({behind(0, rows.x), behind(1, rows.x), behind(2, last)}));
  };
  CHECK(zipped(of(rows.x)) == 6);
  // What the last one reads may have been stored.
  CHECK(zipped(of(rows.y)) == 0);
  Bytes in, out;
  for (int k = 0; k < 4 * 96; ++k) in.data.push_back(static_cast<unsigned char>(k * 7 % 61));
  out.data.resize(in.data.size(), 1);
  check_against_evaluator(of(rows.x), {in, out});
  check_against_evaluator(of(rows.y), {in, out});
}
