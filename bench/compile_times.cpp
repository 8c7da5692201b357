#include "compile_times.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/measure.hpp"
#include "lathe_side.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
#include <lathe/jit/code_cache.hpp>
#endif

namespace bench {

namespace {

CompileLog* current_log = nullptr;

/// The milliseconds behind `name` in a line that gives microseconds.
double after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  return at == line.npos ? 0 : 1e-3 * std::atof(std::string(line.substr(at + name.size())).c_str());
}

bool begins(std::string_view line, std::string_view with) {
  return line.substr(0, with.size()) == with;
}

double jit_ms(const CompileTimes& t) { return t.default_schedule + t.lowering + t.to_code(); }

constexpr double CompileTimes::*kParts[] = {
    &CompileTimes::steps,    &CompileTimes::default_schedule,
    &CompileTimes::lowering, &CompileTimes::emission,
    &CompileTimes::parse,    &CompileTimes::passes,
    &CompileTimes::code,     &CompileTimes::link};

void keep_least(CompileTimes& least, const CompileTimes& times) {
  if (times.slowest_pass < least.slowest_pass)
    least.slowest_pass = times.slowest_pass, least.slowest = times.slowest;
  for (const auto part : kParts) least.*part = std::min(least.*part, times.*part);
}

}  // namespace

CompileLog::CompileLog() { current_log = this; }
CompileLog::~CompileLog() { current_log = nullptr; }
CompileLog* CompileLog::current() { return current_log; }

void CompileLog::take(std::string_view line) {
  if (begins(line, "pass ")) {
    const double ms = after(line, ": ");
    times_.lowering += ms;
    if (ms <= times_.slowest_pass) return;
    times_.slowest_pass = ms;
    times_.slowest = line.substr(5, line.find(':') - 5);
  } else if (begins(line, "LLVM ")) {
    times_.parse += after(line, "parse: ");
    times_.passes += after(line, "passes: ");
    times_.code += after(line, "machine code: ");
  }
  if (begins(line, "default schedule")) times_.default_schedule += after(line, ": ");
  if (begins(line, "emission")) times_.emission += after(line, ": ");
  if (begins(line, "link")) times_.link += after(line, ": ");
}

CompileTimes CompileLog::taken() {
  CompileTimes out = times_;
  times_ = {};
  return out;
}

#ifdef BENCH_HAS_LATHE_HEADER

CompileTimes least_compile_times(const CompiledProgram& program, int rounds) {
  CompileTimes least;
  for (int round = 0; round < rounds; ++round) {
    CompileLog log;
    lt::CodeCache::of(context_for(1)).clear();
    const double start = seconds_now();
    program.compile();
    const double all = 1e3 * (seconds_now() - start);
    CompileTimes times = log.taken();
    times.steps = std::max(0.0, all - jit_ms(times));
    if (round == 0)
      least = times;
    else
      keep_least(least, times);
  }
  return least;
}

#else
CompileTimes least_compile_times(const CompiledProgram&, int) { return {}; }
#endif

}  // namespace bench
