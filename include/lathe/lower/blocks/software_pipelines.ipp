#pragma once

#include <algorithm>
#include <lathe/analysis/buffering.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/storage/version_buffers.ipp>
#include <lathe/lower/vector/clone.hpp>

namespace lathe {
namespace detail {

inline constexpr const char* kPipelineStatement = "pipeline_statement";

// Each statement under a loop of its own, of one iteration, so that it stays one when inits and
// guards have come to it.
inline Stmt wrap_statements(const ForNode& loop) {
  Vec<Stmt> out;
  for (const auto& s : seq_of(loop.body)) {
    const auto position = static_cast<std::int64_t>(out.size());
    out.push_back(make_for(make_var("s"), AnyExpr(0), AnyExpr(1), s, ForKind::serial,
                           {{kPipelineStatement, position}}));
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
  if (!plan.buffers.empty())
    head.annotations.push_back(
        {kPipelineBuffers, join(plan.buffers, ",", [](const PipelinePlan::Versions& v) {
           return v.buffer->name + ":" + std::to_string(v.count);
         })});
  return out.with(replace_at(site.path, wrap_loops({head}, body)));
}

/// A statement and when it runs.
struct StagedStatement {
  Stmt body;
  PipelinePart part;
};

/// One loop with its statements in stages, as three loops.
class StagedLoop {
 public:
  StagedLoop(const ForNode& loop, Vec<StagedStatement> statements)
      : loop_(loop), statements_(std::move(statements)) {
    std::sort(statements_.begin(), statements_.end(),
              [](const StagedStatement& a, const StagedStatement& b) {
                return a.part.order < b.part.order;
              });
    for (const auto& s : statements_) depth_ = std::max(depth_, s.part.stage);
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
    for (const auto& [statement, part] : statements_) {
      const AnyExpr at = fold_sub(AnyExpr(step), AnyExpr(part.stage));
      Stmt s = CloneFresh(loop_.var, at).stmt(statement);
      if (guarded)
        s = make_if(logical_and(loop_.min <= at, at < fold_add(loop_.min, loop_.extent)), s);
      body.push_back(std::move(s));
    }
    return make_for(step, fold_add(loop_.min, first), count, make_seq(std::move(body)),
                    loop_.loop_kind, guarded ? Annotations() : loop_.annotations);
  }

  const ForNode& loop_;
  Vec<StagedStatement> statements_;
  std::int64_t depth_ = 0;
};

class SoftwarePipelines : public VersionBuffers {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || !find_annotation(f->annotations, kSoftwarePipeline)) return VersionBuffers::stmt(s);
    Stmt body = stmt(f->body);
    const Vec<PipelineBuffer> own = pipeline_buffers(*f);
    for (const auto& buffer : buffers_written(body))
      for (const auto& [name, count] : own)
        if (name == buffer->name && count > 1) body = with_versions(*f, body, buffer, count);
    const Stmt plain = make_for(f->var, f->min, f->extent, body, f->loop_kind, unmarked(*f));
    const Vec<PipelinePart> parts = pipeline_parts(*f);
    Vec<StagedStatement> statements;
    for (const auto& child : seq_of(body)) {  // those that do nothing may be gone
      const auto* one = child.as<ForNode>();
      const AttrValue* at = one ? find_annotation(one->annotations, kPipelineStatement) : nullptr;
      if (!at || at->number < 0 || at->number >= static_cast<std::int64_t>(parts.size()))
        return plain;
      statements.push_back({one->body, parts[static_cast<std::size_t>(at->number)]});
    }
    return StagedLoop(*plain.as<ForNode>(), std::move(statements)).stages();
  }

 private:
  static Annotations unmarked(const ForNode& loop) {
    Annotations out = loop.annotations;
    out.erase_if([](const Annotation& a) {
      return a.key == kSoftwarePipeline || a.key == kPipelineBuffers;
    });
    return out;
  }
};

}  // namespace detail

LATHE_DECL Program stage_pipelines(const Program& program) {
  Program out = program;
  for (const auto& loop : detail::loops_marked(program, detail::kSoftwarePipeline)) {
    const ForNode& marked = *find_loop(program->body, loop).loop;
    const detail::PipelinePlan plan =
        detail::plan_pipeline(program, loop, detail::pipeline_parts(marked));
    out = plan.why.empty() ? detail::stage_pipeline(out, loop, plan)
                           : detail::with_marks(out, loop, detail::kSoftwarePipeline, {});
  }
  return out;
}

LATHE_DECL Program software_pipelines(const Program& program) {
  return program.with(detail::SoftwarePipelines().stmt(program->body));
}

}  // namespace lathe
