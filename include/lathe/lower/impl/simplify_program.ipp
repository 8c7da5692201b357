#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// for i in m..m+1: S  →  S with i = m. A parallel loop of one iteration is no parallel loop.
class DropUnitLoops : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || !is_const(f->extent, 1)) return descend(s);
    return stmt(substitute(f->body, {{f->var, f->min}}));
  }
};

}  // namespace detail

LATHE_DECL Program simplify_program(const Program& program) {
  Stmt body =
      program->stage == Stage::blocks ? program->body : detail::DropUnitLoops().stmt(program->body);
  return program.with(simplify(body, Facts(program)));
}

}  // namespace lathe
