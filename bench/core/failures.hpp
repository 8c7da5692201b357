// Cases that fail while the others of a suite run.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace bench {

class Failures {
 public:
  /// Runs a case; what it throws is said, and remembered.
  template <class F>
  void run(const std::string& name, const F& run_case) {
    try {
      run_case();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lathe: %s: %s\n", name.c_str(), e.what());
      names_ += (names_.empty() ? "" : ", ") + name;
    }
  }
  /// Throws std::runtime_error that names what failed, if anything did.
  void finish(const std::string& suite) const {
    if (!names_.empty()) throw std::runtime_error(suite + ": failed: " + names_);
  }

 private:
  std::string names_;
};

}  // namespace bench
