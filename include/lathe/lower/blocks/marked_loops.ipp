#pragma once

#include <lathe/ir/describe.hpp>
#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// The loops that carry attributes of one struct, in program order.
template <class A>
Vec<VarRef> loops_marked(const Program& program) {
  Vec<VarRef> out;
  each_statement(program->body, [&](const Stmt& s) {
    if (const auto* f = s.as<ForNode>(); f && f->attributes.has<A>()) out.push_back(f->var);
  });
  return out;
}

// Steps keep what marks promise, so that this is met by programs that no schedule made.
[[noreturn]] inline void refuse_mark(const ForNode& loop, const Attribute& mark,
                                     const std::string& why) {
  throw UserError("L0603",
                  cat("lower: the annotation ", to_text(mark), " of loop ", describe(loop),
                      " can't be honoured: ", why),
                  {}, {}, "take the annotation away");
}

// The program with other attributes of a loop.
inline Program with_attributes(const Program& program, const VarRef& loop, Attributes attributes) {
  const LoopSite site = find_loop(program->body, loop);
  LoopHead head = head_of(*site.loop);
  head.attributes = std::move(attributes);
  return program.with(replace_at(site.path, wrap_loops({head}, site.loop->body)));
}
template <class A>
Program without_marks(const Program& program, const VarRef& loop) {
  Attributes rest = find_loop(program->body, loop).loop->attributes;
  rest.erase<A>();
  return with_attributes(program, loop, std::move(rest));
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
