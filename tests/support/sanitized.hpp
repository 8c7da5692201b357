// Which sanitizers the program has. It may have one in the library alone, so this is asked while it
// runs.
#pragma once

#include <cstdlib>

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace test {

inline bool has_address_sanitizer() { return &__asan_init != nullptr; }
inline bool has_thread_sanitizer() { return &__tsan_init != nullptr; }

/// Whether a run looks at less: what takes ten times as long with a sanitizer. `tests/run.sh --all`
/// looks at everything.
inline bool is_brief() {
  return (has_address_sanitizer() || has_thread_sanitizer()) && !std::getenv("LATHE_THOROUGH");
}
/// How many cases a random test draws.
inline int rounds(int all) { return is_brief() ? all / 3 : all; }

}  // namespace test
