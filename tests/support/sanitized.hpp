// Which sanitizers the program has. It may have one in the library alone, so this is asked while it
// runs.
#pragma once

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace test {

inline bool has_address_sanitizer() { return &__asan_init != nullptr; }
inline bool has_thread_sanitizer() { return &__tsan_init != nullptr; }

/// How many cases a random test draws. With a sanitizer each takes ten times as long, and what one
/// finds is found by few of them.
inline int rounds(int plain) {
  return has_address_sanitizer() || has_thread_sanitizer() ? plain / 3 : plain;
}

}  // namespace test
