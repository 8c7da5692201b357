// The functions of the LLVM-C API that Lathe calls: a hand-trimmed copy of their declarations (LLVM
// 16 to 22).
#pragma once

#include <cstddef>
#include <cstdint>
#include <lathe/support/config.hpp>

namespace lathe {
namespace detail {
namespace llvm_c {

// LLVM's opaque handles. Names without the prefix LLVM and the suffix Ref.
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using MemoryBuffer = struct OpaqueMemoryBuffer*;
using DiagnosticInfo = struct OpaqueDiagnosticInfo*;
using Target = struct OpaqueTarget*;
using TargetMachine = struct OpaqueTargetMachine*;
using TargetData = struct OpaqueTargetData*;
using PassBuilderOptions = struct OpaquePassBuilderOptions*;
using Error = struct OpaqueError*;
using LLJIT = struct OpaqueLLJIT*;
using LLJITBuilder = struct OpaqueLLJITBuilder*;
using ExecutionSession = struct OpaqueExecutionSession*;
using JITDylib = struct OpaqueJITDylib*;
using ResourceTracker = struct OpaqueResourceTracker*;
using SymbolString = struct OpaqueSymbolString*;
using MaterializationUnit = struct OpaqueMaterializationUnit*;
using Bool = int;
using Address = std::uint64_t;

struct SymbolPair {  // LLVMOrcCSymbolMapPair
  SymbolString name;
  Address address;
  std::uint8_t generic_flags, target_flags;
};

enum Severity { severity_error = 0, severity_warning = 1 };  // LLVMDiagnosticSeverity
enum FileType { assembly_file = 0, object_file = 1 };        // LLVMCodeGenFileType
enum Constants {
  action_return_status = 2,
  reloc_pic = 2,
  code_model_default = 0,
  flag_exported = 1,
  flag_callable = 4
};

using DiagnosticHandler = void (*)(DiagnosticInfo, void*);
using ErrorReporter = void (*)(void*, Error);

// X(result, name, parameters): all of them exist in every supported release.
#define LATHE_LLVM_C(X)                                                                           \
  X(void, GetVersion, (unsigned*, unsigned*, unsigned*))                                          \
  X(Context, ContextCreate, (void))                                                               \
  X(void, ContextDispose, (Context))                                                              \
  X(void, ContextSetDiagnosticHandler, (Context, DiagnosticHandler, void*))                       \
  X(char*, GetDiagInfoDescription, (DiagnosticInfo))                                              \
  X(int, GetDiagInfoSeverity, (DiagnosticInfo))                                                   \
  X(void, DisposeMessage, (char*))                                                                \
  X(MemoryBuffer, CreateMemoryBufferWithMemoryRangeCopy, (const char*, std::size_t, const char*)) \
  X(const char*, GetBufferStart, (MemoryBuffer))                                                  \
  X(std::size_t, GetBufferSize, (MemoryBuffer))                                                   \
  X(void, DisposeMemoryBuffer, (MemoryBuffer))                                                    \
  X(Bool, ParseIRInContext, (Context, MemoryBuffer, Module*, char**))                             \
  X(Bool, VerifyModule, (Module, int, char**))                                                    \
  X(void, DisposeModule, (Module))                                                                \
  X(void, SetTarget, (Module, const char*))                                                       \
  X(void, SetModuleDataLayout, (Module, TargetData))                                              \
  X(Bool, GetTargetFromTriple, (const char*, Target*, char**))                                    \
  X(TargetMachine, CreateTargetMachine,                                                           \
    (Target, const char*, const char*, const char*, int, int, int))                               \
  X(void, DisposeTargetMachine, (TargetMachine))                                                  \
  X(TargetData, CreateTargetDataLayout, (TargetMachine))                                          \
  X(void, DisposeTargetData, (TargetData))                                                        \
  X(Bool, TargetMachineEmitToMemoryBuffer, (TargetMachine, Module, int, char**, MemoryBuffer*))   \
  X(PassBuilderOptions, CreatePassBuilderOptions, (void))                                         \
  X(void, DisposePassBuilderOptions, (PassBuilderOptions))                                        \
  X(Error, RunPasses, (Module, const char*, TargetMachine, PassBuilderOptions))                   \
  X(char*, GetErrorMessage, (Error))                                                              \
  X(void, DisposeErrorMessage, (char*))                                                           \
  X(void, ConsumeError, (Error))                                                                  \
  X(Error, OrcCreateLLJIT, (LLJIT*, LLJITBuilder))                                                \
  X(Error, OrcDisposeLLJIT, (LLJIT))                                                              \
  X(ExecutionSession, OrcLLJITGetExecutionSession, (LLJIT))                                       \
  X(JITDylib, OrcLLJITGetMainJITDylib, (LLJIT))                                                   \
  X(Error, OrcLLJITAddObjectFileWithRT, (LLJIT, ResourceTracker, MemoryBuffer))                   \
  X(Error, OrcLLJITLookup, (LLJIT, Address*, const char*))                                        \
  X(SymbolString, OrcLLJITMangleAndIntern, (LLJIT, const char*))                                  \
  X(void, OrcExecutionSessionSetErrorReporter, (ExecutionSession, ErrorReporter, void*))          \
  X(ResourceTracker, OrcJITDylibCreateResourceTracker, (JITDylib))                                \
  X(Error, OrcResourceTrackerRemove, (ResourceTracker))                                           \
  X(void, OrcReleaseResourceTracker, (ResourceTracker))                                           \
  X(MaterializationUnit, OrcAbsoluteSymbols, (SymbolPair*, std::size_t))                          \
  X(Error, OrcJITDylibDefine, (JITDylib, MaterializationUnit))                                    \
  X(void, OrcDisposeMaterializationUnit, (MaterializationUnit))

// Back ends; a build of LLVM may lack some.
#define LATHE_LLVM_C_TARGETS(X) \
  X(X86)                        \
  X(AArch64)

struct Backend {
  void (*target_info)() = nullptr;
  void (*target)() = nullptr;
  void (*target_mc)() = nullptr;
  void (*asm_printer)() = nullptr;
  void (*asm_parser)() = nullptr;
  bool complete() const { return target_info && target && target_mc && asm_printer && asm_parser; }
};

struct Api {
#define LATHE_X(result, name, parameters) result(*name) parameters = nullptr;
  LATHE_LLVM_C(LATHE_X)
#undef LATHE_X
#define LATHE_X(backend) Backend backend;
  LATHE_LLVM_C_TARGETS(LATHE_X)
#undef LATHE_X
};

}  // namespace llvm_c
}  // namespace detail
}  // namespace lathe
