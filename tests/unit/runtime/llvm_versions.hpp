// How a test runs once per supported LLVM that this machine has.
#pragma once

#include <doctest/doctest.h>

#include <lathe/runtime/llvm.hpp>
#include <string>

/// Calls test(llvm) for each major in the supported range, and says which are missing.
template <class Test>
void for_each_llvm(Test test) {
  bool any = false;
  for (std::string major : {"16", "17", "18", "19", "20", "21", "22"}) {
    if (const auto* llvm = lathe::Llvm::find(major)) {
      CAPTURE(major);
      any = true;
      test(*llvm);
    }
  }
  for (const char* required : {"16", "19", "22"}) {
    std::string reason;
    if (!lathe::Llvm::find(required, &reason)) MESSAGE("skipped: ", reason);
  }
  if (!any) MESSAGE("skipped: no LLVM at all");
}
