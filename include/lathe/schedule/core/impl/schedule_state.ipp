#pragma once

#include <algorithm>
#include <lathe/analysis/open_blocks.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/impl/step_results.ipp>
#include <lathe/schedule/core/schedule_state.hpp>

namespace lathe::detail {

inline std::uint64_t mixed_address(const RefCounted* node) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(node));
  return (address ^ address >> 32) * 0x9E3779B97F4A7C15u;
}

LATHE_DECL bool RefTree::holds(const Ref<RefTree>& tree, const RefCounted* node) {
  const RefTree* at = tree.get();
  while (at && at->node != node)
    at = (mixed_address(node) < mixed_address(at->node) ? at->less : at->more).get();
  return at != nullptr;
}

LATHE_DECL Ref<RefTree> RefTree::with(const Ref<RefTree>& tree, const RefCounted* node) {
  if (!tree) return make_ref<RefTree>(node, Ref<RefTree>(), Ref<RefTree>());
  const bool less = mixed_address(node) < mixed_address(tree->node);
  return make_ref<RefTree>(tree->node, less ? with(tree->less, node) : tree->less,
                           less ? tree->more : with(tree->more, node));
}

LATHE_DECL ScheduleState::ScheduleState(Program program, ScheduleOptions options, Location where)
    : program_(std::move(program)), options_(options) {
  if (!program_) throw UserError("L0202", "schedule: the program is empty", where);
  if (program_->stage != Stage::blocks)
    throw UserError("L0202",
                    "schedule: the program is at stage '" + std::string(to_text(program_->stage)) +
                        "', not 'blocks'",
                    where, {}, "schedule a program before it is lowered");
  verify_defined(program_, where);
  program_ = open_blocks(program_, where);
  if (auto no = check_claims(program_)) refuse("schedule", *no, where);
  origin_hash_ = structural_hash(program_);
}
// One step after the other: a history may be longer than the stack is deep.
LATHE_DECL ScheduleState::Step::~Step() {
  while (previous && !previous->shared()) {
    Ref<Step> next = std::move(const_cast<Step&>(*previous).previous);
    previous = std::move(next);
  }
}

LATHE_DECL void ScheduleState::refuse(std::string_view step, const Refusal& why,
                                      Location where) const {
  std::string details = why.details, place;
  auto line = [&](const std::string& text) {
    if (!text.empty()) details += (details.empty() ? "" : "\n") + text;
  };
  if (!shows_places_) throw UserError(why.id, std::string(step) + ": " + why.message, where);
  if (why.block) {
    line(describe_loops(program_, why.block));
    place = excerpt(program_, why.block);
  } else if (why.loop) {
    if (LoopSite site = find_loop(program_->body, why.loop); site.loop)
      if (BlockTag block = first_block_below(site.path.back()))
        line(describe_loops(program_, block));
    place = excerpt(program_, why.loop);
  }
  while (!place.empty() && place.back() == '\n') place.pop_back();
  for (std::size_t at = 0; !place.empty() && at != std::string::npos;
       at = at == 0 ? place.find('\n') : place.find('\n', at + 1)) {
    if (at == 0)
      place.insert(0, "  ");
    else
      place.insert(at + 1, "  ");
  }
  line(place);
  throw UserError(why.id, std::string(step) + ": " + why.message, where, details, why.help);
}

LATHE_DECL Verdict ScheduleState::try_step(const Primitive& primitive, const Args& args,
                                           Edit& edit) const {
  for (const auto& arg : args)
    if (auto no = check_reference(arg)) return no;
  if (auto no = primitive.run(program_, args, &edit)) return no;
  if (options_.strict && !edit.reassociates.empty()) {
    std::string why = edit.reassociates;  // "reorder: …"; the refusal names the step itself
    why.erase(0, why.find(": ") + 2);
    return refusal("L0226", "may change the rounding of floating-point results: " + why,
                   "leave ScheduleOptions::strict off");
  }
  if (edit.program == program_) return {};
  return check_kept(program_, edit.program);
}

LATHE_DECL Verdict ScheduleState::check(const Primitive& primitive, const Args& given) const {
  Args args;
  if (auto no = prepare(primitive, given, args)) return no;
  Edit edit;
  return try_step(primitive, args, edit);
}

LATHE_DECL Args ScheduleState::apply(const Primitive& primitive, Args given, Location where) {
  return within_memory("schedule", where, [&] {
    Args args;
    if (auto no = prepare(primitive, given, args)) refuse(primitive.name, *no, where);
    Edit edit;
    if (auto no = try_step(primitive, args, edit)) refuse(primitive.name, *no, where);
    // What is recorded keeps the symbols.
    for (std::size_t k = 0; k < given.size(); ++k)
      if (!primitive.draw || k + 1 < args.size()) args[k] = given[k];
#ifndef NDEBUG
    if (edit.program != program_) verify(edit.program, Stage::blocks, primitive.name);
#endif
    Args results = edit.results;
    ScheduleState next = *this;  // takes queries and the step as one
    next.record(primitive, std::move(args), std::move(edit), where);
    *this = std::move(next);
    return results;
  });
}

inline Program as_scheduled(const Program& program) {
  if (program->scheduled) return program;
  ProgramNode node = *program;
  node.scheduled = true;
  return Program(std::move(node));
}

LATHE_DECL void ScheduleState::record(const Primitive& primitive, Args args, Edit edit,
                                      Location where) {
  define_inputs(args, where);
  Step next;
  next.previous = last_;
  next.entry = {&primitive, std::move(args), edit.results, where};
  next.consumed = std::move(edit.consumed);
  next.samples = std::move(edit.samples);
  next.reassociates = std::move(edit.reassociates);
  for (const auto& r : next.entry.results)
    for (const RefCounted* node : {static_cast<const RefCounted*>(r.loop.get()),
                                   static_cast<const RefCounted*>(r.block.get())})
      if (node && !defined(node)) defined_ = RefTree::with(defined_, node);
  last_ = Ref<Step>(new Step(std::move(next)));
  if (edit.program == program_) return;
  program_ = as_scheduled(edit.program);
}

LATHE_DECL bool ScheduleState::defined(const RefCounted* ref) const {
  return RefTree::holds(defined_, ref);
}

// Queries for references that no step of the trace gave, so that a replay finds them.
LATHE_DECL void ScheduleState::define_inputs(const Args& args, Location where) {
  for (const auto& arg : args) {
    define_inputs(arg.list, where);
    const bool block = arg.kind == ArgKind::block && !defined(arg.block.get());
    const bool loop = arg.kind == ArgKind::loop && !defined(arg.loop.get());
    if (!block && !loop) continue;
    Edit edit;
    edit.program = program_;
    if (block) {
      edit.results = {BlockRef(arg.block)};
      record(primitive_block(), {Arg::of_text(arg.block->name)}, std::move(edit), where);
    } else {
      LoopSite site = find_loop(program_->body, arg.loop);
      if (BlockTag below = first_block_below(site.path.back())) {
        for (const auto& above : loops_above(program_->body, below))
          edit.results.push_back(LoopRef(above->var));
        record(primitive_loops(), {BlockRef(below)}, std::move(edit), where);
      } else {
        edit.results = {LoopRef(arg.loop)};
        if (!run_loop(program_, {Arg::of_text(arg.loop->name)}, nullptr)) {
          record(primitive_loop(), {Arg::of_text(arg.loop->name)}, std::move(edit), where);
          continue;
        }
        Vec<VarRef> all = loops_in_order(program_);
        std::int64_t at = std::find(all.begin(), all.end(), arg.loop) - all.begin();
        record(primitive_loop_at(), {Arg::of_number(at)}, std::move(edit), where);
      }
    }
  }
}

// The step is taken back where there is no memory for what it gives.
LATHE_DECL Vec<LoopRef> ScheduleState::step_to_loops(const Primitive& primitive, Args args,
                                                     Location where) {
  return within_memory("schedule", where, [&] {
    ScheduleState next = *this;
    auto loops = as_loops(next.apply(primitive, std::move(args), where));
    *this = next;
    return loops;
  });
}

}  // namespace lathe::detail
