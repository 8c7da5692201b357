#pragma once

#include <lathe/ir/loop_marks.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

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

}  // namespace lathe::detail
