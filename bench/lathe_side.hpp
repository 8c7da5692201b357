// What the Lathe side of each suite offers; each function describes a problem and compiles it.
#pragma once

#include "core/case.hpp"

#if __has_include(<lathe/lathe.hpp>) && !defined(BENCH_WITHOUT_LATHE)
#define BENCH_HAS_LATHE_HEADER
#include <lathe/lathe.hpp>

namespace bench {

namespace lt = lathe;

using Run = std::function<void()>;

/// Shared by all that runs on so many threads.
lt::Context& context_for(int threads);

Run lathe_gemm(const Gemm& p, const Job& job, lt::Context& context);
Run lathe_elementwise(const Elementwise& p, const Job& job, lt::Context& context);
Run lathe_stencil(const Stencil& p, const Job& job, lt::Context& context);
Run lathe_photo(const Photo& p, const Job& job, lt::Context& context);
Run lathe_app(const App& p, const Job& job, lt::Context& context);

/// With Lathe's own schedule; products on one thread.
std::vector<Competitor> lathe_products(const ProductJob& job);
std::vector<Competitor> lathe_operators(const OperatorJob& job);

/// Describes and compiles only.
void lathe_compile(const Gemm& p, lt::Context& context);
/// Compiles, each time, a description that was made once.
std::function<void()> lathe_compile_again(const Gemm& p, lt::Context& context);

/// Compiles with the schedule, or with Lathe's own choice if it is none; the arguments are
/// parameters in order.
template <class Output, class... Params>
auto compile(const Output& output, const std::optional<lt::Schedule>& schedule,
             lt::Context& context, const Params&... params) {
  if (schedule) return lt::jit({*schedule, {.context = &context}}, params...);
  return lt::jit({output, {.context = &context}}, params...);
}

/// The innermost loop of a block becomes lanes.
inline void vectorize_last(lt::Schedule& s, const lt::BlockName& block) {
  s.vectorize(s.loops(block).back());
}

}  // namespace bench
#endif
