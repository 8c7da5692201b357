#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/support/random.hpp>

namespace lathe::detail {

inline constexpr std::string_view kUndecided = "auto";

/// A place for a block, and how decisions write it: "root" leaves it where it is, "inline" makes
/// loads of it its expression, "C:1" is under the second loop above block C.
struct Place {
  std::string text;
  VarRef loop;
};

inline Verdict run_at_location(const Program& program, const BlockTag& block, const Place& place,
                               Edit* edit) {
  if (place.loop)
    return primitive_compute_at().run(program, {BlockRef(block), LoopRef(place.loop)}, edit);
  if (place.text == "inline")
    return primitive_compute_inline().run(program, {BlockRef(block)}, edit);
  if (edit) edit->program = program;
  return {};
}

// Root, inline, and the loops above the consumers, each by the first consumer below it.
inline Vec<Place> locations(const Program& program, const BlockTag& block) {
  Vec<Place> out{{"root", {}}, {"inline", {}}};
  for (const auto& buffer : buffers_written(find_block(program->body, block).block->body))
    for (const auto& reader : readers(program->body, buffer)) {
      const BlockSite site = find_block(program->body, reader.block->tag);
      for (std::size_t k = 0; k < site.loops.size(); ++k) {
        bool known = reader.block->tag == block;
        for (const auto& place : out) known = known || place.loop == site.loops[k]->var;
        if (!known) out.push_back({cat(site.block->name(), ':', k), site.loops[k]->var});
      }
    }
  return out;
}

inline bool is_legal_at(const Program& program, const BlockTag& block, const Place& place) {
  Edit edit;
  if (run_at_location(program, block, place, &edit)) return false;
  if (edit.program == program) return true;
  const Vec<Stmt> changed = changed_nests(program, edit.program);
  return !check_promises(program, edit.program, changed) &&
         !check_lifetimes(program, edit.program, changed);
}

inline Verdict run_sample_compute_location(const Program& program, const Args& args, Edit* edit) {
  if (args[1].text == kUndecided) {
    if (edit) edit->program = program;
    return {};
  }
  std::string known;
  for (const auto& place : locations(program, args[0].block)) {
    if (place.text == args[1].text) return run_at_location(program, args[0].block, place, edit);
    known += " " + place.text;
  }
  return refusal_at(args[0].block, "L0233",
                    "decision " + in_quotes(args[1].text) + " is no place for block " +
                        in_quotes(args[0].block->name),
                    "places:" + known);
}

inline Arg draw_compute_location(const Program& program, const Args& args, std::uint64_t random) {
  Vec<std::string> legal;
  for (const auto& place : locations(program, args[0].block))
    if (is_legal_at(program, args[0].block, place)) legal.push_back(place.text);
  return Arg::of_text(legal[static_cast<std::size_t>(random_below(legal.size(), random))]);
}

LATHE_DECL const Primitive& primitive_sample_compute_location() {
  static const Primitive record{
      "sample_compute_location",
      1,
      {{"block", ArgKind::block}, {"decision", ArgKind::text, "\"auto\""}},
      "computes a block at one of its legal places, at random",
      run_sample_compute_location,
      ArgKind::loop,
      Results::array,
      draw_compute_location};
  return record;
}

}  // namespace lathe::detail
