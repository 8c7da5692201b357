#include <doctest/doctest.h>

#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/uses.hpp>

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/analysis/impl/layer.ipp>
#endif

#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>

using namespace lathe;

namespace {

const char* const kKinds[] = {"read", "write", "update", "opaque"};

template <class Loops>
std::string line(const Buffer& buffer, AccessKind kind, bool is_write, const BlockNode* block,
                 const Loops& loops) {
  std::string out = std::string(kKinds[static_cast<int>(kind)]) + (is_write ? " to " : " of ") +
                    buffer->name + " in " + (block ? block->name() : "no block") + " below";
  for (const auto& f : loops) out += " " + f->var->name;
  return out + "\n";
}

std::string by_accesses(const Stmt& s, const Buffer* only = nullptr) {
  std::string out;
  for (const auto& a : accesses(s))
    if (!only || a.buffer == *only)
      out += line(a.buffer, a.kind, a.is_write, a.block.get(), a.loops);
  return out;
}
std::string by_uses(const Stmt& s) {
  std::string out;
  detail::any_use(s, [&](const detail::BufferUse& u) {
    out += line(u.buffer, u.kind, u.is_write, u.block, u.loops);
    return false;
  });
  return out;
}
std::string by_uses(const BlockNode& block) {
  std::string out;
  detail::any_use(block, [&](const detail::BufferUse& u) {
    out += line(u.buffer, u.kind, u.is_write, u.block, u.loops);
    return false;
  });
  return out;
}

// Every kind of statement that touches a buffer: loads in bounds, bindings, predicates and masks,
// declared regions, atomics, bare stores, prefetches.
Program all_kinds() {
  return parse(
      "program p(in A: f32[64], in N: i64[8], inout H: i64[8], out B: f32[64], out C: f32[8]):\n"
      "  alloc T: f32[64]\n"
      "  for i in 0..8:\n"
      "    eval prefetch(A[N[i]], 3)\n"
      "    for j in 0..N[i]:\n"
      "      block T(v in 0..64 = i * 8 + j) where v != N[0]:\n"
      "        T[v] = select(A[v] > 0.0, A[v], 0.0)\n"
      "    atomic H[i] += N[i]\n"
      "  for k in 0..8:\n"
      "    for r in 0..8:\n"
      "      block C(w in 0..8 = k, reduce u in 0..8 = r) reduce sum init:\n"
      "        C[w] sum= T[w * 8 + u]\n"
      "  for z in 0..8:\n"
      "    block D(y in 0..8 = z) reads A[y..y + 1] writes H[y..y + 1]:\n"
      "      H[y] = N[y]\n"
      "  for x in 0..64:\n"
      "    if x < 32:\n"
      "      B[x] = T[x]\n"
      "    else:\n"
      "      B[x] = C[x - 32]\n");
}

}  // namespace

TEST_CASE("uses are the accesses, without indices and conditions") {
  Program p = all_kinds();
  CHECK(by_uses(p->body) == by_accesses(p->body));
  for (const auto& site : blocks_below(p->body)) {
    std::string inside;
    for (const auto& a : accesses(*site.block))
      inside += line(a.buffer, a.kind, a.is_write, a.block.get(), a.loops);
    CHECK(by_uses(*site.block) == inside);
  }
}

TEST_CASE("the accesses of one buffer are those among all that touch it") {
  Program p = all_kinds();
  for (const auto& param : p->params) {
    std::string one;
    std::size_t order = 0;
    for (const auto& a : accesses_to(param.buffer, p->body)) {
      one += line(a.buffer, a.kind, a.is_write, a.block.get(), a.loops);
      CHECK(a.order == order++);
    }
    CHECK(one == by_accesses(p->body, &param.buffer));
  }
}

TEST_CASE("the accesses below a loop are those of the whole program that lie there") {
  Program p = all_kinds();
  each_statement(p->body, [&](const Stmt& s) {
    const auto* loop = s.as<ForNode>();
    if (!loop) return;
    std::string want, got;
    auto add = [&](const AccessSite& a, std::string& to) {
      to += line(a.buffer, a.kind, a.is_write, a.block.get(), a.loops);
      for (const auto& i : a.indices) to += " " + str(i);
      if (a.condition) to += " if " + str(a.condition);
    };
    for (const auto& a : accesses(p->body)) {
      bool below = false;
      for (const auto& f : a.loops) below = below || f->var == loop->var;
      if (below) add(a, want);
    }
    for (const auto& a : accesses_below(find_loop(p->body, loop->var))) add(a, got);
    CHECK(got == want);
  });
}

TEST_CASE("the walk over uses ends with the first that is wanted") {
  Program p = all_kinds();
  int seen = 0;
  CHECK(detail::any_use(p->body, [&](const detail::BufferUse& u) {
    ++seen;
    return u.buffer->name == "A";
  }));
  CHECK(seen < 8);
  CHECK_FALSE(detail::any_use(p->body, [](const detail::BufferUse&) { return false; }));
}
