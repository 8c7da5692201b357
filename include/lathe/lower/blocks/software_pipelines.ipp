#pragma once

#include <algorithm>
#include <lathe/analysis/buffering.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/fates.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/storage/version_buffers.ipp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// Each statement under a loop of its own, of one iteration, so that it stays one when inits and
// guards have come to it.
inline Stmt wrap_statements(const ForNode& loop) {
  Vec<Stmt> out;
  for (const auto& s : seq_of(loop.body)) {
    const auto position = static_cast<std::int64_t>(out.size());
    out.push_back(make_for(make_var("s"), AnyExpr(0), AnyExpr(1), s, ForKind::serial,
                           {PipelineStatementAttr{position}}));
  }
  return make_seq(std::move(out));
}

inline Program stage_pipeline(const Program& program, const VarRef& loop,
                              const PipelinePlan& plan) {
  Program out = program;
  for (const auto& own : plan.buffers) out = out.with(remove_alloc(out->body, own.buffer));
  const LoopSite site = find_loop(out->body, loop);
  LoopHead head = head_of(*site.loop);
  Stmt body = wrap_statements(*site.loop);
  for (const auto& own : plan.buffers) body = make_alloc(own.buffer, body);
  for (const auto& own : plan.buffers)
    head.attributes.set(PipelineBufferAttr{own.buffer->name, own.count});
  return out.with(replace_at(site.path, wrap_loops({head}, body)));
}

/// A statement and when it runs.
struct StagedStatement {
  Stmt body;
  std::int64_t stage, order;
};

/// One loop with its statements in stages, as three loops.
class StagedLoop {
 public:
  StagedLoop(const ForNode& loop, Vec<StagedStatement> statements)
      : loop_(loop), statements_(std::move(statements)) {
    std::sort(statements_.begin(), statements_.end(),
              [](const StagedStatement& a, const StagedStatement& b) { return a.order < b.order; });
    for (const auto& s : statements_) depth_ = std::max(depth_, s.stage);
  }

  // Steps 0 to extent + depth, of which those from depth to extent run all statements.
  Stmt stages() const {
    const AnyExpr depth(depth_), &extent = loop_.extent;
    if (depth_ == 0) return steps(AnyExpr(0), extent, false);
    return make_seq({steps(AnyExpr(0), depth, true), steps(depth, fold_sub(extent, depth), false),
                     steps(fold_max(extent, depth), fold_min(extent, depth), true)});
  }

 private:
  Stmt steps(const AnyExpr& first, const AnyExpr& count, bool guarded) const {
    VarRef step = make_var(loop_.var->name, loop_.var->dtype);
    Vec<Stmt> body;
    for (const auto& [statement, stage, order] : statements_) {
      const AnyExpr at = fold_sub(AnyExpr(step), AnyExpr(stage));
      Stmt s = CloneFresh(loop_.var, at).stmt(statement);
      if (guarded)
        s = make_if(logical_and(loop_.min <= at, at < fold_add(loop_.min, loop_.extent)), s);
      body.push_back(std::move(s));
    }
    return make_for(step, fold_add(loop_.min, first), count, make_seq(std::move(body)),
                    loop_.loop_kind,
                    guarded ? after(Change::border, loop_.attributes) : loop_.attributes);
  }

  const ForNode& loop_;
  Vec<StagedStatement> statements_;
  std::int64_t depth_ = 0;
};

class SoftwarePipelines : public VersionBuffers {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    const auto* mark = f ? f->attributes.find<PipelineAttr>() : nullptr;
    if (!mark) return VersionBuffers::stmt(s);
    Stmt body = stmt(f->body);
    for (const auto& buffer : buffers_written(body))
      for (const auto& a : f->attributes)
        if (const auto* own = a.as<PipelineBufferAttr>();
            own && own->buffer == buffer->name && own->versions > 1)
          body = with_versions(*f, body, buffer, own->versions);
    Attributes rest = f->attributes;
    rest.erase<PipelineAttr>(), rest.erase<PipelineBufferAttr>();
    // The plan takes a buffer that has no versions for one that iterations share.
    Vec<Buffer> shared;
    for (; const auto* a = body.as<AllocNode>(); body = a->body) shared.push_back(a->buffer);
    const Stmt plain = make_for(f->var, f->min, f->extent, body, f->loop_kind, rest);
    Stmt out = StagedLoop(*plain.as<ForNode>(), statements_of(*f, *mark, body)).stages();
    for (const auto& buffer : reversed(shared)) out = make_alloc(buffer, out);
    return out;
  }

 private:
  // Those that do nothing may be gone.
  static Vec<StagedStatement> statements_of(const ForNode& loop, const PipelineAttr& mark,
                                            const Stmt& body) {
    Vec<StagedStatement> out;
    for (const auto& child : seq_of(body)) {
      const auto* one = child.as<ForNode>();
      const auto* place = one ? one->attributes.find<PipelineStatementAttr>() : nullptr;
      if (!place || place->position >= static_cast<std::int64_t>(mark.stages.size()))
        refuse_mark(loop, mark, "the loop holds more than the statements that it had as blocks");
      const auto k = static_cast<std::size_t>(place->position);
      out.push_back({one->body, mark.stages[k], mark.orders[k]});
    }
    return out;
  }
};

// What stage_pipelines notes went with the pipelines; a text may say such things of other loops.
inline void check_no_parts(const Stmt& body) {
  each_statement(body, [](const Stmt& s) {
    const auto* f = s.as<ForNode>();
    if (!f) return;
    for (const auto& a : f->attributes)
      if (a.as<PipelineBufferAttr>() || a.as<PipelineStatementAttr>())
        refuse_mark(*f, a, "it is part of no pipeline");
  });
}

}  // namespace detail

LATHE_DECL Program stage_pipelines(const Program& program) {
  Program out = program;
  for (const auto& loop : detail::loops_marked<PipelineAttr>(program)) {
    const ForRef marked = find_loop(program->body, loop).loop;
    const auto& mark = *marked->attributes.find<PipelineAttr>();
    const detail::PipelinePlan plan = detail::plan_pipeline(program, loop, mark);
    if (!plan.why.empty()) detail::refuse_mark(*marked, mark, plan.why);
    out = detail::stage_pipeline(out, loop, plan);
  }
  return out;
}

LATHE_DECL Program software_pipelines(const Program& program) {
  const Stmt body = detail::SoftwarePipelines().stmt(program->body);
  detail::check_no_parts(body);
  return program.with(body);
}

}  // namespace lathe
