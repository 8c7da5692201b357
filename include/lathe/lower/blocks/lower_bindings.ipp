#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// Blocks of a grid run at once, and what is in one of them in turn.
class LowerBindings : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || !is_bound(f->loop_kind)) return descend(s);
    const bool spread = is_block_axis(f->loop_kind) && !inside_;
    const bool around = std::exchange(inside_, true);
    Stmt body = stmt(f->body);
    inside_ = around;
    return make_for(f->var, f->min, f->extent, body, spread ? ForKind::parallel : ForKind::serial,
                    f->attributes);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  bool inside_ = false;
};

}  // namespace detail

LATHE_DECL Program lower_bindings(const Program& program) {
  return program.with(detail::LowerBindings().stmt(program->body));
}

}  // namespace lathe
