#pragma once

#include <lathe/ir/loop_marks.hpp>
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

LATHE_DECL Refusal carries(const ForNode& loop, const std::string& key) {
  return refusal_at(
      loop.var, "L0204",
      "loop " + in_quotes(loop.var->name) + " carries the annotation " + in_quotes(key),
      "annotate loops last");
}

inline Verdict check_serial(const ForNode& loop) {
  if (loop.loop_kind == ForKind::serial) return {};
  return refusal_at(loop.var, "L0204",
                    "loop " + in_quotes(loop.var->name) + " is " +
                        std::string(to_text(loop.loop_kind)) + ", not serial",
                    "do this step before the loop is marked");
}

LATHE_DECL Verdict check_plain_loop(const ForNode& loop, std::string_view except) {
  if (auto no = check_serial(loop)) return no;
  for (const auto& a : loop.annotations)
    if (a.key != "tail" && a.key != except) return carries(loop, a.key);
  return {};
}

LATHE_DECL Verdict check_storage_loop(const ForNode& loop) {
  if (auto no = check_serial(loop)) return no;
  for (const auto& a : loop.annotations)
    if (a.key != "tail" && !is_storage_mark(a.key)) return carries(loop, a.key);
  return {};
}

LATHE_DECL Verdict check_no_promise(const ForNode& loop) {
  for (const auto& a : loop.annotations)
    if (is_promise(a.key)) return carries(loop, a.key);
  return {};
}

LATHE_DECL Verdict check_settled_inputs(const Program& program, const BlockNode& block,
                                        std::string_view id) {
  std::string why = why_unsettled(program, block);
  if (why.empty()) return {};
  return refusal_at(block.tag, id, std::move(why),
                    "blocks that take part in a recurrence stay where they are");
}

}  // namespace lathe::detail
