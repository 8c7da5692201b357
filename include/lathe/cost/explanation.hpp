// Explanations: what each stage of a scheduled program costs, what limits it, and what would help.
#pragma once

#include <array>
#include <lathe/cost/machine.hpp>
#include <lathe/ir/stmt.hpp>
#include <string>
#include <vector>

namespace lathe {

/// What a stage may wait for: its operations, sums that wait for each other, or bytes from a cache
/// or memory.
enum class Resource : std::uint8_t { operations, latency, l1, l2, l3, memory };
inline constexpr std::size_t kResources = 6;
std::string_view to_text(Resource resource);

/// One block of the program. Counts are of a whole call; sizes over Dims are counted with the
/// largest value of the Dim, 1024 if it has none.
struct StageCost {
  std::string name;                ///< of the block
  std::vector<std::string> loops;  ///< outermost first: "parallel io 32", "j 64"
  double points = 0;               ///< how often the block's body runs
  double operations = 0;           ///< as work_of counts them: fma twice
  double lanes = 1;                ///< that one operation computes; 1 where no loop is vectorized
  double threads = 1;              ///< that share the work
  std::array<double, 4> bytes{};   ///< that come from L1, L2, L3 and memory
  std::array<double, kResources> seconds{};  ///< that each resource alone would take
  double ideal = 0;                ///< seconds of the operations in full vectors on all cores
  std::vector<std::string> helps;  ///< what may make it faster, the most promising first

  /// The resource that takes longest, and how long.
  Resource limit() const;
  double predicted() const { return seconds[static_cast<std::size_t>(limit())]; }
};

/// What is known of the speed of a scheduled program before it runs. A model, not a measurement: it
/// counts operations, loads and cache lines, and knows nothing of what LLVM does with them.
struct Explanation {
  std::string program;  ///< its name
  Machine machine;
  std::vector<StageCost> stages;  ///< in program order
  double bytes = 0;               ///< of all arguments, once
  double roof = 0;  ///< seconds below which no schedule of these operations and arguments gets
  Resource bound = Resource::memory;  ///< what the roof is made of
  double measured = 0;                ///< seconds of a call, if the caller gave it
  std::string steps;                  ///< of the schedule, as C++; empty where none is known
  std::vector<std::string> plan;      ///< decisions of the default schedule, with their runners-up
  std::vector<std::string> left_out;  ///< steps of the default schedule that were refused
  std::vector<std::string> numerics;  ///< steps that may change rounding
  std::vector<std::string> notes;     ///< what the counts assume

  double operations() const;
  double predicted() const;
  /// Of the roof that is reached: of the measured time if there is one, else of the predicted.
  double share() const;
  /// For people: a paragraph for each stage that takes time.
  std::string str() const;
  /// For programs: one object, with the fields of this struct.
  std::string json() const;
};

struct ExplainOptions {
  Machine machine{};    ///< none: the table's row of host(), or of what a kernel is for
  double measured = 0;  ///< seconds of a call: Kernel::measure(…)
};

/// Of a program with blocks: unscheduled, or under a schedule. Of one that was lowered, which has
/// none, there are no stages, and a note says so.
Explanation explain(const Program& program, const ExplainOptions& options = {});

}  // namespace lathe
