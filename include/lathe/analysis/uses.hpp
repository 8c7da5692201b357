// Buffers that statements touch, without where in them: enough for most questions, and much cheaper
// than accesses.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <memory>

namespace lathe::detail {

/// One access as `accesses` finds it, without indices and conditions.
struct BufferUse {
  const Buffer& buffer;
  AccessKind kind;
  bool is_write;
  const BlockNode* block;            ///< the innermost block that holds it, or null
  const Vec<const ForNode*>& loops;  ///< the loops above, below the root, outermost first

  bool reads() const {
    return kind == AccessKind::read || kind == AccessKind::update ||
           (kind == AccessKind::opaque && !is_write);
  }
  bool is_below(const VarRef& loop) const {
    for (const auto* f : loops)
      if (f->var == loop) return true;
    return false;
  }
};

/// Walks the uses in the order of `accesses`, until one is wanted.
class UseWalker : public Visitor {
 public:
  UseWalker() = default;
  /// Statements that hold none of these names are passed over (bits_of).
  explicit UseWalker(std::uint64_t bits) : bits_(bits) {}
  LATHE_DECL void stmt(const Stmt& s) override;
  LATHE_DECL void expr(const AnyExpr& e) override;
  /// What the block does when it runs: its bindings and domains are not part of that.
  void inside(const BlockNode& block);
  bool found = false;

 protected:
  virtual bool wanted(const BufferUse& use) = 0;

 private:
  void use(const Buffer& buffer, AccessKind kind, bool is_write);
  void loop(const ForNode& n);
  void block(const BlockNode& n);
  void call(const AnyExpr& call);
  // What is large and held by several is walked once below the same loops and block: written out it
  // may be without end.
  bool met_here(const AnyExpr& e);

  Vec<const ForNode*> loops_;
  const BlockNode* block_ = nullptr;
  std::unique_ptr<NodeSet> met_;
  std::uint64_t bits_ = ~std::uint64_t{0};
};

inline std::uint64_t bits_of(const Vec<Buffer>& buffers) {
  std::uint64_t bits = 0;
  for (const auto& b : buffers) bits |= Contents::bit(b->name);
  return bits;
}

template <class F>
class UseFinder : public UseWalker {
 public:
  explicit UseFinder(const F& f) : f_(f) {}
  UseFinder(const F& f, std::uint64_t bits) : UseWalker(bits), f_(f) {}
  bool wanted(const BufferUse& use) override { return f_(use); }

 private:
  const F& f_;
};

inline void walk_uses(UseWalker& walker, const Stmt& s) { walker.stmt(s); }
inline void walk_uses(UseWalker& walker, const BlockNode& block) { walker.inside(block); }

/// Whether f holds for a use in a statement, or in what a block does when it runs; the first one
/// ends the walk.
template <class Root, class F>
bool any_use(const Root& root, const F& f) {
  UseFinder<F> finder(f);
  walk_uses(finder, root);
  return finder.found;
}

/// Whether f holds for a use of one of the buffers: much cheaper, where few statements touch them.
template <class Root, class F>
bool any_use_of(const Vec<Buffer>& buffers, const Root& root, const F& f) {
  auto wanted = [&](const BufferUse& use) { return contains(buffers, use.buffer) && f(use); };
  UseFinder<decltype(wanted)> finder(wanted, bits_of(buffers));
  walk_uses(finder, root);
  return finder.found;
}

/// Whether e loads memory that s writes: while s runs it may be another value each time.
bool loads_written(const AnyExpr& e, const Stmt& s);

}  // namespace lathe::detail
