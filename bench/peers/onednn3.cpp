// oneDNN 3, loaded when it is asked for.
#include "peers/onednn3.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/peers.hpp"

namespace bench {

namespace {

/// While it is there, this thread and those that it starts keep to one core: oneDNN and what it is
/// built on start as many threads as there are cores to use, and can't be told another number.
/// Afterwards all threads go where the system wants.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore() {
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored))
      sched_setaffinity(std::atoi(thread.path().filename().c_str()), sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
};

template <class F>
F symbol(void* library, const char* name) {
  if (void* found = dlsym(library, name)) return reinterpret_cast<F>(found);
  throw std::runtime_error(std::string("has no ") + name);
}

using Products = decltype(&bench_onednn3_products);

Products load() {
  const OneCore while_loading;
  // The CPU is a device of this driver, which an installation by pip does not register; each of the
  // two loaders of such drivers has its own variable.
  for (const char* variable : {"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"})
    setenv(variable, BENCH_ONEDNN3_FOLDER "/libintelocl.so", 1);
  void* library = dlopen(BENCH_ONEDNN3_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) throw std::runtime_error(dlerror());
  symbol<decltype(&bench_onednn3_start)>(library, "bench_onednn3_start")();
  return symbol<Products>(library, "bench_onednn3_products");
}

std::vector<Competitor> products(const ProductJob& job) {
  static const Products make = load();
  std::vector<Competitor> all;
  make(job, all);
  return all;
}

}  // namespace

Peer onednn3_peer() { return {.name = "onednn3", .missing = "", .products = products}; }

}  // namespace bench
