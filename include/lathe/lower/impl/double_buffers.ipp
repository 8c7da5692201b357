#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/schedule/buffering.hpp>
#include <lathe/schedule/edit.hpp>
#include <lathe/schedule/loop_marks.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// The loops that carry an annotation, in program order.
inline Vec<VarRef> loops_marked(const Program& program, const char* key) {
  Vec<VarRef> out;
  each_statement(program->body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>(); f && find_annotation(f->annotations, key))
      out.push_back(f->var);
  });
  return out;
}

// The program with an annotation of a loop that lists these names; without it if there are none.
inline Program with_marks(const Program& program, const VarRef& loop, const char* key,
                          const Vec<std::string>& names) {
  const LoopSite site = find_loop(program->body, loop);
  LoopHead head = head_of(*site.loop);
  head.annotations.erase_if([&](const Annotation& a) { return a.key == key; });
  if (!names.empty())
    head.annotations.push_back({key, join(names, ",", [](const std::string& n) { return n; })});
  return program.with(replace_at(site.path, wrap_loops({head}, site.loop->body)));
}

// The program with a buffer allocated directly inside, or around, a loop.
inline Program with_alloc(const Program& program, const VarRef& loop, const Buffer& buffer,
                          bool inside) {
  const LoopSite site = find_loop(program->body, loop);
  const Stmt nest = inside ? wrap_loops({head_of(*site.loop)}, make_alloc(buffer, site.loop->body))
                           : make_alloc(buffer, site.path.back());
  return program.with(replace_at(site.path, nest));
}

class VersionAccesses : public MoveAccesses {
 public:
  VersionAccesses(const Buffer& from, const Buffer& to, AnyExpr version)
      : MoveAccesses(from, to), version_(std::move(version)) {}

 private:
  Vec<AnyExpr> place(const Vec<AnyExpr>& indices) override {
    Vec<AnyExpr> out = indices;
    out.insert_at(0, version_);
    return out;
  }
  AnyExpr version_;
};

/// Gives buffers versions; their Allocs stand above the loops whose iterations take them in turn.
class VersionBuffers : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* a = s.as<AllocNode>();
    if (!a) return descend(s);
    Stmt body = stmt(a->body);
    Buffer buffer = a->buffer;
    for (const auto& [from, to] : versions_)  // loops inside came first
      if (from == buffer) buffer = to;
    return make_alloc(buffer, body);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 protected:
  Stmt with_versions(const ForNode& loop, const Stmt& body, const Buffer& buffer,
                     std::int64_t count) {
    return VersionAccesses(buffer, versioned(buffer, count),
                           fold_floormod(fold_sub(AnyExpr(loop.var), loop.min), AnyExpr(count)))
        .stmt(body);
  }

 private:
  Buffer versioned(const Buffer& buffer, std::int64_t count) {
    for (const auto& [from, to] : versions_)
      if (from == buffer) return to;
    BufferNode node = *buffer;
    node.shape.insert_at(0, AnyExpr(count));
    for (auto& rule : node.aligned) ++rule.dim;
    versions_.emplace_back(buffer, Buffer(new BufferNode(std::move(node))));
    return versions_.back().second;
  }

  Vec<std::pair<Buffer, Buffer>> versions_;
};

class DoubleBuffers : public VersionBuffers {
 public:
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || !find_annotation(f->annotations, kDoubleBuffer)) return VersionBuffers::stmt(s);
    Stmt body = stmt(f->body);
    Vec<Buffer> touched = buffers_written(body);
    for (const auto& buffer : touched)
      if (is_marked(*f, kDoubleBuffer, buffer->name)) body = with_versions(*f, body, buffer, 2);
    Annotations annotations = f->annotations;
    annotations.erase_if([](const Annotation& a) { return a.key == kDoubleBuffer; });
    return make_for(f->var, f->min, f->extent, body, f->loop_kind, annotations);
  }
};

}  // namespace detail

LATHE_DECL Program place_doubled(const Program& program) {
  Program out = program;
  for (const auto& loop : detail::loops_marked(program, detail::kDoubleBuffer)) {
    const LoopSite site = find_loop(program->body, loop);
    Vec<std::string> legal;
    for (const auto& name : detail::marked_names(*site.loop, detail::kDoubleBuffer)) {
      const Buffer buffer = detail::find_buffer(program, name);
      if (!buffer || !detail::why_not_doubled(program, buffer, site).empty()) continue;
      legal.push_back(name);
      if (is_private(find_loop(out->body, loop).loop->body, buffer)) continue;
      out = out.with(detail::remove_alloc(out->body, buffer));
      out = detail::with_alloc(out, loop, buffer, true);
    }
    out = detail::with_marks(out, loop, detail::kDoubleBuffer, legal);
  }
  return out;
}

LATHE_DECL Program double_buffers(const Program& program) {
  return program.with(detail::DoubleBuffers().stmt(program->body));
}

}  // namespace lathe
