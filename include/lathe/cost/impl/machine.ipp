#pragma once

#include <algorithm>
#include <lathe/cost/machine.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

struct MachineField {
  std::string_view name;
  double Machine::*value;
  double least, most;
};

// clang-format off
inline constexpr MachineField kMachineFields[] = {
    {"cores", &Machine::cores, 1, 1e5},
    {"clock", &Machine::clock, 1e7, 1e11},
    {"vector_bytes", &Machine::vector_bytes, 4, 4096},
    {"vector_registers", &Machine::vector_registers, 4, 4096},
    {"fmas", &Machine::fmas, 0.01, 64},
    {"operations", &Machine::operations, 0.01, 64},
    {"loads", &Machine::loads, 0.01, 64},
    {"stores", &Machine::stores, 0.01, 64},
    {"latency", &Machine::latency, 1, 1000},
    {"divide", &Machine::divide, 0.1, 1000},
    {"gather", &Machine::gather, 0.01, 1000},
    {"line_bytes", &Machine::line_bytes, 8, 4096},
    {"l1_bytes", &Machine::l1_bytes, 1024, 1e9},
    {"l2_bytes", &Machine::l2_bytes, 1024, 1e11},
    {"l3_bytes", &Machine::l3_bytes, 1024, 1e12},
    {"l2_speed", &Machine::l2_speed, 1e6, 1e14},
    {"l3_speed", &Machine::l3_speed, 1e6, 1e14},
    {"memory_speed", &Machine::memory_speed, 1e6, 1e14},
    {"memory_speed_all", &Machine::memory_speed_all, 1e6, 1e15},
};
// clang-format on

[[noreturn]] inline void refuse_machine(std::string_view field, std::string_view problem,
                                        Location where) {
  throw UserError(
      "L0414", cat("field '", field, "' of a machine ", problem), where, {},
      cat("fields are ", join(kMachineFields, ", ", [](const MachineField& f) { return f.name; })));
}

inline void set_machine_field(Machine& machine, std::string_view line, Location where) {
  const std::string_view name = taken_until(line, ' '), number = trimmed(line);
  for (const MachineField& f : kMachineFields) {
    if (f.name != name) continue;
    double value = 0;
    if (!parse_float(number, value)) refuse_machine(name, cat("is '", number, "'"), where);
    if (!(value >= f.least && value <= f.most))
      refuse_machine(name, cat("is ", value, ", which is not from ", f.least, " to ", f.most),
                     where);
    machine.*f.value = value;
    return;
  }
  refuse_machine(name, "is unknown", where);
}

}  // namespace detail

// Where a core moves 64 bytes in two halves, it computes 64 bytes in two halves too (Zen 4). The
// speeds beyond the first cache are what a core of current servers reaches at least: 32 bytes a
// cycle, 10 near and 5 far, and from memory what its line buffers hold over the latency. AMD's and
// Intel's optimization guides for the rest.
LATHE_DECL Machine::Machine(const Target& target) : name(target.name) {
  const double share =
      target.load_bytes < target.vector_bytes ? double(target.load_bytes) / target.vector_bytes : 1;
  if (target.name == "host" && !target.cpu.empty()) name = target.cpu;
  cores = target.cores;
  vector_bytes = target.vector_bytes;
  vector_registers = target.vector_registers;
  fmas = operations = loads = 2 * share;
  stores = share;
  line_bytes = target.line_bytes;
  l1_bytes = double(target.l1_bytes);
  l2_bytes = double(target.l2_bytes);
  l3_bytes = double(target.l3_bytes);
  l2_speed = 32 * clock;
  l3_speed = (target.far_last_cache ? 5 : 10) * clock;
  memory_speed_all = std::min(cores, 4.0) * memory_speed;
}

LATHE_DECL std::string Machine::str() const {
  TextWriter out;
  out.open("machine ", name, " (", source, ")");
  for (const auto& f : detail::kMachineFields) out.line(f.name, " ", this->*f.value);
  return std::move(out).str();
}

LATHE_DECL Machine Machine::parse(std::string_view text, Location where) {
  std::string_view head = taken_until(text, '\n');
  const bool starts = taken_until(head, ' ') == "machine";
  const std::string name(taken_until(head, ' '));
  if (!starts || name.empty())
    throw UserError("L0414", "the text of a machine starts with the word 'machine' and its name",
                    where);
  const auto known = known_targets();
  const bool has_target = std::find(known.begin(), known.end(), name) != known.end();
  Machine out(has_target ? Target(name, where) : Target());
  out.name = name;
  head = trimmed(head);
  if (head.size() > 2 && head.front() == '(' && head.back() == ')')
    out.source = head.substr(1, head.size() - 2);
  while (!text.empty()) {
    const std::string_view line = taken_until(text, '\n');
    if (!line.empty()) detail::set_machine_field(out, line, where);
  }
  return out;
}

}  // namespace lathe
