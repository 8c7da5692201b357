#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

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
  set_guard_count(out, 0);
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

inline bool has_value_above(const Program& program, const Vec<Stmt>& path, const VarRef& var) {
  for (const auto& param : program->params)
    if (param.var == var) return true;
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    if (const auto* f = path[k].as<ForNode>(); f && f->var == var) return true;
    if (const auto* let = path[k].as<LetStmtNode>(); let && let->var == var) return true;
  }
  return is_dim(program, var);
}

LATHE_DECL VarRef size_unknown_above(const Program& program, const Vec<Stmt>& path,
                                     const Buffer& buffer) {
  for (const auto& extent : buffer->shape)
    for (const auto& var : free_vars(extent))
      if (!has_value_above(program, path, var)) return var;
  return {};
}

LATHE_DECL std::string why_not_sized_above(const Program& program, const LoopSite& site,
                                           const Buffer& buffer) {
  const VarRef unknown = size_unknown_above(program, site.path, buffer);
  if (!unknown) return {};
  return "has a size that depends on " + in_quotes(unknown->name) +
         ", which has a value only inside loop " + describe(*site.loop);
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

LATHE_DECL BlockTag first_block_below(const Stmt& s) {
  BlockTag first;
  any_statement(s, [&](const Stmt& below) {
    if (const auto* b = below.as<BlockNode>()) first = b->tag;
    return bool(first);
  });
  return first;
}

LATHE_DECL bool runs_at_most_once(const ForNode& loop) {
  const std::int64_t* extent = as_const_int(loop.extent);
  return extent && *extent <= 1;
}

LATHE_DECL Buffer bound_written_inside(const ForNode& loop) {
  LoadedBuffers loads;
  loads.expr(loop.min), loads.expr(loop.extent);
  if (loads.found.empty()) return {};
  for (const auto& written : buffers_written(loop.body))
    if (contains(loads.found, written)) return written;
  return {};
}

LATHE_DECL std::string names_of(const Vec<BlockSite>& sites) {
  return join(sites, ", ", [](const BlockSite& s) { return in_quotes(s.block->name()); });
}

LATHE_DECL bool reads_buffer(const BlockNode& block, const Buffer& buffer) {
  for (const auto& r : reads_of(block))
    if (r.buffer == buffer) return true;
  return false;
}
LATHE_DECL bool writes_buffer(const BlockNode& block, const Buffer& buffer) {
  for (const auto& w : writes_of(block))
    if (w.buffer == buffer) return true;
  return false;
}

}  // namespace lathe::detail
