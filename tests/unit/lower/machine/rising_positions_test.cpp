// Arg-reductions whose positions rise compare no positions, and give the same.
#include <cmath>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <limits>

#include "../../codegen/against.hpp"

using namespace test;

namespace {

struct Words {
  std::string better, identity, type = "f32", at = "broadcast(r, 4)", from = "0", begin, end;
  std::string upto = "n", position = "i64", none = "9223372036854775807";
};

/// What one step takes.
std::string step_of(const Words& w, const std::string& indent, const std::string& row,
                    const std::string& at) {
  const std::string nan = w.type == "f32" ? " || is_nan(v0) && !is_nan(v1)" : "";
  const std::string ties = w.type == "f32" ? "(v0 == v1 || is_nan(v0) && is_nan(v1))" : "v0 == v1";
  const std::string keeps = w.better + nan + " || " + ties + " && p0 <= " + at;
  return indent + "let v0 = v[]:\n" + indent + "  let v1 = x[ramp(" + row + " * 4, 1, 4)]\n" +
         indent + "  let p0 = p[]\n" + indent + "  let new = select(" + keeps + ", v0, v1)\n" +
         indent + "  let q = select(" + keeps + ", p0, " + at + ")\n" + indent + "  v[] = new\n" +
         indent + "  p[] = q\n";
}

/// Of four columns of n the best and where it is.
lt::Program columns(const Words& w) {
  return lt::parse("program columns<n>(in x: " + w.type + "[n * 4], out y: " + w.type +
                   "[4], out at: " + w.position + "[4]) stage flat:\n  alloc v: " + w.type +
                   "x4[] scope register\n  alloc p: " + w.position +
                   "x4[] scope register\n  v[] = broadcast(" + w.identity +
                   ", 4)\n  p[] = broadcast(" + w.none + ", 4)\n" + w.begin +
                   (w.upto.empty() ? "" : "  for r in " + w.from + ".." + w.upto + ":\n") +
                   (w.end.empty() ? "" : "    " + w.end + ":\n") +
                   (w.upto.empty() ? "" : step_of(w, "      ", "r", w.at)) +
                   "  y[ramp(0, 1, 4)] = v[]\n  at[ramp(0, 1, 4)] = p[]\n");
}

const Words most{"v1 < v0", "-inf"}, least{"v0 < v1", "inf"},
    most_int{"v1 < v0", "-2147483648i32", "i32"};

bool is_shorter(const Words& w) {
  const lt::Program p = columns(w), after = lt::rising_positions(p);
  CHECK(lt::verify_reason(after, after->stage) == "");
  return after.str().find("p0 <= ") == std::string::npos;
}

/// The program before the pass, and compiled after it.
struct Both {
  lt::Program before;
  Compared after;
  bool floats;

  explicit Both(const Words& w)
      : before(columns(w)), after(lt::rising_positions(before)), floats(w.type == "f32") {}

  void check_same(const std::vector<float>& x, std::int64_t n) const {
    const Bytes y{std::vector<unsigned char>(16)},
        at{std::vector<unsigned char>(before->params[2].dtype() == lt::kI64 ? 32 : 16)};
    const Bytes in =
        floats ? Bytes::of(x) : Bytes::of(std::vector<std::int32_t>(x.begin(), x.end()));
    const auto wanted = evaluated(before, {in, y, at}, {lt::to_slot(n)});
    const auto got = after.check({in, y, at}, {lt::to_slot(n)});
    CHECK(wanted[1].data == got[1].data);
    CHECK(wanted[2].data == got[2].data);
  }
};

}  // namespace

TEST_CASE("rising positions are not compared, and the first of equal values stays") {
  for (const Words* w : {&most, &least, &most_int}) CHECK(is_shorter(*w));
  Words ramp = most;
  ramp.at = "ramp(r * 4 + 1, 2, 4)";
  CHECK(is_shorter(ramp));
  Words still = most;
  still.at = "broadcast(7, 4)";
  CHECK(is_shorter(still));
  Words later = least;
  later.from = "3";
  CHECK(is_shorter(later));

  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {std::nanf(""), 0.0F, -0.0F, kInf, -kInf, 1.0F, -2.0F};
  for (const Words& w : {most, least, ramp, later}) {
    const Both both(w);
    for (std::size_t shift = 0; shift < 49; ++shift) {
      std::vector<float> x;
      for (std::size_t k = 0; k < 24; ++k)
        x.push_back(special[k % 5 == shift % 5 ? shift / 7 : (k * shift / 3 + shift) % 7]);
      for (std::int64_t n : {0, 1, 3, 6}) both.check_same(x, n);
    }
  }
  const Both floats(most);
  for (const float all : {kInf, -kInf, std::nanf("")})
    floats.check_same(std::vector<float>(24, all), 6);
  Both(most_int).check_same(std::vector<float>(24, -2147483648.0F), 6);
}

TEST_CASE("positions of a type that holds them rise, those that may wrap don't") {
  Words narrow = most;
  narrow.position = "i32", narrow.none = "2147483647i32", narrow.upto = "6";
  narrow.at = "broadcast(i32(r), 4)";
  CHECK(is_shorter(narrow));
  Words cast = narrow;
  cast.at = "i32x4(broadcast(r, 4))";
  CHECK(is_shorter(cast));
  Words wraps = cast;
  wraps.upto = "n * 2147483648";
  CHECK_FALSE(is_shorter(wraps));
  for (const Words& w : {narrow, cast})
    Both(w).check_same({0, 1, 2, 3, 0,  2, 2, 4, std::nanf(""), 5, 1, 4, std::nanf(""), 6, 2, 4,
                        0, 6, 2, 4, -1, 6, 2, 4},
                       6);
}

TEST_CASE("steps one after the other rise as those of a loop do") {
  const auto steps = [](const std::vector<int>& positions, const char* between = "") {
    Words w = most;
    w.upto = "";
    for (std::size_t k = 0; k < positions.size(); ++k)
      w.begin += step_of(w, "  ", std::to_string(k),
                         "broadcast(" + std::to_string(positions[k]) + ", 4)") +
                 (k == 0 ? between : "");
    return w;
  };
  for (const auto& rising : {steps({0, 1, 2}), steps({3, 3, 5}), steps({7})}) {
    CHECK(is_shorter(rising));
    Both(rising).check_same({0, 1, 2, 3, 0, 2, 2, 4, std::nanf(""), 1, 1, std::nanf("")}, 3);
  }
  CHECK_FALSE(is_shorter(steps({0, 2, 1})));
  CHECK_FALSE(is_shorter(steps({0, 1, 2}, "  p[] = broadcast(3, 4)\n")));
  CHECK_FALSE(is_shorter(steps({0, 1, 2}, "  v[] = broadcast(3.0, 4)\n")));
  // Several in each iteration: the first of the next one lies behind the last.
  const auto body = [](const char* second) {
    Words w = most;
    w.upto = "";
    w.begin = "  for r in 0..n:\n" + step_of(w, "    ", "r", "broadcast(r * 2, 4)") +
              step_of(w, "    ", "r", second);
    return w;
  };
  CHECK(is_shorter(body("broadcast(r * 2 + 1, 4)")));
  Both(body("broadcast(r * 2 + 1, 4)")).check_same({1, 0, 2, 0, 1, 5, 2, 1}, 2);
  CHECK_FALSE(is_shorter(body("broadcast(r * 2 + 3, 4)")));
}

TEST_CASE("positions that may fall, identities that are none and steps that may not run keep it") {
  const auto changed = [](std::string Words::*what, const char* to) {
    Words w = most;
    w.*what = to;
    return w;
  };
  for (const Words& w :
       {changed(&Words::at, "broadcast(9 - r, 4)"),
        changed(&Words::at, "i64x4(broadcast(x[r], 4))"), changed(&Words::identity, "0.0"),
        changed(&Words::identity, "inf"), changed(&Words::begin, "  p[] = broadcast(3, 4)\n"),
        changed(&Words::end, "if x[r] > 0.0")})
    CHECK_FALSE(is_shorter(w));
}
