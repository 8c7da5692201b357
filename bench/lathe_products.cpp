// Products of any types as users of Lathe write them; the schedule is Lathe's own.
#include "compile_times.hpp"
#include "core/measure.hpp"
#include "core/peers.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

template <class TA, class TB, class TC>
Run compiled(const ProductJob& job) {
  const auto [types, m, n, k, constant] = job.what;
  lt::Input<TA, 2> A("A", {m, k});
  lt::Input<TB, 2> B("B", {k, n}, {.constant = constant});
  lt::Reduce r("r", k);
  auto C = lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<TC>(A(i, r)) * lt::cast<TC>(B(r, j)), r);
  });
  auto kernel = lt::jit({C, {.context = &context_for(1), .require_compiled = true}}, A, B, C);
  const lt::View<const TA, 2> a(static_cast<const TA*>(job.a), {m, k});
  const lt::View<const TB, 2> b(static_cast<const TB*>(job.b), {k, n});
  const lt::View<TC, 2> c(static_cast<TC*>(job.c), {m, n});
  return [=] { kernel(a, b, c); };
}

Run compiled_for_types(const ProductJob& job) {
  switch (job.what.types) {
    case ProductTypes::bf16:
      return compiled<lt::bf16, lt::bf16, float>(job);
    case ProductTypes::u8s8:
      return compiled<std::uint8_t, std::int8_t, std::int32_t>(job);
    case ProductTypes::s8s8:
      return compiled<std::int8_t, std::int8_t, std::int32_t>(job);
    case ProductTypes::f16:
      return compiled<lt::f16, lt::f16, float>(job);
    case ProductTypes::f64:
      break;
  }
  return compiled<double, double, double>(job);
}

}  // namespace

std::vector<Competitor> lathe_products(const ProductJob& job) {
  CompileLog log;
  const double start = seconds_now();
  Run run = compiled_for_types(job);
  const double ms = 1e3 * (seconds_now() - start);
  return {{"lathe", std::move(run), ms, log.taken().default_schedule}};
}

}  // namespace bench
#endif
