#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

inline bool mentions(const Stmt& s, const Buffer& b) {
  return any_use_of({b}, s, [](const BufferUse&) { return true; });
}
inline bool mentions(const AnyExpr& e, const Buffer& b) {
  return mentions(make_ref<EvaluateNode>(e), b);
}

class PlaceBuffers : public Mutator {
 public:
  explicit PlaceBuffers(const Program& program)
      : program_(program), facts_(program_facts(program)), stale_(stale_inits(program->body)) {}

  Stmt stmt(const Stmt& s) override {
    const auto* a = s.as<AllocNode>();
    if (!a) return descend(s);
    Stmt body = stmt(a->body);
    KnownCovers known;
    return mentions(body, a->buffer) ? place(a->buffer, body, known) : body;
  }

 private:
  Stmt place(const Buffer& b, const Stmt& s, KnownCovers& known) const {
    if (const auto* f = s.as<ForNode>(); f && belongs_inside(b, *f, known))
      return make_for(f->var, f->min, f->extent, place(b, f->body, known), f->loop_kind,
                      f->attributes);
    if (const auto* seq = s.as<SeqNode>()) return place_in(b, *seq, known);
    if (const auto* a = s.as<AllocNode>()) return make_alloc(a->buffer, place(b, a->body, known));
    if (const auto* i = s.as<IfNode>(); i && !i->else_body && !mentions(i->condition, b))
      return make_if(i->condition, place(b, i->then_body, known));
    if (const auto* let = s.as<LetStmtNode>(); let && !mentions(let->value, b))
      return make_let_stmt(let->var, let->value, place(b, let->body, known));
    return make_alloc(b, s);
  }

  // Around the statements from the first to the last that use it.
  Stmt place_in(const Buffer& b, const SeqNode& seq, KnownCovers& known) const {
    Vec<Stmt> before, users, after;
    for (const auto& child : seq.stmts) {
      if (!mentions(child, b)) {
        (users.empty() ? before : after).push_back(child);
        continue;
      }
      users.append(after);
      after.clear();
      users.push_back(child);
    }
    before.push_back(users.size() == 1 ? place(b, users[0], known)
                                       : make_alloc(b, make_seq(users)));
    before.append(after);
    return make_seq(std::move(before));
  }

  // Nothing is carried from one iteration to another.
  bool belongs_inside(const Buffer& b, const ForNode& f, KnownCovers& known) const {
    if (mentions(f.min, b) || mentions(f.extent, b)) return false;
    // An init goes before the outermost loop that feeds its reduction, also if that is one of a
    // single iteration.
    for (const auto& w : writers(f.body, b))
      if (w.block->reducer && !final_at(program_->body, w.block->tag, f.var)) return false;
    for (const auto& init : stale_)
      if (init.input == b && contains(init.loops, f.var)) return false;
    const LoopSite site = find_loop(program_->body, f.var);
    return runs_at_most_once(f) || filled_each_iteration(program_, b, *site.loop, facts_, &known);
  }

  const Program& program_;
  Facts facts_;
  Vec<StaleInit> stale_;  ///< inits that read, before a loop, what is written inside
};

}  // namespace detail

LATHE_DECL Program place_buffers(const Program& program) {
  return program.with(detail::PlaceBuffers(program).stmt(program->body));
}

}  // namespace lathe
