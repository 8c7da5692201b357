#pragma once

#include <algorithm>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/code_cache.hpp>
#include <lathe/jit/mix_key.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/object_cache.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/runtime/tile_permission.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// The program with its loops one iteration after the other. What a loop of a program without
/// blocks promises can't be checked any more.
class RunSerially : public Mutator {
 public:
  explicit RunSerially(Location where) : where_(where) {}
  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (f) check_marks_of(*f);
    if (!f || (f->loop_kind != ForKind::parallel && f->loop_kind != ForKind::vectorized))
      return descend(s);
    Attributes rest = f->attributes;
    rest.erase_if([](const Attribute& a) { return !may_carry(ForKind::serial, a); });
    return make_for(f->var, f->min, f->extent, stmt(f->body), ForKind::serial, rest);
  }

 private:
  // Without versions or stages a loop would do less than it says, with them perhaps something else.
  void check_marks_of(const ForNode& loop) const {
    for (const auto& a : loop.attributes)
      if (a.as<DoubleBufferAttr>() || a.as<PipelineAttr>())
        throw UserError("L0603",
                        cat("jit: the annotation ", to_text(a), " of loop '", loop.var->name,
                            "' can't be honoured: a program without blocks does not tell what "
                            "iterations share"),
                        where_, {}, "take the annotation away");
  }

  Location where_;
};

/// As passes do.
inline void log_time(const Context& context, std::string_view part, const Stopwatch& watch) {
  const double us = watch.microseconds();
  if (context.logs(LogLevel::debug)) context.log(LogLevel::debug, cat(part, ": ", us, " us"));
}

/// Under the default schedule.
inline Program planned_program(const Program& program, const Target& target, bool strict,
                               const Context& context) {
  const Stopwatch watch;
  std::vector<std::string> left_out;
  const Program out = default_schedule(program, target, {.strict = strict}, left_out).program();
  log_time(context, "default schedule", watch);
  if (context.logs(LogLevel::debug))
    for (const auto& refusal : left_out)
      context.log(LogLevel::debug, cat("default schedule left out: ", refusal));
  return out;
}

LATHE_DECL ProgramVersions scheduled_versions(const Source& source, const Program& program,
                                              const Target& target) {
  if (source.scheduled()) return {source.before(), program};
  if (program->stage != Stage::blocks)
    return {{}, program.with(RunSerially(source.where()).stmt(program->body))};
  return {{}, planned_program(program, target, source.options().strict, context_of(source))};
}

inline std::uint64_t code_hash(const Program& scheduled, const Target& target, CodeKind kind,
                               int llvm_major) {
  const std::uint64_t h = mix_key(structural_hash(scheduled), target.str());
  const unsigned how = (kind.strict ? 1u : 2u) + (kind.checked ? 4u : 0u) + (kind.dense ? 8u : 0u) +
                       16u * static_cast<unsigned>(kind.math);
  return mix_key(mix_key(h, std::uint64_t{how}), static_cast<std::uint64_t>(llvm_major));
}

/// The program under a name that no other code has, as linked code needs it.
inline Program with_unique_name(const Program& program, std::uint64_t hash) {
  ProgramNode node = *program;
  append(node.name, "_");
  for (int shift = 60; shift >= 0; shift -= 4)
    node.name += "0123456789abcdef"[(hash >> shift) & 15];
  return Program(std::move(node));
}

/// `kept`: its id in the context's folder, if it is there.
inline Vec<char> object_of(const std::string& text, const Target& target, const Llvm& llvm,
                           const Context& context, ObjectId& kept) {
  const ObjectCache cache(context.options().cache_dir);
  const std::string key =
      context.options().cache_dir.empty() ? std::string() : ObjectCache::key(llvm, target, text);
  Vec<char> object;
  if (!key.empty()) kept = ObjectCache::id(key);
  if (cache.find(kept, object)) return object;
  LlvmTimes times;
  object = compile_to_object(llvm, text, target, {}, &times);
  if (context.logs(LogLevel::debug))
    context.log(LogLevel::debug, cat("LLVM parse: ", 1e6 * times.parse_seconds,
                                     " us, passes: ", 1e6 * times.passes_seconds,
                                     " us, machine code: ", 1e6 * times.emit_seconds, " us, ",
                                     text.size(), " bytes of text"));
  std::string reason;
  if (cache.keep(key, object, reason)) return object;
  kept = {};
  context.log(LogLevel::warning, reason);
  return object;
}

LATHE_DECL Program lowered_versions(const ProgramVersions& versions, const Target& target,
                                    const LowerOptions& options) {
  ProgramVersions lowered;
  for (const Program& version : versions.before)
    lowered.before.push_back(lower(version, target, options));
  lowered.last = lower(versions.last, target, options);
  const Program all = dispatched(lowered);
  // The tests of Dims between versions are no program that was lowered.
  return lowered.before.empty() ? all : guard_operators(all, {target, options.language});
}

/// Versions of a program change the same things.
inline void keep_first_of_equals(std::vector<std::string>& lines) {
  auto end = lines.begin();
  for (auto line = lines.begin(); line != lines.end(); ++line)
    if (std::find(lines.begin(), end, *line) == end) *end++ = *line;
  lines.erase(end, lines.end());
}

/// Who waits for code, until when, and where.
struct Compilation {
  const Context& context;
  const Deadline& deadline;
  Location where;
};

/// The target without tile registers, if the program uses them and they are forbidden or refused.
inline Target permitted(const Target& target, const ProgramVersions& versions,
                        const Compilation& by) {
  if (!target.has("amx-tile")) return target;
  bool uses = any_statement(versions.last->body, stores_tile);
  for (const Program& version : versions.before)
    uses = uses || any_statement(version->body, stores_tile);
  std::string reason = "ContextOptions::tile_registers is false";
  if (!uses || (by.context.options().tile_registers && permit_tiles(reason))) return target;
  by.context.log(LogLevel::warning,
                 cat("kernel '", versions.last->name, "' does without tile registers: ", reason));
  return target.without("amx-tile", by.where);
}

/// Of a program that nobody scheduled. A default schedule that needs what is refused is made again
/// without.
inline ProgramVersions planned_versions(const Program& program, const Target& target, bool strict,
                                        const Compilation& by) {
  const ProgramVersions wanted{{}, planned_program(program, target, strict, by.context)};
  const Target allowed = permitted(target, wanted, by);
  if (allowed == target) return wanted;
  return {{}, planned_program(program, allowed, strict, by.context)};
}
inline ProgramVersions planned_versions(const Source& source, const Program& program,
                                        const Target& target, const Compilation& by) {
  if (source.scheduled() || program->scheduled || program->stage != Stage::blocks)
    return scheduled_versions(source, program, target);
  return planned_versions(program, target, source.options().strict, by);
}

/// Code for any elements of the constants.
inline Ref<KernelCode> compile_code(ProgramVersions versions, const Target& wanted, CodeKind kind,
                                    const Llvm& llvm, const Compilation& by) {
  const Target target = permitted(wanted, versions, by);
  for (Program& version : versions.before) version = without_contents(version);
  versions.last = without_contents(versions.last);
  const Program scheduled = dispatched(versions);
  CodeCache& cache = CodeCache::of(by.context);
  const std::uint64_t hash = code_hash(scheduled, target, kind, llvm.major());
  if (auto known = cache.find(hash, scheduled, target, kind, llvm.major())) return known;
  auto* code = new KernelCode;
  Ref<KernelCode> out(code);
  code->versions = std::move(versions);
  code->scheduled = scheduled;
  code->target = target;
  code->kind = kind;
  code->llvm_major = llvm.major();
  code->lowered = lowered_versions(code->versions, target.for_llvm(llvm.major()),
                                   {.strict = kind.strict,
                                    .math = kind.math,
                                    .changes = &code->numerics,
                                    .checked = kind.checked,
                                    .dense = kind.dense,
                                    .context = &by.context,
                                    .deadline = &by.deadline,
                                    .where = by.where});
  const Stopwatch emission;
  code->text = emit_llvm(with_unique_name(code->lowered, hash), target, llvm.major());
  log_time(by.context, "emission", emission);
  keep_first_of_equals(code->numerics);
  by.deadline.check("LLVM", by.where);
  Vec<char> object = object_of(code->text.text, target, llvm, by.context, code->kept);
  const Stopwatch linking;
  code->loaded = Jit::of(by.context, by.where).load(object, code->text.symbol);
  log_time(by.context, "link", linking);
  code->entry = code->loaded->entry();
  return cache.add(hash, out);
}

}  // namespace detail
}  // namespace lathe
