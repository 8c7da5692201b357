#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/schedule/primitives/storage/storage.ipp>

namespace lathe::detail {

// The program with one more name in what a loop's annotation lists.
inline Stmt add_mark(const Program& program, const ForNode& loop, const char* key,
                     std::string name) {
  if (const AttrValue* old = find_annotation(loop.annotations, key)) name = old->text + "," + name;
  return annotate_loop(program, loop.var, key, name);
}

inline Verdict check_hoist_storage(const Program& program, const Buffer& buffer,
                                   const LoopSite& site) {
  const ForNode& loop = *site.loop;
  const std::string name = "buffer " + in_quotes(buffer->name);
  auto no = [&](const std::string& why, std::string help = {}) {
    return refusal_at(loop.var, "L0240", name + " " + why, std::move(help));
  };
  if (!is_private(program->body, buffer)) return no("is a parameter: the caller allocates it");
  if (buffer->name.find(',') != std::string::npos) return no("has a comma in its name");
  if (auto refused = check_storage_loop(loop)) return refused;
  if (hoists(loop, *buffer)) return no("is allocated above loop " + describe(loop) + " already");
  bool inside = false, outside = false;
  any_use(program->body, [&](const BufferUse& use) {
    if (use.buffer == buffer) (use.is_below(loop.var) ? inside : outside) = true;
    return inside && outside;
  });
  if (!inside) return no("is not used in loop " + describe(loop));
  if (outside)
    return no("is used outside of loop " + describe(loop) + " too, so it is allocated above it");
  if (const ForNode* inner = shared_by_iterations(loop, buffer))
    return no("belongs to one iteration of the " + std::string(to_text(inner->loop_kind)) +
                  " loop " + in_quotes(inner->var->name) + ", which lies inside loop " +
                  describe(loop),
              "take that loop's body: a loop inside it");
  if (!filled_each_iteration(program, buffer, loop, program_facts(program)))
    return no("keeps what earlier iterations of loop " + describe(loop) +
              " wrote, as far as is proven, so it is allocated above it");
  return {};
}

inline Verdict run_hoist_storage(const Program& program, const Args& args, Edit* edit) {
  Buffer buffer = find_buffer(program, args[0].text);
  LoopSite site = find_loop(program->body, args[1].loop);
  if (auto no = check_hoist_storage(program, buffer, site)) return no;
  if (!edit) return {};
  edit->program = program.with(add_mark(program, *site.loop, kHoistStorage, buffer->name));
  return {};
}

LATHE_DECL const Primitive& primitive_hoist_storage() {
  static const Primitive record{"hoist_storage",
                                1,
                                {{"buffer", ArgKind::buffer}, {"loop", ArgKind::loop}},
                                "a private buffer is allocated above a loop",
                                run_hoist_storage};
  return record;
}

}  // namespace lathe::detail
