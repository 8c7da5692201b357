// How a test says that what it needs is not on this machine: the run counts it as skipped, not as
// passed.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

/// Leaves the test case. The reason names what is missing: LATHE_SKIP("no NVIDIA driver");
#define LATHE_SKIP(reason)                                             \
  do {                                                                 \
    std::printf("skipped: %s:%d: %s\n", __FILE__, __LINE__, (reason)); \
    return;                                                            \
  } while (false)
