#pragma once

#include <lathe/runtime/impl/llvm.ipp>
#include <lathe/runtime/impl/perf.ipp>
#include <lathe/runtime/object_file.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/support/dense_map.hpp>
#include <map>

namespace lathe {
namespace detail {

/// FNV-1a: tells two objects under one symbol apart.
inline std::uint64_t hash_bytes(const Vec<char>& bytes) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return h;
}

inline std::string take_error(const llvm_c::Api& api, llvm_c::Error error) {
  char* message = api.GetErrorMessage(error);
  std::string text = message;
  api.DisposeErrorMessage(message);
  return text;
}

/// Functions of our own keep their first bytes; memcpy is a name that the object may have too.
inline std::string missing_symbols(const Vec<char>& object, const std::string& wanted,
                                   const NameSet& known) {
  Vec<ObjectSymbol> symbols;
  if (!read_symbols(object.data(), object.size(), symbols))
    return "it is not an ELF object for a 64-bit machine";
  bool defined = false;
  std::string problem;
  for (const auto& symbol : symbols) {
    defined |= symbol.defined && symbol.global && symbol.name == wanted;
    // Defined by the linker itself where position-independent code needs it.
    bool by_linker = symbol.name == "_GLOBAL_OFFSET_TABLE_";
    if (!symbol.defined && !by_linker && !known.contains(symbol.name)) {
      append(problem, problem.empty() ? "it needs symbols that no runtime function has: " : " ",
             symbol.name);
    }
  }
  if (problem.empty() && !defined) problem = cat("it does not define '", wanted, "'");
  return problem;
}

}  // namespace detail

struct Jit::State {
  struct Loaded {
    std::weak_ptr<const LoadedKernel> kernel;
    const LoadedKernel* identity;
    detail::llvm_c::ResourceTracker tracker;
  };

  const detail::llvm_c::Api& api;
  detail::llvm_c::LLJIT lljit = nullptr;
  detail::llvm_c::JITDylib dylib = nullptr;
  // Guards all below and the order of adding and removing one symbol.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  NameSet external;
  std::map<std::string, Loaded> kernels;
  // What LLVM reported besides the error that a call returned. Under a lock of its own: LLVM calls
  // back from anywhere.
  pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;
  std::string reports;
  State* next_abandoned = nullptr;

  explicit State(const detail::llvm_c::Api& functions) : api(functions) {}

  static void report(void* self, detail::llvm_c::Error error) {
    auto& me = *static_cast<State*>(self);
    auto words = detail::take_error(me.api, error);
    detail::MutexLock lock(me.report_mutex);
    append(me.reports, me.reports.empty() ? "" : "\n", words);
  }
  [[noreturn]] void fail(std::string_view what, detail::llvm_c::Error error) {
    auto words = detail::take_error(api, error);
    detail::MutexLock lock(report_mutex);
    if (!reports.empty()) append(words, "\n", reports);
    reports.clear();
    throw InternalError(cat("LLVM's linker: ", what, ": ", words));
  }

  void define(const std::string& name, void* address) {
    namespace c = detail::llvm_c;
    c::SymbolPair pair{api.OrcLLJITMangleAndIntern(lljit, name.c_str()),
                       reinterpret_cast<c::Address>(address), c::flag_exported | c::flag_callable,
                       0};
    auto unit = api.OrcAbsoluteSymbols(&pair, 1);
    if (auto error = api.OrcJITDylibDefine(dylib, unit)) {
      api.OrcDisposeMaterializationUnit(unit);
      fail("define " + name, error);
    }
    external.insert(name);
  }

  void remove(detail::llvm_c::ResourceTracker tracker) {
    if (!Llvm::alive()) return;
    if (auto error = api.OrcResourceTrackerRemove(tracker)) api.ConsumeError(error);
    api.OrcReleaseResourceTracker(tracker);
  }

  void* link(const Vec<char>& object, const std::string& symbol,
             detail::llvm_c::ResourceTracker tracker) {
    auto buffer =
        api.CreateMemoryBufferWithMemoryRangeCopy(object.data(), object.size(), symbol.c_str());
    if (auto error = api.OrcLLJITAddObjectFileWithRT(lljit, tracker, buffer))
      fail("add " + symbol, error);
    detail::llvm_c::Address address = 0;
    if (auto error = api.OrcLLJITLookup(lljit, &address, symbol.c_str()))
      fail("look up " + symbol, error);
    return reinterpret_cast<void*>(address);
  }
};

LATHE_DECL Ref<Jit> Jit::make(const Llvm& llvm, bool perf) { return Ref<Jit>(new Jit(llvm, perf)); }

LATHE_DECL Jit::Jit(const Llvm& llvm, bool perf)
    : llvm_(llvm), perf_(perf), state_(new State(llvm.api())) {
  std::unique_ptr<State> owner(state_);  // in case of an exception below
  auto& api = llvm.api();
  if (auto error = api.OrcCreateLLJIT(&state_->lljit, nullptr)) {
    throw InternalError(cat("LLVM's linker: ", detail::take_error(api, error)));
  }
  api.OrcExecutionSessionSetErrorReporter(api.OrcLLJITGetExecutionSession(state_->lljit),
                                          State::report, state_);
  state_->dylib = api.OrcLLJITGetMainJITDylib(state_->lljit);
  for (const auto& symbol : runtime_symbols()) state_->define(symbol.name, symbol.address);
  owner.release();
}

LATHE_DECL Jit::~Jit() {
  if (!Llvm::alive()) {
    // The process exits and LLVM's globals may be gone: the system takes the memory back. It stays
    // in sight, so that leak checkers see no leak.
    static std::atomic<State*> abandoned{nullptr};
    state_->next_abandoned = abandoned.exchange(state_);
    return;
  }
  if (auto error = llvm_.api().OrcDisposeLLJIT(state_->lljit)) llvm_.api().ConsumeError(error);
  delete state_;
}

LATHE_DECL const Jit& Jit::of(const Context& context, Location where) {
  return context.service<Jit>(Service::jit, [&](const Context& c) {
    return new Jit(Llvm::get(c.options().llvm, where), c.options().perf);
  });
}

LATHE_DECL std::shared_ptr<const LoadedKernel> Jit::load(const Vec<char>& object,
                                                         const std::string& symbol) const {
  auto hash = detail::hash_bytes(object);
  detail::MutexLock lock(state_->mutex);
  auto found = state_->kernels.find(symbol);
  if (found != state_->kernels.end()) {
    if (auto kernel = found->second.kernel.lock()) {
      if (kernel->hash_ == hash) return kernel;
      throw InternalError(cat("two different objects define '", symbol, "'"));
    }
    // Its last reference went, but its destructor waits for the lock that we hold.
    state_->remove(found->second.tracker);
    state_->kernels.erase(found);
  }
  auto problem = detail::missing_symbols(object, symbol, state_->external);
  if (!problem.empty()) throw InternalError(cat("object of '", symbol, "': ", problem));
  auto tracker = state_->api.OrcJITDylibCreateResourceTracker(state_->dylib);
  std::shared_ptr<LoadedKernel> kernel(new LoadedKernel);
  try {
    kernel->address_ = state_->link(object, symbol, tracker);
    kernel->symbol_ = symbol;
    kernel->object_bytes_ = object.size();
    kernel->hash_ = hash;
    state_->kernels[symbol] = {kernel, kernel.get(), tracker};
  } catch (...) {
    state_->remove(tracker);
    throw;
  }
  kernel->jit_ = Ref<Jit>(this);
  if (perf_) detail::write_perf_map(object, symbol, kernel->address_);
  return kernel;
}

LATHE_DECL LoadedKernel::~LoadedKernel() {
  if (!jit_) return;
  auto& state = *jit_->state_;
  detail::MutexLock lock(state.mutex);
  auto found = state.kernels.find(symbol_);
  if (found == state.kernels.end() || found->second.identity != this) return;
  state.remove(found->second.tracker);
  state.kernels.erase(found);
}

LATHE_DECL void Jit::define(const std::string& name, void* address) const {
  detail::MutexLock lock(state_->mutex);
  state_->define(name, address);
}

LATHE_DECL int Jit::loaded() const {
  detail::MutexLock lock(state_->mutex);
  return static_cast<int>(state_->kernels.size());
}

}  // namespace lathe
