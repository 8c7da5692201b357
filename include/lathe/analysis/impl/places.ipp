#pragma once

#include <algorithm>
#include <lathe/analysis/uses.hpp>

namespace lathe {
namespace detail {

// The way from the first statement that is wanted up to s; nothing is kept of what was passed.
template <class May, class Wanted>
bool climb_to(const Stmt& s, const May& may_hold, const Wanted& wanted, Vec<Stmt>& way) {
  if (!may_hold(s)) return false;
  if (!wanted(s) &&
      !any_child(s, [&](const Stmt& c) { return climb_to(c, may_hold, wanted, way); }))
    return false;
  way.push_back(s);
  return true;
}

/// The path to the first statement in program order that is wanted; empty if there is none.
template <class May, class Wanted>
Vec<Stmt> path_to_first(const Stmt& root, const May& may_hold, const Wanted& wanted) {
  Vec<Stmt> path;
  climb_to(root, may_hold, wanted, path);
  std::reverse(path.begin(), path.end());
  return path;
}

/// The loops that a path passes on its way to its last statement.
inline Vec<ForRef> loops_passed(const Vec<Stmt>& path) {
  Vec<ForRef> out;
  for (std::size_t k = 0; k + 1 < path.size(); ++k)
    if (const auto* f = path[k].as<ForNode>()) out.emplace_back(f);
  return out;
}

/// The blocks that are wanted, in program order. A path is copied for those alone.
template <class May, class Wanted>
class BlockFinder {
 public:
  BlockFinder(const May& may_hold, const Wanted& wanted) : may_hold_(may_hold), wanted_(wanted) {}
  void walk(const Stmt& s) {
    if (!may_hold_(s)) return;
    way_.push_back(&s);
    if (const auto* b = s.as<BlockNode>(); b && wanted_(*b)) add(*b);
    any_child(s, [&](const Stmt& child) { return walk(child), false; });
    way_.pop_back();
  }
  Vec<BlockSite> found;

 private:
  void add(const BlockNode& block) {
    Vec<Stmt> path;
    path.reserve(way_.size());
    for (const auto* s : way_) path.push_back(*s);
    Vec<ForRef> loops = loops_passed(path);
    found.push_back({BlockRefNode(&block), std::move(loops), std::move(path)});
  }

  const May& may_hold_;
  const Wanted& wanted_;
  Vec<const Stmt*> way_;
};

template <class May, class Wanted>
Vec<BlockSite> find_blocks(const Stmt& root, const May& may_hold, const Wanted& wanted) {
  BlockFinder<May, Wanted> finder(may_hold, wanted);
  finder.walk(root);
  return std::move(finder.found);
}

LATHE_DECL Vec<BlockSite> find_inits(const Stmt& root) {
  return find_blocks(
      root, [](const Stmt& s) { return !has_contents(s) || contents_of(s).inits; },
      [](const BlockNode& b) { return b.init; });
}

// Uses by a block's own statements, of what it does not set itself before.
inline bool touches(const BlockNode& b, const Vec<Buffer>& buffers, bool write) {
  return any_use_of(buffers, b, [&](const BufferUse& use) {
    if (use.block->tag != b.tag) return false;
    return write ? use.is_write : use.reads() && !(use.kind == AccessKind::update && b.init);
  });
}

inline Vec<BlockSite> touching(const Stmt& root, const Vec<Buffer>& buffers, bool write) {
  const std::uint64_t bits = bits_of(buffers);
  return find_blocks(
      root, [&](const Stmt& s) { return may_touch(s, bits); },
      [&](const BlockNode& b) { return touches(b, buffers, write); });
}

inline Vec<BlockSite> neighbours(const Stmt& root, const BlockTag& tag, bool producers) {
  BlockSite self = find_block(root, tag);
  if (!self.block) return {};
  Vec<Buffer> buffers;
  any_use(*self.block, [&](const BufferUse& use) {
    const bool own = use.kind == AccessKind::update && use.block->init;
    if (producers ? use.reads() && !own : use.is_write) add_once(buffers, use.buffer);
    return false;
  });
  Vec<BlockSite> found = touching(root, buffers, producers);
  found.erase_if([&](const BlockSite& site) { return site.block->tag == tag; });
  return found;
}

}  // namespace detail

LATHE_DECL Vec<BlockSite> blocks_below(const Stmt& root) {
  return detail::find_blocks(
      root, [](const Stmt&) { return true; }, [](const BlockNode&) { return true; });
}
LATHE_DECL BlockSite find_block(const Stmt& root, const BlockTag& tag) {
  if (!tag) return {};
  const std::uint64_t bit = detail::Contents::bit(tag->name);
  auto path = detail::path_to_first(
      root, [&](const Stmt& s) { return detail::may_hold_block(s, bit); },
      [&](const Stmt& s) {
        const auto* b = s.as<BlockNode>();
        return b && b->tag == tag;
      });
  if (path.empty()) return {};
  BlockRefNode block(path.back().as<BlockNode>());
  Vec<ForRef> loops = detail::loops_passed(path);
  return {std::move(block), std::move(loops), std::move(path)};
}
LATHE_DECL LoopSite find_loop(const Stmt& root, const VarRef& var) {
  const std::uint64_t bit = detail::Contents::bit(var.get());
  auto path = detail::path_to_first(
      root, [&](const Stmt& s) { return detail::may_hold_loop(s, bit); },
      [&](const Stmt& s) {
        const auto* f = s.as<ForNode>();
        return f && f->var == var;
      });
  if (path.empty()) return {};
  ForRef loop(path.back().as<ForNode>());
  Vec<ForRef> loops = detail::loops_passed(path);
  return {std::move(loop), std::move(loops), std::move(path)};
}
LATHE_DECL Vec<ForRef> loops_above(const Stmt& root, const BlockTag& tag) {
  return find_block(root, tag).loops;
}

LATHE_DECL Facts facts_on(const Vec<Stmt>& path, Facts facts) {
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

LATHE_DECL Vec<BlockSite> writers(const Stmt& root, const Buffer& buffer) {
  return detail::touching(root, {buffer}, true);
}
LATHE_DECL Vec<BlockSite> readers(const Stmt& root, const Buffer& buffer) {
  return detail::touching(root, {buffer}, false);
}
LATHE_DECL Vec<BlockSite> producers(const Stmt& root, const BlockTag& tag) {
  return detail::neighbours(root, tag, true);
}
LATHE_DECL Vec<BlockSite> consumers(const Stmt& root, const BlockTag& tag) {
  return detail::neighbours(root, tag, false);
}

LATHE_DECL std::size_t guard_count(const BlockNode& block) {
  const auto* guards = block.attributes.find<GuardsAttr>();
  return guards ? static_cast<std::size_t>(guards->count) : 0;
}

LATHE_DECL void set_guard_count(BlockNode& block, std::size_t count) {
  block.attributes.erase<GuardsAttr>();
  if (count > 0) block.attributes.set(GuardsAttr{static_cast<std::int64_t>(count)});
}

LATHE_DECL bool is_private(const Stmt& root, const Buffer& buffer) {
  if (const auto* a = root.as<AllocNode>(); a && a->buffer == buffer) return true;
  if (!detail::may_touch(root, detail::Contents::bit(buffer->name))) return false;
  return any_child(root, [&](const Stmt& child) { return is_private(child, buffer); });
}

LATHE_DECL ForRef common_loop(const Vec<ForRef>& a, const Vec<ForRef>& b) {
  ForRef out;
  for (std::size_t k = 0; k < a.size() && k < b.size() && a[k]->var == b[k]->var; ++k) out = a[k];
  return out;
}

}  // namespace lathe
