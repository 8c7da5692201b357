#pragma once

#include <lathe/ir/print.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

LATHE_DECL std::string describe_loops(const Program& program, const BlockTag& block) {
  BlockSite site = find_block(program->body, block);
  if (!site.block) return {};
  std::string out = "loops of " + in_quotes(block->name) + ":";
  for (const auto& loop : site.loops) {
    out += " " + loop->var->name;
    if (feeds(*loop, *site.block, IterKind::reduce)) out += ":reduce";
    out += "(" + extent_text(loop->extent);
    if (loop->loop_kind != ForKind::serial) out += ", " + std::string(to_text(loop->loop_kind));
    out += ")";
  }
  return site.loops.empty() ? out + " none" : out;
}

LATHE_DECL Refusal refusal(std::string_view id, std::string message, std::string help) {
  Refusal r;
  r.id = id;
  r.message = std::move(message);
  r.help = std::move(help);
  return r;
}
LATHE_DECL Refusal refusal_at(const VarRef& loop, std::string_view id, std::string message,
                              std::string help) {
  Refusal r = refusal(id, std::move(message), std::move(help));
  r.loop = loop;
  return r;
}
LATHE_DECL Refusal refusal_at(const BlockTag& block, std::string_view id, std::string message,
                              std::string help) {
  Refusal r = refusal(id, std::move(message), std::move(help));
  r.block = block;
  return r;
}

LATHE_DECL Verdict check_change(const ForNode& loop, Change change) {
  const Attribute* a = forbids(loop.attributes, change);
  if (!a) return {};
  return refusal_at(
      loop.var, "L0204",
      "loop " + in_quotes(loop.var->name) + " carries the annotation " + in_quotes(key_of(*a)),
      "annotate loops last");
}

LATHE_DECL Verdict check_serial_change(const ForNode& loop, Change change) {
  if (loop.loop_kind == ForKind::serial) return check_change(loop, change);
  return refusal_at(loop.var, "L0204",
                    "loop " + in_quotes(loop.var->name) + " is " +
                        std::string(to_text(loop.loop_kind)) + ", not serial",
                    "do this step before the loop is marked");
}

LATHE_DECL Verdict check_settled_inputs(const Program& program, const BlockNode& block,
                                        std::string_view id) {
  std::string why = why_unsettled(program, block);
  if (why.empty()) return {};
  return refusal_at(block.tag, id, std::move(why),
                    "blocks that take part in a recurrence stay where they are");
}

}  // namespace lathe::detail
