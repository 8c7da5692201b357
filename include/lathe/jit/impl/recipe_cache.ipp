#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/jit/mix_key.hpp>
#include <lathe/jit/recipe_cache.hpp>

namespace lathe {
namespace detail {

inline std::uint64_t bits_of(CodeKind kind, Strides strides) {
  return (kind.strict ? 1u : 0u) + (kind.checked ? 2u : 0u) + (kind.dense ? 4u : 0u) +
         8u * static_cast<unsigned>(kind.math) + 256u * static_cast<unsigned>(strides);
}

/// Of kernels, whose code is for dense arguments first.
inline CodeKind kind_of(const JitOptions& options) {
  return {options.strict, options.checked, true, options.math};
}

inline bool same_params(const Vec<ProgramParam>& a, const Vec<ProgramParam>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!a[k].tensor.same_as(b[k].tensor) || !a[k].result.same_as(b[k].result) ||
        a[k].read_only != b[k].read_only)
      return false;
  return true;
}

inline bool same_tensors(const Vec<AnyTensor>& a, const Vec<AnyTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!a[k].same_as(b[k])) return false;
  return true;
}

inline std::uint64_t hash_call(const OutputList& outputs, const Program& program,
                               const Vec<ProgramParam>& params) {
  std::uint64_t h = mix_key(0, program.get());
  const auto add = [&h](const AnyTensor& t) {
    h = mix_key(h, t.is_scalar() ? static_cast<const void*>(t.scalar().get()) : t.buffer().get());
  };
  for (const AnyTensor& t : outputs.tensors) add(t);
  for (const ProgramParam& p : params) add(p.tensor), add(p.result);
  return h;
}

}  // namespace detail

LATHE_DECL std::uint64_t RecipeKey::hash() const {
  std::uint64_t h = structural_hash(program);
  h = detail::mix_key(h, program->name);
  for (const Param& p : program->params) h = detail::mix_key(h, p.name());
  h = detail::mix_key(h, target.cpu);
  return detail::mix_key(detail::mix_key(h, detail::bits_of(kind, strides)), llvm);
}

LATHE_DECL Program KernelRecipe::unplanned() const {
  const Program& program = key.program;
  const bool whole = program && program->stage == Stage::blocks && !program->scheduled;
  return whole && once.empty() ? program : Program();
}

LATHE_DECL bool RecipeKey::operator==(const RecipeKey& other) const {
  return llvm == other.llvm && kind == other.kind && strides == other.strides &&
         require_compiled == other.require_compiled && target == other.target &&
         equal_but_for_contents(program, other.program);
}

LATHE_DECL KnownCall::KnownCall(const Source& source, const Vec<ProgramParam>& its_params,
                                const Llvm& its_llvm)
    : outputs(source.outputs()),
      program(source.program()),
      params(its_params),
      target(source.options().target),
      kind(detail::kind_of(source.options())),
      strides(source.options().strides),
      require_compiled(source.options().require_compiled),
      unread_inputs(source.options().unread_inputs),
      llvm(&its_llvm) {}

LATHE_DECL bool KnownCall::is_of(const Source& source, const Vec<ProgramParam>& its_params,
                                 const Llvm& its_llvm) const {
  const JitOptions& options = source.options();
  return llvm == &its_llvm && program == source.program() && kind == detail::kind_of(options) &&
         strides == options.strides && require_compiled == options.require_compiled &&
         unread_inputs == options.unread_inputs && detail::same_params(params, its_params) &&
         detail::same_tensors(outputs.tensors, source.outputs().tensors) &&
         detail::same_params(outputs.inouts, source.outputs().inouts) && target == options.target;
}

/// What it finds becomes the latest.
template <class T, class Fits>
Ref<T> RecipeCache::find_in(Entries& entries, std::uint64_t hash, Fits fits) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Entry& e : entries) {
    if (e.hash != hash || !fits(static_cast<const T&>(*e.node))) continue;
    e.used = ++clock_;
    return Ref<T>(static_cast<const T*>(e.node.get()));
  }
  return {};
}

/// In the place of the one whose use is longest ago, if there are so many; unless another thread
/// has added an equal one.
template <class T, class Fits>
void RecipeCache::add_to(Entries& entries, std::size_t most, std::uint64_t hash, Ref<T> node,
                         Fits fits) {
  Entry entry{hash, 0, std::move(node)};  // ends after the lock: what it drops may unload code
  std::lock_guard<std::mutex> lock(mutex_);
  Entry* oldest = entries.begin();
  for (Entry& e : entries) {
    if (e.hash == hash && fits(static_cast<const T&>(*e.node))) return;
    if (e.used < oldest->used) oldest = &e;
  }
  entry.used = ++clock_;
  if (entries.size() < most)
    entries.push_back(std::move(entry));
  else
    std::swap(*oldest, entry);
}

LATHE_DECL Ref<KernelRecipe> RecipeCache::find(std::uint64_t hash, const RecipeKey& key) {
  return find_in<KernelRecipe>(programs_, hash,
                               [&](const KernelRecipe& known) { return known.key == key; });
}
LATHE_DECL void RecipeCache::add(std::uint64_t hash, Ref<KernelRecipe> recipe) {
  const KernelRecipe& own = *recipe;
  add_to(programs_, kPrograms, hash, std::move(recipe),
         [&](const KernelRecipe& known) { return known.key == own.key; });
}

LATHE_DECL Ref<KnownCall> RecipeCache::find(const Source& source, const Vec<ProgramParam>& params,
                                            const Llvm& llvm) {
  return find_in<KnownCall>(
      calls_, detail::hash_call(source.outputs(), source.program(), params),
      [&](const KnownCall& known) { return known.is_of(source, params, llvm); });
}
LATHE_DECL void RecipeCache::add(const Source& source, Ref<KnownCall> call) {
  const KnownCall& own = *call;
  add_to(calls_, kCalls, detail::hash_call(own.outputs, own.program, own.params), std::move(call),
         [&](const KnownCall& known) { return known.is_of(source, own.params, *own.llvm); });
}

LATHE_DECL std::size_t RecipeCache::programs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return programs_.size();
}
LATHE_DECL std::size_t RecipeCache::calls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_.size();
}
LATHE_DECL void RecipeCache::clear() {
  Entries programs, calls;
  std::lock_guard<std::mutex> lock(mutex_);
  programs.swap(programs_);
  calls.swap(calls_);
}

}  // namespace lathe
