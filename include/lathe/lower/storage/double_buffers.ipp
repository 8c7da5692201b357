#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/analysis/marks.hpp>
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
    if (!f || !f->attributes.has<DoubleBufferAttr>()) return VersionBuffers::stmt(s);
    Stmt body = stmt(f->body);
    Vec<Buffer> touched = buffers_written(body);
    for (const auto& buffer : touched)
      if (f->attributes.has(DoubleBufferAttr{buffer->name}))
        body = with_versions(*f, body, buffer, 2);
    Attributes rest = f->attributes;
    rest.erase<DoubleBufferAttr>();
    return make_for(f->var, f->min, f->extent, body, f->loop_kind, rest);
  }
};

}  // namespace detail

LATHE_DECL Program place_doubled(const Program& program) {
  Program out = program;
  for (const auto& loop : detail::loops_marked<DoubleBufferAttr>(program)) {
    const LoopSite site = find_loop(program->body, loop);
    for (const auto& a : site.loop->attributes) {
      const auto* mark = a.as<DoubleBufferAttr>();
      if (!mark) continue;
      const std::string why = detail::why_not_honoured(program, site, a);
      if (!why.empty()) detail::refuse_mark(*site.loop, a, why);
      const Buffer buffer = detail::find_buffer(program, mark->buffer);
      if (is_private(find_loop(out->body, loop).loop->body, buffer)) continue;
      out = out.with(detail::remove_alloc(out->body, buffer));
      out = detail::with_alloc(out, loop, buffer, true);
    }
  }
  return out;
}

LATHE_DECL Program double_buffers(const Program& program) {
  return program.with(detail::DoubleBuffers().stmt(program->body));
}

}  // namespace lathe
