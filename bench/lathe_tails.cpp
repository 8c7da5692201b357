// The tails of splits against each other: what each is for.
#include "jit_costs.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

constexpr lt::Tail tails[] = {lt::Tail::guard, lt::Tail::mask, lt::Tail::peel};

lt::Schedule product_in_tiles(lt::Tail tail) {
  lt::Dim m("m"), n("n"), k("k");
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  lt::Schedule s(C);
  auto [i, j, rr] = s.loops<3>(C);
  auto [io, ii] = s.split<2>(i, {lt::infer, 8}, tail);
  auto [jo, ji] = s.split<2>(j, {lt::infer, 32}, tail);
  s.reorder({io, jo, rr, ii, ji});
  s.vectorize(ji);
  s.unroll(ii);
  return s;
}

}  // namespace

std::vector<Competitor> lathe_tails(const float* x, float* y) {
  std::vector<Competitor> all;
  for (const lt::Tail tail : tails) {
    lt::Dim n("n");
    lt::Input<float, 1> X("X", {n});
    auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
    lt::Schedule s(Y);
    s.vectorize(s.split<2>(s.loops<1>(Y)[0], {lt::infer, tail_lanes}, tail)[1]);
    auto kernel = lt::jit({s, {.context = &context_for(1)}}, X, Y);
    const lt::View<const float, 1> from(x, {tail_elements});
    const lt::View<float, 1> to(y, {tail_elements});
    all.push_back({std::string(lt::to_text(tail)), [=] { kernel(from, to); }});
  }
  return all;
}

std::vector<Competitor> lathe_tail_compilers() {
  std::vector<Competitor> all;
  for (const lt::Tail tail : tails)
    all.push_back({std::string(lt::to_text(tail)), [tail] {
                     lt::Context fresh({.threads = 1});
                     lt::jit_any({product_in_tiles(tail), {.context = &fresh}}, {});
                   }});
  return all;
}

}  // namespace bench
#else
namespace bench {

std::vector<Competitor> lathe_tails(const float*, float*) { return {}; }
std::vector<Competitor> lathe_tail_compilers() { return {}; }

}  // namespace bench
#endif
