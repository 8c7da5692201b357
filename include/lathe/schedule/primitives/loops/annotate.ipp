#pragma once

#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/copies/copies.ipp>

namespace lathe::detail {

// Reads a known key's value, and whether the loop may carry it.
inline Verdict read_annotation(const Program& program, const Args& args, Attribute& out) {
  const std::string& key = args[1].text;
  const bool on_loop = args[0].kind == ArgKind::loop;
  if (!attribute_with_key(key, on_loop, out) || row_of(out).set_by != SetBy::key)
    return refusal("L0223",
                   "no annotation of a " + std::string(on_loop ? "loop" : "block") + " is called " +
                       in_quotes(key),
                   annotation_keys());
  if (!set_value(out, args[2].attribute()))
    return refusal("L0223", "the value of " + in_quotes(key) + " is not " + form_of(out),
                   std::string(row_of(out).says));
  if (!on_loop) return {};
  const ForKind kind = find_loop(program->body, args[0].loop).loop->loop_kind;
  if (may_carry(kind, out)) return {};
  return refusal_at(args[0].loop, "L0223",
                    in_quotes(key) + " is not for a loop that is " + std::string(to_text(kind)),
                    std::string(row_of(out).says));
}

// A streaming store may not be seen before a fence, so the program itself must not read what it
// stores.
inline Verdict check_stream(const Program& program, const BlockTag& tag) {
  for (const auto& written : buffers_written(find_block(program->body, tag).block->body))
    for (const auto& reader : readers(program->body, written))
      return refusal_at(reader.block->tag, "L0223",
                        "block " + in_quotes(reader.block->name()) + " reads " +
                            in_quotes(written->name) + ", which " + in_quotes(tag->name) +
                            " would store past the caches");
  return {};
}

inline Stmt annotate_loop(const Program& program, const VarRef& loop, Attribute a) {
  LoopSite site = find_loop(program->body, loop);
  LoopHead head = head_of(*site.loop);
  head.attributes.set(std::move(a));
  return replace_at(site.path, wrap_loops({head}, site.loop->body));
}

inline Verdict run_annotate(const Program& program, const Args& args, Edit* edit) {
  if (args[0].kind != ArgKind::loop && args[0].kind != ArgKind::block)
    return refusal("L0202", "annotates a loop or a block");
  Attribute a;
  if (auto no = read_annotation(program, args, a)) return no;
  if (const auto* stream = a.as<StreamAttr>(); stream && stream->how != Streaming::none)
    if (auto no = check_stream(program, args[0].block)) return no;
  if (!edit) return {};
  if (args[0].kind == ArgKind::loop) {
    edit->program = program.with(annotate_loop(program, args[0].loop, a));
    return {};
  }
  BlockSite site = find_block(program->body, args[0].block);
  BlockNode block = *site.block;
  block.attributes.set(a);
  edit->program = program.with(replace_at(site.path, make_block(std::move(block))));
  return {};
}

LATHE_DECL const Primitive& primitive_annotate() {
  static const Primitive record{
      "annotate",
      1,
      {{"on", ArgKind::none}, {"key", ArgKind::text}, {"value", ArgKind::none}},
      "a mark that changes no meaning",
      run_annotate};
  return record;
}

inline Verdict run_prefetch(const Program& program, const Args& args, Edit* edit) {
  const LoopSite site = find_loop(program->body, args[1].loop);
  std::int64_t distance = args[2].number, locality = args[3].number;
  if (distance < 1 || distance > (1 << 20))
    return refusal_at(site.loop->var, "L0222",
                      "distance " + std::to_string(distance) + " is not between 1 and 2^20");
  if (locality < 0 || locality > 3)
    return refusal_at(
        site.loop->var, "L0222",
        "locality " + std::to_string(locality) + " is not between 0 (once) and 3 (keep)");
  const PrefetchAttr hint{args[0].text, distance, locality};
  if (auto no = check_mark(program, site, hint,
                           "it reads " + list_buffers(buffers_read(site.loop->body))))
    return no;
  if (edit) edit->program = program.with(annotate_loop(program, site.loop->var, hint));
  return {};
}

LATHE_DECL const Primitive& primitive_prefetch() {
  static const Primitive record{"prefetch",
                                1,
                                {{"buffer", ArgKind::buffer},
                                 {"loop", ArgKind::loop},
                                 {"distance", ArgKind::number},
                                 {"locality", ArgKind::number, "3"}},
                                "a hint to fetch what a loop reads ahead of time",
                                run_prefetch};
  return record;
}

}  // namespace lathe::detail
