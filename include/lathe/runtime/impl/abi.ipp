#pragma once

#include <cmath>
#include <lathe/runtime/abi.hpp>

namespace lathe {

LATHE_DECL std::int32_t detail::lathe_parallel_for(RuntimeTable* rt, std::int64_t n,
                                                   std::int64_t max_threads, LoopBody body,
                                                   void* closure) noexcept {
  auto& frame = CallFrame::of(rt);
  try {
    return parallel_for_raw(frame.context(), n, max_threads, body, closure, rt);
  } catch (...) {
    frame.keep_exception();
    return static_cast<std::int32_t>(Status::host_exception);
  }
}

LATHE_DECL void* detail::lathe_alloc(RuntimeTable* rt, std::int64_t bytes,
                                     std::int64_t alignment) noexcept {
  auto& frame = CallFrame::of(rt);
  if (bytes < 0 || alignment < 0) return nullptr;
  try {
    return frame.context().allocate(static_cast<std::size_t>(bytes),
                                    static_cast<std::size_t>(alignment));
  } catch (...) {
    frame.keep_exception();
    return nullptr;
  }
}

LATHE_DECL void detail::lathe_free(RuntimeTable* rt, void* block) noexcept {
  CallFrame::of(rt).context().deallocate(block);
}

LATHE_DECL void detail::lathe_report(RuntimeTable* rt, std::int64_t k,
                                     std::int64_t value) noexcept {
  CallFrame::of(rt).report(k, value);
}

LATHE_DECL RuntimeSymbols runtime_symbols() {
  static const RuntimeSymbol symbols[] = {
      {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
      {"memmove", reinterpret_cast<void*>(&std::memmove)},
      {"memset", reinterpret_cast<void*>(&std::memset)},
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&std::fma))},
      {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&std::fma))},
      {"fmod", reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&std::fmod))},
      {"fmodf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmod))},
      {"lathe_parallel_for", reinterpret_cast<void*>(&detail::lathe_parallel_for)},
      {"lathe_alloc", reinterpret_cast<void*>(&detail::lathe_alloc)},
      {"lathe_free", reinterpret_cast<void*>(&detail::lathe_free)},
      {"lathe_report", reinterpret_cast<void*>(&detail::lathe_report)},
  };
  return {symbols, static_cast<int>(sizeof symbols / sizeof symbols[0])};
}

}  // namespace lathe
