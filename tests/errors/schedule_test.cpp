// Refusals of schedule steps on programs that the DSL does not make: conditions, opaque and ragged
// blocks, reducers with an order. Each leaves the schedule as it was.
#include <doctest/doctest.h>

#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <string>
#include <support/errors.hpp>

#include "odd_programs.hpp"

namespace lt = lathe;

namespace {

struct Refused {
  const char* program;
  void (*step)(lt::Schedule& s);
  const char* expected;
};

lt::LoopRef loop(lt::Schedule& s, const char* block, std::size_t k) { return s.loops(block)[k]; }

const Refused kRefused[] = {
    {kGuarded, [](lt::Schedule& s) { s.cache_read("Y", "T", lt::Scope::global); },
     "L0216 cache_read: block 'Y' stands under a condition or inside another block"},
    {kGuarded, [](lt::Schedule& s) { s.cache_write("T", lt::Scope::global); },
     "L0217 cache_write: block 'T' stands under a condition or inside another block"},
    {kGuarded, [](lt::Schedule& s) { s.compute_at("T", loop(s, "Y", 0)); },
     "L0212 compute_at: block 'T' stands under a condition or inside another block"},
    {kGuarded, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'T' stands under a condition or inside another block"},
    {kGuarded, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); },
     "L0215 reverse_compute_inline: block 'Y' or its producer stands under a condition or inside "
     "another block"},
    {kGuarded, [](lt::Schedule& s) { s.reverse_compute_at("Y", loop(s, "T", 0)); },
     "L0212 reverse_compute_at: block 'Y' stands under a condition or inside another block"},
    {kOdd, [](lt::Schedule& s) { s.compute_at("T", loop(s, "UV", 0)); },
     "L0212 compute_at: block 'T' can't be moved: different instances may store to one element of "
     "'T': the indices don't determine every iterator"},
    {kOdd, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'T' is not one store"},
    {kOdd, [](lt::Schedule& s) { s.compute_inline("UV"); },
     "L0214 compute_inline: block 'UV' is not one store"},
    {kOdd, [](lt::Schedule& s) { s.cache_read("Y", s.block("UV"), lt::Scope::local); },
     "L0202 cache_read: block 'UV' writes 2 buffers: name one"},
    {kOdd, [](lt::Schedule& s) { s.reverse_compute_inline("UV"); },
     "L0215 reverse_compute_inline: block 'UV' is not a complete block of one store"},
    {kOdd, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); },
     "L0215 reverse_compute_inline: block 'Y' has 2 producers, not one: 'T', 'UV'"},
    {kOdd, [](lt::Schedule& s) { s.tensorize(loop(s, "UV", 0), "vpdpbusd"); },
     "L0235 tensorize: 'vpdpbusd' does not do what block 'UV' does: it is not one plain store"},
    {kTails, [](lt::Schedule& s) { s.tensorize(loop(s, "Y", 2), "vpdpbusd"); },
     "L0235 tensorize: 'vpdpbusd' does not do what block 'Y' does: it does not run for all points "
     "of the loops"},
    {kGather, [](lt::Schedule& s) { s.cache_write("Y", lt::Scope::global); },
     "L0217 cache_write: what 'Y' writes of 'Y' in one iteration is not known"},
    {kPredicate, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'T' has a predicate, outside which its output is not defined"},
    {kPredicate, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); },
     "L0215 reverse_compute_inline: not every instance of 'Y' surely has its producer's: not all "
     "elements of 'T' that are read are surely written before"},
    {kOpaque, [](lt::Schedule& s) { s.cache_read("T", "X", lt::Scope::global); },
     "L0216 cache_read: block 'T' uses 'X' as a whole, not by loads"},
    {kOpaque, [](lt::Schedule& s) { s.cache_write("T", lt::Scope::global); },
     "L0217 cache_write: block 'T' can't write a copy of 'T': it is opaque"},
    {kOpaque, [](lt::Schedule& s) { s.compute_at("T", loop(s, "Y", 0)); },
     "L0212 compute_at: block 'T' can't be moved: it is opaque"},
    {kOpaque, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'T' can't be inlined: it is opaque"},
    {kOpaque, [](lt::Schedule& s) { s.vectorize(loop(s, "T", 0)); },
     "L0209 vectorize: block 'T' is opaque and has no vector form"},
    {kOpaque,
     [](lt::Schedule& s) {
       s.transform_layout("T", [](lt::Index a) { return lt::layout(a / 4, a % 4); });
     },
     "L0221 transform_layout: buffer 'T' is used by an opaque block"},
    {kRagged, [](lt::Schedule& s) { s.compute_at("T", loop(s, "Y", 0)); },
     "L0212 compute_at: block 'T' has a domain that depends on another of its iterators"},
    {kRagged, [](lt::Schedule& s) { s.cache_write("T", lt::Scope::global); },
     "L0217 cache_write: block 'T' has a domain that depends on another of its iterators"},
    {kRagged, [](lt::Schedule& s) { s.vectorize(loop(s, "T", 0)); },
     "L0209 vectorize: the bound of loop 'j' differs between the lanes of 'i'"},
    {kTriangle,
     [](lt::Schedule& s) {
       s.split<2>(loop(s, "C", 1), {lt::infer, 4});
     },
     "L0224 split: the tail of loop 'j' of block 'C' can't be guarded, as its bound depends on "
     "loop 'i'"},
    {kRagged,
     [](lt::Schedule& s) {
       s.transform_layout("T", [](lt::Index a, lt::Index b) { return lt::layout(a + b, b * b); });
     },
     "L0221 transform_layout: the map is not proved to give two elements of buffer 'T' different "
     "places: the index multiplies two iterators"},
    {kRagged, [](lt::Schedule& s) { s.transform_layout("T", lt::LayoutMap{}); },
     "L0221 transform_layout: the map is empty, or gives something else than i64 indices"},
    {kRagged,
     [](lt::Schedule& s) {
       lt::VarRef a = lt::make_var("a"), b = lt::make_var("b"), c = lt::make_var("c");
       s.transform_layout(
           "T", lt::make_ref<lt::LayoutMapNode>(std::vector{a, b}, std::vector<lt::AnyExpr>{a, c}));
     },
     "L0221 transform_layout: the map names 'c', which is neither an index nor a Dim"},
    {kRaggedSum, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 1)); },
     "L0219 rfactor: block 'Y' has a domain that depends on another of its iterators"},
    {kOrdered,
     [](lt::Schedule& s) {
       s.reorder({loop(s, "Y", 1), loop(s, "Y", 0)});
     },
     "L0207 reorder: the order of the reduce loops of 'Y' matters: reducer 'last' is not "
     "commutative (the reducer is not commutative)"},
    {kOrdered, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 1)); },
     "L0219 rfactor: reducer 'last' is not commutative"},
    {kOrdered,
     [](lt::Schedule& s) {
       s.reorder({loop(s, "Z", 1), loop(s, "Z", 0)});
     },
     "L0207 reorder: the order of the reduce loops of 'Z' matters: reducer 'decay' is not "
     "commutative (the reducer is not associative: combine(1.0, identity) is 0.5)"},
    {kOrdered, [](lt::Schedule& s) { s.rfactor(loop(s, "Z", 0)); },
     "L0219 rfactor: the order of 'Z' matters: the reducer is not associative: combine(1.0, "
     "identity) is 0.5"},
    {kInPlace,
     [](lt::Schedule& s) {
       s.reorder({loop(s, "X", 1), loop(s, "X", 0)});
     },
     "L0207 reorder: block 'X' reads X[i, j + 1] and block 'X' writes X[i + 1, j]: different "
     "iterations of 'i', 'j' touch one element"},
    {kInPlace, [](lt::Schedule& s) { s.cache_read("X", "X", lt::Scope::global); },
     "L0216 cache_read: block 'X' both reads and writes 'X'"},
    {kInPlace, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'X' overwrites what 'T' reads before its readers run"},
    {kInPlace, [](lt::Schedule& s) { s.parallel(loop(s, "X", 0)); },
     "L0207 parallel: iterations of loop 'i'(7) depend on each other: block 'X' reads X[i, j + 1] "
     "and block 'X' writes X[i + 1, j]: different iterations of 'i' touch one element"},
    {kInPlace, [](lt::Schedule& s) { s.parallel(loop(s, "T", 0), -1); },
     "L0202 parallel: max_threads is -1"},
    {kInPlace, [](lt::Schedule& s) { s.prefetch("X", loop(s, "T", 0), 4, 7); },
     "L0222 prefetch: locality 7 is not between 0 (once) and 3 (keep)"},
    {kInPlace, [](lt::Schedule& s) { s.prefetch("X", loop(s, "T", 0), 0); },
     "L0222 prefetch: distance 0 is not between 1 and 2^20"},
    {kInPlace, [](lt::Schedule& s) { s.prefetch("Y", loop(s, "T", 0), 4); },
     "L0222 prefetch: nothing inside loop 'i'(8) reads 'Y'"},
    {kAdds, [](lt::Schedule& s) { s.cache_write("Y", lt::Scope::global); },
     "L0217 cache_write: block 'Y' adds to what 'Y' holds already"},
    {kAdds, [](lt::Schedule& s) { s.decompose_reduction("Y", loop(s, "Y", 1)); },
     "L0218 decompose_reduction: block 'Y' has no init: it was decomposed before"},
    {kWide, [](lt::Schedule& s) { s.vectorize(loop(s, "Y", 0)); },
     "L0209 vectorize: loop 'i'(4096) has more than 1024 iterations"},
    {kWide, [](lt::Schedule& s) { s.decompose_reduction("Y", loop(s, "Y", 1)); },
     "L0218 decompose_reduction: block 'Y' is no reduction"},
    {kWide, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 1)); },
     "L0219 rfactor: loop 'j'(4) feeds no reduction"},
    {kWide, [](lt::Schedule& s) { s.compute_inline("Y"); },
     "L0214 compute_inline: block 'Y' writes the parameter 'Y'"},
    {kWide, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); },
     "L0215 reverse_compute_inline: block 'Y' has 0 producers, not one"},
    {kWide, [](lt::Schedule& s) { s.loops<3>("Y"); }, "L0202 loops: block 'Y' has 2 loops, not 3"},
    {kWide, [](lt::Schedule& s) { s.block("Q"); }, "L0201 block: no block is called 'Q'"},
    {kWide,
     [](lt::Schedule& s) {
       s.reorder({loop(s, "Y", 0), loop(s, "Y", 0)});
     },
     "L0202 reorder: loop 'i' is named twice"},
    {kWide,
     [](lt::Schedule& s) {
       s.split<2>(loop(s, "Y", 0), {std::int64_t{1} << 31, std::int64_t{1} << 31});
     },
     "L0203 split: factors {2147483648, 2147483648} multiply beyond 2^61"},
    {kWide,
     [](lt::Schedule& s) {
       s.split<2>(loop(s, "Y", 0), {std::int64_t{1} << 60, std::int64_t{1} << 60});
     },
     "L0203 split: factors {1152921504606846976, 1152921504606846976} multiply beyond 2^61"},
    {kWide, [](lt::Schedule& s) { s.fuse({loop(s, "Y", 0)}); },
     "L0202 fuse: needs at least two loops"},
    {kWide, [](lt::Schedule& s) { s.fuse(loop(s, "Y", 1), loop(s, "Y", 0)); },
     "L0205 fuse: loop 'i'(4096) is not directly and alone inside loop 'j'(4)"},
    {kHuge, [](lt::Schedule& s) { s.fuse(loop(s, "Y", 0), loop(s, "Y", 1)); },
     "L0202 fuse: the fused extent is beyond 2^61"},
    {kShared, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 0)); },
     "L0219 rfactor: loop 'r'(4) holds 2 blocks, not one"},
    {kSharedOuter, [](lt::Schedule& s) { s.rfactor(loop(s, "Y", 2)); },
     "L0219 rfactor: the reduction of 'Y' shares loop 'ro'(2) with other blocks"},
    {kChain, [](lt::Schedule& s) { s.compute_inline("U"); },
     "L0214 compute_inline: block 'W' overwrites what 'U' reads before its readers run"},
    {kChain, [](lt::Schedule& s) { s.compute_inline("T"); },
     "L0214 compute_inline: block 'T' writes the parameter 'T'"},
    {kChain, [](lt::Schedule& s) { s.reverse_compute_inline("W"); },
     "L0215 reverse_compute_inline: producer 'U' reads what block 'W' writes"},
    {kChain, [](lt::Schedule& s) { s.reverse_compute_inline("Y"); },
     "L0215 reverse_compute_inline: 'T' is a parameter"},
    {kChain, [](lt::Schedule& s) { s.compute_at("T", loop(s, "Y", 0)); },
     "L0212 compute_at: block 'T' writes the parameter 'T'"},
    {kChain, [](lt::Schedule& s) { s.set_scope("T", lt::Scope::local); },
     "L0220 set_scope: buffer 'T' is a parameter"},
    {kSymbolic,
     [](lt::Schedule& s) {
       lt::AnyExpr n = s.program()->dims[0]->var;
       s.split<2>(loop(s, "Y", 0), {lt::infer, n});
     },
     "L0203 split: factor n may be less than 1"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(
           *lt::find_primitive("split"),
           {loop(s, "Y", 0), lt::Arg::of_list({lt::Arg::of_number(2)}), lt::Arg::of_word("some")});
     },
     "L0224 split: no tail is called 'some'"},
    {kSymbolic,
     [](lt::Schedule& s) {
       s.split<2>(loop(s, "Y", 0), {2, 8});
     },
     "L0203 split: factors {2, 8} give 16, but loop 'i' of block 'Y' has extent n"},
    {kSymbolic, [](lt::Schedule& s) { s.vectorize(loop(s, "Y", 0)); },
     "L0209 vectorize: loop 'i'(n) has no constant extent"},
    {kSymbolic, [](lt::Schedule& s) { s.unroll(loop(s, "Y", 0)); },
     "L0210 unroll: loop 'i'(n) has no constant extent"},
    {kSymbolic, [](lt::Schedule& s) { s.cache_read("Y", "Y", lt::Scope::global); },
     "L0216 cache_read: block 'Y' does not read 'Y'"},
    {kGuarded,
     [](lt::Schedule& s) { s.apply(*lt::find_primitive("loop_at"), {lt::Arg::of_number(9)}); },
     "L0201 loop_at: the program has 2 loops, no loop number 9"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(*lt::find_primitive("annotate"),
               {lt::Arg::of_number(2), lt::Arg::of_text("user.a"), lt::Arg::of_number(1)});
     },
     "L0202 annotate: annotates a loop or a block"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(*lt::find_primitive("reorder"), {lt::Arg::of_list({lt::Arg::of_number(2)})});
     },
     "L0202 reorder: argument 'loops' holds a number"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(*lt::find_primitive("reorder"), {lt::Arg::of_list({lt::Arg::of_text("i")})});
     },
     "L0202 reorder: argument 'loops' holds a text"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(*lt::find_primitive("loop_partition"),
               {loop(s, "Y", 0), lt::Arg::of_list({loop(s, "Y", 0)})});
     },
     "L0202 loop_partition: argument 'points' holds a loop"},
    {kGuarded, [](lt::Schedule& s) { s.apply(*lt::find_primitive("fuse"), {}); },
     "L0202 fuse: needs an argument 'loops'"},
    {kGuarded,
     [](lt::Schedule& s) { s.apply(*lt::find_primitive("unroll"), {lt::Arg::of_number(2)}); },
     "L0202 unroll: argument 'loop' is a number, not a loop"},
    {kGuarded,
     [](lt::Schedule& s) {
       s.apply(*lt::find_primitive("parallel"),
               {loop(s, "Y", 0), lt::Arg::of_number(2), lt::Arg::of_number(2)});
     },
     "L0202 parallel: takes 2 arguments, not 3"},
};

}  // namespace

TEST_CASE("refusals name what is wrong, and change nothing") {
  for (const Refused& r : kRefused) {
    lt::Schedule s(lt::parse(r.program + 1));
    const std::string before = s.str();
    CHECK(test::error_of([&] { r.step(s); }) == r.expected);
    CHECK(s.str() == before);
    CHECK(s.trace().entries.empty());
  }
}

TEST_CASE("what a schedule can't be made of") {
  CHECK(test::error_of([] { lt::Schedule s{lt::Program()}; }) ==
        "L0202 schedule: the program is empty");
  lt::Program p = lt::parse(
      "program P(in X: f32[8], out Y: f32[8]) stage loops:\n  for i in 0..8:\n    Y[i] = X[i]\n");
  CHECK(test::error_of([&] { lt::Schedule s(p); }) ==
        "L0202 schedule: the program is at stage 'loops', not 'blocks'");
}

TEST_CASE("a long history, and schedules that were moved from") {
  lt::Schedule s(lt::parse(kWide + 1));
  lt::LoopRef i = s.loops("Y")[0];
  for (int k = 0; k < 20000; ++k) s.annotate(i, "user.k", std::int64_t{k});
  lt::Schedule t(std::move(s));
  CHECK(s.loops("Y").size() == 2);
  CHECK(s.str() == t.str());
}
