#pragma once

#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

struct KnownKey {
  std::string_view key;
  bool on_loop;
  std::int64_t min, max;
  std::string_view what;
};
inline constexpr KnownKey kKnownKeys[] = {
    {"unroll_explicit", true, 1, 4096, "copies of a serial loop's body"},
    {"max_threads", true, 1, 1 << 20, "threads of a parallel loop"},
    {"stream", false, 0, 2,
     "1: the block's stores go past the caches, 2: those that fill whole cache lines do"},
};

inline std::string known_keys_text() {
  std::string out = "keys:";
  for (const auto& k : kKnownKeys)
    out += " " + std::string(k.key) + (k.on_loop ? " (loop, " : " (block, ") + std::string(k.what) +
           "),";
  return out + " and free ones that start with 'user.'";
}

inline Verdict check_key(const Program& program, const Args& args) {
  const std::string& key = args[1].text;
  bool on_loop = args[0].kind == ArgKind::loop;
  if (key.starts_with("user.") && key.size() > 5) return {};
  for (const auto& known : kKnownKeys) {
    if (known.key != key || known.on_loop != on_loop) continue;
    if (args[2].kind != ArgKind::number || args[2].number < known.min || args[2].number > known.max)
      return refusal("L0223",
                     "the value of " + in_quotes(key) + " is not a number from " +
                         std::to_string(known.min) + " to " + std::to_string(known.max),
                     std::string(known.what));
    if (!on_loop) return {};
    ForKind kind = find_loop(program->body, args[0].loop).loop->loop_kind;
    if (kind == (key == "max_threads" ? ForKind::parallel : ForKind::serial)) return {};
    return refusal_at(args[0].loop, "L0223",
                      in_quotes(key) + " is not for a loop that is " + std::string(to_text(kind)),
                      std::string(known.what));
  }
  return refusal("L0223",
                 "no annotation of a " + std::string(on_loop ? "loop" : "block") + " is called " +
                     in_quotes(key),
                 known_keys_text());
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

inline void set_annotation(Annotations& all, const std::string& key, const AttrValue& value) {
  all.erase_if([&](const Annotation& a) { return a.key == key; });
  all.push_back({key, value});
}

inline Stmt annotate_loop(const Program& program, const VarRef& loop, const std::string& key,
                          const AttrValue& value) {
  LoopSite site = find_loop(program->body, loop);
  LoopHead head = head_of(*site.loop);
  set_annotation(head.annotations, key, value);
  return replace_at(site.path, wrap_loops({head}, site.loop->body));
}

inline Verdict run_annotate(const Program& program, const Args& args, Edit* edit) {
  const std::string& key = args[1].text;
  AttrValue value = args[2].attribute();
  if (args[0].kind != ArgKind::loop && args[0].kind != ArgKind::block)
    return refusal("L0202", "annotates a loop or a block");
  if (auto no = check_key(program, args)) return no;
  if (key == "stream" && value.number != 0)
    if (auto no = check_stream(program, args[0].block)) return no;
  if (!edit) return {};
  if (args[0].kind == ArgKind::loop) {
    edit->program = program.with(annotate_loop(program, args[0].loop, key, value));
    return {};
  }
  BlockSite site = find_block(program->body, args[0].block);
  BlockNode block = *site.block;
  set_annotation(block.annotations, key, value);
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
  Buffer buffer = find_buffer(program, args[0].text);
  LoopSite site = find_loop(program->body, args[1].loop);
  std::int64_t distance = args[2].number, locality = args[3].number;
  if (distance < 1 || distance > (1 << 20))
    return refusal_at(site.loop->var, "L0222",
                      "distance " + std::to_string(distance) + " is not between 1 and 2^20");
  if (locality < 0 || locality > 3)
    return refusal_at(
        site.loop->var, "L0222",
        "locality " + std::to_string(locality) + " is not between 0 (once) and 3 (keep)");
  bool read = false;
  for (const auto& access : accesses(site.loop->body))
    read |= access.buffer == buffer && access.reads();
  if (!read)
    return refusal_at(
        site.loop->var, "L0222",
        "nothing inside loop " + describe(*site.loop) + " reads " + in_quotes(buffer->name),
        "it reads " + list_buffers(buffers_read(site.loop->body)));
  if (!edit) return {};
  std::string hint = buffer->name + ":" + std::to_string(distance) + ":" + std::to_string(locality);
  if (const AttrValue* old = find_annotation(site.loop->annotations, "prefetch"))
    hint = old->text + "," + hint;
  edit->program = program.with(annotate_loop(program, site.loop->var, "prefetch", hint));
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
