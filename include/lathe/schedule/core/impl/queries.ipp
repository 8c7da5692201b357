#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline std::string block_names_text(const Program& program) {
  std::string out = "blocks:";
  for (const auto& tag : block_tags(program->body)) out += " " + tag->name;
  return out;
}

inline Verdict run_block(const Program& program, const Args& args, Edit* edit) {
  if (BlockTag tag = block_named(program->body, args[0].text)) {
    if (edit) edit->program = program, edit->results.push_back(BlockRef(tag));
    return {};
  }
  return refusal("L0201", "no block is called " + in_quotes(args[0].text),
                 block_names_text(program));
}

inline Verdict run_loops(const Program& program, const Args& args, Edit* edit) {
  if (!edit) return {};
  edit->program = program;
  for (const auto& loop : loops_above(program->body, args[0].block))
    edit->results.push_back(LoopRef(loop->var));
  return {};
}

inline Vec<VarRef> loops_in_order(const Program& program) {
  Vec<VarRef> loops;
  each_statement(program->body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>()) loops.push_back(f->var);
  });
  return loops;
}

// For loops that hold no block: by their position among all loops.
inline Verdict run_loop_at(const Program& program, const Args& args, Edit* edit) {
  Vec<VarRef> loops = loops_in_order(program);
  auto at = static_cast<std::size_t>(args[0].number);
  if (args[0].number < 0 || at >= loops.size())
    return refusal("L0201", "the program has " + std::to_string(loops.size()) +
                                " loops, no loop number " + std::to_string(args[0].number));
  if (edit) edit->program = program, edit->results.push_back(LoopRef(loops[at]));
  return {};
}

// By name, where one loop of the program has it.
inline Verdict run_loop(const Program& program, const Args& args, Edit* edit) {
  const Vec<VarRef> loops = loops_in_order(program);
  const std::string name = in_quotes(args[0].text);
  Vec<std::size_t> found;
  std::string names, positions;
  for (std::size_t k = 0; k < loops.size(); ++k) {
    if (k < 20) names += (k ? " " : "loops: ") + loops[k]->name;
    if (loops[k]->name != args[0].text) continue;
    positions += (found.empty() ? "" : ", ") + std::to_string(k);
    found.push_back(k);
  }
  if (found.empty())
    return refusal(
        "L0201", "no loop is called " + name,
        loops.empty() ? "the program has no loops" : names + (loops.size() > 20 ? " …" : ""));
  if (found.size() > 1)
    return refusal(
        "L0201", std::to_string(found.size()) + " loops are called " + name,
        "take the one above a block with loops(block), or by position: loop_at of " + positions);
  if (edit) edit->program = program, edit->results.push_back(LoopRef(loops[found[0]]));
  return {};
}

inline Primitive query(std::string_view name, Parameter parameter, std::string_view summary,
                       Verdict (*run)(const Program&, const Args&, Edit*), ArgKind gives,
                       Results results) {
  return {name, 1, {std::move(parameter)}, summary, run, gives, results, nullptr, true};
}

LATHE_DECL const Primitive& primitive_block() {
  static const Primitive record = query("block", {"name", ArgKind::text}, "the block with a name",
                                        run_block, ArgKind::block, Results::one);
  return record;
}
LATHE_DECL const Primitive& primitive_loops() {
  static const Primitive record =
      query("loops", {"block", ArgKind::block}, "the loops above a block", run_loops, ArgKind::loop,
            Results::counted);
  return record;
}
LATHE_DECL const Primitive& primitive_loop() {
  static const Primitive record = query("loop", {"name", ArgKind::text}, "the loop with a name",
                                        run_loop, ArgKind::loop, Results::one);
  return record;
}
LATHE_DECL const Primitive& primitive_loop_at() {
  static const Primitive record =
      query("loop_at", {"position", ArgKind::number}, "a loop by its position in the program",
            run_loop_at, ArgKind::loop, Results::one);
  return record;
}

}  // namespace lathe::detail
