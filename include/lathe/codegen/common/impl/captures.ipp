#pragma once

#include <lathe/codegen/common/captures.hpp>

namespace lathe::detail {

LATHE_DECL Vec<Buffer> buffers_captured(const Stmt& body) {
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
  find.stmt(body);
  return std::move(find.used);
}

}  // namespace lathe::detail
