#include <doctest/doctest.h>

#include <lathe/analysis/instances.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

struct Nest {
  Program program;
  BlockSite site;
  Instances instances;
};

/// Block C[v] sum= A[w] under these loops, with these bindings of v and w.
Nest nest(const std::vector<std::pair<std::string, std::string>>& loops, const std::string& v,
          const std::string& w, const std::string& tail = "init") {
  std::string text = "program p<n in 1..=4096>(in A: i32[n * n], out C: i32[n * n]):\n", pad = "  ";
  for (const auto& [name, extent] : loops) {
    text += pad + "for " + name + " in 0.." + extent + ":\n";
    pad += "  ";
  }
  text += pad + "block C(v in 0..n * n = " + v + ", reduce w in 0..n * n = " + w + ") reduce sum " +
          tail + ":\n" + pad + "  C[v] sum= A[w]\n";
  Program p = parse(text);
  BlockSite site = find_block(p->body, tag_named(p, "C"));
  return {p, site, Instances(site, Facts(p))};
}
std::string name_of(const ForRef& loop) { return loop ? loop->var->name : "none"; }

}  // namespace

TEST_CASE("the init stands before the outermost loop that feeds the reduction") {
  CHECK(nest({{"i", "8"}, {"r", "4"}}, "i", "r").instances.first() == 1);
  CHECK(nest({{"r", "4"}, {"i", "8"}}, "i", "r").instances.first() == 0);
  CHECK(nest({{"t", "3"}, {"r", "4"}, {"i", "8"}}, "i", "r").instances.first() == 1);
  CHECK(nest({{"i", "8"}}, "i", "0").instances.first() == 1);
}

TEST_CASE("loops that nothing is bound to repeat points and instances") {
  Nest spin = nest({{"t", "3"}, {"r", "4"}, {"i", "8"}}, "i", "r");
  CHECK(name_of(spin.instances.repeats_point(0, 1)) == "t");
  CHECK(name_of(spin.instances.repeats_instance(0)) == "t");
  CHECK(name_of(spin.instances.repeats_instance(1)) == "none");
  CHECK(name_of(spin.instances.repeats_update()) == "none");  // t starts the fold anew
  Nest inner = nest({{"i", "8"}, {"r", "4"}, {"t", "3"}}, "i", "r");
  CHECK(name_of(inner.instances.repeats_point(0, 1)) == "none");
  CHECK(name_of(inner.instances.repeats_update()) == "t");
  CHECK(inner.instances.most_updates() == 12);
  CHECK(name_of(nest({{"i", "8"}, {"r", "4"}, {"t", "1"}}, "i", "r").instances.repeats_update()) ==
        "none");
}

TEST_CASE("without init every iteration counts") {
  Nest spin = nest({{"t", "3"}, {"r", "4"}, {"i", "8"}}, "i", "r", "");
  CHECK(name_of(spin.instances.repeats_update()) == "t");
  CHECK(spin.instances.most_updates() == 12);
}

TEST_CASE("bindings that are not injective repeat instances") {
  const std::vector<std::pair<std::string, std::string>> loops = {
      {"i", "8"}, {"q", "5"}, {"r", "4"}};
  CHECK(name_of(nest(loops, "i", "q * 4 + r").instances.repeats_update()) == "none");
  CHECK(name_of(nest(loops, "i", "q * 3 + r").instances.repeats_update()) == "q");
  CHECK(name_of(nest(loops, "i", "floordiv(q * 4 + r, 3)").instances.repeats_update()) == "q");
  CHECK(name_of(nest(loops, "i * 2 + q", "r").instances.repeats_point(0, 2)) == "i");
  CHECK(name_of(nest(loops, "i * 5 + q", "r").instances.repeats_point(0, 2)) == "none");
  CHECK(nest(loops, "i", "q * 3 + r").instances.most_updates() == 20);
}

TEST_CASE("the digits of a sum tell their loops, and others don't") {
  const auto told = [](const std::vector<std::pair<std::string, std::string>>& loops,
                       const std::string& v, std::size_t from) {
    std::string out;
    for (const bool t : nest(loops, v, "0").instances.told_by_point(from)) out += t ? '1' : '0';
    return out;
  };
  CHECK(told({{"a", "4"}, {"b", "8"}, {"c", "3"}}, "b * 12 + c * 4 + a", 0) == "111");
  CHECK(told({{"a", "4"}, {"b", "8"}, {"c", "3"}}, "b * 11 + c * 4 + a", 0) == "000");
  CHECK(told({{"a", "4"}, {"b", "8"}}, "b * 3 + a", 0) == "00");
  CHECK(told({{"a", "4"}, {"b", "8"}}, "b * 3 + a", 1) == "1");
  CHECK(told({{"a", "4"}, {"b", "8"}}, "b + a + b * 4", 0) == "11");
  CHECK(told({{"a", "n"}, {"b", "8"}}, "a * 8 + b", 0) == "11");
  // Where a loop begins may depend on another.
  const Program p = parse(R"(program p(in A: i32[64], out C: i32[64]):
  for a in 0..4:
    for b in 4 - a * 4..8 - a * 4:
      block C(v in 0..64 = a * 4 + b, reduce w in 0..1 = 0) reduce sum init:
        C[v] sum= A[w]
)");
  const BlockSite site = find_block(p->body, tag_named(p, "C"));
  const Vec<bool> shifted = Instances(site, Facts(p)).told_by_point(0);
  CHECK(!shifted[0]);
}

TEST_CASE("split and fused loops over Dims repeat nothing") {
  CHECK(name_of(nest({{"x", "n * n"}, {"r", "n"}}, "floordiv(x, n) * n + floormod(x, n)", "r")
                    .instances.repeats_update()) == "none");
  Nest split = nest({{"o", "floordiv(n + 7, 8)"}, {"r", "n"}, {"u", "8"}}, "o * 8 + u", "r");
  CHECK(name_of(split.instances.repeats_point(0, 1)) == "none");
  CHECK(name_of(split.instances.repeats_instance(0)) == "none");
  CHECK(split.instances.most_updates() == 4096);
}

TEST_CASE("what an init reads decides whether a step may bring its writers inside") {
  Program p = parse(
      "program p(in A: i32[12, 8], in g: i32[12], inout C: i32[12]):\n"
      "  alloc f: i32[12]\n"
      "  for i in 0..12:\n"
      "    for r in 0..8:\n"
      "      block f(v in 0..12 = i):\n"
      "        f[v] = A[v, 0]\n"
      "      block C(v in 0..12 = i, reduce w in 0..8 = r) where f[v] > 0i32 && g[w] > 1i32 reduce "
      "sum init:\n"
      "        C[v] sum= A[v, w]\n");
  const BlockSite site = find_block(p->body, tag_named(p, "C"));
  const Vec<Buffer> inputs = init_inputs(site, site.path.size() - 1);
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0]->name == "f");
  const Vec<StaleInit> stale = stale_inits(p->body);
  REQUIRE(stale.size() == 1);
  CHECK(stale[0].writer->name == "f");
  CHECK(stale[0].block->name == "C");
}
