#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/iter_map.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/copies/copies.ipp>

namespace lathe::detail {

inline Verdict check_private(const Program& program, const Buffer& buffer, std::string_view id,
                             const char* help) {
  if (!is_private(program->body, buffer))
    return refusal(id, "buffer " + in_quotes(buffer->name) + " is a parameter", help);
  return {};
}

// The loops around an access of which each iteration has its own memory in the scope.
inline Vec<const ForNode*> loops_apart(const Vec<const ForNode*>& loops, Scope scope) {
  Vec<const ForNode*> out;
  for (const auto* l : loops)
    if (l->loop_kind == ForKind::parallel || is_block_axis(l->loop_kind) ||
        (is_thread_axis(l->loop_kind) && scope != Scope::shared))
      out.push_back(l);
  return out;
}

LATHE_DECL Verdict check_lifetime(const Program& program, const Buffer& buffer) {
  if (buffer->scope == Scope::global) return {};
  const ForNode* loop = nullptr;
  std::optional<Vec<const ForNode*>> seen;
  bool shared = any_use_of({buffer}, program->body, [&](const BufferUse& use) {
    Vec<const ForNode*> around = loops_apart(use.loops, buffer->scope);
    const bool differs = seen && *seen != around;
    if (differs) loop = around.empty() ? seen->back() : around.back();
    seen = std::move(around);
    return differs;
  });
  if (!shared) return {};
  return refusal_at(
      loop->var, "L0220",
      "buffer " + in_quotes(buffer->name) + " in scope " + std::string(to_text(buffer->scope)) +
          " is used both inside and outside the " + std::string(to_text(loop->loop_kind)) +
          " loop " + in_quotes(loop->var->name),
      "a thread can't see such memory of another: use scope global, or move all uses inside");
}

inline Stmt exchange_buffer(const Stmt& root, const Buffer& from, const Buffer& to) {
  return replace_buffer(root, from, to);
}

inline Verdict run_set_scope(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  Scope scope = Scope::global;
  if (auto no = check_scope_word(args[1].text, scope, "L0220")) return no;
  if (auto no = check_private(program, buffer, "L0220",
                              "only buffers that the program allocates have a scope of choice: use "
                              "cache_read or cache_write"))
    return no;
  BufferNode node = *buffer;
  node.scope = scope;
  Buffer next(new BufferNode(std::move(node)));
  Program after = program.with(exchange_buffer(program->body, buffer, next));
  if (auto no = check_lifetime(after, next)) return no;
  if (edit) edit->program = after;
  return {};
}

LATHE_DECL const Primitive& primitive_set_scope() {
  static const Primitive record{"set_scope",
                                1,
                                {{"buffer", ArgKind::buffer}, {"scope", ArgKind::word}},
                                "where a private buffer lives",
                                run_set_scope};
  return record;
}

// Its elements are used one by one.
inline Verdict check_align(const Program& program, const Buffer& buffer, const StrideRule& rule) {
  const std::string name = "buffer " + in_quotes(buffer->name);
  if (auto no = check_private(program, buffer, "L0239",
                              "its strides are those of the caller's view: align a copy of it, of "
                              "cache_read or cache_write"))
    return no;
  if (rule.dim < 0 || rule.dim + 1 >= buffer->rank())
    return refusal(
        "L0239", name + " has no stride of choice for dimension " + std::to_string(rule.dim),
        buffer->rank() < 2 ? "a buffer of rank " + std::to_string(buffer->rank()) + " has none"
                           : "dimensions 0 to " + std::to_string(buffer->rank() - 2) +
                                 " have one; that of the last is 1");
  if (rule.factor < 1 || rule.factor > kMostStrideFactor || rule.offset < 0 ||
      rule.offset >= rule.factor)
    return refusal("L0239", "offset " + std::to_string(rule.offset) + " and factor " +
                                std::to_string(rule.factor) +
                                " are none: 0 <= offset < factor <= 2^20");
  if (any_use_of({buffer}, program->body,
                 [&](const BufferUse& use) { return use.kind == AccessKind::opaque; }))
    return refusal("L0239", name + " is used by an opaque block");
  return {};
}

inline Verdict run_storage_align(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  const std::int64_t dim = args[1].number;
  StrideRule rule{static_cast<int>(std::clamp<std::int64_t>(dim, -1, INT32_MAX - 1)),
                  args[2].number, args[3].number};
  if (auto no = check_align(program, buffer, rule)) return no;
  if (!edit) return {};
  BufferNode node = *buffer;
  node.aligned.erase_if([&](const StrideRule& old) { return old.dim == rule.dim; });
  if (rule.factor > 1) node.aligned.push_back(rule);
  edit->program =
      program.with(exchange_buffer(program->body, buffer, Buffer(new BufferNode(std::move(node)))));
  return {};
}

LATHE_DECL const Primitive& primitive_storage_align() {
  static const Primitive record{"storage_align",
                                1,
                                {{"buffer", ArgKind::buffer},
                                 {"dim", ArgKind::number},
                                 {"factor", ArgKind::number},
                                 {"offset", ArgKind::number, "0"}},
                                "a stride of a private buffer, modulo a factor",
                                run_storage_align};
  return record;
}

class MoveElements : public MoveAccesses {
 public:
  MoveElements(const Buffer& from, const Buffer& to, const LayoutMap& map, const Vec<AnyExpr>& base)
      : MoveAccesses(from, to), map_(map), base_(base) {}
  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>& indices) override {
    Substitution at;
    for (std::size_t d = 0; d < indices.size(); ++d) at.emplace_back(map_->from[d], indices[d]);
    Vec<AnyExpr> out;
    for (std::size_t d = 0; d < map_->to.size(); ++d)
      out.push_back(fold_sub(substitute(map_->to[d], at), base_[d]));
    return out;
  }
  const LayoutMap& map_;
  const Vec<AnyExpr>& base_;
};

inline bool in_declared_region(const Program& program, const Buffer& buffer) {
  for (const auto& site : blocks_below(program->body))
    for (const auto* list : {&site.block->reads, &site.block->writes})
      for (const auto& r : *list)
        if (r.buffer == buffer) return true;
  return false;
}

// The map fits the buffer and names nothing but its indices and dims.
inline Verdict check_layout_map(const Program& program, const Buffer& buffer,
                                const LayoutMap& map) {
  std::string name = "buffer " + in_quotes(buffer->name);
  if (auto no = check_private(program, buffer, "L0221",
                              "move a copy of it: cache_read or cache_write first"))
    return no;
  bool defined = static_cast<bool>(map);
  for (std::size_t k = 0; defined && k < map->to.size(); ++k)
    defined = map->to[k].get() && map->to[k].dtype() == kIndex;
  if (!defined)
    return refusal("L0221", "the map is empty, or gives something else than i64 indices");
  if (static_cast<int>(map->from.size()) != buffer->rank())
    return refusal("L0221", "the map takes " + std::to_string(map->from.size()) + " indices, but " +
                                name + " has rank " + std::to_string(buffer->rank()));
  if (!buffer->aligned.empty())
    return refusal("L0221", name + " has aligned strides", "transform_layout before storage_align");
  if (in_declared_region(program, buffer))
    return refusal("L0221", name + " is used by an opaque block");
  for (const auto& to : map->to)
    for (const auto& var : free_vars(to)) {
      bool known = false;
      for (const auto& from : map->from) known |= from == var;
      if (!known && !is_dim(program, var))
        return refusal("L0221", "the map names " + in_quotes(var->name) +
                                    ", which is neither an index nor a Dim");
    }
  return {};
}

// The box of the new indices: its corner and its extents.
inline Verdict plan_layout(const Program& program, const Buffer& buffer, const LayoutMap& map,
                           Vec<AnyExpr>& shape, Vec<AnyExpr>& base) {
  if (auto no = check_layout_map(program, buffer, map)) return no;
  Facts facts = program_facts(program);
  Vec<IterDomain> inputs;
  for (std::size_t d = 0; d < map->from.size(); ++d) {
    inputs.push_back({map->from[d], AnyExpr(0), buffer->shape[d]});
    facts.bind(map->from[d], AnyExpr(0), buffer->shape[d]);
  }
  IterMap found = iter_map(map->to, inputs, {}, facts);
  if (!found.injective)
    return refusal("L0221",
                   "the map is not proved to give two elements of buffer " +
                       in_quotes(buffer->name) + " different places" +
                       (found.why.empty() ? "" : ": " + std::string(found.why)),
                   "each index is a sum of parts such as a / 4, a % 4 and b, no part used twice");
  for (std::size_t d = 0; d < map->to.size(); ++d) {
    AnyExpr min, extent;
    if (d < found.sums.size() && found.sums[d].extent.get()) {
      min = found.sums[d].min, extent = found.sums[d].extent;
    } else {
      Interval i = bounds(map->to[d], map->from, facts);
      if (!i.bounded())
        return refusal("L0221", "index " + std::to_string(d) + " of the map has no bound");
      min = i.min, extent = fold_add(fold_sub(i.max, i.min), AnyExpr(1));
    }
    base.push_back(simplify(min, facts));
    shape.push_back(simplify(extent, facts));
  }
  return {};
}

inline Verdict run_transform_layout(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  Vec<AnyExpr> shape, base;
  if (auto no = plan_layout(program, buffer, args[1].map, shape, base)) return no;
  if (!edit) return {};
  BufferNode node = *buffer;
  node.shape = shape;
  node.strides.clear();
  Buffer next(new BufferNode(std::move(node)));
  edit->program = program.with(MoveElements(buffer, next, args[1].map, base).stmt(program->body));
  return {};
}

LATHE_DECL const Primitive& primitive_transform_layout() {
  static const Primitive record{"transform_layout",
                                1,
                                {{"buffer", ArgKind::buffer}, {"map", ArgKind::map}},
                                "elements of a private buffer move",
                                run_transform_layout};
  return record;
}

}  // namespace lathe::detail
