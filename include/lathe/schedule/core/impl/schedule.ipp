#pragma once

#include <algorithm>
#include <lathe/ir/print.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/schedule.hpp>

namespace lathe {

LATHE_DECL Schedule::Schedule(Program program, ScheduleOptions options, Location where)
    : StorageSteps(std::move(program), options, where) {}
LATHE_DECL Schedule::Schedule(const AnyTensor& output, ScheduleOptions options, Location where)
    : Schedule(program_of(output, where), options, where) {}
LATHE_DECL Schedule::Schedule(const OutputList& outputs, ScheduleOptions options, Location where)
    : Schedule(program_of(outputs, where), options, where) {}

LATHE_DECL std::string Schedule::str() const { return lathe::str(program_); }

LATHE_DECL Trace Schedule::trace() const {
  Trace out;
  out.program_hash = origin_hash_;
  for (const Step* s = last_.get(); s; s = s->previous.get()) out.entries.push_back(s->entry);
  std::reverse(out.entries.begin(), out.entries.end());
  return out;
}

LATHE_DECL Explanation Schedule::explain(const ExplainOptions& options) const {
  Explanation out = lathe::explain(program(), options);
  out.steps = trace().cpp();
  out.numerics = numerics();
  return out;
}

LATHE_DECL std::vector<std::string> Schedule::numerics() const {
  Vec<std::string> out;
  for (const Step* s = last_.get(); s; s = s->previous.get())
    if (!s->reassociates.empty()) out.insert_at(0, s->reassociates);
  return out;
}

LATHE_DECL BlockRef Schedule::block(const BlockName& name, Location where) const {
  BlockRef ref(resolve_block(name, "block", where));
  if (auto no = check_reference(Arg(ref))) refuse("block", *no, where);
  return ref;
}
LATHE_DECL std::vector<BlockRef> Schedule::blocks() const {
  Vec<BlockRef> out;
  for (auto& tag : detail::block_tags(program_->body)) out.emplace_back(std::move(tag));
  return out;
}
LATHE_DECL std::vector<LoopRef> Schedule::loops(const BlockName& name, Location where) const {
  BlockRef ref(resolve_block(name, "loops", where));
  if (auto no = check_reference(Arg(ref))) refuse("loops", *no, where);
  Vec<LoopRef> out;
  for (const auto& loop : loops_above(program_->body, ref.tag)) out.emplace_back(loop->var);
  return out;
}
LATHE_DECL LoopRef Schedule::loop(std::string_view name, Location where) const {
  Edit edit;
  if (auto no = detail::run_loop(program_, {Arg::of_text(std::string(name))}, &edit))
    refuse("loop", *no, where);
  return LoopRef(edit.results[0].loop);
}
LATHE_DECL LoopRef Schedule::loop_at(std::int64_t position, Location where) const {
  Edit edit;
  if (auto no = detail::run_loop_at(program_, {Arg::of_number(position)}, &edit))
    refuse("loop_at", *no, where);
  return LoopRef(edit.results[0].loop);
}
LATHE_DECL Vec<LoopRef> Schedule::loops_n(const BlockName& name, std::size_t n,
                                          Location where) const {
  Vec<LoopRef> all = loops(name, where);
  if (all.size() == n) return all;
  BlockTag tag = resolve_block(name, "loops", where);
  refuse("loops",
         detail::refusal_at(tag, "L0202",
                            "block " + detail::in_quotes(tag->name) + " has " +
                                std::to_string(all.size()) + " loops, not " + std::to_string(n)),
         where);
}

}  // namespace lathe
