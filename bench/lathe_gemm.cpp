// GEMM as a user of Lathe writes it, and a schedule by hand (docs/notes/gemm-study.md says why this
// one).
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

namespace bench {

namespace {

// The part of C that stays in registers while k runs: 8 x 3 vectors of 32 registers, 4 x 3 of 16.
struct Tile {
  std::int64_t rows, columns;
};

Tile tile_of(const lt::Target& target) {
  return {target.vector_registers >= 32 ? 8 : 4, 3 * target.lanes(sizeof(float))};
}

struct Described {
  lt::Input<float, 2> A, B;
  lt::Input<float, 3> panels;
  lt::Input<float, 1> bias;
  lt::Tensor<float, 2> C, D;
};

using Sides = std::array<std::int64_t, 2>;
Sides sides_of_a(const Gemm& p) { return p.a_transposed ? Sides{p.k, p.m} : Sides{p.m, p.k}; }
Sides sides_of_b(const Gemm& p) { return p.b_transposed ? Sides{p.n, p.k} : Sides{p.k, p.n}; }

// `panels` is B as [n / columns][k][columns], for weights that were packed ahead.
Described describe(const Gemm& p) {
  const std::int64_t panel = tile_of(lt::host()).columns;
  const Sides a = sides_of_a(p), b = sides_of_b(p);
  lt::Input<float, 2> A("A", {a[0], a[1]}), B("B", {b[0], b[1]});
  lt::Input<float, 3> panels("panels", {(p.n + panel - 1) / panel, p.k, panel});
  lt::Input<float, 1> bias("bias", {p.n});
  lt::Reduce r("r", p.k);
  auto C = lt::compute("C", {p.m, p.n}, [&](lt::Var i, lt::Var j) {
    if (p.packed)
      return lt::sum(A(i, r) * panels(lt::floordiv(j, panel), r, lt::floormod(j, panel)), r);
    const auto x = p.a_transposed ? A(r, i) : A(i, r), y = p.b_transposed ? B(j, r) : B(r, j);
    return lt::sum(x * y, r);
  });
  auto D = lt::compute("D", {p.m, p.n},
                       [&](lt::Var i, lt::Var j) { return lt::gelu(C(i, j) + bias(j)); });
  return {A, B, panels, bias, C, p.epilogue ? D : C};
}

// How the loops go: what of B is in panels, and which loop is outside.
struct Plan {
  std::int64_t chunk = 0;       ///< columns of B at a time, 0 for all
  bool pack = false;            ///< each chunk into panels first
  bool panels_outside = false;  ///< all rows for one panel, while the next one is fetched
  bool parallel_chunks = false;
};

// n columns in parts of equal size, of at most `most` each.
std::int64_t equal_parts(std::int64_t n, std::int64_t most, std::int64_t panel) {
  const std::int64_t parts = (n + most - 1) / most, panels = (n + panel - 1) / panel;
  return (panels + parts - 1) / parts * panel;
}

// Columns of B in panels at a time. A last cache that is far away is read once: chunks that stay in
// the second one, two fifths of it (docs/notes/gemm.md). One that is near feeds the
// multiplications.
std::int64_t chunk_columns(const Gemm& p, const lt::Target& target, std::int64_t panel,
                           std::int64_t most) {
  const std::int64_t fit = target.l2_bytes * 2 / 5 / (4 * p.k) / panel * panel;
  return equal_parts(p.n, target.far_last_cache ? std::clamp(fit, panel, most) : 768, panel);
}

// A small tile is done with a row of B, and with its page, after few cycles, so that panels pay
// from few rows on. Of several threads each packs what it multiplies, while A stays in the second
// cache: they wait for each other once, not for every chunk.
Plan plan_of_small_tile(const Gemm& p, const lt::Target& target, std::int64_t panel, int threads) {
  const std::int64_t bytes = 4 * p.n * p.k, rows = bytes > target.l2_bytes / 2 ? 16 : 64;
  if (p.packed || bytes <= 4 * target.l1_bytes || p.m < rows) return {};
  const bool stays = 4 * p.m * p.k <= 2 * target.l2_bytes;
  if (threads == 1 || !stays) return {chunk_columns(p, target, panel, p.n), true};
  const std::int64_t most = std::clamp(p.n / (8 * threads), panel, 4 * panel);
  return {equal_parts(p.n, most, panel), true, true, true};
}

Plan plan_of(const Gemm& p, const lt::Target& target, int threads) {
  const auto [rows, panel] = tile_of(target);
  if (rows < 8) return plan_of_small_tile(p, target, panel, threads);
  const std::int64_t bytes = 4 * p.n * p.k;
  const bool large = bytes > 1200000, few = p.m <= 256, far = target.far_last_cache;
  if (far && few && (p.packed || bytes <= 2 * target.l2_bytes)) return {.panels_outside = true};
  if (!large || (!far && (p.packed || few))) return {};
  const std::int64_t chunk = chunk_columns(p, target, panel, few ? 2 * panel : p.n);
  return {chunk, !p.packed, false, few};
}

// One panel after the other, each in groups of 8 rows, so that reads of B stay on few pages.
void pack_panels(lt::Schedule& s, const Described& d, const Plan& plan, std::int64_t panel,
                 const std::optional<lt::LoopRef>& place) {
  const lt::BlockRef pack = s.cache_read(d.C, d.B, lt::Scope::global);
  if (place) s.compute_at(pack, *place);
  s.transform_layout(pack,
                     [=](lt::Index k, lt::Index j) { return lt::layout(j / panel, k, j % panel); });
  const std::vector<lt::LoopRef> loops = s.loops(pack);
  auto [ko, ki] = s.split(loops[loops.size() - 2], {lt::infer, 8});
  auto [jo, ji] = s.split(loops.back(), {lt::infer, panel});
  s.reorder({ko, jo, ki, ji});
  if (!plan.parallel_chunks) s.parallel(ko);
  s.vectorize(ji);
}

lt::Schedule hand_schedule(const Gemm& p, const Described& d, int threads) {
  const Plan plan = plan_of(p, lt::host(), threads);
  const auto [rows, panel] = tile_of(lt::host());
  lt::Schedule s(d.D);
  auto [i, j, k] = s.loops<3>(d.C);
  auto [io, ii] = s.split(i, {lt::infer, rows});
  std::optional<lt::LoopRef> jc;
  if (plan.chunk > 0 && p.n > plan.chunk) {
    auto [outer, inner] = s.split(j, {lt::infer, plan.chunk});
    jc = outer;
    j = inner;
  }
  auto [jo, ji] = s.split(j, {lt::infer, panel});
  std::vector<lt::LoopRef> order{io, jo, k, ii, ji};
  if (plan.panels_outside) std::swap(order[0], order[1]);
  if (jc) order.insert(order.begin(), *jc);
  s.reorder(order);
  if (plan.pack) pack_panels(s, d, plan, panel, jc);
  const lt::LoopRef tile = plan.panels_outside ? io : jo;
  const lt::BlockRef store = s.cache_write(d.C, lt::Scope::local);
  s.reverse_compute_at(store, tile);
  if (p.epilogue) s.reverse_compute_at(d.D, tile);
  const lt::BlockRef init = s.decompose_reduction(d.C, k);
  s.vectorize(ji);
  s.unroll(ii);
  s.annotate(k, "unroll_explicit", 4);
  for (const lt::BlockName& block : {lt::BlockName(init), lt::BlockName(store)})
    vectorize_last(s, block);
  if (p.epilogue) vectorize_last(s, d.D);
  if (plan.panels_outside && !plan.pack) s.prefetch(p.packed ? "panels" : "B", jo, 1, 2);
  s.parallel(jc && plan.parallel_chunks ? *jc : plan.panels_outside ? jo : io);
  return s;
}

std::vector<float> packed(const Gemm& p, std::span<const float> b, std::int64_t panel) {
  const std::int64_t panels = (p.n + panel - 1) / panel;
  std::vector<float> out(static_cast<std::size_t>(panels * p.k * panel));
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      out[static_cast<std::size_t>((j / panel * p.k + k) * panel + j % panel)] =
          b[static_cast<std::size_t>(k * p.n + j)];
    }
  }
  return out;
}

template <class Weights, class WeightsView>
Run compiled(const Gemm& p, const Job& job, lt::Context& context, const Described& d,
             const Weights& weights, const WeightsView& b) {
  std::optional<lt::Schedule> schedule;
  if (job.hand && p.transposed())
    throw std::runtime_error("has no schedule by hand for transposed operands");
  if (job.hand) schedule = hand_schedule(p, d, job.threads);
  const Sides rows = sides_of_a(p);
  const auto a = lt::view(job.in[0], {rows[0], rows[1]});
  const auto bias = lt::view(job.in[2], {p.n});
  const auto out = lt::view(job.out, {p.m, p.n});
  if (p.epilogue) {
    return
        [=, f = compile(d.D, schedule, context, d.A, weights, d.bias, d.D)] { f(a, b, bias, out); };
  }
  return [=, f = compile(d.D, schedule, context, d.A, weights, d.D)] { f(a, b, out); };
}

}  // namespace

Run lathe_gemm(const Gemm& p, const Job& job, lt::Context& context) {
  const Described d = describe(p);
  const Sides b = sides_of_b(p);
  if (!p.packed) return compiled(p, job, context, d, d.B, lt::view(job.in[1], {b[0], b[1]}));
  const std::int64_t panel = tile_of(lt::host()).columns;
  const auto weights = std::make_shared<const std::vector<float>>(packed(p, job.in[1], panel));
  const lt::View<const float, 3> view(weights->data(), {(p.n + panel - 1) / panel, p.k, panel});
  return [weights, run = compiled(p, job, context, d, d.panels, view)] { run(); };
}

void lathe_compile(const Gemm& p, lt::Context& context) {
  const Described d = describe(p);
  (void)lt::jit({d.D, {.context = &context}}, d.A, d.B, d.bias, d.D);
}

std::function<void()> lathe_compile_again(const Gemm& p, lt::Context& context) {
  return [d = describe(p), &context] {
    (void)lt::jit({d.D, {.context = &context}}, d.A, d.B, d.bias, d.D);
  };
}

}  // namespace bench
#endif
