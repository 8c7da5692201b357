#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe::detail {

// The parent with one child replaced; an empty statement if nothing is left of it.
inline Stmt with_child(const Stmt& parent, const Stmt& child, const Stmt& next) {
  switch (parent.kind()) {
    case StmtKind::For: {
      const auto* f = parent.as<ForNode>();
      return next ? make_for(f->var, f->min, f->extent, next, f->loop_kind, f->annotations)
                  : Stmt();
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
  return {loop.var, loop.min, loop.extent, loop.loop_kind, loop.annotations};
}

LATHE_DECL Stmt wrap_loops(const Vec<LoopHead>& heads, Stmt body) {
  for (const auto& head : reversed(heads))
    body = make_for(head.var, head.min, head.extent, std::move(body), head.kind, head.annotations);
  return body;
}

LATHE_DECL Vec<LoopHead> fresh_loops(const Vec<ForRef>& loops, Substitution& map) {
  Vec<LoopHead> heads;
  for (const auto& loop : loops) {
    LoopHead head = head_of(*loop);
    head.min = substitute(head.min, map);
    head.extent = substitute(head.extent, map);
    head.var = make_var(loop->var->name, loop->var->dtype);
    map.emplace_back(loop->var, AnyExpr(head.var));
    heads.push_back(std::move(head));
  }
  return heads;
}

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

LATHE_DECL Facts program_facts(const Program& program) { return Facts(program); }

LATHE_DECL bool is_dim(const Program& program, const VarRef& var) {
  for (const auto& dim : program->dims)
    if (dim->var == var) return true;
  return false;
}
LATHE_DECL bool over_dims(const Program& program, const AnyExpr& e) {
  for (const auto& var : free_vars(e))
    if (!is_dim(program, var)) return false;
  return true;
}

LATHE_DECL Verdict check_bare_touches(const Program& program, const BlockNode& block,
                                      std::string_view id, const Buffer& only) {
  const Vec<Buffer> read = buffers_read(block), written = buffers_written(block.body);
  Buffer found;
  bool writes = false;
  Vec<Buffer> asked = read;
  asked.append(written);
  if (only) asked = {only};
  any_use_of(asked, program->body, [&](const BufferUse& use) {
    if (use.block) return false;
    if (!contains(written, use.buffer) && !(use.is_write && contains(read, use.buffer)))
      return false;
    found = use.buffer, writes = use.is_write;
    return true;
  });
  if (!found) return {};
  return refusal_at(block.tag, id,
                    "a statement in no block " + std::string(writes ? "writes " : "reads ") +
                        in_quotes(found->name) + ", which block " + in_quotes(block.name()) +
                        (contains(written, found) ? " writes" : " reads"),
                    "give that statement a block of its own");
}

LATHE_DECL Verdict check_fixed_bounds(const ForNode& loop) {
  LoadedBuffers loads;
  loads.expr(loop.min), loads.expr(loop.extent);
  if (loads.found.empty()) return {};
  for (const auto& written : buffers_written(loop.body))
    if (contains(loads.found, written))
      return refusal_at(loop.var, "L0206",
                        "the bound of loop " + describe(loop) + " is read from " +
                            in_quotes(written->name) + ", which is written inside the loop",
                        "keep the loop as it is: it reads its bound once, when it begins");
  return {};
}

LATHE_DECL bool has_bare_statement(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::Block:
      return false;
    case StmtKind::For:
      return has_bare_statement(s.as<ForNode>()->body);
    case StmtKind::Alloc:
      return has_bare_statement(s.as<AllocNode>()->body);
    case StmtKind::Seq:
      for (const auto& child : s.as<SeqNode>()->stmts)
        if (has_bare_statement(child)) return true;
      return false;
    default:
      return true;
  }
}

LATHE_DECL bool is_plain_nest(const Stmt& s) { return !has_bare_statement(s); }

LATHE_DECL const ForNode* only_loop_in(const ForNode& loop) { return loop.body.as<ForNode>(); }

LATHE_DECL int block_position(const Stmt& root, const BlockTag& tag) {
  if (!tag) return -1;
  int position = 0;
  const std::uint64_t bit = Contents::bit(tag->name);
  const bool found = any_statement_in(
      root,
      [&](const Stmt& s) {
        if (may_hold_block(s, bit)) return true;
        position += static_cast<int>(contents_of(s).block_count);
        return false;
      },
      [&](const Stmt& s) {
        const auto* b = s.as<BlockNode>();
        if (b && b->tag == tag) return true;
        position += b != nullptr;
        return false;
      });
  return found ? position : -1;
}

LATHE_DECL Vec<BlockTag> block_tags(const Stmt& s) {
  Vec<BlockTag> tags;
  each_statement(s, [&](const Stmt& below) {
    if (const auto* b = below.as<BlockNode>()) tags.push_back(b->tag);
  });
  return tags;
}

LATHE_DECL BlockTag block_named(const Stmt& s, const std::string& name) {
  BlockTag found;
  const std::uint64_t bit = Contents::bit(name);
  any_statement_in(
      s, [&](const Stmt& below) { return may_hold_block(below, bit); },
      [&](const Stmt& below) {
        if (const auto* b = below.as<BlockNode>(); b && b->name() == name) found = b->tag;
        return bool(found);
      });
  return found;
}

LATHE_DECL BlockNode without_guards(const BlockNode& block) {
  BlockNode out = block;
  out.iters.resize(out.iters.size() - guard_count(block));
  out.annotations.erase_if([](const Annotation& a) { return a.key == "guards"; });
  return out;
}

LATHE_DECL BlockInfo info_of(const Program& program, const BlockTag& tag) {
  BlockSite site = find_block(program->body, tag);
  Facts facts = program_facts(program);
  if (guard_count(*site.block) == 0) return classify(program->body, tag, facts);
  // The other blocks decide whether this one is the only writer, so it is classified in its place.
  return classify(replace_at(site.path, make_block(without_guards(*site.block))), tag, facts);
}

class FindBuffer : public Visitor {
 public:
  explicit FindBuffer(const std::string& name) : name_(name) {}
  void stmt(const Stmt& s) override {
    if (!found && may_touch(s, Contents::bit(name_))) descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (!found) descend(e);
  }
  void buffer(const Buffer& b) override {
    if (!found && b->name == name_) found = b;
  }
  Buffer found;

 private:
  const std::string& name_;
};

LATHE_DECL Buffer find_buffer(const Program& program, const std::string& name) {
  for (const auto& p : program->params)
    if (p.buffer && p.buffer->name == name) return p.buffer;
  FindBuffer finder(name);
  finder.stmt(program->body);
  return finder.found;
}

LATHE_DECL bool is_param(const Program& program, const Buffer& buffer) {
  for (const auto& p : program->params)
    if (p.buffer == buffer) return true;
  return false;
}

LATHE_DECL Vec<const StoreNode*> stores_of(const BlockNode& block) {
  Vec<const StoreNode*> out;
  const Stmt& body = block.body;
  auto add = [&](const Stmt& s) {
    out.push_back(s.as<StoreNode>());
    return out.back() != nullptr;
  };
  if (const auto* seq = body.as<SeqNode>()) {
    for (const auto& s : seq->stmts)
      if (!add(s)) return {};
  } else if (!add(body)) {
    return {};
  }
  return out;
}

LATHE_DECL const StoreNode* only_store(const BlockNode& block) {
  return block.body.as<StoreNode>();
}

LATHE_DECL bool is_open_path(const Vec<Stmt>& path) {
  for (std::size_t k = 0; k + 1 < path.size(); ++k)
    if (path[k].kind() != StmtKind::For && path[k].kind() != StmtKind::Seq &&
        path[k].kind() != StmtKind::Alloc)
      return false;
  return true;
}

LATHE_DECL bool below(const Vec<ForRef>& loops, const VarRef& loop) {
  for (const auto& l : loops)
    if (l->var == loop) return true;
  return false;
}

}  // namespace lathe::detail
