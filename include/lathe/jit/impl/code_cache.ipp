#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/jit/code_cache.hpp>

namespace lathe {

LATHE_DECL CodeCache& CodeCache::of(const Context& context) {
  return context.service<CodeCache>(Service::kernel_cache,
                                    [](const Context&) { return new CodeCache; });
}

LATHE_DECL Ref<KernelCode> CodeCache::find(std::uint64_t hash, const Program& scheduled,
                                           const Target& target, CodeKind kind, int llvm_major) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t k = entries_.size(); k-- > 0;) {
    const Entry entry = entries_[k];
    const KernelCode& c = *entry.code;
    if (entry.hash != hash || !(c.kind == kind) || c.llvm_major != llvm_major ||
        !(c.target == target) || !structurally_equal(c.scheduled, scheduled))
      continue;
    entries_.erase_at(k);
    entries_.push_back(entry);
    return entry.code;
  }
  return {};
}

LATHE_DECL Ref<KernelCode> CodeCache::add(std::uint64_t hash, Ref<KernelCode> code) {
  if (auto first = find(hash, code->scheduled, code->target, code->kind, code->llvm_major))
    return first;
  std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.size() >= kKept) entries_.erase_at(0);
  entries_.push_back({hash, code});
  return code;
}

LATHE_DECL std::size_t CodeCache::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}
LATHE_DECL void CodeCache::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  entries_.clear();
  recipes_.clear();
}

}  // namespace lathe
