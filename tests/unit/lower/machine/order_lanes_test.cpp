// Orders of the lanes between shuffles: what they save, and that programs mean what they meant.
#include <chrono>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/lane_orders.hpp>
#include <random>
#include <support/text.hpp>

#include "../stages.hpp"

namespace lt = lathe;

namespace {

const lt::Target& by_pieces() {
  static const lt::Target target("x86-64-v3");
  return target;
}

lt::Program ordered(const lt::Program& p, const lt::Target& target = by_pieces()) {
  return lt::order_lanes(p, lt::TargetCaps(target));
}

/// Flat code from X to Y, both of 64 floats.
lt::Program flat(const std::string& body) {
  return lt::parse("program p(in X: f32[64], out Y: f32[64]) stage flat:\n" + body);
}

/// The pass keeps what the program computes. Gives whether it changed anything.
bool keeps(const lt::Program& p, const lt::Program& original,
           const lt::Target& target = by_pieces()) {
  const lt::Program out = ordered(p, target);
  INFO(p.str());
  INFO(out.str());
  const auto want = test::evaluate_stage(p, original);
  CHECK(test::evaluate_stage(out, original) == want);
  CHECK(test::evaluate_stage(lt::mask_arms(out), original) == want);
  CHECK(lt::verify_reason(out, lt::Stage::flat) == "");
  return out.str() != p.str();
}

const char* const kComplexSquares = R"(
  let v = X[ramp(0, 1, 8)]
  let w = X[ramp(8, 1, 8)]
  let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)
  let im = shuffle(v, w; 1, 3, 5, 7, 9, 11, 13, 15)
  let a = re * re - im * im
  let b = re * im + im * re
  Y[ramp(0, 1, 8)] = shuffle(a, b; 0, 8, 1, 9, 2, 10, 3, 11)
  Y[ramp(8, 1, 8)] = shuffle(a, b; 4, 12, 5, 13, 6, 14, 7, 15)
)";

}  // namespace

TEST_CASE("values between shuffles have their lanes where shuffles stay in 16 bytes") {
  const lt::Program p = flat(kComplexSquares);
  const std::string text = ordered(p).str();
  INFO(text);
  for (const char* part : {"0, 2, 8, 10, 4, 6, 12, 14", "1, 3, 9, 11, 5, 7, 13, 15",
                           "0, 8, 1, 9, 4, 12, 5, 13", "2, 10, 3, 11, 6, 14, 7, 15"})
    CHECK(test::has(text, part));
  CHECK(test::count_of(text, "shuffle(") == 4);
  CHECK(keeps(p, p));
  // One instruction moves lanes anywhere.
  CHECK(ordered(p, lt::Target("x86-64-v4")).str() == p.str());
}

TEST_CASE("lanes go round in registers, under masks and through other types") {
  const lt::Program p = flat(R"(
  alloc r: f32x8[] scope register
  r[] = broadcast(0.0, 8)
  for k in 0..4:
    let v = X[ramp(k * 16, 1, 8)]
    let w = X[ramp(k * 16 + 8, 1, 8)]
    let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)
    let im = shuffle(v, w; 1, 3, 5, 7, 9, 11, 13, 15)
    let mask = re < im
    r[] = select(mask, f32x8(i32x8(re) + i32x8(ramp(3, 2, 8))), r[] + im)
    Y[ramp(k * 16, 1, 8)] = shuffle(r[], im; 0, 8, 1, 9, 2, 10, 3, 11)
    Y[ramp(k * 16 + 8, 1, 8)] = shuffle(r[], im; 4, 12, 5, 13, 6, 14, 7, 15)
)");
  CHECK(keeps(p, p));
  CHECK(test::has(ordered(p).str(), "i32x8(shuffle(ramp(3, 2, 8); 0, 1, 4, 5, 2, 3, 6, 7))"));
}

namespace {

/// Even and odd elements that meet again in memory, and between them what `middle` makes of `re`
/// and `im` as `a`; the pass would order all of it.
lt::Program between_shuffles(const std::string& middle, const std::string& before = "") {
  return flat(before + R"(
  let v = X[ramp(0, 1, 8)]
  let w = X[ramp(8, 1, 8)]
  let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)
  let im = shuffle(v, w; 1, 3, 5, 7, 9, 11, 13, 15)
)" + middle + R"(
  let b = im * re
  Y[ramp(0, 1, 8)] = shuffle(a, b; 0, 8, 1, 9, 2, 10, 3, 11)
  Y[ramp(8, 1, 8)] = shuffle(a, b; 4, 12, 5, 13, 6, 14, 7, 15)
)");
}

}  // namespace

TEST_CASE("what takes lanes where they are gets them there") {
  const char* const kRegister = "  alloc r: f32x8[] scope register\n  r[] = X[ramp(40, 1, 8)]\n";
  const char* const kMiddles[] = {
      "  let a = permute(re, i8x8(ramp(3, 1, 8)) & broadcast(7i8, 8)) * im",
      "  let a = X[i64x8(re) & broadcast(63, 8)] + re",
      "  let a = re + broadcast(shuffle(im; 3), 8)",
      "  let a = re + broadcast(shuffle(im; 1, 2), 4)",
      "  let a = re + X[ramp(20, 1, 8) where re < im]",
      "  let a = select(X[ramp(20, 1, 8)] < X[ramp(30, 1, 8)], re, im)",
      "  let a = select(re < im, X[ramp(20, 1, 8)], im)",
      "  let a = re + shuffle(shuffle(re, im; 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
      "15); "
      "1, 3, 5, 7, 9, 11, 13, 15)",
      "  Y[ramp(20, 1, 8) where re < im] = re\n  let a = im"};
  int changed = 0;
  for (const char* middle : kMiddles) {
    const lt::Program p = between_shuffles(middle);
    changed += keeps(p, p);
  }
  CHECK(changed >= 5);
  // Registers that are touched in other ways than as a whole.
  for (const char* middle : {"  r[] = re\n  let a = r[0]", "  r[0] = re\n  let a = r[]",
                             "  r[] = re\n  let a = r[where ramp(0, 1, 8) < broadcast(3, 8)]",
                             "  r[] = re\n  atomic r[] += X[ramp(16, 1, 8)]\n  let a = r[]",
                             "  r[where X[ramp(20, 1, 8)] < X[ramp(30, 1, 8)]] = re\n  let a = r[]",
                             "  r[where im < re] = re\n  let a = r[]"}) {
    const lt::Program p = between_shuffles(middle, kRegister);
    keeps(p, p);
  }
}

TEST_CASE("what an arm loads is loaded by the lanes that choose it") {
  // Whether what meets the arm keeps its lanes.
  const auto in_order = [](const lt::Program& p) {
    return test::has(ordered(p).str(), "let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)");
  };
  // Elements from 64 on are those of lanes that choose the other arm.
  const lt::Program p = between_shuffles(R"(
  let a = select(ramp(58, 1, 8) < broadcast(64, 8), (let k = i32x8(X[ramp(58, 1, 8)]) & broadcast(31i32, 8) in X[i64x8(k)] + f32x8(k) * re), im))");
  keeps(p, p);
  CHECK(in_order(p));
  // The same value is first met where nothing chooses.
  const lt::Program shared = between_shuffles(R"(
  let c = X[ramp(50, 1, 8)] * re
  let a = select(re < im, X[ramp(50, 1, 8)] * re, c))");
  keeps(shared, shared);
  CHECK(in_order(shared));
  // Without the arm all of it moves.
  const lt::Program outside = between_shuffles("  let a = X[ramp(50, 1, 8)] * re");
  CHECK(!in_order(outside));
}

TEST_CASE("a value that several statements share is rewritten once") {
  const lt::Program p = between_shuffles(
      "  let a = re + im\n  Y[ramp(16, 1, 8)] = re - im\n  Y[ramp(24, 1, 8)] = im - re\n");
  struct Share : lt::Mutator {
    lt::AnyExpr shared;
    lt::AnyExpr expr(const lt::AnyExpr& e) override {
      const auto* n = e.as<lt::BinaryNode>();
      if (!n || n->op != lt::BinaryOp::sub || n->dtype.lanes != 8) return descend(e);
      if (!shared) {
        const lt::VarRef q = lt::make_var("q", n->dtype);
        shared =
            lt::make_let(q, e, lt::AnyExpr(q) + lt::make_shuffle({q}, {1, 0, 3, 2, 5, 4, 7, 6}));
      }
      return shared;
    }
  } share;
  const lt::Program twice = p.with(share.stmt(p->body));
  REQUIRE(lt::verify_reason(twice, lt::Stage::flat) == "");
  CHECK(keeps(twice, twice));
}

TEST_CASE("what two branches store into one register has one order") {
  const lt::Program p = flat(R"(
  alloc r: f32x8[] scope register
  for k in 0..2:
    let v = X[ramp(k * 16, 1, 8)]
    let w = X[ramp(k * 16 + 8, 1, 8)]
    let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)
    if k < 1:
      r[] = re
    else:
      r[] = X[ramp(32, 1, 8)] * re
    Y[ramp(k * 16, 1, 8)] = shuffle(r[], re; 0, 8, 1, 9, 2, 10, 3, 11)
    Y[ramp(k * 16 + 8, 1, 8)] = shuffle(r[], re; 4, 12, 5, 13, 6, 14, 7, 15)
)");
  CHECK(keeps(p, p));
}

TEST_CASE("shuffles cost what a target's instructions take") {
  const auto cost = [](lt::DType element, const lt::Vec<int>& map, int lanes,
                       const char* target = "x86-64-v3") {
    return lt::detail::shuffle_cost(element.with_lanes(static_cast<int>(map.size())), lanes, map,
                                    lt::TargetCaps(lt::Target(target)));
  };
  const lt::DType f32 = lt::kF32, f64 = lt::kF64;
  CHECK(cost(f32, {0, 1, 2, 3, 4, 5, 6, 7}, 8) == 0);
  CHECK(cost(f32, {7, 6, 5, 4, 3, 2, 1, 0}, 8) == 1);      // indices
  CHECK(cost(f32, {0, 2, 8, 10, 4, 6, 12, 14}, 8) == 1);   // halves of 16 bytes
  CHECK(cost(f32, {0, 8, 1, 9, 4, 12, 5, 13}, 8) == 1);    // unpack low
  CHECK(cost(f32, {2, 10, 3, 11, 6, 14, 7, 15}, 8) == 1);  // unpack high
  CHECK(cost(f32, {0, 9, 2, 11, 4, 13, 6, 15}, 8) == 1);   // blend
  CHECK(cost(f32, {0, 1, 2, 3, 8, 9, 10, 11}, 8) == 1);    // 16 bytes
  CHECK(cost(f32, {0, 9, 1, 8, 4, 13, 5, 12}, 8) == 2);    // within 16 bytes
  CHECK(cost(f32, {0, 2, 4, 6, 8, 10, 12, 14}, 8) > 1);    // across
  CHECK(cost(f32, {0, 2, 8, 10, 6, 4, 12, 14}, 8) > 1);    // not alike
  CHECK(cost(f32, {0, 2, 4, 6, 8, 10, 12, 14}, 8, "x86-64-v4") == 1);
  CHECK(cost(f32, {4, 5, 6, 7}, 8) == 1);
  CHECK(cost(f64, {0, 4, 2, 6}, 4) == 1);
  CHECK(cost(f64, {0, 4, 1, 5}, 4) > 1);
  // Pairs of floats move as one element.
  CHECK(cost(f32, {0, 1, 8, 9, 4, 5, 12, 13}, 8) == 1);
  CHECK(cost(lt::kU8, {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23}, 16) == 1);
  CHECK(cost(lt::kU8, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}, 16) == 3);
}

TEST_CASE("time grows with the code, not with its square") {
  const auto took = [](int statements) {
    std::string body;
    for (int k = 0; k < statements; ++k)
      body += "  Y[ramp(0, 1, 8)] = X[ramp(8, 1, 8)] * X[ramp(3, 1, 8)]\n";
    const lt::Program p = flat(body);
    double least = 1e9;
    for (int k = 0; k < 3; ++k) {
      const auto start = std::chrono::steady_clock::now();
      ordered(p);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      least = std::min(least, time.count());
    }
    return least;
  };
  const double few = took(250);
  CHECK(took(4000) < 50 * few);  // 256 times, were it the square
}

TEST_CASE(
    "vectors that memory holds as they are keep their order where moving them costs as much") {
  // Two shuffles would save an instruction each, and one more for each of three others.
  const lt::Program p = flat(R"(
  let v = X[ramp(0, 1, 8)]
  let w = X[ramp(8, 1, 8)]
  let re = shuffle(v, w; 0, 2, 4, 6, 8, 10, 12, 14)
  let all = re + X[ramp(16, 1, 8)] * X[ramp(24, 1, 8)]
  Y[ramp(0, 1, 8)] = all
  Y[ramp(8, 1, 8)] = all * X[ramp(32, 1, 8)]
)");
  CHECK(!keeps(p, p));
}

TEST_CASE("orders that shuffles within 16 bytes give") {
  const auto text = [](int lanes, int bytes) {
    std::string out;
    for (const lt::detail::LaneOrder& order : lt::detail::orders_within_pieces(lanes, bytes)) {
      for (const int l : order) out += std::to_string(l) + ' ';
      out += '\n';
    }
    return out;
  };
  CHECK(text(8, 4) == "0 1 4 5 2 3 6 7 \n0 2 4 6 1 3 5 7 \n");
  CHECK(text(4, 8) == "0 2 1 3 \n");
  CHECK(text(4, 4).empty());
  for (const auto& order : lt::detail::orders_within_pieces(64, 1)) {
    lt::detail::LaneOrder sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int l = 0; l < 64; ++l) CHECK(sorted[static_cast<std::size_t>(l)] == l);
    const lt::detail::LaneOrder places = lt::detail::inverse(order);
    for (int l = 0; l < 64; ++l)
      CHECK(places[static_cast<std::size_t>(order[static_cast<std::size_t>(l)])] == l);
  }
}

TEST_CASE("drawn code of shuffles keeps its meaning in any order") {
  const unsigned seed = 20261130;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const char* const kMaps[] = {"0, 2, 4, 6, 8, 10, 12, 14", "1, 3, 5, 7, 9, 11, 13, 15",
                               "0, 8, 1, 9, 2, 10, 3, 11",  "4, 12, 5, 13, 6, 14, 7, 15",
                               "15, 2, 7, 0, 1, 1, 9, 12",  "8, 9, 10, 11, 4, 5, 6, 7"};
  int changed = 0;
  for (int k = 0; k < 150; ++k) {
    std::string body = "  alloc r: f32x8[] scope register\n  r[] = X[ramp(0, 1, 8)]\n";
    int names = 0;
    const auto any = [&] {
      return names == 0 ? std::string("r[]") : "v" + std::to_string(below(names));
    };
    const auto let = [&](const std::string& value) {
      body += "  let v" + std::to_string(names++) + " = " + value + "\n";
    };
    for (int n = 0; n < 3; ++n) let("X[ramp(" + std::to_string(below(57)) + ", 1, 8)]");
    for (int n = 0; n < 12; ++n) {
      const std::string a = any(), b = any();
      switch (below(11)) {
        case 0:
          let("select(" + a + " < " + b + ", " + a + ", r[])");
          break;
        case 1:
          let(a + " + " + b);
          break;
        case 2:
          let("f32x8(i32x8(" + a + ")) * " + b);
          break;
        case 3:
          let(a + " + broadcast(shuffle(" + b + "; " + std::to_string(below(8)) + "), 8)");
          break;
        case 4:
          let("select(" + a + " < " + b + ", (let k = i32x8(X[ramp(" + std::to_string(below(57)) +
              ", 1, 8)]) & broadcast(31i32, 8) in X[i64x8(k)] + f32x8(k) * " + b + "), r[])");
          break;
        case 5:
          body += "  r[where " + a + " < " + b + "] = " + any() + "\n";
          break;
        default:
          let("shuffle(" + a + ", " + b + "; " + kMaps[below(6)] + ")");
      }
    }
    body += "  r[] = " + any() + " + r[]\n";
    for (int n = 0; n < 8; ++n)
      body += "  Y[ramp(" + std::to_string(8 * n) + ", 1, 8)] = " +
              (below(3) ? "shuffle(" + any() + ", r[]; " + kMaps[below(6)] + ")" : any()) + "\n";
    const lt::Program p = flat(body);
    changed += keeps(p, p);
  }
  CHECK(changed > 20);
}

TEST_CASE("channels in turn that are computed alike are programs with lanes in other orders") {
  int changed = 0;
  const auto draw = [&](auto zero, int channels, std::int64_t n) {
    using T = decltype(zero);
    lt::Input<T, 2> A("A", {n, channels}), B("B", {n, channels});
    const auto Y = lt::compute("Y", {n, channels}, [&](lt::Var i, lt::Var c) {
      lt::Expr<T> out = A(i, 0) * B(i, channels - 1);
      for (int k = 1; k < channels; ++k)
        out = lt::select(c == k, A(i, k) + B(i, k - 1) * A(i, 0), out);
      return out;
    });
    const lt::Program program = lt::program_of(Y);
    for (const char* name : {"x86-64-v3", "x86-64-v4", "x86-64-v2"}) {
      lt::Target target(name);
      target.cores = 1;
      const lt::Program p =
          lt::lower_until("deinterleave_loads", lt::default_schedule(program, target).program(),
                          target, {.dense = true});
      changed += keeps(p, program, target);
    }
  };
  for (const std::int64_t n : {64, 77})
    for (const int channels : {2, 4}) {
      draw(float(), channels, n);
      draw(double(), channels, n);
      draw(std::int32_t(), channels, n);
      draw(std::uint8_t(), channels, n);
    }
  CHECK(changed >= 4);
}
