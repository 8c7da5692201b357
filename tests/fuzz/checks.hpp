// What must agree of one program under one schedule:
//
//   reference = evaluator(program)
//   scheduled = evaluator(schedule(program))
//   lowered   = evaluator(lower(scheduled program))
//   compiled  = machine code of the lowered program
//   once      = evaluator(what of the scheduled program runs once if some inputs are constant, and
//               then the rest), and two calls of a kernel of it
//
// compiled and lowered agree to the bit. scheduled and reference do too, unless a step may
// reassociate floats; lowered and scheduled do too, unless fma or expanded math is in between.
// Where they may differ, small integers as data make every order exact; other data are compared
// within the bound of error_bound.hpp, where there is one.
#pragma once

#include <cstdio>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>

#include "c_code.hpp"
#include "comparison.hpp"
#include "constants.hpp"
#include "crash.hpp"
#include "options.hpp"
#include "work.hpp"

namespace fuzz {

class Checks : protected Comparison {
 public:
  /// Of batches of C code that were full.
  int failed_as_c() const { return failed_as_c_; }

 protected:
  Checks(const Options& options, Stats& stats, Machine& machine, CBatch& c_code)
      : Comparison(stats, machine), options_(options), c_code_(c_code) {}

  /// All properties of a finished schedule.
  void check(const lathe::Schedule& s) {
    describe(s.trace().str());
    replayed(s);
    if (Work(s.program(), computed_.dims).nodes() > kMostWork) {
      ++stats_.comparisons["none: too much work"];
      return;
    }
    if (!defined_) return void(lower(s.program()));
    lathe::Program scheduled = lathe::open_strides(s.program());
    Magnitudes kind(open_->body);
    lathe::Stmt magnitudes = kind.stmt(open_->body);
    bool small = data_ == Data::small_integers && kind.ring_only && kind.roundoff <= 6e-8 &&
                 exact_range(magnitudes);
    auto reassociates = s.numerics();
    Results after = machine_.interpret(scheduled, slots_, args_, true, Place::front);
    if (reassociates.empty() || small)
      exact("scheduled", reference_, after);
    else
      bounded("scheduled (reassociated)", reference_, after, kind, magnitudes);

    lathe::Program lowered = lower(s.program());
    if (!lowered) return;
    if (options_.verbose) print_code(s.program(), lowered);
    const bool same = (strict_ && !kind.math) || small;
    check_once(scheduled, after, kind, magnitudes, same);
    if (each_pass_) check_passes(s.program(), after, kind, magnitudes, same);
    Results interpreted = machine_.interpret(lowered, slots_, args_, false);
    if (same)
      exact("lowered", after, interpreted);
    else
      bounded("lowered (contracted)", after, interpreted, kind, magnitudes);
    const bool open_order = any_order(lowered) && !small;
    if (options_.c) {
      if (open_order) return void(++stats_.comparisons["none: updates in any order"]);
      ++stats_.comparisons["as C"];
      failed_as_c_ += c_code_.add(
          {case_name, current_case, open_, lowered, args_, interpreted, is_parallel(lowered)});
      return;
    }
    for (const Results& compiled :
         machine_.compiled(lowered, target_, back_, slots_, args_, is_parallel(lowered)))
      if (open_order)
        bounded("compiled (reassociated)", interpreted, compiled, kind, magnitudes);
      else
        exact("compiled", interpreted, compiled);
  }

  void describe(const std::string& trace) {
    current_case = "# " + case_name + ", " + computed_.family + ", LLVM " +
                   std::to_string(machine_.llvm(back_).major()) + ", data " +
                   std::to_string(static_cast<int>(data_)) + "\ntarget " + target_.name +
                   "\nstrict " + std::to_string(strict_) + "\n";
    if (computed_.loose) current_case += "loose\n";
    if (computed_.untrue) current_case += "untrue\n";
    for (const auto& [name, value] : computed_.dims)
      current_case += "dim " + name + " " + std::to_string(value) + "\n";
    current_case += computed_.program.str() + trace;
    if (options_.verbose) std::fputs(current_case.c_str(), stdout), std::fflush(stdout);
  }

  const Options& options_;
  lathe::Target target_ = permitted(lathe::host());
  ComputedProgram computed_;
  Results reference_;
  int back_ = 0;  ///< which LLVM
  bool strict_ = false, each_pass_ = false;
  bool dense_ = false;   ///< lowered for arrays without gaps
  bool defined_ = true;  ///< the program has a result

 private:
  /// What runs once where some inputs are constant, and then the rest; the second call of a kernel
  /// finds what the first has kept.
  void check_once(const lathe::Program& scheduled, const Results& want, const Magnitudes& kind,
                  const lathe::Stmt& magnitudes, bool same) {
    const lathe::Program program = with_promises(scheduled);
    const lathe::SplitProgram split = lathe::split_constants(program);
    if (split.once.empty()) return;
    exact("once", want, machine_.interpret(joined(split), slots_, args_, true));
    if (options_.c || computed_.loose) return;
    const lathe::AnyKernel kernel =
        lathe::jit_any({program, {.target = target_, .strict = strict_}}, {});
    if (any_order(kernel.lowered())) return;
    for (int call = 0; call < 2; ++call) {
      const Results got = machine_.called(kernel, args_);
      if (same)
        exact("once, compiled", want, got);
      else
        bounded("once, compiled (contracted)", want, got, kind, magnitudes);
    }
  }

  /// The program after each pass gives what it gave before, to the bit until products are
  /// contracted.
  void check_passes(lathe::Program p, const Results& want, const Magnitudes& kind,
                    const lathe::Stmt& magnitudes, bool same) {
    const lathe::LowerOptions options{.strict = strict_, .dense = dense_, .language = language()};
    bool contracted = false;
    for (const lathe::Pass& pass : lathe::cpu_pipeline()) {
      p = pass.run(p, target_, options);
      if (p->stage < pass.leaves) p = p.with(p->body, pass.leaves);
      const std::string name(pass.name);
      contracted = contracted || name == "contract" || name == "expand_math";
      try {
        Results got = machine_.interpret(p, slots_, args_, false);
        ++stats_.passes;
        if (same || !contracted)
          compare(args_, want, got, "after a pass");
        else
          bounded("after contraction", want, got, kind, magnitudes);
      } catch (const std::exception& error) {
        throw Failure("pass", "after " + name + ": " + error.what() + "\n" + p.str());
      }
    }
  }

  void print_code(const lathe::Program& scheduled, const lathe::Program& lowered) const {
    std::string code;
    if (options_.c) {
      lathe::CUnit unit;
      unit.add(lowered, "fuzz");
      code = unit.text();
    } else {
      code = lathe::emit_llvm(lowered, target_, machine_.llvm(back_).major()).text;
    }
    std::printf("scheduled:\n%s\nlowered:\n%s\ncode:\n%s\n", scheduled.str().c_str(),
                lowered.str().c_str(), code.c_str());
    std::fflush(stdout);
  }

  lathe::Language language() const {
    return options_.c ? lathe::Language::c : lathe::Language::llvm;
  }

  lathe::Program lower(const lathe::Program& program) {
    const lathe::LowerOptions options{.strict = strict_, .dense = dense_, .language = language()};
    try {
      lathe::Program lowered = lathe::lower(program, target_, options);
      lathe::verify(lowered, lathe::Stage::machine, "lower", {target_, language()});
      reads_back(lowered);
      return lowered;
    } catch (const lathe::UserError& error) {
      // Too large; or loops over tiles of a fragment that a later step took out of sight.
      const bool expected = error.id() == "L0601" || error.id() == "L0606";
      if (!expected && !computed_.loose) throw;
      ++stats_.refused_lowerings[error.id()];
      return {};
    }
  }

  /// Its text, unless lets lie deeper in it than a text may have them.
  void reads_back(const lathe::Program& lowered) {
    const std::string text = lowered.str();
    try {
      if (lathe::parse(text).str() == text) return;
    } catch (const lathe::UserError& error) {
      if (error.id() != "L0505") throw;
      ++stats_.unread_texts;
      return;
    }
    throw Failure("round trip", "the lowered program does not read back\n" + text);
  }

  void replayed(const lathe::Schedule& s) {
    lathe::Trace trace = s.trace();
    lathe::ScheduleOptions options{.strict = strict_};
    lathe::Schedule again = lathe::replay(trace, lathe::Schedule(computed_.program, options));
    if (!lathe::structurally_equal(again.program(), s.program()))
      throw Failure("replay", "replay gives another program\n" + again.program().str());
    lathe::Trace parsed = lathe::parse_trace(trace.str());
    if (parsed.str() != trace.str())
      throw Failure("trace", "the trace does not read back\n" + parsed.str());
  }

  static constexpr double kMostWork = 1e8;  ///< a few seconds of the evaluator
  CBatch& c_code_;
  int failed_as_c_ = 0;
};

}  // namespace fuzz
