#pragma once

#include <algorithm>
#include <atomic>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/code_cache.hpp>
#include <lathe/jit/jit.hpp>
#include <lathe/jit/open_code.hpp>
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

LATHE_DECL ProgramVersions scheduled_versions(const Source& source, const Program& program,
                                              const Target& target) {
  if (source.scheduled()) return {source.before(), program};
  if (program->stage != Stage::blocks)
    return {{}, program.with(RunSerially(source.where()).stmt(program->body))};
  const Stopwatch watch;
  std::vector<std::string> left_out;
  ProgramVersions out{
      {},
      default_schedule(program, target, {.strict = source.options().strict}, left_out).program()};
  const Context& context = context_of(source);
  log_time(context, "default schedule", watch);
  if (context.logs(LogLevel::debug))
    for (const auto& refusal : left_out)
      context.log(LogLevel::debug, cat("default schedule left out: ", refusal));
  return out;
}

inline std::uint64_t code_hash(const Program& scheduled, const Target& target, CodeKind kind,
                               int llvm_major) {
  std::uint64_t h = structural_hash(scheduled);
  auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
  for (char c : target.str()) mix(static_cast<unsigned char>(c));
  mix((kind.strict ? 1u : 2u) + (kind.checked ? 4u : 0u) + (kind.dense ? 8u : 0u) +
      16u * static_cast<unsigned>(kind.math));
  mix(static_cast<std::uint64_t>(llvm_major));
  return h;
}

/// The program under a name that no other code has, as linked code needs it.
inline Program with_unique_name(const Program& program, std::uint64_t hash) {
  ProgramNode node = *program;
  append(node.name, "_");
  for (int shift = 60; shift >= 0; shift -= 4)
    node.name += "0123456789abcdef"[(hash >> shift) & 15];
  return Program(std::move(node));
}

inline Vec<char> object_of(const std::string& text, const Target& target, const Llvm& llvm,
                           const Context& context) {
  const ObjectCache cache(context.options().cache_dir);
  const std::string key =
      context.options().cache_dir.empty() ? std::string() : ObjectCache::key(llvm, target, text);
  Vec<char> object;
  if (cache.find(key, object)) return object;
  LlvmTimes times;
  object = compile_to_object(llvm, text, target, {}, &times);
  if (context.logs(LogLevel::debug))
    context.log(LogLevel::debug, cat("LLVM parse: ", 1e6 * times.parse_seconds,
                                     " us, passes: ", 1e6 * times.passes_seconds,
                                     " us, machine code: ", 1e6 * times.emit_seconds, " us, ",
                                     text.size(), " bytes of text"));
  std::string reason;
  if (!cache.keep(key, object, reason)) context.log(LogLevel::warning, reason);
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

/// A default schedule that needs what is refused is made again without.
inline ProgramVersions planned_versions(const Source& source, const Program& program,
                                        const Target& target, const Compilation& by) {
  ProgramVersions wanted = scheduled_versions(source, program, target);
  if (source.scheduled() || program->scheduled) return wanted;
  const Target allowed = permitted(target, wanted, by);
  return allowed == target ? wanted : scheduled_versions(source, program, allowed);
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
  Vec<char> object = object_of(code->text.text, target, llvm, by.context);
  const Stopwatch linking;
  code->loaded = Jit::of(by.context, by.where).load(object, code->text.symbol);
  log_time(by.context, "link", linking);
  code->entry = code->loaded->entry();
  return cache.add(hash, out);
}

inline Target target_of(const Source& source) {
  Target target = source.options().target ? *source.options().target : host();
  std::string reason;
  if (!target.runs_on(host(), &reason))
    throw UserError("L0312",
                    cat("code for '", target.name, "' does not run on this machine: ", reason),
                    source.where(), {}, "use lt::host()");
  return target;
}

/// Nobody who wrote jit expects to wait for an interpreter, so this is said even where nobody
/// listens: then once.
inline void tell_interpreted(const std::string& kernel, const std::string& reason,
                             const Context& context) {
  const std::string words = cat("kernel '", kernel, "' is interpreted: ", reason);
  if (context.options().log) return context.log(LogLevel::warning, words);
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    say_on_stderr(cat("lathe: ", words,
                      "\n  Kernels run thousands of times slower so. JitOptions::require_compiled "
                      "makes it an error; ContextOptions::log takes this message, which is not "
                      "repeated.\n"));
}

/// The parts of a kernel that is interpreted, or why there is none.
inline KernelParts interpreted_parts(const Source& source, const BoundProgram& bound,
                                     const std::string& reason) {
  const Context& context = context_of(source);
  const JitOptions& options = source.options();
  if (options.require_compiled) Llvm::get(context.options().llvm, source.where());
  tell_interpreted(bound.program->name, reason, context);
  KernelParts parts;
  parts.binding = make_ref<Binding>(bound.program, bound.order);
  parts.evaluator = Evaluator(bound.program);
  if (options.strides == Strides::dense && parts.binding->opens_strides())
    parts.open = make_ref<OpenCode>(bound.program, Ref<KernelCode>(), options.strides, false);
  return parts;
}

/// What all code of one kernel has in common.
struct KernelMaker {
  const Source& source;
  const Llvm& llvm;
  Target target;
  Compilation by;

  CodeKind kind() const {
    const JitOptions& options = source.options();
    return {options.strict, options.checked, true, options.math};
  }
  /// For calls of `bound`; `versions` has the same slots, and perhaps more constants.
  KernelParts compile(const BoundProgram& bound, const ProgramVersions& versions) const {
    const JitOptions& options = source.options();
    KernelParts parts;
    parts.binding = make_ref<Binding>(bound.program, bound.order);
    parts.code = compile_code(versions, target, kind(), llvm, by);
    if (!parts.binding->opens_strides()) return parts;
    parts.open = make_ref<OpenCode>(without_contents(dispatched(versions)), parts.code,
                                    options.strides, options.require_compiled);
    if (options.strides == Strides::both)
      parts.open->get(by.context, "views with gaps are asked for too", source.where());
    return parts;
  }
  OnceRun once(const OncePart& part) const {
    BoundProgram bound{part.program, {}};
    for (std::size_t k = 0; k < part.program->params.size(); ++k)
      bound.order.push_back(static_cast<int>(k));
    return {part, AnyKernel(compile(bound, {{}, part.program}), by.context), kind(), target,
            &by.context};
  }
};

/// Under the schedule that is given; else what is computed of constants alone is scheduled apart,
/// before a default schedule inlines it into loops that run in each call.
inline SplitVersions split_source(const KernelMaker& maker, const Program& program) {
  const auto versions = [&](const Program& of) {
    return planned_versions(maker.source, of, maker.target, maker.by);
  };
  if (maker.source.scheduled() || program->scheduled) return split_versions(versions(program));
  const SplitProgram described = split_constants(program, Keep::no_larger);
  SplitVersions out = split_versions(versions(described.rest));
  Vec<OncePart> all;
  for (OncePart part : described.once) {
    part.program = versions(part.program).last;
    all.push_back(std::move(part));
  }
  for (OncePart& part : out.once) all.push_back(std::move(part));
  out.once = std::move(all);
  return out;
}

/// A kernel of compiled code, which leaves out what runs once.
inline KernelParts compiled_parts(const KernelMaker& maker, BoundProgram bound,
                                  KernelConstants& constants) {
  const SplitVersions split = split_source(maker, bound.program);
  if (split.once.empty()) return maker.compile(bound, split.rest);
  for (const OncePart& part : split.once) constants.add(maker.once(part), maker.by.where);
  Vec<Program> all = split.rest.before;
  all.push_back(split.rest.last);
  constants.release_unread(all);
  bound.program = constants.program();
  return maker.compile(bound, split.rest);
}

inline AnyKernel make_compiled(const Source& source, const Vec<ProgramParam>& params) {
  const Context& context = context_of(source);
  const Deadline deadline(context);
  const BoundProgram bound = bound_program(source, params);
  const Target target = target_of(source);
  auto* constants =
      new KernelConstants(bound.program, bound.order, source.options().checked, source.where());
  const Ref<KernelConstants> owner(constants);
  std::string reason;
  const Llvm* llvm = Llvm::find(context.options().llvm, &reason);
  KernelParts parts =
      llvm ? compiled_parts({source, *llvm, target, {context, deadline, source.where()}}, bound,
                            *constants)
           : interpreted_parts(source, bound, reason);
  if (constants->any()) parts.constants = owner;
  return AnyKernel(std::move(parts), context);
}

}  // namespace detail

LATHE_DECL AnyKernel jit_any(const Source& source, const Vec<ProgramParam>& params) {
  return detail::within_memory("jit", source.where(),
                               [&] { return detail::make_compiled(source, params); });
}

}  // namespace lathe
