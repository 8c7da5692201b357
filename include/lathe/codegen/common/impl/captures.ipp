#pragma once

#include <lathe/codegen/common/captures.hpp>

namespace lathe::detail {

LATHE_DECL LoopCaptures captures_of(const ForNode& loop) {
  struct Find : Visitor {
    Vec<Buffer> used, own;
    void stmt(const Stmt& s) override {
      if (const auto* n = s.as<AllocNode>()) own.push_back(n->buffer);
      descend(s);
    }
    void buffer(const Buffer& b) override {
      for (const auto* list : {&own, &used})
        for (const auto& known : *list)
          if (known == b) return;
      used.push_back(b);
    }
  } find;
  find.stmt(loop.body);
  LoopCaptures out{std::move(find.used), {}};
  for (const auto& v : free_vars(loop.body))
    if (v != loop.var) out.vars.push_back(v);
  return out;
}

}  // namespace lathe::detail
