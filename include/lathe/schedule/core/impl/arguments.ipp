// What the arguments of a step are: complete, of the right kinds, alive, symbols replaced.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/schedule_state.hpp>
#include <lathe/support/random.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline std::string_view kind_text(ArgKind kind) {
  static constexpr std::string_view texts[] = {
      "nothing", "a loop",           "a block", "a buffer", "a number",
      "infer",   "an expression",    "a text",  "a word",   "a layout map",
      "a list",  "a sampled number", "a factor"};
  return texts[static_cast<int>(kind)];
}

inline Arg default_argument(const Parameter& parameter) {
  if (parameter.kind == ArgKind::number) {
    std::int64_t value = 0;
    parse_int(parameter.fallback, value);
    return Arg::of_number(value);
  }
  std::string text(parameter.fallback);
  if (parameter.kind == ArgKind::text) text = text.substr(1, text.size() - 2);  // quotes
  Arg out = Arg::of_text(std::move(text));
  out.kind = parameter.kind;
  return out;
}

// Of a decision: it is still to be drawn.
inline bool is_default(const Arg& arg, const Parameter& parameter) {
  if (arg.kind == ArgKind::list) return arg.list.empty();
  const Arg none = default_argument(parameter);
  return arg.number == none.number && arg.text == none.text;
}

inline bool fits(ArgKind given, ArgKind wanted) {
  if (wanted == ArgKind::factor)
    return given == ArgKind::number || given == ArgKind::inferred || given == ArgKind::expr;
  return wanted == ArgKind::none || given == wanted;
}

inline Verdict check_argument(const Arg& arg, const Parameter& p) {
  const std::string name = "argument " + in_quotes(p.name);
  if (!fits(arg.kind, p.kind))
    return refusal("L0202", name + " is " + std::string(kind_text(arg.kind)) + ", not " +
                                std::string(kind_text(p.kind)));
  for (const auto& item : arg.list)
    if (!fits(item.kind, p.items))
      return refusal("L0202", name + " holds " + std::string(kind_text(item.kind)));
  return {};
}

// Arguments of the right number and kinds, defaults filled in.
inline Verdict complete_arguments(const Primitive& primitive, Args& args) {
  const auto& parameters = primitive.parameters;
  if (args.size() > parameters.size())
    return refusal("L0202", "takes " + std::to_string(parameters.size()) + " arguments, not " +
                                std::to_string(args.size()));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (k == args.size()) {
      if (parameters[k].fallback.empty())
        return refusal("L0202", "needs an argument " + in_quotes(parameters[k].name));
      args.push_back(default_argument(parameters[k]));
    }
    if (auto no = check_argument(args[k], parameters[k])) return no;
  }
  return {};
}

LATHE_DECL Verdict ScheduleState::check_reference(const Arg& arg) const {
  for (const auto& item : arg.list)
    if (auto no = check_reference(item)) return no;
  const RefCounted* ref =
      arg.kind == ArgKind::loop ? static_cast<const RefCounted*>(arg.loop.get()) : arg.block.get();
  std::string what = arg.kind == ArgKind::loop ? "loop " : "block ";
  if (arg.kind == ArgKind::buffer) {
    if (find_buffer(program_, arg.text)) return {};
    return refusal("L0201", "no buffer is called " + in_quotes(arg.text),
                   block_names_text(program_));
  }
  if (arg.kind == ArgKind::loop && arg.loop && find_loop(program_->body, arg.loop).loop) return {};
  if (arg.kind == ArgKind::block && arg.block && find_block(program_->body, arg.block).block)
    return {};
  if (arg.kind != ArgKind::loop && arg.kind != ArgKind::block) return {};
  if (!ref) return refusal("L0201", "the " + what + "reference is empty");
  what += in_quotes(arg.kind == ArgKind::loop ? arg.loop->name : arg.block->name);
  for (const Step* s = last_.get(); s; s = s->previous.get())
    for (const auto& c : s->consumed) {
      if (c.ref.get() != ref) continue;
      std::string file = s->entry.where.file;
      return refusal("L0201",
                     what + " " + c.what + " at " + file.substr(file.find_last_of('/') + 1) + ":" +
                         std::to_string(s->entry.where.line),
                     "use the references that this step gave");
    }
  return refusal(
      "L0201", what + " is not in this schedule",
      arg.kind == ArgKind::block ? block_names_text(program_) : "take loops from s.loops(block)");
}

LATHE_DECL const std::int64_t* ScheduleState::sampled(const VarRef& var) const {
  for (const Step* s = last_.get(); s; s = s->previous.get())
    for (std::size_t k = 0; k < s->samples.size(); ++k)
      if (s->entry.results[k].loop == var) return &s->samples[k];
  return nullptr;
}

// The argument with numbers for the symbols that sampling steps gave.
LATHE_DECL Arg ScheduleState::with_samples(const Arg& arg) const {
  Arg out = arg;
  for (auto& item : out.list) item = with_samples(item);
  if (arg.kind == ArgKind::sample)
    if (const std::int64_t* value = sampled(arg.loop)) return Arg::of_number(*value);
  if (arg.kind != ArgKind::expr) return out;
  Substitution map;
  for (const auto& var : free_vars(arg.expr))
    if (const std::int64_t* value = sampled(var)) map.emplace_back(var, AnyExpr(*value));
  return map.empty() ? out : Arg::of(Factor(simplify(substitute(arg.expr, map))));
}

// The arguments as the primitive takes them: numbers for sampled ones, defaults, a decision.
LATHE_DECL Verdict ScheduleState::prepare(const Primitive& primitive, const Args& given,
                                          Args& args) const {
  for (const auto& arg : given) args.push_back(with_samples(arg));
  if (auto no = complete_arguments(primitive, args)) return no;
  if (!primitive.draw) return {};
  if (!is_default(args.back(), primitive.parameters.back())) return {};
  Edit edit;
  if (auto no = try_step(primitive, args, edit)) return no;
  std::uint64_t drawn = 0;
  for (const Step* s = last_.get(); s; s = s->previous.get())
    drawn += s->entry.primitive->draw != nullptr;
  args.back() = primitive.draw(program_, args, random_bits(options_.seed, drawn));
  return {};
}

LATHE_DECL BlockTag ScheduleState::resolve_block(const BlockName& name, std::string_view step,
                                                 Location where) const {
  if (name.tag()) return name.tag();
  if (name.tensor()) {
    if (!name.tensor().is_input()) return name.tensor().tag();
    refuse(step,
           refusal("L0201",
                   "tensor '" + name.tensor().name() + "' is an input, which no block computes",
                   block_names_text(program_)),
           where);
  }
  if (BlockTag tag = block_named(program_->body, name.name())) return tag;
  refuse(
      step,
      refusal("L0201", "no block is called " + in_quotes(name.name()), block_names_text(program_)),
      where);
}

LATHE_DECL std::string ScheduleState::resolve_buffer(const BufferName& name, std::string_view step,
                                                     Location where) const {
  if (name.tensor()) return name.tensor().name();
  if (!name.tag()) return name.name();
  if (auto no = check_reference(Arg(BlockRef(name.tag())))) refuse(step, *no, where);
  Vec<Buffer> written = buffers_written(find_block(program_->body, name.tag()).block->body);
  if (written.size() == 1) return written[0]->name;
  refuse(step,
         refusal_at(name.tag(), "L0202",
                    "block " + in_quotes(name.tag()->name) + " writes " +
                        std::to_string(written.size()) + " buffers: name one"),
         where);
}

}  // namespace lathe::detail
