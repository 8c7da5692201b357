#include <lathe/arith/determined.hpp>
#include <map>

#include "index_eval.hpp"

using namespace lathe;
using index_test::Env;
using index_test::Random;

namespace {

AnyExpr div(const AnyExpr& a, const AnyExpr& b) { return fold_floordiv(a, b); }
AnyExpr mod(const AnyExpr& a, const AnyExpr& b) { return fold_floormod(a, b); }

/// x in [0, 100), y in [0, 8), z in [0, 9); n and m at least 1.
struct Vars {
  VarRef x = make_var("x"), y = make_var("y"), z = make_var("z"), n = make_var("n"),
         m = make_var("m");
  Facts facts;
  Vec<IterDomain> box{
      {x, AnyExpr(0), AnyExpr(100)}, {y, AnyExpr(0), AnyExpr(8)}, {z, AnyExpr(0), AnyExpr(9)}};
  Vars() {
    facts.bind(n, ConstInterval{1, 1 << 20});
    facts.bind(m, ConstInterval{1, 1 << 20});
  }
  std::string known(const Vec<AnyExpr>& values, const AnyExpr& condition = {}) const {
    std::string out;
    const Vec<bool> found = determined_by(values, box, condition, facts);
    for (std::size_t k = 0; k < found.size(); ++k)
      if (found[k]) out += box[k].var->name;
    return out;
  }
};

/// Per input, whether two points of the domain with equal values differ in it: by brute force.
Vec<bool> determined_by_counting(const Vec<AnyExpr>& values, const Vec<IterDomain>& box,
                                 const AnyExpr& condition, Env env) {
  Vec<bool> out(box.size(), true);
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> seen;
  std::vector<std::int64_t> at(box.size(), 0);
  for (bool more = true; more;) {
    bool inside = true;
    for (std::size_t k = 0; k < box.size(); ++k) {
      inside = inside && at[k] < index_test::eval(box[k].extent, env)[0];
      env[box[k].var.get()] = at[k] + index_test::eval(box[k].min, env)[0];
    }
    if (inside && (!condition.get() || index_test::eval(condition, env)[0])) {
      std::vector<std::int64_t> point, here;
      for (const auto& e : values) point.push_back(index_test::eval(e, env)[0]);
      for (const auto& d : box) here.push_back(env[d.var.get()]);
      const auto [first, is_new] = seen.emplace(point, here);
      for (std::size_t k = 0; !is_new && k < box.size(); ++k)
        out[k] = out[k] && first->second[k] == here[k];
    }
    more = false;
    for (std::size_t k = box.size(); k-- > 0 && !more;) {
      if (inside && ++at[k] < index_test::eval(box[k].extent, env)[0])
        more = true;
      else
        at[k] = 0;
    }
  }
  return out;
}

/// Loops as schedules leave them: axes fused and split, in any order, with the guards of splits
/// that do not divide.
class RandomNest {
 public:
  RandomNest(Random& random, bool symbolic) : random_(random) {
    const int axes = 1 + random.below(3);
    for (int k = 0; k < axes; ++k) {
      AnyExpr extent(random.between(1, 7));
      if (symbolic && random.below(2) == 0) {
        const VarRef dim = make_var("n" + std::to_string(k));
        facts.bind(dim, ConstInterval{1, 1 << 20});
        env[dim.get()] = random.between(1, 5);
        extent = AnyExpr(dim);
      }
      const VarRef var = make_var("i" + std::to_string(k));
      loops.push_back({var, AnyExpr(0), extent});
      values.emplace_back(var);
      sizes.push_back(extent);
    }
    const int steps = random.below(5);
    for (int k = 0; k < steps; ++k) step();
    if (random.below(3) == 0) reshape();
    if (random.below(3) == 0)
      for (auto& v : values) v = simplify(v, all_facts());
    if (random.below(6) == 0) values.erase_at(0);
  }
  Facts facts;
  Env env;
  Vec<IterDomain> loops;
  Vec<AnyExpr> values, sizes;
  AnyExpr condition;

 private:
  void replace(const VarRef& var, const AnyExpr& by) {
    for (auto& v : values) v = substitute(v, {{var, by}});
    if (condition) condition = substitute(condition, {{var, by}});
  }
  Facts all_facts() const {
    Facts out = facts;
    for (const auto& d : loops) out.bind(d.var, d.min, d.extent);
    return out;
  }
  void step() {
    const int what = random_.below(3);
    const auto at = static_cast<std::size_t>(random_.below(static_cast<int>(loops.size())));
    if (what == 0 && loops.size() > 1) return std::swap(loops[at], loops[0]);
    if (what == 1 && at + 1 < loops.size()) return fuse(at);
    split(at);
  }
  void fuse(std::size_t at) {
    const IterDomain a = loops[at], b = loops[at + 1];
    const VarRef f = make_var(a.var->name + b.var->name);
    replace(a.var, div(AnyExpr(f), b.extent));
    replace(b.var, mod(AnyExpr(f), b.extent));
    loops[at] = {f, AnyExpr(0), simplify(fold_mul(a.extent, b.extent))};
    loops.erase_at(at + 1);
  }
  void split(std::size_t at) {
    const IterDomain d = loops[at];
    const AnyExpr factor(random_.between(2, 5));
    const VarRef outer = make_var(d.var->name + "o"), inner = make_var(d.var->name + "i");
    const AnyExpr value = fold_add(fold_mul(AnyExpr(outer), factor), AnyExpr(inner));
    replace(d.var, value);
    condition = fold_and(condition, value < d.extent);
    loops[at] = {outer, AnyExpr(0),
                 simplify(div(fold_add(d.extent, fold_sub(factor, AnyExpr(1))), factor))};
    loops.push_back({inner, AnyExpr(0), factor});
    for (std::size_t k = loops.size() - 1; k > at + 1; --k) std::swap(loops[k], loops[k - 1]);
  }
  // The row-major place, in rows of another length.
  void reshape() {
    AnyExpr place(0);
    for (std::size_t k = 0; k < values.size(); ++k)
      place = fold_add(fold_mul(place, sizes[k]), values[k]);
    const AnyExpr row(random_.between(2, 6));
    values = {div(place, row), mod(place, row)};
  }

  Random& random_;
};

}  // namespace

TEST_CASE("a quotient and a remainder tell what was divided") {
  const Vars v;
  const AnyExpr x(v.x), y(v.y), z(v.z), n(v.n), m(v.m);
  CHECK(v.known({div(x, n), mod(x, n)}) == "x");
  CHECK(v.known({div(x, n)}) == "");
  CHECK(v.known({mod(x, n)}) == "");
  const AnyExpr e = fold_add(fold_mul(x, AnyExpr(8)), y);
  CHECK(v.known({div(e, AnyExpr(42)), mod(e, AnyExpr(42))}) == "xy");
  CHECK(v.known({div(e, n), mod(e, n)}) == "xy");
  CHECK(v.known({div(div(e, AnyExpr(7)), n), mod(div(e, AnyExpr(7)), n), mod(e, AnyExpr(7))}) ==
        "xy");
  CHECK(v.known({div(div(e, n), m), mod(div(e, n), m), mod(e, n)}) == "xy");
  CHECK(v.known({div(div(e, n), m), mod(e, n)}) == "");
  const AnyExpr wide = fold_add(fold_mul(x, AnyExpr(144)), fold_add(fold_mul(z, AnyExpr(9)), y));
  CHECK(v.known({div(wide, AnyExpr(3500)), mod(div(wide, AnyExpr(70)), AnyExpr(50)),
                 mod(wide, AnyExpr(70))}) == "xyz");
}

TEST_CASE("a remainder alone tells what moves by less than the divisor") {
  const Vars v;
  const AnyExpr x(v.x), y(v.y), z(v.z), n(v.n);
  CHECK(v.known({mod(fold_add(fold_mul(n, AnyExpr(5)), y), AnyExpr(42))}) == "y");
  CHECK(v.known({mod(fold_add(fold_mul(n, AnyExpr(5)), y), AnyExpr(7))}) == "");
  CHECK(v.known({x, mod(fold_add(fold_mul(x, AnyExpr(8)), y), AnyExpr(8))}) == "xy");
  CHECK(v.known({div(fold_add(fold_mul(z, AnyExpr(7)), n), AnyExpr(5))}) == "z");
  CHECK(v.known({div(fold_add(fold_mul(z, AnyExpr(4)), n), AnyExpr(5))}) == "");
}

TEST_CASE("conditions bound the parts of a sum") {
  const Vars v;
  const AnyExpr x(v.x), y(v.y), z(v.z), n(v.n);
  const AnyExpr e = fold_add(fold_mul(x, n), y);
  CHECK(v.known({e}) == "");
  CHECK(v.known({e}, y < n) == "xy");
  CHECK(v.known({fold_add(fold_mul(x, AnyExpr(6)), y)}, y < 6) == "xy");
  CHECK(v.known({fold_add(fold_mul(x, AnyExpr(6)), y)}, y < 7) == "");
  const AnyExpr inner = fold_add(fold_mul(z, AnyExpr(8)), y);
  CHECK(v.known({fold_add(fold_mul(x, n), inner)}, inner < n) == "xyz");
}

TEST_CASE("sums that may wrap tell nothing") {
  const Vars v;
  const AnyExpr x(v.x), big(std::int64_t{1} << 62);
  CHECK(v.known({fold_mul(x, big)}) == "");
}

TEST_CASE("nests that were fused and split keep their points apart") {
  int told = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random{seed};
    RandomNest nest(random, seed % 2 == 1);
    const Vec<bool> found = determined_by(nest.values, nest.loops, nest.condition, nest.facts);
    const Vec<bool> truth =
        determined_by_counting(nest.values, nest.loops, nest.condition, nest.env);
    std::string text;
    for (const auto& d : nest.loops) text += str(AnyExpr(d.var)) + " < " + str(d.extent) + "; ";
    for (const auto& e : nest.values) text += str(e) + ", ";
    if (nest.condition) text += " where " + str(nest.condition);
    INFO("seed " << seed << ": " << text);
    bool apart = true, proven = true;
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (found[k]) CHECK(truth[k]);
      apart = apart && truth[k], proven = proven && found[k];
    }
    all += apart, told += apart && proven;
#ifdef SHOW_MISSES
    if (apart && !proven) MESSAGE(text);
#endif
  }
  CHECK(told >= all * 95 / 100);
  MESSAGE(told << " of " << all);
}
