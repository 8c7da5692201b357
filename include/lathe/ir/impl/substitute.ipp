#pragma once

#include <lathe/ir/renew.hpp>

namespace lathe {
namespace detail {

class Substitute : public MutatorOfSizes {
 public:
  explicit Substitute(const Substitution& map) : map_(map) {}
  AnyExpr expr(const AnyExpr& e) override {
    if (e.kind() != ExprKind::Var) return descend(e);
    for (const auto& [var, value] : map_)
      if (var.get() == e.get()) return value;
    return e;
  }

 private:
  const Substitution& map_;
};

class ReplaceBuffer : public Mutator {
 public:
  ReplaceBuffer(const Buffer& from, const Buffer& to) : from_(from), to_(to) {}
  Stmt stmt(const Stmt& s) override {
    return may_touch(s, Contents::bit(from_->name)) ? descend(s) : s;
  }
  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }

 private:
  const Buffer &from_, &to_;
};

}  // namespace detail

LATHE_DECL AnyExpr substitute(const AnyExpr& e, const Substitution& map) {
  return map.empty() ? e : detail::Substitute(map).expr(e);
}
LATHE_DECL Stmt substitute(const Stmt& s, const Substitution& map) {
  return map.empty() ? s : detail::Substitute(map).stmt(s);
}
LATHE_DECL AnyExpr fresh_lets(const AnyExpr& e) { return detail::RenewLets().expr(e); }
LATHE_DECL Stmt fresh_lets(const Stmt& s) { return detail::RenewLets().stmt(s); }
LATHE_DECL Vec<AnyExpr> MoveAccesses::moved(const Vec<AnyExpr>& indices) {
  Vec<AnyExpr> inner;
  for (const auto& index : indices) inner.push_back(expr(index));
  return place(inner);
}
LATHE_DECL AnyExpr MoveAccesses::expr(const AnyExpr& e) {
  const auto* n = e.as<LoadNode>();
  return n && n->buffer == from_ ? make_load(to_, moved(n->indices), optional(n->mask))
                                 : descend(e);
}
LATHE_DECL Stmt MoveAccesses::stmt(const Stmt& s) {
  if (!detail::may_touch(s, detail::Contents::bit(from_->name))) return s;
  if (const auto* n = s.as<StoreNode>(); n && n->buffer == from_)
    return make_ref<StoreNode>(to_, moved(n->indices), expr(n->value), optional(n->mask),
                               n->streaming);
  if (const auto* n = s.as<AtomicNode>(); n && n->buffer == from_)
    return make_ref<AtomicNode>(n->op, to_, moved(n->indices), expr(n->value));
  return descend(s);
}

LATHE_DECL Stmt replace_buffer(const Stmt& s, const Buffer& from, const Buffer& to) {
  return detail::ReplaceBuffer(from, to).stmt(s);
}

}  // namespace lathe
