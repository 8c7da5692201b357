#include <doctest/doctest.h>

#include <lathe/analysis/access.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include "touch_trace.hpp"

using namespace lathe;
using namespace touch_test;

namespace {

Program two_blocks() {
  return parse(
      "program p<n in 1..=4096>(in A: f32[n, 9], in I: i64[n], out C: f32[n]):\n"
      "  alloc P: f32[n]\n"
      "  for io in 0..floordiv(n + 7, 8):\n"
      "    for ii in 0..8:\n"
      "      for r in 0..9:\n"
      "        block P(v in 0..n = io * 8 + ii, reduce k in 0..9 = r) reduce sum init:\n"
      "          P[v] sum= A[v, k]\n"
      "  for i in 0..n:\n"
      "    block C(w in 0..n = i) where w != 3:\n"
      "      C[w] = select(w > 0, P[w - 1], 0.0)\n");
}

std::string text(const AccessSite& a) {
  static const char* kinds[] = {"read", "write", "update", "opaque"};
  std::string out = std::string(kinds[static_cast<int>(a.kind)]) + " " + a.buffer->name + "[";
  for (std::size_t d = 0; d < a.indices.size(); ++d) out += (d ? ", " : "") + str(a.indices[d]);
  out += "]";
  return a.condition ? out + " if " + str(a.condition) : out;
}
std::string list(const std::vector<AccessSite>& all) {
  std::string out;
  for (const auto& a : all) out += text(a) + "\n";
  return out;
}
std::string names(const std::vector<BlockSite>& sites) {
  std::string out;
  for (const auto& s : sites) out += s.block->name() + " ";
  return out;
}

}  // namespace

TEST_CASE("accesses come in evaluation order with what guards them") {
  Program p = two_blocks();
  CHECK(list(accesses(p->body, AccessTerms::loops, Facts(p))) ==
        "read A[io * 8 + ii, r] if io * 8 + ii < n\n"
        "update P[io * 8 + ii] if io * 8 + ii < n\n"
        "read P[i - 1] if i != 3 && i > 0\n"
        "write C[i] if i != 3\n");
  CHECK(list(accesses(p->body, AccessTerms::iters)) ==
        "read A[v, k]\nupdate P[v]\nread P[w - 1] if w != 3 && w > 0\nwrite C[w] if w != 3\n");
  std::vector<AccessSite> all = accesses(p->body, AccessTerms::loops, Facts(p));
  REQUIRE(all.size() == 4);
  CHECK(all[1].loops.size() == 3);
  CHECK(all[1].block->name() == "P");
  CHECK(str(all[1].inner_indices[0]) == "v");
  CHECK_FALSE(all[1].inner_condition);
  CHECK(str(all[2].inner_condition) == "w != 3 && w > 0");
}

TEST_CASE("the init of a reduction stores where the reduction has no point") {
  for (const char* extent : {"0", "n"}) {
    const std::string n = extent;
    Program p =
        parse("program p<n>(in A: f32[9, n], out P: f32[9]):\n  for i in 0..9:\n    for ro in 0.." +
              n + ":\n      for ri in 0..3:\n        block P(v in 0..9 = i, reduce k in 0.." + n +
              " = ro * 3 + ri) reduce sum init where v > k:\n          P[v] sum= A[v, k]\n");
    const auto all = accesses(p->body, AccessTerms::loops, Facts(p));
    REQUIRE(all.size() == 2);
    CHECK(text(all[1]) == "update P[i]");
    CHECK(str(all[0].loops[1]->extent) == n);
    CHECK(str(all[1].loops[1]->extent) == (n == "0" ? "1" : "max(n, 1)"));
    CHECK(all[1].loops[0] == all[0].loops[0]);
    CHECK(all[1].loops[2] == all[0].loops[2]);
  }
}

TEST_CASE("the conditions of an update with an init leave out what reduce iterators decide") {
  Program p = parse(
      "program p(in A: f32[9, 9], out P: f32[9]):\n  for i in 0..9:\n    for r in 0..9:\n"
      "      block P(v in 0..9 = i, reduce k in 0..9 = r) reduce sum init where v > k && v < 7:\n"
      "        P[v] sum= A[v, k]\n");
  const auto all = accesses(p->body);
  REQUIRE(all.size() == 2);
  CHECK(list(all) == "read A[i, r] if i > r && i < 7\nupdate P[i] if i < 7\n");
  CHECK(str(all[0].inner_condition) == "v > k && v < 7");
  CHECK(str(all[1].inner_condition) == "v < 7");
  const BlockRefNode block = find_block(p->body, tag_named(p, "P")).block;
  CHECK(list(accesses(*block)) == "read A[v, k] if v > k && v < 7\nupdate P[v] if v < 7\n");
  BlockNode without_init(*block);
  without_init.init = false;
  CHECK(text(writes_of(without_init)[0]) == "update P[v] if v > k && v < 7");
}

TEST_CASE("blocks, loops and what holds on the way to them") {
  Program p = two_blocks();
  CHECK(names(blocks_below(p->body)) == "P C ");
  BlockSite site = find_block(p->body, tag_named(p, "P"));
  REQUIRE(site.block);
  CHECK(site.loops.size() == 3);
  CHECK(site.path.back().as<BlockNode>() == site.block.get());
  CHECK(facts_on(site.path, Facts(p)).range(site.loops[1]->var) == ConstInterval{0, 7});
  LoopSite loop = find_loop(p->body, site.loops[1]->var);
  CHECK(loop.loops.size() == 1);
  CHECK_FALSE(find_loop(p->body, make_var("ii")).loop);
  CHECK(common_loop(site.loops, loop.loops)->var->name == "io");
}

TEST_CASE("producers, consumers, private buffers") {
  Program p = two_blocks();
  CHECK(names(writers(p->body, buffer_named(p, "P"))) == "P ");
  CHECK(names(readers(p->body, buffer_named(p, "P"))) == "C ");
  CHECK(names(producers(p->body, tag_named(p, "C"))) == "P ");
  CHECK(names(consumers(p->body, tag_named(p, "P"))) == "C ");
  CHECK(is_private(p->body, buffer_named(p, "P")));
  CHECK_FALSE(is_private(p->body, buffer_named(p, "A")));
  CHECK(buffers_read(p->body).size() == 2);
  CHECK(buffers_written(p->body).size() == 2);
}

TEST_CASE("fuzz: what is collected is what runs") {
  Program p = two_blocks();
  const VarNode* n = p->dims[0]->var.get();
  std::vector<AccessSite> all = accesses(p->body, AccessTerms::loops, Facts(p));
  for (std::int64_t size : {1, 3, 8, 13}) {
    std::vector<Touch> ran = run(p->body, {{n, size}});
    std::size_t conditional = 0;
    for (const auto& t : ran) {
      bool found = false;
      for (const auto& a : all) {
        if (a.buffer.get() != t.buffer || (t.write ? !a.is_write : !a.reads())) continue;
        Env env{{n, size}};
        for (const auto& [var, value] : t.loops) env[var] = value;
        bool same = a.loops.size() == t.loops.size() &&
                    (!a.condition || index_test::eval(a.condition, env)[0]);
        for (std::size_t d = 0; same && d < a.indices.size(); ++d)
          same = index_test::eval(a.indices[d], env)[0] == t.element[d];
        found = found || same;
      }
      CHECK(found);
      conditional += !t.write && t.buffer->name == "P" && t.block->name == "C";
    }
    // Of the size points, 0 takes the other arm and 3 is left out.
    CHECK(static_cast<std::int64_t>(conditional) == size - 1 - (size > 3));
  }
}
