#pragma once

#include <lathe/analysis/marks.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

/// The error of the step that sets an attribute.
struct ErrorOfMark {
  std::string_view operator()(const PrefetchAttr&) const { return "L0222"; }
  std::string_view operator()(const TailAttr&) const { return "L0224"; }
  std::string_view operator()(const HoistAttr&) const { return "L0240"; }
  std::string_view operator()(const DoubleBufferAttr&) const { return "L0245"; }
  std::string_view operator()(const RollingAttr&) const { return "L0246"; }
  std::string_view operator()(const PipelineAttr&) const { return "L0247"; }
  std::string_view operator()(const PartitionAttr&) const { return "L0258"; }
  template <class A>
  std::string_view operator()(const A&) const {
    return "L0223";
  }
};

LATHE_DECL Verdict check_mark(const Program& program, const LoopSite& site, const Attribute& a,
                              std::string help) {
  std::string why = why_not_honoured(program, site, a);
  if (why.empty()) return {};
  std::string_view id;
  a.visit([&](const auto& of) { id = ErrorOfMark()(of); });
  return refusal_at(site.loop->var, id, std::move(why), std::move(help));
}

// The loops below that carry attributes, in program order.
inline Vec<ForRef> marked_loops(const Stmt& root) {
  Vec<ForRef> out;
  any_statement_in(
      root, [](const Stmt& s) { return !has_contents(s) || contents_of(s).marks; },
      [&](const Stmt& s) {
        if (const auto* f = s.as<ForNode>(); f && !f->attributes.empty()) out.push_back(ForRef(f));
        return false;
      });
  return out;
}

LATHE_DECL Verdict check_claimed_marks(const Program& program) {
  for (const auto& loop : marked_loops(program->body))
    for (const auto& a : loop->attributes)
      if (auto no = check_mark(program, find_loop(program->body, loop->var), a)) return no;
  return {};
}

inline Refusal broken_mark(const ForNode& loop, const Attribute& a, const std::string& why) {
  return refusal("L0225",
                 "would break what the annotation " + in_quotes(key_of(a)) + " of loop " +
                     in_quotes(loop.var->name) + " promises: " + why,
                 "take this step before the loop is marked");
}

// What rolls depends on what other nests store.
inline Verdict check_rolling(const Program& after) {
  for (const auto& loop : marked_loops(after->body))
    for (const auto& a : loop->attributes) {
      if (!a.as<RollingAttr>()) continue;
      const std::string why = why_not_honoured(after, find_loop(after->body, loop->var), a);
      if (!why.empty()) return broken_mark(*loop, a, why);
    }
  return {};
}

LATHE_DECL Verdict check_marks(const Program& before, const Program& after,
                               const Vec<Stmt>& changed) {
  for (const auto& loop : marked_loops(before->body))
    for (const auto& a : loop->attributes)
      if (fate_of(a, Change::lose) == Fate::refuse && !find_loop(after->body, loop->var).loop)
        return broken_mark(*loop, a, "the loop would be gone");
  if (auto no = check_rolling(after)) return no;
  for (const auto& nest : changed)
    for (const auto& loop : marked_loops(nest))
      for (const auto& a : loop->attributes) {
        // check_shifts and check_rolling ask these.
        if (a.as<TailAttr>() || a.as<RollingAttr>()) continue;
        const std::string why = why_not_honoured(after, find_loop(after->body, loop->var), a);
        if (!why.empty()) return broken_mark(*loop, a, why);
      }
  return {};
}

}  // namespace lathe::detail
