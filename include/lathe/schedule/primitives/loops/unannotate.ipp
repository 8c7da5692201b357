#pragma once

#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// What a program means the same without; tails, guards and the like are more.
inline bool is_mark(const Attribute& a) { return row_of(a).set_by != SetBy::part; }

inline Verdict run_unannotate(const Program& program, const Args& args, Edit* edit) {
  const bool on_loop = args[0].kind == ArgKind::loop;
  if (!on_loop && args[0].kind != ArgKind::block)
    return refusal("L0202", "takes an annotation from a loop or a block");
  const std::string& key = args[1].text;
  const Vec<Stmt> path = on_loop ? find_loop(program->body, args[0].loop).path
                                 : find_block(program->body, args[0].block).path;
  const auto* f = path.back().as<ForNode>();
  const Attributes& all = f ? f->attributes : path.back().as<BlockNode>()->attributes;
  Attributes rest = all;
  rest.erase_if([&](const Attribute& a) { return is_mark(a) && key_of(a) == key; });
  if (rest == all) {
    rest.erase_if([](const Attribute& a) { return !is_mark(a); });
    const std::string marks =
        join(rest, " ", [](const Attribute& a) { return in_quotes(key_of(a)); });
    Refusal no = refusal("L0223",
                         (f ? "loop " + describe(*f) : "block " + in_quotes(args[0].block->name)) +
                             " carries no mark " + in_quotes(key),
                         "it carries " + (marks.empty() ? "none" : marks));
    no.loop = args[0].loop, no.block = args[0].block;
    return no;
  }
  if (!edit) return {};
  if (f) {
    LoopHead head = head_of(*f);
    head.attributes = std::move(rest);
    edit->program = program.with(replace_at(path, wrap_loops({head}, f->body)));
    return {};
  }
  BlockNode block = *path.back().as<BlockNode>();
  block.attributes = std::move(rest);
  edit->program = program.with(replace_at(path, make_block(std::move(block))));
  return {};
}

LATHE_DECL const Primitive& primitive_unannotate() {
  static const Primitive record{"unannotate",
                                1,
                                {{"on", ArgKind::none}, {"key", ArgKind::text}},
                                "takes a mark back that changes no meaning",
                                run_unannotate};
  return record;
}

}  // namespace lathe::detail
