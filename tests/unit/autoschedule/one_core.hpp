// The target of most tests of the default schedule: no loop is split or fused for threads.
#pragma once

#include <lathe/support/target.hpp>

namespace test {

inline lathe::Target one_core(const char* name = "x86-64-v4") {
  lathe::Target target(name);
  target.cores = 1;
  return target;
}

}  // namespace test
