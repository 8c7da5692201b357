#pragma once

#include <lathe/analysis/partition.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/primitives/loops/annotate.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// What steps put there that a program means the same without; tails, guards and the like are more.
inline bool is_mark(std::string_view key) {
  for (const auto& known : kKnownKeys)
    if (known.key == key) return true;
  return key.starts_with("user.") || key == "prefetch" || key == kPartition || is_storage_mark(key);
}

inline Verdict run_unannotate(const Program& program, const Args& args, Edit* edit) {
  const bool on_loop = args[0].kind == ArgKind::loop;
  if (!on_loop && args[0].kind != ArgKind::block)
    return refusal("L0202", "takes an annotation from a loop or a block");
  const std::string& key = args[1].text;
  const Vec<Stmt> path = on_loop ? find_loop(program->body, args[0].loop).path
                                 : find_block(program->body, args[0].block).path;
  const auto* f = path.back().as<ForNode>();
  Annotations all = f ? f->annotations : path.back().as<BlockNode>()->annotations;
  if (!is_mark(key) || !find_annotation(all, key)) {
    all.erase_if([](const Annotation& a) { return !is_mark(a.key); });
    const std::string marks = join(all, " ", [](const Annotation& a) { return in_quotes(a.key); });
    Refusal no = refusal("L0223",
                         (f ? "loop " + describe(*f) : "block " + in_quotes(args[0].block->name)) +
                             " carries no mark " + in_quotes(key),
                         "it carries " + (marks.empty() ? "none" : marks));
    no.loop = args[0].loop, no.block = args[0].block;
    return no;
  }
  if (!edit) return {};
  all.erase_if([&](const Annotation& a) { return a.key == key; });
  if (f) {
    LoopHead head = head_of(*f);
    head.annotations = std::move(all);
    edit->program = program.with(replace_at(path, wrap_loops({head}, f->body)));
    return {};
  }
  BlockNode block = *path.back().as<BlockNode>();
  block.annotations = std::move(all);
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
