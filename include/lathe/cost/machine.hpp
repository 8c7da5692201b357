// The row of a machine: what one of its cores computes and moves in a second.
#pragma once

#include <cstdint>
#include <lathe/support/target.hpp>
#include <string>
#include <string_view>

namespace lathe {

/// What costs are counted with. Plain data: change a number and costs are those of that machine.
/// The numbers of a target are from a table and rough; measure_machine() measures them here.
struct Machine {
  std::string name;              ///< of the target
  std::string source = "table";  ///< or "measured", or what a text says

  double cores = 1;          ///< that one loop may use
  double clock = 3e9;        ///< cycles a second
  double vector_bytes = 16;  ///< of the widest register
  double vector_registers = 16;
  double fmas = 2;               ///< multiply-adds of whole vectors that start in a cycle
  double operations = 2;         ///< other operations of whole vectors
  double loads = 2, stores = 1;  ///< of whole vectors
  double latency = 4;            ///< cycles from one sum to the next that needs it
  double divide = 8;             ///< cycles between two divisions of vectors of f32
  double gather = 1;             ///< cycles for each element that does not lie beside the last
  double line_bytes = 64;        ///< of a cache line
  double l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 8 << 20;  ///< as one core sees them
  /// Bytes a second that one core reads from the second cache, the third, and memory, and all
  /// cores together from memory.
  double l2_speed = 96e9, l3_speed = 30e9, memory_speed = 12e9, memory_speed_all = 24e9;

  Machine() = default;  ///< none: without a name
  explicit Machine(const Target& target);
  /// The text that str() gives. L0414 a field that is unknown, has no number, or one that no
  /// machine has; fields that are not there are those of the target with that name.
  static Machine parse(std::string_view text, Location where = Location::here());
  /// machine znver5 (table)
  ///   cores 2
  ///   clock 3e+09 …
  std::string str() const;
};

}  // namespace lathe
