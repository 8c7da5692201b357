#pragma once

#include <algorithm>
#include <atomic>
#include <lathe/jit/code_cache.hpp>
#include <lathe/jit/impl/compile_code.ipp>
#include <lathe/jit/impl/recipe_cache.ipp>
#include <lathe/jit/jit.hpp>
#include <lathe/jit/open_code.hpp>
#include <lathe/jit/recipe_folder.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/runtime/build_id.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// What nobody asked for is this machine, of which a context may use few processors: loops are
/// planned for those.
inline Target target_of(const Source& source, const Context& context) {
  if (!source.options().target) {
    Target target = host();
    target.cores = std::min(target.cores, context.threads());
    return target;
  }
  Target target = *source.options().target;
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

/// Nothing is compiled yet.
inline Ref<OpenCode> open_code_of(const KernelRecipe& recipe, const JitOptions& options) {
  return make_ref<OpenCode>(recipe.described, recipe.code, options.strides,
                            options.require_compiled, recipe.unplanned());
}

/// For calls of the binding's program, which may lack constants that the code has.
inline KernelParts parts_of(const KernelRecipe& recipe, Ref<Binding> binding,
                            const JitOptions& options) {
  KernelParts parts;
  parts.binding = std::move(binding);
  parts.code = recipe.code;
  if (!parts.binding->opens_strides()) return parts;
  parts.open = recipe.open ? recipe.open : open_code_of(recipe, options);
  return parts;
}

/// A part that runs once, whose code is the recipe's.
inline OnceRun once_run(const OncePart& part, const KernelRecipe& recipe, const Context& context,
                        const JitOptions& options) {
  Vec<int> order;
  for (std::size_t k = 0; k < part.program->params.size(); ++k)
    order.push_back(static_cast<int>(k));
  const auto binding = make_ref<Binding>(part.program, order);
  return {part, AnyKernel(parts_of(recipe, binding, options), context), kind_of(options),
          recipe.key.target, &context};
}

/// What all code of one kernel has in common.
struct KernelMaker {
  const Source& source;
  const Llvm* llvm;
  Target target;
  Compilation by;

  CodeKind kind() const { return kind_of(source.options()); }
  /// Adds the code to the recipe.
  void compile(const ProgramVersions& versions, const Binding& binding,
               KernelRecipe& recipe) const {
    const JitOptions& options = source.options();
    recipe.code = compile_code(versions, target, kind(), *llvm, by);
    recipe.described = without_contents(dispatched(versions));
    if (!binding.opens_strides() || options.strides != Strides::both) return;
    recipe.open = open_code_of(recipe, options);
    for (const Gaps gaps : binding.gaps_of_views())
      recipe.open->get(by.context, gaps, "views with gaps are asked for too", source.where());
  }
  RecipeKey key(const Program& program) const {
    const JitOptions& options = source.options();
    return {program, target, kind(), options.strides, options.require_compiled, llvm};
  }
  OnceRun once(const OncePart& part) const {
    KernelRecipe recipe(key(part.program));
    compile({{}, part.program}, Binding(part.program, {}), recipe);
    return once_run(part, recipe, by.context, source.options());
  }
  Ref<KernelRecipe> recipe(const BoundProgram& bound, RecipeKey key) const;
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

inline Ref<KernelRecipe> KernelMaker::recipe(const BoundProgram& bound, RecipeKey key) const {
  auto* made = new KernelRecipe(std::move(key));
  Ref<KernelRecipe> out(made);
  const SplitVersions split = split_source(*this, bound.program);
  for (const OncePart& part : split.once) made->once.push_back(once(part));
  Vec<Program> all = split.rest.before;
  all.push_back(split.rest.last);
  if (!split.once.empty()) made->unread = unread_constants(bound.program, all, made->once);
  compile(split.rest, Binding(bound.program, bound.order), *made);
  return out;
}

/// A kernel without what runs once, which has run. No binding: it is made.
inline AnyKernel kernel_of(const KernelRecipe& recipe, const BoundProgram& bound,
                           Ref<Binding> binding, const Source& source) {
  const Location where = source.where();
  auto* constants =
      new KernelConstants(bound.program, bound.order, source.options().checked, where);
  const Ref<KernelConstants> owner(constants);
  for (const OnceRun& what : recipe.once) constants->add(what, where);
  constants->forget(recipe.unread);
  if (!binding) binding = make_ref<Binding>(constants->program(), bound.order);
  KernelParts parts = parts_of(recipe, std::move(binding), source.options());
  if (constants->any()) parts.constants = owner;
  return AnyKernel(std::move(parts), context_of(source));
}

/// Of what was compiled ahead, which leaves out what no view can have.
inline bool all_compiled(const OpenCode& open) {
  const auto failed = [&](Gaps gaps) { return open.find(gaps) && !open.compiled(gaps); };
  return !failed(Gaps::rows) && !failed(Gaps::pixels);
}

/// What is known of an equal program; else it is planned and compiled now.
inline Ref<KernelRecipe> recipe_of(const KernelMaker& maker, const BoundProgram& bound,
                                   RecipeCache& recipes) {
  RecipeKey key = maker.key(bound.program);
  const std::uint64_t hash = key.hash();
  if (auto known = recipes.find(hash, key)) return known;
  key.program = without_contents(key.program);
  const RecipeFolder folder(maker.by.context, build_id());
  Ref<KernelRecipe> out = folder.find(key, maker.source);
  if (!out) {
    out = maker.recipe(bound, std::move(key));
    folder.keep(*out);
  }
  // Where code for any strides could not be made, the next kernel tries again.
  if (!out->open || all_compiled(*out->open)) recipes.add(hash, out);
  return out;
}

/// An evaluator, or why there is none.
inline AnyKernel make_interpreted(const Source& source, const BoundProgram& bound,
                                  const std::string& reason) {
  const auto constants = make_ref<KernelConstants>(bound.program, bound.order,
                                                   source.options().checked, source.where());
  KernelParts parts = interpreted_parts(source, bound, reason);
  if (constants->any()) parts.constants = constants;
  return AnyKernel(std::move(parts), context_of(source));
}

inline bool owns_constants(const Program& program) {
  return std::any_of(program->params.begin(), program->params.end(),
                     [](const Param& p) { return !p.is_argument(); });
}

/// A schedule that somebody wrote is not asked for among recipes: it needs no planning, and its
/// code is found by what is lowered.
inline AnyKernel make_kernel(const Source& source, const Vec<ProgramParam>& params) {
  const Context& context = context_of(source);
  const Deadline deadline(context);
  std::string reason;
  const Llvm* llvm = Llvm::find(context.options().llvm, &reason);
  const bool planned = llvm && !source.scheduled();
  RecipeCache& recipes = CodeCache::of(context).recipes();
  if (planned)
    if (const auto known = recipes.find(source, params, *llvm))
      return kernel_of(*known->recipe, known->bound, known->binding, source);
  const BoundProgram bound = bound_program(source, params);
  const KernelMaker maker{
      source, llvm, target_of(source, context), {context, deadline, source.where()}};
  if (!llvm) return make_interpreted(source, bound, reason);
  if (!planned) return kernel_of(*maker.recipe(bound, maker.key({})), bound, {}, source);
  const Ref<KernelRecipe> recipe = recipe_of(maker, bound, recipes);
  if (owns_constants(bound.program)) return kernel_of(*recipe, bound, {}, source);
  auto* call = new KnownCall(source, params, *llvm);
  const Ref<KnownCall> owner(call);
  call->bound = bound, call->recipe = recipe;
  call->binding = make_ref<Binding>(bound.program, bound.order);
  recipes.add(source, owner);
  return kernel_of(*recipe, bound, call->binding, source);
}

}  // namespace detail

LATHE_DECL AnyKernel jit_any(const Source& source, const Vec<ProgramParam>& params) {
  return detail::within_memory("jit", source.where(),
                               [&] { return detail::make_kernel(source, params); });
}

}  // namespace lathe
