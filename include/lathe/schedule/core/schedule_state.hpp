// What the steps of a schedule share: the program, the steps so far, and how one more is taken.
#pragma once

#include <lathe/schedule/core/names.hpp>
#include <lathe/schedule/core/trace.hpp>

namespace lathe {

struct ScheduleOptions {
  bool strict = false;     ///< refuse steps that may change floating-point rounding (L0226)
  std::uint64_t seed = 0;  ///< of what sampling steps draw
};

namespace detail {

class DefaultSteps;

/// A set of nodes by identity that is never changed: with one more it shares most of itself. A
/// search tree by hashes of addresses, so that it is flat enough as it grows.
struct RefTree : RefCounted {
  RefTree(const RefCounted* its_node, Ref<RefTree> its_less, Ref<RefTree> its_more)
      : node(its_node), less(std::move(its_less)), more(std::move(its_more)) {}
  const RefCounted* node;
  Ref<RefTree> less, more;

  static bool holds(const Ref<RefTree>& tree, const RefCounted* node);
  static Ref<RefTree> with(const Ref<RefTree>& tree, const RefCounted* node);
};

/// What Schedule adds its methods to, kind by kind: each kind of step is a class on top of the one
/// before, so that all of them are methods of one object.
class ScheduleState {
 public:
  const Program& program() const { return program_; }
  const ScheduleOptions& options() const { return options_; }

  /// Runs one primitive by name: what replay, the parser and a search use. Results as the primitive
  /// gives them.
  Args apply(const Primitive& primitive, Args given, Location where = Location::here());
  /// Whether it would be legal, without doing it. Never throws for what the arguments are.
  Verdict check(const Primitive& primitive, const Args& args) const;

 protected:
  ScheduleState(Program program, ScheduleOptions options, Location where);
  // Moving one copies it, so that a schedule always has its program.
  ScheduleState(const ScheduleState&) = default;
  ScheduleState& operator=(const ScheduleState&) = default;

  // One step back in history; copies of a schedule share their past.
  struct Step : RefCounted {
    Ref<Step> previous;
    TraceEntry entry;
    Vec<Consumed> consumed;
    Vec<std::int64_t> samples;  ///< values of the entry's results
    std::string reassociates;

    Step() = default;
    Step(Step&&) = default;
    LATHE_DECL ~Step() override;
  };

  Verdict check_reference(const Arg& arg) const;
  const std::int64_t* sampled(const VarRef& var) const;
  BlockTag resolve_block(const BlockName& name, std::string_view step, Location where) const;
  std::string resolve_buffer(const BufferName& name, std::string_view step, Location where) const;
  [[noreturn]] void refuse(std::string_view step, const Refusal& why, Location where) const;
  Vec<LoopRef> step_to_loops(const Primitive& primitive, Args args, Location where);

  Program program_;
  std::uint64_t origin_hash_ = 0;
  ScheduleOptions options_;
  Ref<Step> last_;

 private:
  friend class DefaultSteps;

  Arg with_samples(const Arg& arg) const;
  Verdict prepare(const Primitive& primitive, const Args& given, Args& args) const;
  Verdict try_step(const Primitive& primitive, const Args& args, Edit& edit) const;
  void record(const Primitive& primitive, Args args, Edit edit, Location where);
  void define_inputs(const Args& args, Location where);
  bool defined(const RefCounted* ref) const;

  Ref<RefTree> defined_;      ///< what steps gave
  bool shows_places_ = true;  ///< refusals tell where, which takes all of the program's text
};

}  // namespace detail
}  // namespace lathe
