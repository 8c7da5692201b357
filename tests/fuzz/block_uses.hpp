// Which buffers each block stores and loads.
#pragma once

#include <lathe/ir/visit.hpp>
#include <vector>

#include "program_pieces.hpp"

namespace fuzz {

/// What a block stores and loads.
struct BlockUse {
  lathe::BlockTag tag;
  const lathe::BlockNode* node = nullptr;
  std::vector<lathe::Buffer> stores, loads;
};

class BlockUses : public lathe::Visitor {
 public:
  std::vector<BlockUse> all;

  void stmt(const lathe::Stmt& s) override {
    if (const auto* b = s.as<lathe::BlockNode>()) all.push_back({b->tag, b, {}, {}});
    if (const auto* n = s.as<lathe::StoreNode>(); n && !all.empty())
      all.back().stores.push_back(n->buffer);
    descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<lathe::LoadNode>(); n && !all.empty())
      all.back().loads.push_back(n->buffer);
    descend(e);
  }
};

inline std::vector<BlockUse> block_uses(const lathe::Stmt& s) {
  if (!s) return {};
  BlockUses uses;
  uses.stmt(s);
  return uses.all;
}

inline bool share(const std::vector<lathe::Buffer>& a, const std::vector<lathe::Buffer>& b) {
  for (const auto& x : a)
    for (const auto& y : b)
      if (x == y) return true;
  return false;
}

}  // namespace fuzz
