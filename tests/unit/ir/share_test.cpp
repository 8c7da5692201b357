#include <doctest/doctest.h>

#include <lathe/ir/print.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/share.hpp>
#include <lathe/ir/visit.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/random.hpp"

namespace {

namespace lt = lathe;
using lt::AnyExpr;

const lt::VarRef i = lt::make_var("i");
const lt::Buffer X = lt::make_buffer("X", lt::kI64, {8});

AnyExpr x(const AnyExpr& at) { return lt::make_load(X, {at}); }
AnyExpr inside(const AnyExpr& at) { return lt::logical_and(at >= 0, at < 8); }

/// Long enough to be worth a name.
AnyExpr long_of(const AnyExpr& e) {
  AnyExpr sum = e;
  for (int k = 2; k < 40; ++k) sum = sum * 3 + k;
  return sum;
}

/// With long_of(e) abbreviated.
std::string bound(const AnyExpr& e, const AnyExpr& part) {
  std::string text = lt::str(lt::bind_shared(e)), name = lt::str(part);
  for (std::size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), "long");
  return text;
}

std::size_t distinct_nodes(const AnyExpr& e) {
  struct Distinct : lt::Visitor {
    std::unordered_map<const void*, bool> seen;
    void expr(const AnyExpr& at) override {
      if (seen.emplace(at.get(), true).second) descend(at);
    }
  } all;
  all.expr(e);
  return all.seen.size();
}

/// What e is, each node evaluated where it is needed and not elsewhere.
class Lazy {
 public:
  explicit Lazy(std::int64_t its_i) { vars_[i.get()] = its_i; }
  bool outside = false;  ///< whether an element was read that is not there

  std::int64_t value(const AnyExpr& e) {
    auto known = memo_.find(e.get());
    if (known != memo_.end()) return known->second;
    const std::int64_t v = compute(e);
    memo_[e.get()] = v;
    return v;
  }

 private:
  std::int64_t compute(const AnyExpr& e) {
    if (const auto* c = e.as<lt::ConstNode>()) return c->i;
    if (const auto* v = e.as<lt::VarNode>()) return vars_.at(v);
    if (const auto* s = e.as<lt::SelectNode>())
      return value(s->condition) ? value(s->yes) : value(s->no);
    if (const auto* let = e.as<lt::LetNode>()) {
      for (const auto& b : let->bindings) vars_[b.var.get()] = value(b.value);
      return value(let->body);
    }
    if (const auto* load = e.as<lt::LoadNode>()) {
      const std::int64_t at = value(load->indices[0]);
      outside = outside || at < 0 || at >= 8;
      return at * at * 77 + 13;
    }
    const auto* n = e.as<lt::BinaryNode>();
    lt::detail::Scalar a, b;
    a.i = value(n->a), b.i = value(n->b);
    return lt::detail::scalar_binary(n->op, lt::kI64, a, b).i;
  }

  std::unordered_map<const void*, std::int64_t> vars_, memo_;
};

/// Expressions of which each may use those before it, loads under what keeps them inside.
class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, bool loads) : random_(seed), loads_(loads) {}

  AnyExpr make(int steps) {
    all_ = {i, lt::make_const(lt::kI64, 3), loads_ ? x(lt::floormod(i, AnyExpr(8))) : i + 9};
    for (int k = 0; k < steps; ++k) all_.push_back(next());
    AnyExpr sum = all_.back();
    for (int k = 0; k < 3; ++k) sum = sum + one();
    return sum;
  }

 private:
  AnyExpr one() {
    const int back = random_.below(random_.chance(80) ? 4 : 40) + 1;
    const int at = std::max(0, static_cast<int>(all_.size()) - back);
    return all_[static_cast<std::size_t>(at)];
  }
  AnyExpr next() {
    switch (random_.below(loads_ ? 6 : 5)) {
      case 0:
        return one() * one() + 1;
      case 1:
        return one() - one();
      case 2:
        return lt::make_select(one() < one(), one(), one());
      case 5: {
        AnyExpr at = one();
        return lt::make_select(inside(at), x(at) + one(), one());
      }
      default:
        return one() + one() * 5;
    }
  }
  test::Random random_;
  bool loads_;
  std::vector<AnyExpr> all_;
};

}  // namespace

TEST_CASE("short or single parts stay written out") {
  AnyExpr two = x(i) * x(i + 1);
  AnyExpr sum = two + two;
  CHECK(lt::bind_shared(sum).same_as(sum));
  AnyExpr single = long_of(long_of(x(i)));
  CHECK(lt::bind_shared(single).same_as(single));
  // An index is seen through, unless it is very long.
  AnyExpr index = long_of(i), read = x(index) + x(index);
  CHECK(lt::bind_shared(read).same_as(read));
}

TEST_CASE("a shared value is bound where each evaluation needs it") {
  const AnyExpr part = long_of(x(i)), other = long_of(i);
  CHECK(bound(part * part, part) == "(let t0 = long in t0 * t0)");
  // In one arm: inside of it. In both arms, or the condition: around the select.
  CHECK(bound(lt::make_select(i < 4, part * part, i), part) ==
        "select(i < 4, (let t0 = long in t0 * t0), i)");
  CHECK(bound(lt::make_select(i < 4, part + 1, part - 1), part) ==
        "(let t0 = long in select(i < 4, t0 + 1, t0 - 1))");
  CHECK(bound(lt::make_select(part < 4, part, i), part) ==
        "(let t0 = long in select(t0 < 4, t0, i))");
  // In arms of two selects it may be needed by none: what loads stays, what does not is hoisted.
  const auto twice = [&](const AnyExpr& e) {
    return lt::make_select(i < 4, e, i) + lt::make_select(i > 2, e, i);
  };
  CHECK(bound(twice(part), part) == "select(i < 4, long, i) + select(i > 2, long, i)");
  CHECK(bound(twice(other), other) ==
        "(let t0 = long in select(i < 4, t0, i) + select(i > 2, t0, i))");
  CHECK(bound(twice(part) + part, part) ==
        "(let t0 = long in select(i < 4, t0, i) + select(i > 2, t0, i) + t0)");
}

TEST_CASE("what is in bounds in any case may be bound where it is not needed") {
  const auto twice = [&](const AnyExpr& e) {
    return lt::make_select(i < 4, e, i) + lt::make_select(i > 2, e, i);
  };
  const AnyExpr guarded = long_of(lt::make_select(inside(i), x(i) + 1, i)),
                rest = long_of(x(lt::floormod(i, AnyExpr(8)))), first = long_of(x(0));
  for (const AnyExpr& part : {guarded, rest, first})
    CHECK(bound(twice(part), part) ==
          "(let t0 = long in select(i < 4, t0, i) + select(i > 2, t0, i))");
  AnyExpr large = i;  // written out, it has a million nodes
  for (int k = 0; k < 20; ++k) large = large * large;
  const AnyExpr far = long_of(lt::make_select(inside(large), x(large), i));
  CHECK(lt::node_count(lt::bind_shared(twice(far))) < 2 * distinct_nodes(far));
  const AnyExpr unsure = long_of(lt::make_select(i >= 0, x(i), i));
  CHECK(bound(twice(unsure), unsure) == "select(i < 4, long, i) + select(i > 2, long, i)");
  const lt::Buffer any_size = lt::make_buffer("A", lt::kI64, {lt::make_var("n")});
  const AnyExpr symbolic = long_of(lt::make_load(any_size, {lt::floormod(i, AnyExpr(8))}));
  const AnyExpr below = long_of(lt::make_select(lt::logical_and(i >= -1, i < 8), x(i), i));
  const AnyExpr above = long_of(lt::make_select(lt::logical_and(i >= 0, i < 9), x(i), i));
  for (const AnyExpr& outside : {symbolic, below, above})
    CHECK(bound(twice(outside), outside) == "select(i < 4, long, i) + select(i > 2, long, i)");
  // An element that is read in any case may be read by all that needs it.
  const AnyExpr element = x(i), part = long_of(element);
  CHECK(bound(twice(part) + element, part) ==
        "(let t0 = long in select(i < 4, t0, i) + select(i > 2, t0, i)) + X[i]");
}

TEST_CASE("selects over a padded table grow with their steps") {
  const auto nodes = [](int steps) {
    std::vector<AnyExpr> all = {i, x(lt::floormod(i, AnyExpr(8))), i + 9};
    for (int k = 0; k < steps; ++k) {
      const AnyExpr a = all[all.size() - 1], b = all[all.size() - 2], c = all[all.size() - 3];
      all.push_back(lt::make_select(a < b, lt::make_select(inside(c), x(c), b), a - c));
    }
    return lt::node_count(lt::bind_shared(all.back()));
  };
  CHECK(nodes(40) < 4 * nodes(20));
}

TEST_CASE("variables that a let binds stay inside of it") {
  const lt::VarRef v = lt::make_var("v");
  const AnyExpr part = long_of(v);
  const AnyExpr e = lt::make_let(v, x(i), part * part);
  CHECK(lt::free_vars(lt::bind_shared(e)).size() == 1);
  CHECK(Lazy(3).value(lt::bind_shared(e)) == Lazy(3).value(e));
}

TEST_CASE("a graph of any height and size takes time and nodes in proportion") {
  AnyExpr tall = x(i);  // of three nodes a step
  for (int k = 0; k < 100000; ++k) tall = tall * tall + k;
  const AnyExpr let = lt::bind_shared(tall);
  CHECK(let->height < 1000);
  CHECK(lt::node_count(let) < 4 * 300000);
  AnyExpr single = x(i);
  for (int k = 0; k < 100000; ++k) single = single + k;
  const AnyExpr cut = lt::bind_shared(single);
  CHECK(cut->height < 1000);
  CHECK(lt::node_count(cut) < 400000);
}

TEST_CASE("fuzz: what is bound has the value of the graph, and reads nothing that it does not") {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    const bool loads = seed % 2 == 0;
    const AnyExpr e = RandomGraph(seed, loads).make(loads ? 14 : 60);
    const AnyExpr let = lt::bind_shared(e);
    for (std::int64_t at : {-3, 0, 2, 7, 11}) {
      Lazy graph(at), names(at);
      REQUIRE(names.value(let) == graph.value(e));
      REQUIRE(!graph.outside);
      REQUIRE(!names.outside);
    }
    if (!loads && e->weight > 20000) REQUIRE(lt::node_count(let) < 4 * distinct_nodes(e));
  }
}
