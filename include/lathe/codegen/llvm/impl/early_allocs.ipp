#pragma once

#include <lathe/codegen/common/frame.hpp>
#include <lathe/codegen/llvm/early_allocs.hpp>

namespace lathe::detail {

LATHE_DECL Vec<Buffer> early_allocs(const VarRef& var, const Stmt& body, std::int64_t taken) {
  struct Find : Visitor {
    Vec<VarRef> inside;
    Vec<Buffer> found;
    std::int64_t taken = 0;
    void stmt(const Stmt& s) override {
      if (const auto* n = s.as<AllocNode>()) note(n->buffer);
      if (const auto* n = s.as<LetStmtNode>()) inside.push_back(n->var);
      if (const auto* n = s.as<ForNode>()) {
        const std::int64_t* extent = as_const_int(n->extent);
        if (n->loop_kind != ForKind::serial || !extent || *extent < 1) return;
        inside.push_back(n->var);
      }
      if (!s.as<IfNode>() && !s.as<WhileNode>()) descend(s);
    }
    void expr(const AnyExpr&) override {}
    void note(const Buffer& b) {
      if (b->rank() == 0 || b->tile >= 0 || frame_bytes(*b, taken) >= 0) return;
      if (contains(found, b)) return;
      if (!find_load(b->shape[0]) && !names_one_of(b->shape[0], inside)) found.push_back(b);
    }
  } find;
  find.inside.push_back(var);
  find.taken = taken;
  find.stmt(body);
  return std::move(find.found);
}

}  // namespace lathe::detail
