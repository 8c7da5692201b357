#pragma once

#include <lathe/ir/print.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/loop_marks.hpp>

namespace lathe {

LATHE_DECL std::string_view to_text(Tail tail) {
  static constexpr std::string_view texts[] = {"exact", "guard", "mask",
                                               "peel",  "shift", "round_up"};
  return texts[static_cast<int>(tail)];
}

LATHE_DECL bool parse_tail(std::string_view text, Tail& out) {
  for (int k = 0; k <= static_cast<int>(Tail::round_up); ++k) {
    if (to_text(static_cast<Tail>(k)) != text) continue;
    out = static_cast<Tail>(k);
    return true;
  }
  return false;
}

LATHE_DECL std::string_view to_text(Partition policy) {
  static constexpr std::string_view texts[] = {"automatic", "never", "always"};
  return texts[static_cast<int>(policy)];
}

LATHE_DECL bool parse_partition(std::string_view text, Partition& out) {
  for (Partition policy : {Partition::automatic, Partition::never, Partition::always})
    if (to_text(policy) == text) return out = policy, true;
  return false;
}

namespace detail {

LATHE_DECL std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

LATHE_DECL std::string extent_text(const AnyExpr& extent) {
  const std::int64_t* value = as_const_int(extent);
  return value ? std::to_string(*value) : str(extent);
}

LATHE_DECL std::string describe(const ForNode& loop) {
  std::string kind =
      loop.loop_kind == ForKind::serial ? "" : ", " + std::string(to_text(loop.loop_kind));
  return in_quotes(loop.var->name) + "(" + extent_text(loop.extent) + kind + ")";
}

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

LATHE_DECL BlockTag first_block_below(const Stmt& s) {
  BlockTag first;
  any_statement(s, [&](const Stmt& below) {
    if (const auto* b = below.as<BlockNode>()) first = b->tag;
    return bool(first);
  });
  return first;
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

inline Refusal carries(const ForNode& loop, const std::string& key) {
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

}  // namespace detail
}  // namespace lathe
