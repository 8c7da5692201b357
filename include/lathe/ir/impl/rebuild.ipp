#pragma once

#include <lathe/ir/rebuild.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe::detail {

// The parent with one child replaced; an empty statement if nothing is left of it.
inline Stmt with_child(const Stmt& parent, const Stmt& child, const Stmt& next) {
  switch (parent.kind()) {
    case StmtKind::For: {
      const auto* f = parent.as<ForNode>();
      return next ? make_for(f->var, f->min, f->extent, next, f->loop_kind, f->attributes) : Stmt();
    }
    case StmtKind::Block: {
      BlockNode block = *parent.as<BlockNode>();
      block.body = next ? next : make_seq({});
      return make_block(std::move(block));
    }
    case StmtKind::Alloc:
      return make_alloc(parent.as<AllocNode>()->buffer, next ? next : make_seq({}));
    case StmtKind::LetStmt: {
      const auto* let = parent.as<LetStmtNode>();
      return next ? make_let_stmt(let->var, let->value, next) : Stmt();
    }
    case StmtKind::Seq: {
      Vec<Stmt> stmts;
      for (const auto& s : parent.as<SeqNode>()->stmts)
        stmts.push_back(s.same_as(child) ? next : s);
      Stmt seq = make_seq(std::move(stmts));
      const auto* left = seq.as<SeqNode>();
      return left && left->stmts.empty() ? Stmt() : seq;
    }
    case StmtKind::If: {
      const auto* n = parent.as<IfNode>();
      Stmt yes = n->then_body.same_as(child) ? next : n->then_body;
      Stmt no = n->else_body && n->else_body.same_as(child) ? next : n->else_body;
      if (!yes && !no) return {};
      return make_if(n->condition, yes ? yes : make_seq({}), no);
    }
    case StmtKind::While: {
      const auto* n = parent.as<WhileNode>();
      return make_ref<WhileNode>(n->condition, next ? next : make_seq({}));
    }
    default:
      unreachable("a statement without children as a parent");
  }
}

LATHE_DECL Stmt replace_at(const Vec<Stmt>& path, Stmt with) {
  for (std::size_t k = path.size() - 1; k-- > 0;) with = with_child(path[k], path[k + 1], with);
  return with ? with : make_seq({});
}

LATHE_DECL Stmt insert_before(const Vec<Stmt>& path, Stmt what) {
  return replace_at(path, make_seq({std::move(what), path.back()}));
}
LATHE_DECL Stmt insert_after(const Vec<Stmt>& path, Stmt what) {
  return replace_at(path, make_seq({path.back(), std::move(what)}));
}

LATHE_DECL Stmt add_alloc(const Stmt& root, const Buffer& buffer) {
  if (const auto* alloc = root.as<AllocNode>())
    return make_alloc(alloc->buffer, add_alloc(alloc->body, buffer));
  return make_alloc(buffer, root);
}

class DropAlloc : public Mutator {
 public:
  explicit DropAlloc(const Buffer& buffer) : buffer_(buffer) {}
  Stmt stmt(const Stmt& s) override {
    if (!may_touch(s, Contents::bit(buffer_->name))) return s;
    const auto* alloc = s.as<AllocNode>();
    return alloc && alloc->buffer == buffer_ ? alloc->body : descend(s);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  const Buffer& buffer_;
};
LATHE_DECL Stmt remove_alloc(const Stmt& root, const Buffer& buffer) {
  return DropAlloc(buffer).stmt(root);
}

LATHE_DECL LoopHead head_of(const ForNode& loop) {
  return {loop.var, loop.min, loop.extent, loop.loop_kind, loop.attributes};
}

LATHE_DECL Stmt wrap_loops(const Vec<LoopHead>& heads, Stmt body) {
  for (const auto& head : reversed(heads))
    body = make_for(head.var, head.min, head.extent, std::move(body), head.kind, head.attributes);
  return body;
}

LATHE_DECL Vec<LoopHead> fresh_loops(const Vec<ForRef>& loops, Change change, Substitution& map) {
  Vec<LoopHead> heads;
  for (const auto& loop : loops) {
    LoopHead head = head_of(*loop);
    head.min = fresh_lets(substitute(head.min, map));
    head.extent = fresh_lets(substitute(head.extent, map));
    head.var = make_var(loop->var->name, loop->var->dtype);
    head.attributes = after(change, loop->attributes);
    map.emplace_back(loop->var, AnyExpr(head.var));
    heads.push_back(std::move(head));
  }
  return heads;
}

class MarkStreaming : public Mutator {
 public:
  explicit MarkStreaming(Streaming how) : how_(how) {}
  Stmt stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    if (!n) return descend(s);
    return make_ref<StoreNode>(n->buffer, n->indices, n->value, n->mask, how_);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  Streaming how_;
};
LATHE_DECL Stmt with_streaming(const Stmt& s, Streaming how) { return MarkStreaming(how).stmt(s); }

LATHE_DECL bool NamePool::taken(const std::string& name) const {
  for (const auto& n : given_)
    if (n == name) return true;
  for (const auto& p : program_->params)
    if (p.name() == name) return true;
  const std::uint64_t bit = Contents::bit(name);
  return any_statement_in(
      program_->body, [&](const Stmt& s) { return may_hold_block(s, bit) || may_touch(s, bit); },
      [&](const Stmt& s) {
        const auto* b = s.as<BlockNode>();
        const auto* a = s.as<AllocNode>();
        return (b && b->name() == name) || (a && a->buffer->name == name);
      });
}
LATHE_DECL std::string NamePool::fresh(const std::string& base) {
  std::string name = base;
  for (int k = 1; taken(name); ++k) name = base + "_" + std::to_string(k);
  given_.push_back(name);
  return name;
}

LATHE_DECL std::string loop_name(const std::string& base, Vec<std::string>& used) {
  std::string name = base;
  auto taken = [&] {
    for (const auto& n : used)
      if (n == name) return true;
    return false;
  };
  for (int k = 1; taken(); ++k) name = base + "_" + std::to_string(k);
  used.push_back(name);
  return name;
}

}  // namespace lathe::detail
