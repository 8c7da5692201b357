#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// Walks statements only, and knows the path to each.
class PathWalker : public Visitor {
 public:
  void stmt(const Stmt& s) override {
    path_.push_back(s);
    const auto* loop = s.as<ForNode>();
    if (visit(s)) {
      if (loop) loops_.emplace_back(loop);
      descend(s);
      if (loop) loops_.pop_back();
    }
    path_.pop_back();
  }
  void expr(const AnyExpr&) override {}

 protected:
  /// Whether to go on below s.
  virtual bool visit(const Stmt& s) = 0;
  std::vector<Stmt> path_;
  std::vector<ForRef> loops_;
};

/// The blocks that are wanted, as `wanted(the Block statement)` says; `one`: the first only.
template <class Wanted>
class BlockFinder : public PathWalker {
 public:
  BlockFinder(Wanted wanted, bool one) : wanted_(wanted), one_(one) {}
  bool visit(const Stmt& s) override {
    if (one_ && !found.empty()) return false;
    const auto* b = s.as<BlockNode>();
    if (b && wanted_(s)) found.push_back({BlockRefNode(b), loops_, path_});
    return true;
  }
  std::vector<BlockSite> found;

 private:
  Wanted wanted_;
  bool one_;
};

template <class Wanted>
std::vector<BlockSite> find_blocks(const Stmt& root, bool one, Wanted wanted) {
  BlockFinder<Wanted> finder(wanted, one);
  finder.stmt(root);
  return std::move(finder.found);
}

/// Whether a block names a buffer anywhere: much cheaper than its accesses.
class NamesBuffer : public Visitor {
 public:
  explicit NamesBuffer(const Buffer& buffer) : buffer_(buffer) {}
  using Visitor::buffer;
  void buffer(const Buffer& b) override { found = found || b == buffer_; }
  bool found = false;

 private:
  const Buffer& buffer_;
};

class LoopFinder : public PathWalker {
 public:
  explicit LoopFinder(const VarNode* var) : var_(var) {}
  bool visit(const Stmt& s) override {
    if (found.loop) return false;
    const auto* f = s.as<ForNode>();
    if (!f || f->var.get() != var_) return true;
    found = {ForRef(f), loops_, path_};
    return false;
  }
  LoopSite found;

 private:
  const VarNode* var_;
};

class AllocFinder : public Visitor {
 public:
  explicit AllocFinder(const Buffer& buffer) : buffer_(buffer) {}
  void stmt(const Stmt& s) override {
    const auto* a = s.as<AllocNode>();
    found = found || (a && a->buffer == buffer_);
    if (!found) descend(s);
  }
  void expr(const AnyExpr&) override {}
  bool found = false;

 private:
  const Buffer& buffer_;
};

inline bool touches(const Stmt& block, const Buffer& buffer, bool write) {
  NamesBuffer names(buffer);
  names.stmt(block);
  if (!names.found) return false;
  const BlockNode& b = *block.as<BlockNode>();
  for (const auto& a : accesses(b)) {
    if (a.buffer != buffer || a.block->tag != b.tag) continue;
    if (write ? a.is_write : a.reads() && !(a.kind == AccessKind::update && b.init)) return true;
  }
  return false;
}

inline std::vector<BlockSite> touching(const Stmt& root, const Buffer& buffer, bool write) {
  return find_blocks(root, false, [&](const Stmt& b) { return touches(b, buffer, write); });
}

inline std::vector<BlockSite> neighbours(const Stmt& root, const BlockTag& tag, bool producers) {
  BlockSite self = find_block(root, tag);
  if (!self.block) return {};
  std::vector<Buffer> buffers;
  for (const auto& a : accesses(*self.block)) {
    const bool wanted =
        producers ? a.reads() && !(a.kind == AccessKind::update && a.block->init) : a.is_write;
    if (wanted) buffers.push_back(a.buffer);
  }
  return find_blocks(root, false, [&](const Stmt& block) {
    bool hit = false;
    for (const auto& b : buffers)
      hit = hit || (block.as<BlockNode>()->tag != tag && touches(block, b, producers));
    return hit;
  });
}

}  // namespace detail

LATHE_DECL std::vector<BlockSite> blocks_below(const Stmt& root) {
  return detail::find_blocks(root, false, [](const Stmt&) { return true; });
}
LATHE_DECL BlockSite find_block(const Stmt& root, const BlockTag& tag) {
  auto found =
      detail::find_blocks(root, true, [&](const Stmt& b) { return b.as<BlockNode>()->tag == tag; });
  return found.empty() ? BlockSite() : std::move(found[0]);
}
LATHE_DECL LoopSite find_loop(const Stmt& root, const VarRef& var) {
  detail::LoopFinder finder(var.get());
  finder.stmt(root);
  return std::move(finder.found);
}
LATHE_DECL std::vector<ForRef> loops_above(const Stmt& root, const BlockTag& tag) {
  return find_block(root, tag).loops;
}

LATHE_DECL Facts facts_on(const std::vector<Stmt>& path, Facts facts) {
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    if (const auto* f = path[k].as<ForNode>()) facts.bind(*f);
    if (const auto* i = path[k].as<IfNode>()) {
      const bool then = i->then_body.same_as(path[k + 1]);
      facts.assume_before(then ? i->condition : logical_not(i->condition));
    }
    if (const auto* b = path[k].as<BlockNode>()) {
      for (const auto& it : b->iters) facts.bind(it);
      if (b->predicate) facts.assume_before(b->predicate);
    }
  }
  return facts;
}

LATHE_DECL std::vector<BlockSite> writers(const Stmt& root, const Buffer& buffer) {
  return detail::touching(root, buffer, true);
}
LATHE_DECL std::vector<BlockSite> readers(const Stmt& root, const Buffer& buffer) {
  return detail::touching(root, buffer, false);
}
LATHE_DECL std::vector<BlockSite> producers(const Stmt& root, const BlockTag& tag) {
  return detail::neighbours(root, tag, true);
}
LATHE_DECL std::vector<BlockSite> consumers(const Stmt& root, const BlockTag& tag) {
  return detail::neighbours(root, tag, false);
}

LATHE_DECL bool is_private(const Stmt& root, const Buffer& buffer) {
  detail::AllocFinder finder(buffer);
  finder.stmt(root);
  return finder.found;
}

LATHE_DECL ForRef common_loop(const std::vector<ForRef>& a, const std::vector<ForRef>& b) {
  ForRef out;
  for (std::size_t k = 0; k < a.size() && k < b.size() && a[k]->var == b[k]->var; ++k) out = a[k];
  return out;
}

}  // namespace lathe
