// What every step has to leave as it was: what loops promise, when inits run, where buffers live.
// All of it held before the step, so that each check looks at what the step made.
#pragma once

#include <algorithm>
#include <lathe/analysis/shift.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

LATHE_DECL Vec<Stmt> changed_nests(const Program& before, const Program& after) {
  Vec<const StmtNode*> old, now;
  each_nest(before->body, [&](const Stmt& nest) { old.push_back(nest.get()); });
  each_nest(after->body, [&](const Stmt& nest) { now.push_back(nest.get()); });
  // Most steps change one place, before and behind which all is the same.
  std::size_t first = 0, last = 0;
  const std::size_t most = std::min(old.size(), now.size());
  while (first < most && old[first] == now[first]) ++first;
  while (last < most - first && old[old.size() - 1 - last] == now[now.size() - 1 - last]) ++last;
  NodeSet between;
  for (std::size_t k = first; k < old.size() - last; ++k) between.insert(old[k]);
  Vec<Stmt> changed;
  for (std::size_t k = first; k < now.size() - last; ++k)
    if (!between.contains(now[k])) changed.push_back(Stmt(Ref<StmtNode>(now[k])));
  return changed;
}

// The loops that are no longer serial, in program order.
inline Vec<const ForNode*> promising_loops(const Vec<Stmt>& nests) {
  Vec<const ForNode*> loops;
  for (const auto& nest : nests)
    any_statement_in(
        nest, [](const Stmt& s) { return !has_contents(s) || contents_of(s).promises; },
        [&](const Stmt& s) {
          const auto* f = s.as<ForNode>();
          if (f && f->loop_kind != ForKind::serial) loops.push_back(f);
          return false;
        });
  return loops;
}

// What loops that are no longer serial promise, where something at or below them changed.
LATHE_DECL Verdict check_promises(const Program& before, const Program& after,
                                  const Vec<Stmt>& changed) {
  for (const auto* loop : promising_loops(changed)) {
    const ForRef old = find_loop(before->body, loop->var).loop;
    if (old && (old->loop_kind != loop->loop_kind || old->body.same_as(loop->body))) continue;
    Verdict broken = check_kind(after, *loop);
    if (!broken) continue;
    broken->message = "would break what the " + std::string(to_text(loop->loop_kind)) + " loop " +
                      in_quotes(loop->var->name) + " promises: " + broken->message;
    broken->id = "L0225";
    broken->help = "take this step before the loop is marked";
    if (!old) broken->loop = {};
    return broken;
  }
  return {};
}

// The outermost loop around a loop, itself if there is none.
inline Stmt whole_nest(const LoopSite& site) {
  for (const auto& s : site.path)
    if (s.kind() == StmtKind::For) return s;
  return {};
}

// Tails that move inward, where something in their nest changed.
inline Verdict check_shifts(const Program& before, const Program& after, const Vec<Stmt>& changed) {
  for (const auto& nest : changed)
    for (const auto& var : shifted_loops(nest)) {
      if (LoopSite old = find_loop(before->body, var);
          old.loop && whole_nest(old).same_as(whole_nest(find_loop(after->body, var))))
        continue;
      const std::string why = plan_shift(after, var).why;
      if (!why.empty())
        return refusal("L0225",
                       "would break what the tail 'shift' of loop " + in_quotes(var->name) +
                           " promises: " + why,
                       "split it with Tail::guard");
    }
  return {};
}

// Loops bound to axes, wherever something changed: each tells of the others of its kernel.
inline Verdict check_axes(const Program& after) {
  Verdict broken = check_bound_loops(after);
  if (!broken || broken->id != "L0255") return broken;
  broken->message = "would break what bound loops promise: " + broken->message;
  broken->id = "L0225";
  broken->loop = {};
  return broken;
}

class MentionVisitor : public Visitor {
 public:
  void expr(const AnyExpr& e) override {
    if (e.kind() != ExprKind::Const && e.kind() != ExprKind::Var) descend(e);
  }
};

// Bodies of opaque blocks count: what they allocate is used there.
inline int count_mentions(const Stmt& s, const Buffer& buffer) {
  class Counter : public MentionVisitor {
   public:
    explicit Counter(const Buffer& wanted) : wanted_(wanted), bit_(Contents::bit(wanted->name)) {}
    void stmt(const Stmt& below) override {
      if (may_touch(below, bit_)) descend(below);
    }
    void buffer(const Buffer& b) override { count += b == wanted_; }
    int count = 0;

   private:
    const Buffer& wanted_;
    std::uint64_t bit_;
  } counter(buffer);
  counter.stmt(s);
  return counter.count;
}

// A step may have taken a block out of the body that its buffer belongs to.
inline Verdict check_inside_alloc(const Program& program, const Stmt& alloc) {
  const Buffer& buffer = alloc.as<AllocNode>()->buffer;
  if (count_mentions(program->body, buffer) == count_mentions(alloc, buffer)) return {};
  return refusal(
      "L0220", "would use buffer " + in_quotes(buffer->name) + " outside of where it is allocated",
      "allocate it around all of the program");
}

// A copy of a buffer is allocated around all of the program, where only Dims and scalars have a
// value.
inline Verdict check_sizes(const Program& program) {
  const Stmt* top = &program->body;
  for (; const auto* alloc = top->as<AllocNode>(); top = &alloc->body)
    if (const VarRef unknown = size_unknown_above(program, {program->body}, alloc->buffer))
      return refusal("L0220",
                     "would allocate buffer " + in_quotes(alloc->buffer->name) +
                         " around all of the program, but its size depends on " +
                         in_quotes(unknown->name) + ", which has a value only inside",
                     "give the buffer that it copies a size of numbers and Dims");
  return {};
}

// The statements that allocate around all, from outside in; what is left is inside of them.
inline const Stmt& inside_allocs(const Program& program) {
  const Stmt* top = &program->body;
  while (const auto* a = top->as<AllocNode>()) top = &a->body;
  return *top;
}

// The allocs between nests, of which each holds some nests.
template <class F>
void each_alloc_between(const Stmt& s, const F& f) {
  if (const auto* a = s.as<AllocNode>()) f(s), each_alloc_between(a->body, f);
  if (const auto* seq = s.as<SeqNode>())
    for (const auto& child : seq->stmts)
      if (!has_contents(child)) each_alloc_between(child, f);
}

/// The buffers whose uses a step may have moved: those of the nests that it made, and of allocs
/// between nests that hold others now.
class MovedBuffers : public MentionVisitor {
 public:
  MovedBuffers(const Program& before, const Program& after, const Vec<Stmt>& changed) {
    NodeSet old;
    each_alloc_between(inside_allocs(before), [&](const Stmt& a) { old.insert(a.get()); });
    each_alloc_between(inside_allocs(after), [&](const Stmt& a) {
      if (!old.contains(a.get())) buffer(a.as<AllocNode>()->buffer);
    });
    for (const auto& nest : changed) stmt(nest);
  }
  void buffer(const Buffer& b) override {
    bits_ |= Contents::bit(b->name);
    add_once(found_, b);
  }
  bool has(const Buffer& b) const {
    return (bits_ & Contents::bit(b->name)) != 0 && contains(found_, b);
  }

 private:
  Vec<Buffer> found_;
  std::uint64_t bits_ = 0;
};

// Nothing but buffers in global memory, allocated around all.
inline bool lives_throughout(const Program& program) {
  const Stmt* top = &program->body;
  for (; top->kind() == StmtKind::Alloc; top = &top->as<AllocNode>()->body)
    if (top->as<AllocNode>()->buffer->scope != Scope::global) return false;
  return !any_statement_in(
      *top, [](const Stmt& s) { return !has_contents(s) || contents_of(s).allocs; },
      [](const Stmt& s) { return s.kind() == StmtKind::Alloc; });
}

LATHE_DECL Verdict check_lifetimes(const Program& before, const Program& after,
                                   const Vec<Stmt>& changed) {
  if (lives_throughout(after)) return {};
  const MovedBuffers moved(before, after, changed);
  Verdict no;
  const Stmt* top = &after->body;  // what is allocated around all is used inside
  while (const auto* a = top->as<AllocNode>()) {
    if (a->buffer->scope != Scope::global && moved.has(a->buffer))
      if ((no = check_lifetime(after, a->buffer))) return no;
    top = &a->body;
  }
  any_statement_in(
      *top, [](const Stmt& s) { return !has_contents(s) || contents_of(s).allocs; },
      [&](const Stmt& s) {
        if (const auto* a = s.as<AllocNode>(); a && moved.has(a->buffer)) {
          no = check_lifetime(after, a->buffer);
          if (!no) no = check_inside_alloc(after, s);
        }
        return no.has_value();
      });
  return no;
}

LATHE_DECL Verdict check_kept(const Program& before, const Program& after) {
  const Vec<Stmt> changed = changed_nests(before, after);
  if (auto no = check_promises(before, after, changed)) return no;
  if (auto no = check_inits(before, changed)) return no;
  if (auto no = check_shifts(before, after, changed)) return no;
  if (auto no = check_axes(after)) return no;
  if (auto no = check_marks(before, after, changed)) return no;
  if (auto no = check_sizes(after)) return no;
  return check_lifetimes(before, after, changed);
}

}  // namespace lathe::detail
