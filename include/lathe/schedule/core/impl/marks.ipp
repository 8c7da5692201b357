#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// Why what a mark says of a name does not hold in a program; empty if it does.
inline std::string why_mark_broken(const Program& program, const VarRef& loop, const char* key,
                                   const std::string& name) {
  const LoopSite site = find_loop(program->body, loop);
  if (!site.loop || !is_marked(*site.loop, key, name)) return "the loop would be gone";
  if (std::string_view(key) == kSoftwarePipeline)
    return plan_pipeline(program, loop, pipeline_parts(*site.loop)).why;
  if (std::string_view(key) == kRollingBuffer) {
    const BlockTag block = block_named(program->body, name);
    return block ? plan_roll(program, block, loop).why
                 : "block " + in_quotes(name) + " would be gone";
  }
  const Buffer buffer = find_buffer(program, name);
  if (!buffer) return "buffer " + in_quotes(name) + " would be gone";
  const std::string why = why_not_doubled(program, buffer, site);
  return why.empty() ? why : "buffer " + in_quotes(name) + " " + why;
}

LATHE_DECL Verdict check_marks(const Program& before, const Program& after) {
  Vec<const ForNode*> marked;
  any_statement_in(
      before->body, [](const Stmt& s) { return !has_contents(s) || contents_of(s).marks; },
      [&](const Stmt& s) {
        if (const auto* f = s.as<ForNode>(); f && check_no_promise(*f)) marked.push_back(f);
        return false;
      });
  for (const auto* loop : marked)
    for (const char* key : {kDoubleBuffer, kRollingBuffer, kSoftwarePipeline})
      for (const auto& name : marked_names(*loop, key))
        if (std::string why = why_mark_broken(after, loop->var, key, name); !why.empty())
          return refusal("L0225",
                         "would break what the annotation " + in_quotes(key) + " of loop " +
                             in_quotes(loop->var->name) + " promises: " + why,
                         "take this step before the loop is marked");
  return {};
}

}  // namespace lathe::detail
