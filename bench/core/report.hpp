// How results are shown: a table for people, JSON lines for programs.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace bench {

struct Row {
  std::string suite, name, dtype = "f32";
  std::string family;  ///< of the plain suite
  int threads = 1;
  std::string schedule;
  std::optional<double> lathe_ms;
  double flops = 0, bytes = 0;
  std::map<std::string, double> peers;  ///< ms
  /// Milliseconds that the limits of this machine allow; 0 if there is none for this case.
  double limit_ms = 0;
  std::optional<double> jit_ms;
  std::optional<double> plan_ms;           ///< what of jit_ms the default schedule took
  std::optional<double> steps_per_second;  ///< of the schedule suite
  std::optional<unsigned> seed;            ///< that sizes were drawn with
  double spread = 0;
  double busy = 0;  ///< cores that other processes used meanwhile
};

class Report {
 public:
  /// Throws std::runtime_error if the file can't be written. No file if the name is empty.
  explicit Report(const std::string& json_file);
  void add(const Row& row);

 private:
  void print(const Row& row);
  std::ofstream json_;
  std::string last_suite_;
};

}  // namespace bench
