// The interface of kernels (runtime/abi.hpp) as C text: what a translation unit of kernels opens
// with.
#pragma once

#include <string_view>

namespace lathe::detail {

inline constexpr std::string_view kKernelPrologue =
    "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n"
    R"(
/* Every operation rounds once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be computed in their own type");

/* What a host offers to a kernel; null: loops run in turn, memory is the C library's. */
typedef struct lathe_runtime lathe_runtime;
typedef int32_t lathe_body(void *closure, int64_t begin, int64_t end, lathe_runtime *rt);
struct lathe_runtime {
  int32_t (*parallel_for)(lathe_runtime *rt, int64_t n, int64_t max_threads, lathe_body *body,
                          void *closure);
  void *(*alloc)(lathe_runtime *rt, int64_t bytes, int64_t alignment);
  void (*release)(lathe_runtime *rt, void *block);
  void *opaque;
  void (*report)(lathe_runtime *rt, int64_t k, int64_t value);
};
static inline int32_t lathe_for(lathe_runtime *rt, int64_t n, int64_t max_threads,
                                lathe_body *body, void *closure) {
  if (rt) return rt->parallel_for(rt, n, max_threads, body, closure);
  return body(closure, 0, n, rt);
}
static inline void *lathe_get(lathe_runtime *rt, int64_t bytes, int64_t alignment) {
  if (rt) return rt->alloc(rt, bytes, alignment);
  return aligned_alloc((size_t)alignment, (size_t)(bytes / alignment + 1) * (size_t)alignment);
}
static inline void lathe_put(lathe_runtime *rt, void *block) {
  if (rt) rt->release(rt, block);
  else free(block);
}
static inline void lathe_tell(lathe_runtime *rt, int64_t k, int64_t value) {
  if (rt) rt->report(rt, k, value);
}

)";

}  // namespace lathe::detail
