// What a failed check says of structured bindings.
#pragma once

#include <doctest/doctest.h>

// CAPTURE makes a lambda, and clang 14 captures no structured bindings.
#define LATHE_CAPTURE(binding)              \
  const auto& captured_##binding = binding; \
  CAPTURE(captured_##binding)
