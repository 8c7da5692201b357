// One random program under a random schedule: where both come from, and what is told of one that
// fails.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>
#include <sstream>

#include "checks.hpp"
#include "random_schedule.hpp"

namespace fuzz {

/// One case: everything follows from its seed.
class Case : private Checks {
 public:
  /// c_code takes what is to be run as C, if options say so.
  Case(std::uint64_t seed, const Options& options, Stats& stats, Machine& machine, CBatch& c_code)
      : Checks(options, stats, machine, c_code), random_(seed) {}
  using Checks::failed_as_c;

  void run() {
    make_program();
    run_made();
  }
  /// A program in a text, under a random schedule: with the head of a saved case, without a trace.
  void run_given(const std::string& text) {
    const std::size_t program_at = text.find("\nprogram ") + 1;
    if (program_at == 0) throw Failure("harness", "no program");
    read_head(text.substr(0, program_at));
    computed_.family = "given";
    computed_.program = lathe::parse(text.substr(program_at, text.find("\ntrace ") - program_at));
    ++stats_.families[computed_.family];
    run_made();
  }

  /// A case as report() prints it, on new data and with a look after each pass. A step that is
  /// refused ends it well.
  void run_saved(const std::string& text) {
    std::size_t program_at = text.find("\nprogram ") + 1, trace_at = text.find("\ntrace ") + 1;
    if (program_at == 0 || trace_at == 0) throw Failure("harness", "no program or no trace");
    read_head(text.substr(0, program_at));
    computed_.family = "saved";
    each_pass_ = true;
    try {
      computed_.program = lathe::parse(text.substr(program_at, trace_at - program_at));
    } catch (const lathe::UserError&) {
      if (!computed_.loose && !computed_.untrue) throw;
      return;
    }
    if (computed_.untrue) return refused_somewhere();
    if (computed_.loose && is_refused())
      return void(++stats_.comparisons["none: its claims are refused"]);
    const lathe::Schedule plain(computed_.program);
    checked(plain, [&] { make_data(); });
    by_default();
    lathe::Schedule s(computed_.program, {.strict = strict_});
    checked(s, [&] {
      try {
        s = lathe::replay(lathe::parse_trace(text.substr(trace_at)), s, true);
      } catch (const lathe::UserError&) {
      }
      check(s);
    });
  }

 private:
  void run_made() {
    if (!computed_.program) return void(++stats_.comparisons["none: parse refuses"]);
    static const std::vector<std::string> targets = {"x86-64", "x86-64-v2", "x86-64-v3",
                                                     "x86-64-v4"};
    if (random_.chance(40)) set_target(random_.pick(targets));
    each_pass_ = random_.chance(10);
    strict_ = random_.chance(50);
    data_ = static_cast<Data>(random_.below(3));
    if (computed_.loose && has_odd_shape(computed_))
      return void(++stats_.comparisons["none: no array has its shape"]);
    if (computed_.untrue) return refused_somewhere();
    if (computed_.loose && is_refused())
      return void(++stats_.comparisons["none: its claims are refused"]);
    const lathe::Schedule plain(computed_.program);
    checked(plain, [&] { make_data(); });
    if (!options_.plain) by_default();
    if (!options_.plain && defined_ && random_.chance(30)) by_default_for_gaps();
    strict_ = random_.chance(50);
    lathe::Schedule s(computed_.program, {.strict = strict_});
    checked(s, [&] {
      schedule(s);
      check(s);
    });
  }
  void set_target(const std::string& name) {
    lathe::Target other(name);
    if (other.runs_on(lathe::host())) target_ = permitted(other);
  }
  void make_data() {
    back_ = random_.below(machine_.backs());
    ++stats_.llvms[machine_.llvm(back_).version()];
    Random data_random(random_.bits());
    args_ = make_arguments(data_random, computed_, data_);
    dense_ = without_gaps(args_) && data_random.chance(75);
    describe("");
    open_ = lathe::open_strides(computed_.program);
    try {
      slots_ = machine_.slots_for(open_, args_);
      reference_ = machine_.interpret(open_, slots_, args_, true);
    } catch (const std::exception& error) {
      const bool unset = std::strstr(error.what(), "is read before anything was stored");
      if (!computed_.loose || (!unset && !dynamic_cast<const lathe::UserError*>(&error))) throw;
      defined_ = false;
      ++stats_.comparisons["none: the program has no meaning"];
    }
  }
  /// A text may claim what is not so, or what nobody finds to be so.
  bool is_refused() const {
    try {
      lathe::Schedule(computed_.program);
      return false;
    } catch (const lathe::UserError&) {
      return true;
    }
  }
  /// What is done to a program that nobody schedules.
  void by_default() {
    lathe::Schedule s(computed_.program, {.strict = strict_});
    checked(s, [&] {
      try {
        s = lathe::default_schedule(computed_.program, target_, {.strict = strict_});
      } catch (const lathe::UserError&) {
        if (!computed_.loose) throw;
        return;
      }
      check(s);
    });
  }
  /// The same as a call does it that finds gaps.
  void by_default_for_gaps() {
    const lathe::Program given = computed_.program, open = open_;
    const auto slots = slots_;
    const bool pixels = has_dense_pixels(args_) && random_.chance(50);
    computed_.program = open_ =
        lathe::open_strides(given, pixels ? lathe::Gaps::pixels : lathe::Gaps::rows);
    slots_ = machine_.slots_for(open_, args_);
    by_default();
    computed_.program = given, open_ = open, slots_ = slots;
  }
  void refused_somewhere() {
    const lathe::Program& program = computed_.program;
    describe("");
    if (is_refused()) return;
    const lathe::Schedule plain(program);
    checked(plain, [&] {
      try {
        lathe::verify_user(program);
        lathe::lower(lathe::default_schedule(program, target_).program(), target_);
      } catch (const lathe::UserError&) {
        return;
      }
      throw Failure("claim", "a program is taken though it claims what is not so");
    });
  }
  void read_head(const std::string& head) {
    data_ = static_cast<Data>(random_.below(3));
    for (std::size_t at = 0; at < head.size();) {
      std::size_t end = std::min(head.find('\n', at), head.size());
      std::string line = head.substr(at, end - at);
      at = end + 1;
      std::size_t blank = line.find(' '), last = line.rfind(' ');
      if (line.substr(0, blank) == "target" && line.substr(last + 1) != "host")
        set_target(line.substr(last + 1));
      if (line == "loose") computed_.loose = true;
      if (line == "untrue") computed_.untrue = true;
      if (line.substr(0, blank) == "strict") strict_ = line.substr(last + 1) == "1";
      if (line.substr(0, blank) == "dim")
        computed_.dims.emplace_back(line.substr(blank + 1, last - blank - 1),
                                    std::atoll(line.c_str() + last));
    }
  }

  /// Runs all that may fail; a failure is reported with the shortest trace that fails like it.
  template <class Body>
  void checked(const lathe::Schedule& s, Body body) {
    try {
      body();
    } catch (const Failure& failure) {
      report(failure, shrink(s.trace(), failure.kind));
      throw;
    } catch (const std::exception& error) {
      report(Failure("exception", error.what()), shrink(s.trace(), "exception"));
      throw Failure("exception", error.what());
    }
  }

  void make_program() {
    for (;;) {
      try {
        computed_ = random_program(random_, options_.family);
        if (computed_.program && !computed_.loose) known_dims(*computed_.program);
        break;
      } catch (const lathe::UserError& error) {
        // A Dim that no argument has; a value of more operations than one may have.
        if (error.id() != "L0114" && error.id() != "L0124") throw;
      }
    }
    ++stats_.families[computed_.family];
  }

  /// What the DSL has asked already is asked of a text that nobody mutated.
  static void known_dims(const lathe::ProgramNode& program) {
    for (const auto& dim : program.dims) lathe::verify_dim(dim->var, program.params);
  }

  void schedule(lathe::Schedule& s) {
    if (options_.plain) return;
    if (random_.chance(15)) s = drawn_plan();
    const int before = stats_.steps.accepted;
    ScheduleMaker maker(random_, stats_.steps, computed_.dims, computed_.focus);
    for (int k = random_.below(options_.length); k > 0; --k) {
      maker.step(s);
      describe(s.trace().str());
    }
    if (random_.chance(15)) lathe::plan(s, target_);
    describe(s.trace().str());
    stats_.accepted[computed_.family] += stats_.steps.accepted - before;
  }

  /// The default schedule, or another plan of what it compared.
  lathe::Schedule drawn_plan() {
    const lathe::ScheduleOptions options{.strict = strict_};
    lathe::Plan plan = lathe::default_plan(computed_.program, target_, options);
    const int changed = random_.below(3) * 50;
    for (auto& decision : plan.decisions)
      if (!decision.others.empty() && random_.chance(changed))
        decision.taken = random_.pick(decision.others);
    return lathe::apply_plan(plan, computed_.program, target_, options);
  }

  /// The shortest trace found that still fails in this way: single entries are dropped as long as
  /// it does.
  lathe::Trace shrink(lathe::Trace trace, const std::string& kind) {
    bool smaller = !options_.verbose;
    while (smaller) {
      smaller = false;
      for (std::size_t k = trace.entries.size(); k-- > 0;) {
        lathe::Trace candidate = trace;
        candidate.entries.erase_at(k);
        if (!fails(candidate, kind)) continue;
        trace = candidate;
        smaller = true;
      }
    }
    return trace;
  }
  bool fails(const lathe::Trace& trace, const std::string& kind) {
    try {
      lathe::ScheduleOptions options{.strict = strict_};
      lathe::Schedule s = lathe::replay(trace, lathe::Schedule(computed_.program, options));
      check(s);
      return false;
    } catch (const Failure& failure) {
      return failure.kind == kind;
    } catch (const lathe::UserError& error) {
      return kind == "exception" && error.id() == "L0409";  // no refusal: an index is wrong
    } catch (const std::exception&) {
      return kind == "exception";
    }
  }

  /// To be pasted into a file of tests/unit/schedule.
  std::string as_test(const lathe::Trace& trace) const {
    std::string steps, dims;
    std::istringstream lines(trace.cpp());
    for (std::string line; std::getline(lines, line);) steps += "  " + line + "\n";
    for (const auto& [name, value] : computed_.dims)
      dims += (dims.empty() ? "" : ", ") + std::string("{\"") + name + "\", " +
              std::to_string(value) + "}";
    return "TEST_CASE(\"" + case_name + "\") {\n  lt::Schedule start(lt::parse(R\"(" +
           computed_.program.str() + ")\")" + (strict_ ? ", {.strict = true}" : "") +
           "), s = start;\n" + steps + "  check_lowered(start, s" +
           (dims.empty() ? "" : ", {" + dims + "}") + ");\n}\n";
  }
  void report(const Failure& failure, const lathe::Trace& trace) {
    describe(trace.str());
    std::printf("\nFAIL %s: %s\n----\n%s----\n%s----\n", failure.kind.c_str(), failure.what(),
                current_case.c_str(), as_test(trace).c_str());
    try {
      lathe::ScheduleOptions options{.strict = strict_};
      std::printf("scheduled:\n%s",
                  lathe::replay(trace, lathe::Schedule(computed_.program, options))
                      .program()
                      .str()
                      .c_str());
    } catch (const std::exception&) {
    }
  }

  Random random_;
};

}  // namespace fuzz
