#pragma once

#include <lathe/schedule/primitives/loops/kinds.ipp>

namespace lathe::detail {

inline constexpr std::int64_t kMaxBlockThreads = 1024;

/// What loops that are bound to axes of a GPU promise besides that their iterations may run at
/// once: the loops of each kernel, an outermost loop with all below, span one grid of one kind of
/// block.
class BoundLoops {
 public:
  explicit BoundLoops(const Program& program) : program_(program), facts_(program_facts(program)) {}

  Verdict check() {
    walk(program_->body, false);
    return no_;
  }

 private:
  void walk(const Stmt& s, bool conditional) {
    if (no_) return;
    const auto* f = s.as<ForNode>();
    conditional |= s.kind() == StmtKind::If || s.kind() == StmtKind::While ||
                   s.kind() == StmtKind::Block || s.kind() == StmtKind::LetStmt;
    if (f) {
      if (around_.empty()) kernel_.clear();
      no_ = loop(*f, conditional);
      around_.push_back(f);
    }
    any_child(s, [&](const Stmt& child) { return walk(child, conditional), no_.has_value(); });
    if (f) around_.pop_back();
  }

  Verdict loop(const ForNode& f, bool conditional) {
    if (auto no = place(f)) return no;
    if (!is_bound(f.loop_kind)) return {};
    if (conditional) return refuse(f, "stands under a condition or inside a block");
    if (is_thread_axis(f.loop_kind)) {
      if (auto no = threads(f)) return no;
    } else if (!over_dims(program_, f.extent)) {
      return refuse(f, "runs over an extent that only the program knows when it runs",
                    "a grid is as large as numbers and Dims say");
    }
    return same_extent(f);
  }

  // What lies in what.
  Verdict place(const ForNode& f) const {
    for (const auto* outer : around_) {
      const ForKind in = f.loop_kind, out = outer->loop_kind;
      if (!is_bound(in) && !is_bound(out)) continue;
      const bool one_axis = in == out, cpu = in == ForKind::parallel || out == ForKind::parallel;
      if (one_axis || cpu || out == ForKind::vectorized ||
          (is_block_axis(in) && is_thread_axis(out)))
        return refuse(f, "lies inside loop " + describe(*outer),
                      "one loop an axis, blockIdx outside of threadIdx, none with parallel ones");
      if (is_thread_axis(in) && bounds_differ(*outer))
        return refuse(
            f, "lies inside loop " + describe(*outer) + ", whose bounds differ between threads",
            "threads wait for each other where a loop over them ends");
    }
    return {};
  }

  // Whether the threads around the loop run it different numbers of times.
  bool bounds_differ(const ForNode& f) const {
    for (const auto* outer : around_)
      if (is_thread_axis(outer->loop_kind) &&
          (uses_var(f.min, outer->var) || uses_var(f.extent, outer->var)))
        return true;
    return false;
  }

  Verdict threads(const ForNode& f) const {
    const std::int64_t* extent = as_const_int(f.extent);
    if (!extent) return refuse(f, "has no constant extent", "split it by a number of threads");
    std::int64_t all = 1;
    for (const auto* other : kernel_)
      if (is_thread_axis(other->loop_kind) && other->loop_kind != f.loop_kind)
        all *= std::max<std::int64_t>(*as_const_int(other->extent), 1);
    if (*extent <= kMaxBlockThreads / all) return {};
    return refuse(f,
                  (all == 1 ? "has" : "makes, with the other threadIdx loops of its kernel,") +
                      std::string(" more than ") + std::to_string(kMaxBlockThreads) + " threads",
                  "split it by fewer threads");
  }

  Verdict same_extent(const ForNode& f) {
    for (const auto* other : kernel_) {
      if (other->loop_kind != f.loop_kind) continue;
      if (prove_eq(other->extent, f.extent, facts_)) return {};
      return refuse(f,
                    "is not proven to be as long as loop " + describe(*other) +
                        " of its kernel, the nest of loop " +
                        in_quotes((around_.empty() ? &f : around_[0])->var->name),
                    "loops of one axis in an outermost loop have one extent");
    }
    kernel_.push_back(&f);
    return {};
  }

  static Verdict refuse(const ForNode& f, const std::string& why, std::string help = {}) {
    return refusal_at(f.var, "L0255", "loop " + describe(f) + " " + why, std::move(help));
  }

  const Program& program_;
  Facts facts_;
  Vec<const ForNode*> around_;
  Vec<const ForNode*> kernel_;  ///< the first loop of each axis in the outermost loop
  Verdict no_;
};

LATHE_DECL Verdict check_bound_loops(const Program& program) {
  const bool any = any_statement_in(
      program->body, [](const Stmt& s) { return !has_contents(s) || contents_of(s).axes; },
      [](const Stmt& s) {
        const auto* f = s.as<ForNode>();
        return f && is_bound(f->loop_kind);
      });
  return any ? BoundLoops(program).check() : Verdict();
}

inline Verdict run_bind(const Program& program, const Args& args, Edit* edit) {
  const VarRef& loop = args[0].loop;
  if (auto no = check_serial_change(*find_loop(program->body, loop).loop, Change::unfold))
    return no;
  ForKind axis = ForKind::serial;
  if (!parse_for_kind(args[1].text, axis) || !is_bound(axis))
    return refusal_at(loop, "L0255", "no axis is called " + in_quotes(args[1].text),
                      "axes: blockIdx.x blockIdx.y blockIdx.z threadIdx.x threadIdx.y threadIdx.z");
  Edit bound;
  set_kind(program, loop, axis, {}, bound);
  if (auto no = check_bound_loops(bound.program)) return no;
  if (auto no = check_parallel(bound.program, loop)) return no;
  if (edit) *edit = std::move(bound);
  return {};
}

LATHE_DECL const Primitive& primitive_bind() {
  static const Primitive record{"bind",
                                1,
                                {{"loop", ArgKind::loop}, {"axis", ArgKind::text}},
                                "iterations are blocks of a GPU's grid, or threads of a block",
                                run_bind};
  return record;
}

}  // namespace lathe::detail
