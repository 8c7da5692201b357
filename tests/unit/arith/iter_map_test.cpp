#include <lathe/arith/iter_map.hpp>
#include <map>

#include "index_eval.hpp"

using namespace lathe;
using index_test::Env;
using index_test::Random;

namespace {

struct Enumeration {
  bool injective = true, covering = true;
};

/// The answer by brute force, with the box taken from the map itself.
Enumeration enumerate(const std::vector<AnyExpr>& indices, const std::vector<IterDomain>& inputs,
                      const IterMap& map, const std::vector<AnyExpr>& back,
                      const std::vector<VarRef>& targets, const AnyExpr& valid) {
  std::vector<std::int64_t> extents, at(inputs.size(), 0);
  for (const auto& d : inputs) extents.push_back(*as_const_int(d.extent));
  std::map<std::vector<std::int64_t>, int> seen;
  Enumeration out;
  bool boxed = true, returned = true;
  for (bool more = true; more;) {
    Env env;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      env[inputs[k].var.get()] = *as_const_int(inputs[k].min) + at[k];
    std::vector<std::int64_t> point;
    for (const auto& e : indices) point.push_back(index_test::eval(e, env)[0]);
    if (++seen[point] > 1) out.injective = false;
    for (std::size_t k = 0; k < map.sums.size(); ++k) {
      std::int64_t lo = *const_int(map.sums[k].min), size = *const_int(map.sums[k].extent);
      boxed = boxed && point[k] >= lo && point[k] < lo + size;
    }
    Env there;
    for (std::size_t k = 0; k < targets.size(); ++k) there[targets[k].get()] = point[k];
    for (std::size_t k = 0; k < back.size(); ++k)
      returned = returned && index_test::eval(back[k], there)[0] == env[inputs[k].var.get()];
    returned = returned && (back.empty() || index_test::eval(valid, there)[0] == 1);
    more = false;
    for (std::size_t k = 0; k < at.size() && !more; ++k) {
      if (++at[k] < extents[k])
        more = true;
      else
        at[k] = 0;
    }
  }
  CHECK(boxed);
  CHECK(returned);
  std::size_t box = 1;
  for (const auto& s : map.sums) box *= static_cast<std::size_t>(*const_int(s.extent));
  out.covering = seen.size() == box;
  return out;
}

}  // namespace

TEST_CASE("iterator maps that schedules write") {
  VarRef i = make_var("i"), j = make_var("j"), n = make_var("n"), m = make_var("m");
  AnyExpr I(i), J(j), N(n), M(m);
  std::vector<IterDomain> d{{i, AnyExpr(0), AnyExpr(12)}, {j, AnyExpr(0), AnyExpr(8)}};
  CHECK(iter_map({I * 8 + J}, d).bijective());
  CHECK(iter_map({I, J}, d).bijective());
  CHECK(iter_map({J, floordiv(I, AnyExpr(4)), floormod(I, AnyExpr(4))}, d).bijective());
  CHECK(iter_map({J + 3, AnyExpr(11) - I}, d).bijective());
  CHECK(
      iter_map({floordiv(I * 8 + J, AnyExpr(6)), floormod(I * 8 + J, AnyExpr(6))}, d).bijective());
  CHECK(iter_map({I + J, J}, d).injective);
  IterMap wide = iter_map({I * 9 + J}, d);
  CHECK((wide.injective && !wide.covering));
  CHECK(wide.why == "an index leaves gaps");
  IterMap ragged = iter_map({floordiv(I, AnyExpr(5)), floormod(I, AnyExpr(5)), J}, d);
  CHECK((ragged.injective && !ragged.covering));
  IterMap half = iter_map({floordiv(I, AnyExpr(4)), J}, d);
  CHECK((!half.injective && half.covering));
  CHECK(half.why == "the indices don't determine every iterator");
  CHECK_FALSE(iter_map({I * J}, d).known());
  CHECK(iter_map({AnyExpr(0)}, {}).bijective());
}

TEST_CASE("iterator maps of what wraps are unknown") {
  VarRef i = make_var("i");
  AnyExpr doubled = AnyExpr(i) + AnyExpr(i);
  AnyExpr index = floordiv(doubled * AnyExpr(INT64_MIN), AnyExpr(std::int64_t{1} << 33));
  IterMap map = iter_map({index * AnyExpr(std::int64_t{1} << 62)}, {{i, AnyExpr(0), AnyExpr(33)}});
  CHECK_FALSE(map.injective);
  CHECK_FALSE(map.covering);
}

TEST_CASE("iterator maps with symbolic extents") {
  VarRef i = make_var("i"), j = make_var("j"), f = make_var("f"), n = make_var("n"),
         m = make_var("m");
  AnyExpr I(i), J(j), F(f), N(n), M(m);
  Facts facts;
  facts.bind(n, ConstInterval{1, 1 << 20});
  facts.bind(m, ConstInterval{1, 1 << 20});
  CHECK(iter_map({I * M + J}, {{i, AnyExpr(0), N}, {j, AnyExpr(0), M}}, {}, facts).bijective());
  CHECK_FALSE(iter_map({I * N + J}, {{i, AnyExpr(0), N}, {j, AnyExpr(0), M}}, {}, facts).injective);
  IterMap fused = iter_map({floordiv(F, M), floormod(F, M)}, {{f, AnyExpr(0), N * M}}, {}, facts);
  INFO(fused.why);
  CHECK(fused.bijective());
  auto back = inverse(fused, {I, J}, facts);
  REQUIRE(back.size() == 1);
  CHECK(str(back[0]) == "i * m + j");
  // A scale that may be 0 is no negative one: where it is, the domain of j is empty.
  VarRef k = make_var("k");
  Facts may_be_0;
  may_be_0.bind(k, ConstInterval{0, 1 << 20});
  IterMap rows = iter_map({I * AnyExpr(k) + J}, {{i, AnyExpr(0), AnyExpr(6)}, {j, AnyExpr(0), k}},
                          {}, may_be_0);
  CHECK(rows.bijective());
  auto row = inverse(rows, {F}, may_be_0);
  REQUIRE(row.size() == 2);
  CHECK(str(row[0]) == "floordiv(f, k)");
  CHECK(str(row[1]) == "floormod(f, k)");
  IterMap guarded = iter_map(
      {I * 8 + J}, {{i, AnyExpr(0), floordiv(N + 7, AnyExpr(8))}, {j, AnyExpr(0), AnyExpr(8)}},
      I * 8 + J < N, facts);
  CHECK((guarded.injective && !guarded.covering));
}

TEST_CASE("fuzz: iterator maps against enumeration") {
  int injective = 0, covering = 0, total_injective = 0, total_covering = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random{seed};
    std::vector<IterDomain> inputs;
    int count = 1 + random.below(3);
    for (int k = 0; k < count; ++k) {
      std::int64_t min = random.below(4) ? 0 : random.between(-3, 3);
      inputs.push_back({make_var(std::string(1, static_cast<char>('a' + k))), AnyExpr(min),
                        AnyExpr(random.between(1, 12))});
    }
    auto pick = [&] { return AnyExpr(inputs[static_cast<std::size_t>(random.below(count))].var); };
    static const std::int64_t factors[] = {2, 3, 4, 6, 1, 12, 8};
    auto factor = [&] { return AnyExpr(factors[random.below(7)]); };
    auto part = [&]() -> AnyExpr {
      AnyExpr v = pick();
      if (random.below(6) == 0) v = v * factor() + pick();
      switch (random.below(5)) {
        case 0:
          return floordiv(v, factor());
        case 1:
          return floormod(v, factor());
        case 2:
          return floormod(floordiv(v, factor()), factor());
        default:
          return v;
      }
    };
    std::vector<AnyExpr> indices;
    std::vector<VarRef> targets;
    int outputs = 1 + random.below(3);
    for (int k = 0; k < outputs; ++k) {
      AnyExpr e = part();
      for (int t = random.below(3); t > 0; --t) e = e * factor() + part();
      if (random.below(8) == 0) e = AnyExpr(random.between(-4, 4)) - e;
      indices.push_back(e);
      targets.push_back(make_var("t" + std::to_string(k)));
    }
    IterMap map = iter_map(indices, inputs);
    std::string text = "seed " + std::to_string(seed) + ":";
    for (const auto& d : inputs)
      text += " " + d.var->name + " in " + str(d.min) + "+" + str(d.extent);
    for (const auto& e : indices) text += "  [" + str(e) + "]";
    INFO(text);
    if (map.sums.empty()) {
      CHECK_FALSE((map.injective || map.covering));
      continue;
    }
    std::vector<AnyExpr> exprs(targets.begin(), targets.end());
    AnyExpr valid;
    auto back = left_inverse(map, exprs, valid);
    if (map.bijective()) {
      CHECK(inverse(map, exprs).size() == inputs.size());
      CHECK_FALSE(back.empty());
    }
    Enumeration truth = enumerate(indices, inputs, map, back, targets, valid);
    if (map.injective) CHECK(truth.injective);
    if (map.covering) CHECK(truth.covering);
    injective += map.injective, covering += map.covering;
    total_injective += truth.injective, total_covering += truth.covering;
  }
  // How often the truth is found: a floor, so that a regression shows.
  MESSAGE("injective " << injective << " of " << total_injective << ", covering " << covering
                       << " of " << total_covering);
  CHECK(injective * 10 >= total_injective * 8);
  CHECK(covering * 10 >= total_covering * 7);
}
