// Programs as C, many of them in one translation unit: compiled at the end, then run and compared.
// Those with the same code are compiled once, and run on the data of each.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <lathe/codegen/c/c_source.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crash.hpp"
#include "execution.hpp"

namespace fuzz {

/// What a case has found out about a program, to be compared with its C code.
struct CJob {
  std::string name, description;
  lathe::Program open, lowered;  ///< open: whose arguments the slots are bound for
  std::vector<Argument> args;
  Results wanted;
  bool parallel = false;
};

class CBatch {
 public:
  explicit CBatch(Machine& machine) : machine_(machine) {}

  /// Gives how many failed, of a batch that was full.
  int add(CJob job) {
    lathe::CUnit alone;
    alone.add(job.lowered, "fuzz");
    std::string& symbol = symbols_[alone.text()];
    if (symbol.empty()) {
      symbol = "fuzz_" + std::to_string(symbols_.size());
      unit_.add(job.lowered, symbol);
    }
    jobs_.push_back({std::move(job), symbol});
    return symbols_.size() < kMost ? 0 : finish();
  }
  /// Compiles and runs what is left.
  int finish() {
    const std::vector<Waiting> jobs = std::exchange(jobs_, {});
    const std::string text = std::exchange(unit_, {}).text();
    symbols_.clear();
    if (jobs.empty()) return 0;
    try {
      return run(jobs, text);
    } catch (const std::exception& error) {
      std::printf("%s .. %s: %s\n", jobs.front().job.name.c_str(), jobs.back().job.name.c_str(),
                  error.what());
      return 1;
    }
  }

 private:
  static constexpr std::size_t kMost = 50;

  struct Waiting {
    CJob job;
    std::string symbol;
  };

  int run(const std::vector<Waiting>& jobs, const std::string& text) {
    void* library = compiled(text);
    int failed = 0;
    for (const auto& [job, symbol] : jobs) {
      case_name = job.name, current_case = job.description;
      start_clock(60);
      try {
        auto entry = reinterpret_cast<lathe::KernelEntry>(dlsym(library, symbol.c_str()));
        if (!entry) throw Failure("C", "no function " + symbol);
        const Slots slots = machine_.slots_for(job.open, job.args);
        for (const Results& got : machine_.results_of(entry, slots, job.args, job.parallel))
          compare(job.args, job.wanted, got, "as C");
      } catch (const std::exception& error) {
        ++failed;
        std::printf("FAIL as C, %s: %s\n----\n%s----\n", job.name.c_str(), error.what(),
                    job.description.c_str());
      }
    }
    dlclose(library);
    return failed;
  }

  /// The text is left in place if the compiler refuses it.
  void* compiled(const std::string& text) {
    char folder[] = "/tmp/lathe_fuzz_XXXXXX";
    if (!mkdtemp(folder)) throw Failure("C", "no folder for temporary files");
    const std::string source = std::string(folder) + "/kernels.c",
                      library = std::string(folder) + "/kernels.so";
    std::ofstream(source) << text;
    const char* compiler = std::getenv("LATHE_FUZZ_CC");
    const std::string command = std::string(compiler ? compiler : "gcc") +
                                " -std=c11 -O1 -w -shared -fPIC " + source + " -o " + library +
                                " -lm";
    if (std::system(command.c_str()) != 0) throw Failure("C", "the compiler refuses " + source);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw Failure("C", dlerror());
    std::remove(source.c_str()), std::remove(library.c_str()), rmdir(folder);
    return handle;
  }

  Machine& machine_;
  std::vector<Waiting> jobs_;
  lathe::CUnit unit_;                           ///< the code of the jobs
  std::map<std::string, std::string> symbols_;  ///< in it, by the code of a kernel alone
};

}  // namespace fuzz
