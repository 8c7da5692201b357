#pragma once

#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

inline Verdict run_add_unit_loop(const Program& program, const Args& args, Edit* edit) {
  const bool above_loop = args[0].kind == ArgKind::loop;
  if (!above_loop && args[0].kind != ArgKind::block)
    return refusal("L0202", "stands above a loop or a block");
  if (!edit) return {};
  Vec<Stmt> path;
  Vec<std::string> used;
  if (above_loop) {
    LoopSite site = find_loop(program->body, args[0].loop);
    used = names_around(site);
    path = std::move(site.path);
  } else {
    BlockSite site = find_block(program->body, args[0].block);
    for (const auto& loop : site.loops) used.push_back(loop->var->name);
    path = std::move(site.path);
  }
  VarRef var = make_var(loop_name("u", used));
  edit->program =
      program.with(replace_at(path, make_for(var, AnyExpr(0), AnyExpr(1), path.back())));
  edit->results.push_back(LoopRef(var));
  return {};
}

LATHE_DECL const Primitive& primitive_add_unit_loop() {
  static const Primitive record{"add_unit_loop",
                                1,
                                {{"above", ArgKind::none}},
                                "a loop of one iteration, above a loop or a block",
                                run_add_unit_loop,
                                ArgKind::loop,
                                Results::one};
  return record;
}

}  // namespace lathe::detail
