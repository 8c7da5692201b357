// A program some of whose inputs are promised to be constant, and what runs once of it.
#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/jit/jit.hpp>
#include <lathe/lower/split_constants.hpp>

#include "execution.hpp"

namespace fuzz {

/// Which inputs are constant follows from the program: a saved case chooses the same ones.
inline lathe::Program with_promises(const lathe::Program& program) {
  lathe::ProgramNode node = *program;
  Random random(lathe::structural_hash(program));
  for (lathe::Param& p : node.params)
    if (p.buffer && p.access == lathe::Access::in && random.chance(60))
      p.constancy = lathe::Constancy::promised;
  return lathe::Program(std::move(node));
}

/// What runs once, and then the rest: one program with the parameters of the one that was split.
inline lathe::Program joined(const lathe::SplitProgram& split) {
  lathe::ProgramNode node = *split.rest;
  std::vector<lathe::Stmt> stmts;
  for (const lathe::OncePart& part : split.once) stmts.push_back(part.program->body);
  stmts.push_back(node.body);
  node.body = lathe::make_seq(std::move(stmts));
  for (; !node.params.back().is_argument(); node.params.pop_back())
    node.body = lathe::make_alloc(node.params.back().buffer, node.body);
  return lathe::Program(std::move(node));
}

}  // namespace fuzz
