#pragma once

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/dynlib.hpp>
#include <lathe/support/text.hpp>

#if defined(LATHE_LLVM_LINK)
#include <lathe/runtime/impl/llvm_link.ipp>
#endif

namespace lathe {
namespace detail {

/// What find() has answered so far. Never destroyed: kernels may outlive every static object.
struct LlvmRegistry {
  struct Entry {
    std::string choice;
    const Llvm* library;
    std::string reason;
  };
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  // Held shared by compilations and exclusively by a fork.
  pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER;
  Vec<Entry> entries;
  Vec<const Llvm*> libraries;

  static LlvmRegistry& instance() {
    static auto& registry = *new LlvmRegistry;
    return registry;
  }
};

struct MutexLock {
  pthread_mutex_t& mutex;
  explicit MutexLock(pthread_mutex_t& m) : mutex(m) { ::pthread_mutex_lock(&mutex); }
  ~MutexLock() { ::pthread_mutex_unlock(&mutex); }
  MutexLock(const MutexLock&) = delete;
};

struct LlvmInUse {
  LlvmInUse() { ::pthread_rwlock_rdlock(&LlvmRegistry::instance().in_use); }
  ~LlvmInUse() { ::pthread_rwlock_unlock(&LlvmRegistry::instance().in_use); }
  LlvmInUse(const LlvmInUse&) = delete;
};

inline double seconds_now() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline std::atomic<bool>& llvm_alive_flag() {
  static std::atomic<bool> alive{false};
  return alive;
}

/// Made after libLLVM is loaded, so it is destroyed before LLVM's globals are.
inline void watch_llvm_exit() {
  struct Watch {
    Watch() { llvm_alive_flag() = true; }
    ~Watch() { llvm_alive_flag() = false; }
  };
  static const Watch watch;
}

inline Vec<std::string> llvm_file_names(int major) {
  auto n = format_int(major);
  Vec<std::string> names;
  for (const std::string& folder :
       {std::string(), "/usr/lib/llvm-" + n + "/lib/", "/usr/lib64/llvm" + n + "/lib/"}) {
    for (const std::string& file : {"libLLVM.so." + n + ".1", "libLLVM-" + n + ".so.1",
                                    "libLLVM-" + n + ".so", "libLLVM.so." + n}) {
      names.push_back(folder + file);
    }
  }
  return names;
}

inline bool initialize(const llvm_c::Backend& backend) {
  if (!backend.complete()) return false;
  backend.target_info();
  backend.target();
  backend.target_mc();
  backend.asm_printer();
  backend.asm_parser();
  return true;
}

inline std::string out_of_range(std::string_view what) {
  return cat(what, " is not supported: Lathe uses LLVM ", Llvm::oldest, " to ", Llvm::newest);
}

}  // namespace detail

#if !defined(LATHE_LLVM_LINK)
LATHE_DECL bool Llvm::resolve(DynamicLibrary& library, std::string& reason) {
  auto look_up = [&](const char* name) {
    void* function = library.symbol(name);
    if (!function && reason.empty()) reason = cat("it has no function ", name);
    return function;
  };
#define LATHE_X(result, name, parameters) \
  api_.name = reinterpret_cast<decltype(api_.name)>(look_up("LLVM" #name));
  LATHE_LLVM_C(LATHE_X)
#undef LATHE_X
  if (!reason.empty()) return false;
  auto look_up_optional = [&](void (*&function)(), const char* name) {
    function = reinterpret_cast<void (*)()>(library.symbol(name));
  };
#define LATHE_X(backend)                                                              \
  look_up_optional(api_.backend.target_info, "LLVMInitialize" #backend "TargetInfo"); \
  look_up_optional(api_.backend.target, "LLVMInitialize" #backend "Target");          \
  look_up_optional(api_.backend.target_mc, "LLVMInitialize" #backend "TargetMC");     \
  look_up_optional(api_.backend.asm_printer, "LLVMInitialize" #backend "AsmPrinter"); \
  look_up_optional(api_.backend.asm_parser, "LLVMInitialize" #backend "AsmParser");
  LATHE_LLVM_C_TARGETS(LATHE_X)
#undef LATHE_X
  return true;
}
#endif

LATHE_DECL const Llvm* Llvm::load(const std::string& file, std::string& reason) {
  DynamicLibrary library;
#if !defined(LATHE_LLVM_LINK)
  library = DynamicLibrary::open(file, &reason);
  if (!library) return nullptr;
#endif
  auto* llvm = new Llvm;
  reason.clear();
  bool good = llvm->resolve(library, reason);
  if (good) {
    unsigned v[3];
    llvm->api_.GetVersion(&v[0], &v[1], &v[2]);
    for (int i = 0; i < 3; ++i) llvm->version_[i] = static_cast<int>(v[i]);
    good = llvm->major() >= oldest && llvm->major() <= newest;
    if (!good) reason = detail::out_of_range("LLVM " + llvm->version());
  } else if (!llvm->api_.GetVersion && llvm->api_.ContextCreate) {
    reason = detail::out_of_range("an LLVM older than 16");
  }
  if (!good) {
    reason = file + ": " + reason;
    delete llvm;
    return nullptr;
  }
  llvm->path_ = DynamicLibrary::file_of(reinterpret_cast<const void*>(llvm->api_.ContextCreate));
  detail::watch_llvm_exit();
#define LATHE_X(backend) detail::initialize(llvm->api_.backend);
  LATHE_LLVM_C_TARGETS(LATHE_X)
#undef LATHE_X
  return llvm;
}

namespace detail {

/// Majors to try for a choice: those that take the most instruction sets of the machine, of these
/// the newest first. Empty if the choice is a path.
inline Vec<int> majors_of(const std::string& choice) {
  std::int64_t one = 0;
  if (parse_int(choice, one)) return {static_cast<int>(one)};
  Vec<int> all;
  for (int major = Llvm::newest; choice.empty() && major >= Llvm::oldest; --major)
    all.push_back(major);
  std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
    return host().for_llvm(a).features.size() > host().for_llvm(b).features.size();
  });
  return all;
}

#if defined(LATHE_LLVM_OFF)
template <class Load>
const Llvm* find_llvm(const std::string&, std::string& reason, Load) {
  reason = "Lathe was built without LLVM (LATHE_LLVM_OFF)";
  return nullptr;
}
#elif defined(LATHE_LLVM_LINK)
template <class Load>
const Llvm* find_llvm(const std::string& choice, std::string& reason, Load load) {
  const Llvm* linked = load("the linked LLVM", reason);
  auto majors = majors_of(choice);
  if (!linked || majors.size() != 1 || majors[0] == linked->major()) return linked;
  reason = cat("LLVM ", choice, " is asked for, but this program is linked with LLVM ",
               linked->version());
  return nullptr;
}
#else
template <class Load>
const Llvm* find_llvm(const std::string& choice, std::string& reason, Load load) {
  auto majors = majors_of(choice);
  if (majors.empty()) return load(choice, reason);
  if (majors.size() == 1 && (majors[0] < Llvm::oldest || majors[0] > Llvm::newest)) {
    reason = out_of_range("LLVM " + choice);
    return nullptr;
  }
  std::string unusable;
  for (int major : majors) {
    for (const auto& name : llvm_file_names(major)) {
      if (const Llvm* llvm = load(name, reason)) return llvm;
      if (reason.find("No such file") == std::string::npos) append(unusable, "\n", reason);
    }
  }
  auto range = majors.size() == 1 ? format_int(majors[0]) : cat(Llvm::oldest, " to ", Llvm::newest);
  reason = cat("no libLLVM of version ", range, " was found", unusable);
  return nullptr;
}
#endif

}  // namespace detail

LATHE_DECL const Llvm* Llvm::find(const std::string& asked, std::string* reason) {
  std::string choice = asked;
  if (choice.empty()) {
    if (const char* named = std::getenv("LATHE_LLVM")) choice = named;
  }
  auto& registry = detail::LlvmRegistry::instance();
  detail::MutexLock lock(registry.mutex);
  for (const auto& entry : registry.entries) {
    if (entry.choice != choice) continue;
    if (reason) *reason = entry.reason;
    return entry.library;
  }
  // Two choices may name one library ("" and "22"): LLVM is then set up once.
  auto load_once = [&](const std::string& file, std::string& why) -> const Llvm* {
    const Llvm* loaded = load(file, why);
    for (const Llvm* known : registry.libraries) {
      if (loaded && known->api_.ContextCreate == loaded->api_.ContextCreate) {
        delete loaded;
        return known;
      }
    }
    if (loaded) registry.libraries.push_back(loaded);
    return loaded;
  };
  std::string why;
  const Llvm* library = nullptr;
  if (choice == "off")
    why = "LLVM is switched off (LATHE_LLVM=off, or the context's option 'llvm')";
  else
    library = detail::find_llvm(choice, why, load_once);
  registry.entries.push_back({choice, library, library ? std::string() : why});
  if (reason) *reason = registry.entries.back().reason;
  return library;
}

LATHE_DECL const Llvm& Llvm::get(const std::string& choice, Location where) {
  std::string reason;
  if (const Llvm* llvm = find(choice, &reason)) return *llvm;
  throw UserError(
      "L0410", "LLVM is needed to make machine code, and there is none", where, reason,
      "install LLVM 16 to 22 (Debian: libllvm19), or name one with LATHE_LLVM=<major or path>; "
      "lt::evaluate needs none");
}

LATHE_DECL std::string Llvm::version() const {
  return cat(version_[0], ".", version_[1], ".", version_[2]);
}

LATHE_DECL bool Llvm::alive() { return detail::llvm_alive_flag(); }

}  // namespace lathe
