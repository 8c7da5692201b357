// Which strided loads become dense ones, that neighbours share them, and that none reads further
// than the program may.
#include <support/text.hpp>

#include "strided_loads.hpp"

using namespace lathe;
using namespace test;

TEST_CASE("s neighbours of stride s are s dense loads") {
  for (int stride : {2, 3, 4, 5, 8}) {
    CAPTURE(stride);
    Sums sums(kF32, 16);
    const VarRef i = make_var("i");
    const Stmt row = sums.row(AnyExpr(i) * (16 * stride), stride, stride, AnyExpr(i) * 16);
    const Program p = deinterleaved(sums.b.done(make_for(i, 0, 10, row)));
    CHECK(loads(p) == static_cast<std::size_t>(stride));
    CHECK(p.str().find(", 3, 16)") == std::string::npos);
    const std::size_t steps = stride == 8 ? 8 * 3 : stride == 4 ? 4 * 2 : stride * (stride - 1);
    CHECK(shuffles(p) == steps);
  }
}

TEST_CASE("bytes move as wider elements, or in pieces of 16, where bytes alone cost more") {
  const Target by_trees("x86-64-v4"), by_one("znver4");
  const auto row = [](DType t, int stride, int neighbours, int lanes = 64) {
    Sums sums(t, lanes, (lanes - 1) * stride + neighbours);
    return sums.b.done(sums.row(0, stride, neighbours, 0));
  };
  const auto text = [&](const Program& p, const Target& t) { return deinterleaved(p, t).str(); };
  // Each lane to its place within 16 bytes: "…; 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, …".
  const std::string within = "; 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 16, 19";
  const auto pieces = [&](const Program& p, const Target& t) {
    return count_of(text(p, t), within.c_str());
  };
  CHECK(pieces(row(kU8, 3, 3), by_trees) == 1);
  CHECK(shuffles(deinterleaved(row(kU8, 3, 3), by_trees)) == 6 + 6 + 3);
  CHECK(shuffles(deinterleaved(row(kU8, 3, 3, 32), by_trees)) == 3 + 6 + 3);
  CHECK(shuffles(deinterleaved(row(kU8, 3, 3, 16), by_trees)) == 6 + 3);
  CHECK(pieces(row(kU8, 3, 3), by_one) == 0);
  CHECK(pieces(row(kU8, 3, 2), by_trees) == 0);  // reads no further
  CHECK(pieces(row(kU8, 3, 3, 128), by_trees) == 0);
  // Four of each offset in 16 bytes, as one element.
  const std::string fours = "; 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 16, 20";
  CHECK(count_of(text(row(kU8, 4, 4), by_trees), fours.c_str()) == 4);
  CHECK(shuffles(deinterleaved(row(kU8, 4, 4), by_trees)) == 4 + 8);
  CHECK(shuffles(deinterleaved(row(kU8, 4, 2), by_trees)) == 6);  // its last vector ends earlier
  CHECK(count_of(text(row(kU16, 2, 2, 32), by_trees), "; 0, 2, 4, 6, 1, 3, 5, 7, 8") == 0);
  CHECK(count_of(text(row(kU16, 2, 2, 16), Target("x86-64-v3")), "; 0, 2, 4, 6, 1, 3, 5, 7, 8") ==
        2);
}

TEST_CASE("halves of registers are shuffled two at a time, from two registers") {
  const auto row = [](DType t, int stride, int neighbours, int lanes) {
    Sums sums(t, lanes);
    return deinterleaved(sums.b.done(sums.row(0, stride, neighbours, 0)), Target("znver4"));
  };
  for (const DType t : {kU8, kU16, kF32}) {
    const int lanes = 32 / t.element_bytes();
    for (int stride : {3, 4})
      for (int neighbours = 2; neighbours <= stride; ++neighbours) {
        CAPTURE(stride);
        CAPTURE(neighbours);
        const Program p = row(t, stride, neighbours, lanes);
        CHECK(loads(p) == 2);
        CHECK(shuffles(p) == static_cast<std::size_t>(neighbours + (neighbours + 1) / 2));
      }
    // Pairs widen by shifts, and longer runs take more than two registers.
    CHECK(shuffles(row(t, 2, 2, lanes)) == 2);
    CHECK(loads(row(t, 5, 5, lanes)) > 2);
    CHECK(loads(row(t, 4, 4, 2 * lanes)) == 4);
    CHECK(loads(row(t, 4, 4, lanes / 2)) != 2);
  }
}

TEST_CASE("all neighbours of narrow elements are what the evaluator loads") {
  Vec<Target> targets{Target("x86-64-v3"), host()};
  if (host().has("avx512vbmi")) targets.push_back(host().without("avx512vbmi"));
  for (const Target& target : targets) {
    if (!target.runs_on(host())) continue;
    CAPTURE(target.name);
    for (DType t : {kU8, kI16})
      for (int lanes : {8, 16, 32, 64})
        for (int stride : {2, 3, 4, 5, 7, 8}) {
          CAPTURE(lanes);
          CAPTURE(stride);
          Sums sums(t, lanes);
          Vec<Stmt> rows;
          for (int k = 0; k < stride; ++k)
            rows.push_back(make_store(sums.y, {ramp(k * lanes, 1, lanes)},
                                      make_load(sums.x, {ramp(k, stride, lanes)})));
          Bytes data, zeros;
          for (int k = 0; k < stride * lanes * t.element_bytes(); ++k)
            data.data.push_back(static_cast<unsigned char>(k * 7 % 251));
          zeros.data.resize(data.data.size());
          check_against_evaluator(sums.b.done(make_seq(rows)), {data, zeros}, {}, target);
        }
  }
}

TEST_CASE("a load alone ends with its last element") {
  Sums sums(kF32, 8, 22);
  const Program p = deinterleaved(sums.b.done(sums.row(0, 3, 1, 0)));
  // Elements 0 to 21.
  CHECK(p.str().find("x[ramp(from, 1, 8)]") != std::string::npos);
  CHECK(p.str().find("x[ramp(from + 8, 1, 8)]") != std::string::npos);
  CHECK(p.str().find("x[ramp(from + 14, 1, 8)]") != std::string::npos);
  CHECK(shuffles(p) == 2);
}

TEST_CASE("where lanes have all their elements in the buffer, loads begin with these") {
  // Element `offset` of groups of three, ten rows of eight lanes.
  const auto text = [](int offset, std::int64_t size) {
    Sums sums(kF32, 8, size);
    const VarRef i = make_var("i");
    const Stmt row = sums.row(AnyExpr(i) * 24 + offset, 3, 1, AnyExpr(i) * 8);
    return deinterleaved(sums.b.done(make_for(i, 0, 10, row))).str();
  };
  const auto loaded = [](const std::string& p, const std::string& at) {
    return has(p, "x[ramp(from" + at + ", 1, 8)]");
  };
  for (int offset = 0; offset < 3; ++offset) {
    CAPTURE(offset);
    const std::string whole = text(offset, 240);
    INFO(whole);
    CHECK((loaded(whole, "") || loaded(whole, " + 0")));
    CHECK((loaded(whole, " + 8") && loaded(whole, " + 16")));
    CHECK_FALSE(loaded(whole, " + 14"));
  }
  // The last group ends with what is asked for, or one element behind it.
  for (int offset : {0, 1}) CHECK(loaded(text(offset, 239), " + 14"));
}

TEST_CASE("rows that may lie anywhere are read within what is asked for") {
  const auto text = [](Vec<AnyExpr> strides) {
    Sums sums(kF32, 8);
    auto x = make_ref<BufferNode>("x", kF32, Vec<AnyExpr>{30, 8}, std::move(strides));
    sums.b.node.params[0].buffer = sums.x = x;
    return deinterleaved(sums.b.done(sums.row(1, 3, 1, 0))).str();
  };
  CHECK_FALSE(has(text({}), "from + 14"));
  CHECK(has(text({8, 1}), "from + 14"));
  CHECK(has(text({0, 1}), "from + 14"));
  CHECK(has(text({-8, 1}), "from + 14"));
}

TEST_CASE("loads of groups that are there as a whole give what the evaluator gives") {
  on_targets({"x86-64-v3", "host"}, [](const Target& target) {
    for (DType t : {kU8, kF32})
      for (int lanes : {4, 32})
        for (int stride : {2, 3, 8}) {
          CAPTURE(t.str());
          CAPTURE(stride);
          Sums sums(t, lanes, 5 * lanes * stride);
          const VarRef i = make_var("i");
          const auto row = [&](int offset, int neighbours) {
            return sums.row(AnyExpr(i) * (lanes * stride) + offset, stride, neighbours,
                            AnyExpr(i) * (4 * lanes) + offset % 4 * lanes);
          };
          const Program p = sums.b.done(make_for(
              i, 0, 5,
              make_seq({row(0, 1), row(1, stride - 1), row(stride - 2, 2), row(stride - 1, 1)})));
          check_against_evaluator(p, {elements(t, 5 * lanes * stride), zeros(t, 20 * lanes)}, {},
                                  target);
        }
  });
}

TEST_CASE("statements share loads until one stores to what they read") {
  Build b;
  auto x = b.buffer("x", kF32, Access::inout), y = b.output("y", kF32);
  const auto part = [&](int k) { return make_load(x, {ramp(k, 3, 16)}); };
  const auto out = [&](int k) { return make_store(y, {ramp(k * 16, 1, 16)}, part(k)); };
  const Program shared = deinterleaved(b.done(make_seq({out(0), out(1), out(2)})));
  CHECK(count_of(shared.str(), "= x[") == 3);
  const Stmt write = make_store(x, {ramp(0, 1, 16)}, make_float(kF32.with_lanes(16), 1));
  const Program apart = deinterleaved(b.done(make_seq({out(0), write, out(1), out(2)})));
  CHECK(count_of(apart.str(), "= x[") == 6);
}

TEST_CASE("statements with bindings share what they load before they store") {
  Build b;
  auto x = b.buffer("x", kF32, Access::inout), y = b.output("y", kF32);
  const auto part = [&](const AnyExpr& from) { return make_load(x, {ramp(from, 3, 16)}); };
  const auto bound = [&](int k, const AnyExpr& from, const Stmt& before) {
    const VarRef v = make_var("v" + std::to_string(k), kF32.with_lanes(16));
    return make_let_stmt(v, part(from),
                         make_seq({before, make_store(y, {ramp(k * 16, 1, 16)}, AnyExpr(v))}));
  };
  const auto store = [&](const AnyExpr& value) { return make_store(y, {ramp(64, 1, 16)}, value); };
  const AnyExpr none = make_float(kF32.with_lanes(16), 0);
  const auto all = [&](const Stmt& before) {
    return b.done(make_seq({bound(0, AnyExpr(0), before), bound(1, AnyExpr(1), before),
                            bound(2, AnyExpr(2), before), store(none)}));
  };
  const Program shared = all(store(none));
  CHECK(count_of(deinterleaved(shared).str(), "= x[") == 3);
  // What the second one loads, the first one has changed.
  const Program apart = all(make_store(x, {ramp(0, 1, 16)}, none));
  CHECK(count_of(deinterleaved(apart).str(), "= x[") == 9);
  // A load after a store in the same statement stays behind it.
  const Program behind = b.done(make_seq(
      {make_let_stmt(make_var("w", kI64), AnyExpr(1),
                     make_seq({make_store(x, {ramp(0, 1, 16)}, none), store(part(AnyExpr(0)))})),
       make_store(y, {ramp(0, 1, 16)}, part(AnyExpr(1)))}));
  for (const Program& p : {shared, apart, behind})
    check_against_evaluator(p, {elements(kF32, 64), zeros(kF32, 80)});
  // Where to load from is bound inside.
  const VarRef at = make_var("at", kI64);
  const Program inner =
      b.done(make_seq({make_let_stmt(at, make_load(b.buffer("from", kI64), {AnyExpr(0)}),
                                     bound(0, AnyExpr(at), store(none))),
                       bound(1, AnyExpr(1), store(none)), store(none)}));
  check_against_evaluator(inner, {elements(kF32, 64), zeros(kF32, 80), zeros(kI64, 1)});
}

TEST_CASE("an index that is loaded in strides is loaded once") {
  Build b;
  auto x = b.buffer("x", kF32), at = b.buffer("at", kI64), y = b.output("y", kF32);
  const auto gathered = [&](int k) { return make_load(x, {make_load(at, {ramp(k, 2, 16)})}); };
  const auto store = [&](const AnyExpr& value) { return make_store(y, {ramp(0, 1, 16)}, value); };
  const AnyExpr n = b.dim("n"), zeros = make_float(kF32.with_lanes(16), 0);
  for (const AnyExpr& value : {gathered(0) + gathered(1), make_select(n > 3, gathered(0), zeros)}) {
    const Program p = b.done(store(value));
    const Program out = deinterleaved(p);
    CHECK(count_of(out.str(), "at[") == 2);
    Bytes reals, indices, results;
    reals.data.resize(4 * 8, 1), indices.data.resize(8 * 32, 0), results.data.resize(4 * 16);
    for (std::size_t k = 0; k < 32; ++k) indices.data[8 * k] = static_cast<unsigned char>(k % 8);
    check_against_evaluator(p, {reals, indices, results}, {5});
  }
}

TEST_CASE("what costs more than its elements stays") {
  Sums sums(kF32, 8);
  // 7 loads or 8, and 7 shuffles of 3 instructions each.
  const Program alone = sums.b.done(sums.row(0, 8, 1, 0));
  CHECK(shuffles(deinterleaved(alone, Target("x86-64-v3"))) == 0);
  CHECK(shuffles(deinterleaved(alone)) == 7);
  // An arm that lanes choose would need a mask of single lanes for each dense load.
  const AnyExpr positive = make_binary(BinaryOp::gt, make_load(sums.x, {ramp(0, 1, 8)}),
                                       make_float(kF32.with_lanes(8), 0));
  const AnyExpr chosen =
      make_select(positive, make_load(sums.x, {ramp(0, 3, 8)}), make_float(kF32.with_lanes(8), 0));
  CHECK(shuffles(deinterleaved(sums.b.done(make_store(sums.y, {ramp(0, 1, 8)}, chosen)))) == 0);
}

TEST_CASE("each stride and number of neighbours gives what the evaluator gives") {
  for (const char* name : {"x86-64", "x86-64-v3", "host"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (DType t : {kF32, kU8, kF64, kBool})
      for (int lanes : {2, 5, 16}) {
        Build b;
        auto x = b.buffer("x", t), y = b.output("y", t);
        auto n = b.dim("n");
        Vec<Stmt> rows;
        int to = 0;
        for (std::int64_t stride : {2, 3, 4, 5, 6, 7, 8, -2, -3, -8})
          for (bool masked : {false, true})
            for (int k : {0, 1, 3}) {
              const AnyExpr from = AnyExpr(stride < 0 ? 300 : 3) + k;
              const AnyExpr mask = masked ? first_lanes_below(AnyExpr(n), lanes) : AnyExpr();
              rows.push_back(make_store(y, {ramp(to, 1, lanes)},
                                        make_load(x, {ramp(from, stride, lanes)}, mask)));
              to += lanes;
            }
        const Program p = b.done(make_seq(rows));
        const std::uint64_t kept = lanes == 2 ? 0 : lanes == 5 ? 1 : 4;
        check_against_evaluator(p, {elements(t, 600), zeros(t, to)}, {kept}, target);
      }
  }
}

TEST_CASE("no dense load reaches past the last element, masked or not") {
  for (const auto* llvm : llvms())
    for (int stride : {2, 3, 4, 7, 8})
      for (int neighbours = 1; neighbours <= stride; neighbours += 2) {
        Sums sums(kU8, 16, 15 * stride + neighbours);
        const VarRef n = sums.b.dim("n");
        const AnyExpr mask = first_lanes_below(AnyExpr(n), 16);
        const AnyExpr all = make_binary(BinaryOp::eq, AnyExpr(n), AnyExpr(16));
        Stmt whole = make_if(all, sums.row(0, stride, neighbours, 16));
        Kernel k(sums.b.done(make_seq({sums.row(0, stride, neighbours, 0, mask), whole})), *llvm);
        GuardedPage page;
        for (std::int64_t kept : {0, 1, 5, 15, 16}) {
          CAPTURE(stride);
          CAPTURE(neighbours);
          CAPTURE(kept);
          const std::int64_t extent = kept == 0 ? 0 : (kept - 1) * stride + neighbours;
          auto* const data = page.end<std::uint8_t>() - extent;
          for (int e = 0; e < extent; ++e) data[e] = static_cast<std::uint8_t>(e);
          std::vector<std::uint8_t> out(32, 0);
          REQUIRE(k.call(data, out.data(), kept) == 0);
          for (int l = 0; l < 16; ++l) {
            int sum = 0;
            for (int e = 0; e < neighbours; ++e) sum += l < kept ? l * stride + e : 0;
            CHECK(out[static_cast<std::size_t>(l)] == (sum & 255));
            CHECK(out[static_cast<std::size_t>(16 + l)] == (kept == 16 ? sum & 255 : 0));
          }
        }
      }
}

TEST_CASE("no element moves by itself at strides 2, 3, 4 and 8") {
  for (const auto* llvm : llvms())
    for (const char* name : {"znver4", "x86-64-v3"})
      for (DType t : {kU8, kU16, kF32})
        for (int stride : {2, 3, 4, 8}) {
          CAPTURE(std::string(name));
          CAPTURE(t.str());
          CAPTURE(stride);
          const Target target(name);
          Sums sums(t, target.lanes(t.element_bytes()));
          const VarRef i = make_var("i");
          const Stmt row =
              sums.row(AnyExpr(i) * (sums.lanes * stride), stride, stride, AnyExpr(i) * sums.lanes);
          const Program p = legal(sums.b.done(make_for(i, 0, 100, row)), target);
          const std::string text = emit_llvm(p, target, llvm->major()).text;
          const std::string loop = innermost_loop(compile_to_assembly(*llvm, text, target));
          for (const char* move : {"pinsr", "pextr", "insertps", "gather", "movz"})
            CHECK(count_of(loop, move) == 0);
          CHECK(count_of(loop, "vmovs") == 0);
        }
}

TEST_CASE("an arm takes what its condition loads, in the lanes of its mask") {
  const int lanes = 16;
  Sums pixels(kF32, lanes);
  const AnyExpr n(pixels.b.dim("n")), first = first_lanes_below(n, lanes);
  const auto value = [&](int k, const AnyExpr& mask = {}) {
    return make_load(pixels.x, {ramp(AnyExpr(k), 3, lanes)}, mask);
  };
  const auto of = [&](const AnyExpr& condition, const AnyExpr& arm) {
    const AnyExpr zero = make_const(kF32.with_lanes(lanes), 0);
    return pixels.b.done(
        make_store(pixels.y, {ramp(AnyExpr(0), 1, lanes)}, make_select(condition, arm, zero)));
  };
  const AnyExpr bright = value(0) + value(2) > make_const(kF32.with_lanes(lanes), 40);
  const Program shared = of(bright, value(1)), masked = of(bright, value(1, bright)),
                beyond = of(bright, value(3)), alone = of(value(1) > value(1), value(2));
  const auto arm_loads = [](const Program& p) {
    return count_of(mask_arms(deinterleaved(p)).str(), " where ");
  };
  CHECK(arm_loads(shared) == 0);
  // Nothing else loads what is before or behind.
  CHECK(arm_loads(beyond) == 1);
  CHECK(arm_loads(alone) == 1);
  // A mask that says no more than the first lanes do is theirs.
  const AnyExpr part = value(0, first) + value(2, first) > make_const(kF32.with_lanes(lanes), 40);
  const AnyExpr mask = make_binary(BinaryOp::and_, first, part);
  const AnyExpr zero = make_const(kF32.with_lanes(lanes), 0);
  const VarRef chosen = make_var("chosen", kBool.with_lanes(lanes));
  const Program tail = pixels.b.done(make_store(
      pixels.y, {ramp(AnyExpr(0), 1, lanes)},
      make_let({{chosen, mask}},
               make_select(AnyExpr(chosen),
                           value(1, make_binary(BinaryOp::and_, first, AnyExpr(chosen))), zero)),
      first));
  std::vector<float> in;
  for (int k = 0; k < 3 * lanes + 1; ++k) in.push_back(static_cast<float>(k * 7 % 41));
  const std::vector<Bytes> data{Bytes::of(in), Bytes::of(std::vector<float>(16, -1))};
  for (std::uint64_t count : {0, 1, 9, 16})
    for (const Program* p : {&shared, &masked, &beyond, &alone, &tail})
      check_against_evaluator(*p, data, {count});
}
