// Random steps on a schedule: of every primitive, with what must hold after each.
#pragma once

#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/schedule/core/records.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crash.hpp"
#include "execution.hpp"
#include "schedule_arguments.hpp"

namespace fuzz {

/// How often each primitive was accepted, and refused by which id.
struct Counts {
  std::map<std::string, std::map<std::string, int>> by_primitive;
  int accepted = 0;

  void add(const std::string& primitive, const std::string& outcome) {
    ++by_primitive[primitive][outcome];
    accepted += outcome == "accepted";
  }
};

class ScheduleMaker : private ScheduleArguments {
 public:
  ScheduleMaker(Random& random, Counts& counts, const Dims& dims,
                const std::vector<std::string>& focus)
      : ScheduleArguments(random, dims), counts_(counts) {
    static const std::vector<std::string> main_steps = {"split",
                                                        "fuse",
                                                        "reorder",
                                                        "rfactor",
                                                        "fold_lanes",
                                                        "compute_at",
                                                        "vectorize",
                                                        "cache_read",
                                                        "change_type",
                                                        "compute_inline",
                                                        "reverse_compute_at",
                                                        "cache_write",
                                                        "parallel",
                                                        "decompose_reduction"};
    if (!focus.empty() && random_.chance(60))
      concentrate(focus, 3);
    else if (random_.chance(50))
      concentrate(main_steps, 4);
  }

  /// Tries one step. Throws a Failure if it breaks what steps promise.
  void step(lathe::Schedule& s) {
    auto blocks = s.blocks();
    if (blocks.empty()) return step_on_loops(s);
    block_ = random_.pick(blocks);
    loops_ = s.loops(block_);
    const Row& row = !focus_.empty() && random_.chance(75) ? *random_.pick(focus_)
                                                           : pick_weighted(random_, rows());
    Args args = (this->*row.make)(s);
    if (args.empty() && row.before) {
      args = (this->*row.make_before)(s);
      if (!args.empty()) take(s, row.before, args);
    }
    if (!args.empty()) take(s, row.primitive, std::move(args));
  }

 private:
  /// Many faults need two or three certain steps in a row: some of the cases have little else.
  void concentrate(const std::vector<std::string>& steps, int count) {
    for (int k = 0; k < count; ++k) {
      const std::string& name = random_.pick(steps);
      for (const Row& row : rows())
        if (row.primitive == name) focus_.push_back(&row);
    }
  }

  /// Of programs that keep no block: a step that asks for none.
  void step_on_loops(lathe::Schedule& s) {
    static const std::vector<std::string> names = {
        "split",     "split",     "fuse",           "reorder",       "tile",
        "parallel",  "vectorize", "unroll",         "unroll",        "bind",
        "partition", "merge",     "loop_partition", "hoist_storage", "prefetch"};
    loops_ = some_chain(s);
    if (loops_.empty()) return;
    const std::string& name = random_.pick(names);
    for (const Row& row : rows()) {
      if (row.primitive != name) continue;
      Args args = (this->*row.make)(s);
      if (!args.empty()) take(s, row.primitive, std::move(args));
    }
  }

  void take(lathe::Schedule& s, const std::string& primitive, Args args) {
    current_step = primitive;
    take(s, *lathe::find_primitive(primitive), std::move(args));
    current_step.clear();
  }

  /// check, then apply: they agree, a refusal changes nothing, and what comes out is a program.
  void take(lathe::Schedule& s, const lathe::Primitive& primitive, Args args) {
    lathe::Program before = s.program();
    lathe::Verdict verdict = s.check(primitive, args);
    std::string name(primitive.name);
    try {
      keep_samples(primitive, args, s.apply(primitive, args));
    } catch (const lathe::UserError& error) {
      if (!verdict)
        throw Failure("check", name + ": check says legal, apply refuses: " + error.what());
      if (verdict->id != error.id())
        throw Failure(
            "check", name + ": check says " + std::string(verdict->id) + ", apply " + error.what());
      if (!(s.program() == before))
        throw Failure("refusal", name + ": a refusal changed the program");
      counts_.add(name, error.id());
      return;
    }
    if (verdict)
      throw Failure("check", name + ": check says " + std::string(verdict->id) + ", apply accepts");
    counts_.add(name, "accepted");
    check_builds_nothing(primitive, before, s);
    std::string reason = lathe::verify_reason(s.program(), lathe::Stage::blocks);
    if (!reason.empty())
      throw Failure("verify", name + " leaves a bad program: " + reason + "\n" + s.program().str());
    std::string text = s.program().str();
    lathe::Program again = lathe::parse(text);
    if (!lathe::structurally_equal(again, s.program()) || again.str() != text)
      throw Failure("round trip", name + ": the text does not read back\n" + text);
  }

  /// With no place for the result a primitive checks alone. Its arguments are complete in the
  /// trace.
  void check_builds_nothing(const lathe::Primitive& primitive, const lathe::Program& before,
                            const lathe::Schedule& s) {
    if (!samples_.empty()) return;  // the trace keeps their names, a primitive takes their values
    if (primitive.run(before, s.trace().entries.back().inputs, nullptr))
      throw Failure("check",
                    std::string(primitive.name) + " refuses what it took, building nothing");
  }

  void keep_samples(const lathe::Primitive& primitive, const Args& args, const Args& results) {
    if (primitive.gives != lathe::ArgKind::sample) return;
    std::vector<Arg> factors;
    for (const auto& r : results) factors.push_back(Arg::of(lathe::Factor(lathe::Sample(r.loop))));
    samples_.insert(samples_.end(), factors.begin(), factors.end());
    if (primitive.name == "sample_perfect_tile") tile_ = {args[0], Arg::of_list(factors)};
  }

  Counts& counts_;
  std::vector<const Row*> focus_;  ///< what most steps are, if anything
};

}  // namespace fuzz
