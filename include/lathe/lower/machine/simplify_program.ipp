#pragma once

#include <algorithm>
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

// for v in 0..48: if (v < 29) S  →  for v in 0..29: S, and the same for a lower bound; constants
// only, so that a loop that is to be vectorized or unrolled keeps a constant extent.
class ClipLoops : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    Stmt out = descend(s);
    const auto* f = out.as<ForNode>();
    if (!f) return out;
    const auto *min = as_const_int(f->min), *extent = as_const_int(f->extent);
    const auto* guard = f->body.as<IfNode>();
    if (!min || !extent || !guard || guard->else_body) return out;
    const auto* n = guard->condition.as<BinaryNode>();
    const auto* bound = n && n->a.get() == f->var.get() ? as_const_int(n->b) : nullptr;
    if (!bound) return out;
    std::int64_t first = *min, end = *min + *extent;
    if (n->op == BinaryOp::lt)
      end = std::min(end, *bound);
    else if (n->op == BinaryOp::ge)
      first = std::max(first, *bound);
    else
      return out;
    Stmt clipped = make_for(f->var, first, std::max<std::int64_t>(end - first, 0), guard->then_body,
                            f->loop_kind, f->attributes);
    return stmt(clipped);
  }
};

}  // namespace detail

LATHE_DECL Program simplify_program(const Program& program) {
  if (program->stage == Stage::blocks) return program.with(simplify(program->body, Facts(program)));
  const auto simplified = [&](const Stmt& body) {
    return simplify(detail::DropUnitLoops().stmt(body), Facts(program));
  };
  Stmt body = simplified(program->body);
  if (program->stage != Stage::loops) return program.with(body);
  // What is left of a border tile is known once its guards are.
  const Stmt clipped = detail::ClipLoops().stmt(body);
  return program.with(clipped.same_as(body) ? body : simplified(clipped));
}

}  // namespace lathe
