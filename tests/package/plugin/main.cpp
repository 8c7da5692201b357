// Loads the shared libraries named on the command line, each on its own, and runs their kernels
// from two threads.
#include <dlfcn.h>

#include <thread>
#include <vector>

static int run(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto entry = library ? reinterpret_cast<int (*)()>(dlsym(library, "run_plugin")) : nullptr;
  return entry ? entry() : 2;
}

int main(int count, char** paths) {
  std::vector<int> results(count, 0);
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back([&, i] { results[i] = run(paths[i]); });
  for (auto& thread : threads) thread.join();
  for (int result : results)
    if (result != 0) return result;
  return 0;
}
