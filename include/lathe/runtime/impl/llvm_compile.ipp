#pragma once

#include <algorithm>
#include <lathe/runtime/impl/isolate.ipp>
#include <lathe/runtime/impl/llvm.ipp>
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

inline constexpr std::size_t kLongBlock = 20000;

/// What a line costs the code generator: a wide vector is as many registers, a division one for
/// each lane, and all divisions use the same two registers, which makes each wait for all others.
inline std::size_t line_weight(std::string_view line) {
  const std::size_t open = line.find('<');
  std::size_t lanes = 0;
  for (std::size_t k = open + 1; open != line.npos && k < line.size(); ++k) {
    if (line[k] < '0' || line[k] > '9') break;
    lanes = lanes * 10 + static_cast<std::size_t>(line[k] - '0');
  }
  constexpr std::string_view divisions[] = {" sdiv ", " udiv ", " srem ", " urem "};
  constexpr std::size_t kDivision = 12;
  for (std::string_view d : divisions)
    if (line.find(d) != line.npos) return kDivision * (lanes ? lanes : 1);
  return lanes > 16 ? lanes / 16 : 1;
}

/// Lines between two labels by their weight, at most.
inline std::size_t longest_block(std::string_view text) {
  std::size_t longest = 0, lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool label = end > at && text[end - 1] == ':';
    lines = label ? 0 : lines + line_weight(text.substr(at, end - at));
    longest = std::max(longest, lines);
    at = end + 1;
  }
  return longest;
}

/// The whole way; `use` gets the emitted bytes.
template <class Use>
void compile_llvm(const Llvm& llvm, std::string_view text, const Target& target,
                  const LlvmOptions& options, llvm_c::FileType type, LlvmTimes* times, Use use) {
  LlvmInUse in_use;
  LlvmCompilation work(llvm);
  double start = seconds_now();
  work.parse(text, options.verify);
  const bool straight = longest_block(text) > kLongBlock;
  work.set_target(target, llvm.major(), straight ? 0 : options.codegen_level);
  double parsed = seconds_now();
  work.run_passes(options.passes.empty() ? default_passes(llvm.major(), text) : options.passes);
  double tidied = seconds_now();
  work.emit(type);
  if (times) *times = {parsed - start, tidied - parsed, seconds_now() - tidied};
  const char* bytes = work.api.GetBufferStart(work.output);
  use(bytes, bytes + work.api.GetBufferSize(work.output));
}

}  // namespace detail

LATHE_DECL std::string default_passes(int llvm_major, std::string_view text) {
  constexpr std::size_t kManyLoops = 256;
  constexpr std::string_view latch = "!llvm.loop ";
  std::size_t loops = 0;
  for (std::size_t at = text.find(latch); at != text.npos; at = text.find(latch, at + 1)) ++loops;
  // From 18 on, instcombine given as text aborts the process when it misses its fixpoint; 16 and 17
  // do not know the parameter.
  std::string_view instcombine =
      llvm_major >= 18 ? "instcombine<no-verify-fixpoint>" : "instcombine";
  return cat("function(sroa,early-cse<memssa>,", instcombine,
             loops > kManyLoops ? "" : ",loop-mssa(licm)", ",simplifycfg)");
}

LATHE_DECL std::vector<char> compile_to_object(const Llvm& llvm, std::string_view text,
                                               const Target& target, const LlvmOptions& options,
                                               LlvmTimes* times) {
  if (options.isolate) {
    LlvmOptions inside = options;
    inside.isolate = false;
    return detail::compile_in_child(options.isolate_seconds,
                                    [&] { return compile_to_object(llvm, text, target, inside); });
  }
  std::vector<char> object;
  detail::compile_llvm(llvm, text, target, options, detail::llvm_c::object_file, times,
                       [&](const char* begin, const char* end) { object.assign(begin, end); });
  return object;
}

LATHE_DECL std::string compile_to_assembly(const Llvm& llvm, std::string_view text,
                                           const Target& target, const LlvmOptions& options) {
  std::string assembly;
  detail::compile_llvm(llvm, text, target, options, detail::llvm_c::assembly_file, nullptr,
                       [&](const char* begin, const char* end) { assembly.assign(begin, end); });
  return assembly;
}

}  // namespace lathe
