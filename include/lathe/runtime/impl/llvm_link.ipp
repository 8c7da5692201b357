// The LLVM-C functions of a program that is linked with LLVM (LATHE_LLVM_LINK).
#pragma once

#include <lathe/runtime/llvm.hpp>

namespace lathe {
namespace detail {
namespace llvm_c {
namespace linked {

// Names of our own with LLVM's assembler names: the declarations cannot clash with <llvm-c/*.h>.
#define LATHE_STRING2(text) #text
#define LATHE_STRING(text) LATHE_STRING2(text)
#define LATHE_LLVM_SYMBOL(name) __asm__(LATHE_STRING(__USER_LABEL_PREFIX__) "LLVM" name)
#define LATHE_X(result, name, parameters) result name parameters LATHE_LLVM_SYMBOL(#name);
LATHE_LLVM_C(LATHE_X)
#undef LATHE_X

// Weak: a build of LLVM need not have every back end.
#define LATHE_X(backend)                                                                          \
  [[gnu::weak]] void backend##TargetInfo() LATHE_LLVM_SYMBOL("Initialize" #backend "TargetInfo"); \
  [[gnu::weak]] void backend##Target() LATHE_LLVM_SYMBOL("Initialize" #backend "Target");         \
  [[gnu::weak]] void backend##TargetMC() LATHE_LLVM_SYMBOL("Initialize" #backend "TargetMC");     \
  [[gnu::weak]] void backend##AsmPrinter() LATHE_LLVM_SYMBOL("Initialize" #backend "AsmPrinter"); \
  [[gnu::weak]] void backend##AsmParser() LATHE_LLVM_SYMBOL("Initialize" #backend "AsmParser");
LATHE_LLVM_C_TARGETS(LATHE_X)
#undef LATHE_X
#undef LATHE_LLVM_SYMBOL
#undef LATHE_STRING
#undef LATHE_STRING2

}  // namespace linked
}  // namespace llvm_c
}  // namespace detail

LATHE_DECL bool Llvm::resolve(DynamicLibrary&, std::string&) {
  namespace linked = detail::llvm_c::linked;
#define LATHE_X(result, name, parameters) api_.name = linked::name;
  LATHE_LLVM_C(LATHE_X)
#undef LATHE_X
#define LATHE_X(backend)                                                                           \
  api_.backend = {linked::backend##TargetInfo, linked::backend##Target, linked::backend##TargetMC, \
                  linked::backend##AsmPrinter, linked::backend##AsmParser};
  LATHE_LLVM_C_TARGETS(LATHE_X)
#undef LATHE_X
  return true;
}

}  // namespace lathe
