#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/storage/version_buffers.ipp>

namespace lathe {
namespace detail {

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
