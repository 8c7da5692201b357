#pragma once

#include <lathe/runtime/impl/isolate.ipp>
#include <lathe/runtime/impl/llvm.ipp>
#include <lathe/runtime/impl/llvm_effort.ipp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// The handles of one compilation, released in reverse order whatever happens.
struct LlvmCompilation {
  const llvm_c::Api& api;
  llvm_c::Context context = nullptr;
  llvm_c::Module module = nullptr;
  llvm_c::TargetMachine machine = nullptr;
  llvm_c::MemoryBuffer output = nullptr;
  std::string diagnostics;

  explicit LlvmCompilation(const Llvm& llvm) : api(llvm.api()), context(api.ContextCreate()) {
    // Without a handler LLVM prints, and exits the process on an error.
    auto collect = [](llvm_c::DiagnosticInfo info, void* self) {
      auto& me = *static_cast<LlvmCompilation*>(self);
      if (me.api.GetDiagInfoSeverity(info) == llvm_c::severity_error) {
        append(me.diagnostics, me.take(me.api.GetDiagInfoDescription(info)), "\n");
      }
    };
    api.ContextSetDiagnosticHandler(context, collect, this);
  }
  LlvmCompilation(const LlvmCompilation&) = delete;
  ~LlvmCompilation() {
    if (output) api.DisposeMemoryBuffer(output);
    if (machine) api.DisposeTargetMachine(machine);
    if (module) api.DisposeModule(module);
    api.ContextDispose(context);
  }

  std::string take(char* message) const {
    std::string text = message ? message : "";
    if (message) api.DisposeMessage(message);
    return text;
  }
  std::string take(llvm_c::Error error) const {
    char* message = api.GetErrorMessage(error);
    std::string text = message;
    api.DisposeErrorMessage(message);
    return text;
  }
  [[noreturn]] void refuse(std::string_view step, std::string_view words) const {
    throw InternalError(cat("LLVM refused generated code (", step, "): ", words, diagnostics));
  }

  void parse(std::string_view text, bool verify) {
    // The buffer belongs to LLVM from here on.
    auto buffer = api.CreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "kernel");
    char* message = nullptr;
    if (api.ParseIRInContext(context, buffer, &module, &message)) {
      module = nullptr;
      refuse("parse", take(message));
    }
    message = nullptr;
    bool broken = verify && api.VerifyModule(module, llvm_c::action_return_status, &message);
    auto words = take(message);
    if (broken) refuse("verify", words);
  }

  void set_target(const Target& target, int major, int codegen_level) {
    llvm_c::Target found = nullptr;
    char* message = nullptr;
    auto triple = target.llvm_triple();
    if (target.kind != TargetKind::cpu ||
        api.GetTargetFromTriple(triple.c_str(), &found, &message)) {
      throw UserError("L0411", cat("this LLVM (", major, ") has no back end for ", triple), {},
                      take(message), "use an LLVM that was built with it, or another target");
    }
    machine = api.CreateTargetMachine(found, triple.c_str(), target.llvm_cpu(major).c_str(),
                                      target.llvm_features(major).c_str(), codegen_level,
                                      llvm_c::reloc_pic, llvm_c::code_model_default);
    api.SetTarget(module, triple.c_str());
    auto layout = api.CreateTargetDataLayout(machine);
    api.SetModuleDataLayout(module, layout);
    api.DisposeTargetData(layout);
  }

  void run_passes(const std::string& passes) {
    auto options = api.CreatePassBuilderOptions();
    auto error = api.RunPasses(module, passes.c_str(), machine, options);
    api.DisposePassBuilderOptions(options);
    if (error) refuse("passes " + passes, take(error));
    if (!diagnostics.empty()) refuse("passes", "");
  }

  void emit(llvm_c::FileType type) {
    char* message = nullptr;
    if (api.TargetMachineEmitToMemoryBuffer(machine, module, type, &message, &output)) {
      output = nullptr;
      refuse("emit", take(message));
    }
    if (!diagnostics.empty()) refuse("emit", "");
  }
};

/// The whole way to the emitted bytes.
inline Vec<char> compile_llvm(const Llvm& llvm, std::string_view text, const Target& target,
                              const LlvmOptions& options, llvm_c::FileType type, LlvmTimes* times) {
  LlvmInUse in_use;
  LlvmCompilation work(llvm);
  double start = seconds_now();
  work.parse(text, options.verify);
  work.set_target(target, llvm.major(), codegen_level_for(text, options.codegen_level));
  double parsed = seconds_now();
  work.run_passes(options.passes.empty() ? default_passes(llvm.major(), text) : options.passes);
  double tidied = seconds_now();
  work.emit(type);
  if (times) *times = {parsed - start, tidied - parsed, seconds_now() - tidied};
  const char* bytes = work.api.GetBufferStart(work.output);
  return Vec<char>(bytes, bytes + work.api.GetBufferSize(work.output));
}

/// The same, in a child process where the options say so.
inline Vec<char> compile_llvm_somewhere(const Llvm& llvm, std::string_view text,
                                        const Target& target, const LlvmOptions& options,
                                        llvm_c::FileType type, LlvmTimes* times = nullptr) {
  if (!options.isolate) return compile_llvm(llvm, text, target, options, type, times);
  return compile_in_child(options.isolate_seconds,
                          [&] { return compile_llvm(llvm, text, target, options, type, nullptr); });
}

}  // namespace detail

LATHE_DECL Vec<char> compile_to_object(const Llvm& llvm, std::string_view text,
                                       const Target& target, const LlvmOptions& options,
                                       LlvmTimes* times) {
  return detail::compile_llvm_somewhere(llvm, text, target, options, detail::llvm_c::object_file,
                                        times);
}

LATHE_DECL std::string compile_to_assembly(const Llvm& llvm, std::string_view text,
                                           const Target& target, const LlvmOptions& options) {
  Vec<char> bytes =
      detail::compile_llvm_somewhere(llvm, text, target, options, detail::llvm_c::assembly_file);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace lathe
