#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>

namespace lathe {
namespace detail {

LATHE_DECL void UseWalker::use(const Buffer& buffer, AccessKind kind, bool is_write) {
  found = found || wanted({buffer, kind, is_write, block_, loops_});
}

LATHE_DECL void UseWalker::expr(const AnyExpr& e) {
  if (found || e.kind() == ExprKind::Const || e.kind() == ExprKind::Var || met_here(e)) return;
  descend(e);
  if (const auto* n = e.as<LoadNode>()) use(n->buffer, AccessKind::read, false);
}

LATHE_DECL bool UseWalker::met_here(const AnyExpr& e) {
  constexpr std::uint32_t kSmall = 64;
  if (e->weight <= kSmall || !e->shared()) return false;
  if (!met_) met_ = std::make_unique<NodeSet>();
  return !met_->insert(e.get()).second;
}

LATHE_DECL void UseWalker::stmt(const Stmt& s) {
  // Who asks for all that there is touches each statement once, and needs no look ahead.
  if (found || (bits_ != ~std::uint64_t{0} && !may_touch(s, bits_))) return;
  if (const auto* n = s.as<ForNode>()) return loop(*n);
  if (const auto* n = s.as<BlockNode>()) return block(*n);
  if (const auto* n = s.as<EvaluateNode>()) return call(n->call);
  descend(s);
  if (const auto* n = s.as<StoreNode>())
    use(n->buffer, block_ && block_->reducer ? AccessKind::update : AccessKind::write, true);
  if (const auto* n = s.as<AtomicNode>()) use(n->buffer, AccessKind::update, true);
}

LATHE_DECL void UseWalker::loop(const ForNode& n) {
  expr(n.min), expr(n.extent);
  loops_.push_back(&n);
  met_.reset();
  stmt(n.body);
  loops_.pop_back();
  met_.reset();
}

LATHE_DECL void UseWalker::block(const BlockNode& n) {
  for (const auto& it : n.iters) expr(it.binding), expr(it.min), expr(it.extent);
  inside(n);
}

LATHE_DECL void UseWalker::inside(const BlockNode& n) {
  const BlockNode* around = block_;
  block_ = &n;
  met_.reset();
  if (n.predicate) expr(n.predicate);
  for (const auto& region : n.reads) use(region.buffer, AccessKind::opaque, false);
  for (const auto& region : n.writes) use(region.buffer, AccessKind::opaque, true);
  if (n.reads.empty() && n.writes.empty()) stmt(n.body);
  block_ = around;
  met_.reset();
}

// A prefetch touches nothing; its index may read.
LATHE_DECL void UseWalker::call(const AnyExpr& call) {
  const auto* c = call.as<CallNode>();
  if (!c || c->op != CallOp::prefetch) return expr(call);
  if (const auto* load = c->args[0].as<LoadNode>())
    for (const auto& i : load->indices) expr(i);
}

}  // namespace detail

namespace detail {

template <class Where>
Vec<Buffer> list_read(const Where& where) {
  Vec<Buffer> out;
  any_use(where, [&](const BufferUse& use) {
    const bool own = use.kind == AccessKind::update && use.block && use.block->init;
    if (use.reads() && !own) add_once(out, use.buffer);
    return false;
  });
  return out;
}

}  // namespace detail

LATHE_DECL Vec<Buffer> buffers_read(const Stmt& s) { return detail::list_read(s); }
LATHE_DECL Vec<Buffer> buffers_read(const BlockNode& block) { return detail::list_read(block); }
LATHE_DECL Vec<Buffer> buffers_written(const Stmt& s) {
  Vec<Buffer> out;
  detail::any_use(s, [&](const detail::BufferUse& use) {
    if (use.is_write) detail::add_once(out, use.buffer);
    return false;
  });
  return out;
}

namespace detail {

/// No expression writes, so none is entered.
class FindWrite : public UseWalker {
 public:
  explicit FindWrite(const Vec<Buffer>& buffers) : UseWalker(bits_of(buffers)), buffers_(buffers) {}
  void expr(const AnyExpr&) override {}

 protected:
  bool wanted(const BufferUse& use) override {
    return use.is_write && contains(buffers_, use.buffer);
  }

 private:
  const Vec<Buffer>& buffers_;
};

LATHE_DECL bool loads_written(const AnyExpr& e, const Stmt& s) {
  if (e.kind() == ExprKind::Const || e.kind() == ExprKind::Var) return false;
  LoadedBuffers loads;
  loads.expr(e);
  if (loads.found.empty()) return false;
  FindWrite find(loads.found);
  find.stmt(s);
  return find.found;
}

}  // namespace detail
}  // namespace lathe
