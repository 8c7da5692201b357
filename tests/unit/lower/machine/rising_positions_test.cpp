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
};

/// Of four columns of n the best and where it is.
lt::Program columns(const Words& w) {
  const std::string nan = w.type == "f32" ? " || is_nan(v0) && !is_nan(v1)" : "";
  const std::string ties = w.type == "f32" ? "(v0 == v1 || is_nan(v0) && is_nan(v1))" : "v0 == v1";
  const std::string keeps = w.better + nan + " || " + ties + " && p0 <= " + w.at;
  return lt::parse("program columns<n>(in x: " + w.type + "[n * 4], out y: " + w.type +
                   "[4], out at: i64[4]) stage flat:\n"
                   "  alloc v: " +
                   w.type +
                   "x4[] scope register\n"
                   "  alloc p: i64x4[] scope register\n"
                   "  v[] = broadcast(" +
                   w.identity +
                   ", 4)\n"
                   "  p[] = broadcast(9223372036854775807, 4)\n" +
                   w.begin + "  for r in " + w.from + "..n:\n" +
                   (w.end.empty() ? "" : "    " + w.end + ":\n") +
                   "      let v0 = v[]:\n"
                   "        let v1 = x[ramp(r * 4, 1, 4)]\n"
                   "        let p0 = p[]\n"
                   "        let new = select(" +
                   keeps +
                   ", v0, v1)\n"
                   "        let q = select(" +
                   keeps + ", p0, " + w.at +
                   ")\n"
                   "        v[] = new\n"
                   "        p[] = q\n"
                   "  y[ramp(0, 1, 4)] = v[]\n"
                   "  at[ramp(0, 1, 4)] = p[]\n");
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
    const Bytes y{std::vector<unsigned char>(16)}, at{std::vector<unsigned char>(32)};
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
