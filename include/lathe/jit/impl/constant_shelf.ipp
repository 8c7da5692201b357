#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/jit/constant_shelf.hpp>
#include <lathe/lower/split_constants.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

LATHE_DECL std::shared_ptr<SharedResults> ResultList::find(const ResultKey& key) const {
  for (const auto& known : all)
    if (known->key.inputs == key.inputs && known->key.kind == key.kind &&
        known->key.target == key.target && structurally_equal(known->key.program, key.program))
      return known;
  return {};
}

LATHE_DECL void ResultList::release_blocks(SharedResults& results) const {
  for (void* block : results.blocks)
    if (context) context->deallocate(block);
  results.blocks.clear();
}

}  // namespace detail

LATHE_DECL HeldResults::~HeldResults() {
  if (!results_) return;
  std::lock_guard<std::mutex> lock(list_->mutex);
  if (--results_->holders > 0) return;
  for (std::size_t k = list_->all.size(); k-- > 0;)
    if (list_->all[k] == results_) list_->all.erase_at(k);
  list_->release_blocks(*results_);
}

LATHE_DECL ConstantShelf::ConstantShelf(const Context& context)
    : list_(std::make_shared<detail::ResultList>(context)) {}

LATHE_DECL ConstantShelf::~ConstantShelf() {
  std::lock_guard<std::mutex> lock(list_->mutex);
  for (const auto& results : list_->all) list_->release_blocks(*results);
  list_->context = nullptr;
}

LATHE_DECL ConstantShelf& ConstantShelf::of(const Context& context) {
  return context.service<ConstantShelf>(
      Service::constants, [](const Context& owner) { return new ConstantShelf(owner); });
}

LATHE_DECL Ref<HeldResults> ConstantShelf::get(ResultKey key,
                                               FunctionRef<void(void* const* blocks)> make,
                                               Location where) {
  auto* held = new HeldResults(list_);
  Ref<HeldResults> out(held);
  {
    std::lock_guard<std::mutex> lock(list_->mutex);
    auto results = list_->find(key);
    if (!results) {
      results = std::make_shared<detail::SharedResults>(std::move(key));
      list_->all.push_back(results);
    }
    held->results_ = results;
    ++held->results_->holders;
  }
  std::lock_guard<std::mutex> lock(held->results_->making);
  if (!held->results_->made) fill(*held->results_, make, where);
  return out;
}

LATHE_DECL void ConstantShelf::fill(detail::SharedResults& results,
                                    FunctionRef<void(void* const* blocks)> make, Location where) {
  const Context& context = *list_->context;
  // Who tried before may have failed.
  list_->release_blocks(results);
  std::int64_t bytes = 0;
  for (const Param& p : results.key.program->params) {
    if (p.access != Access::out) continue;
    const std::size_t own = known_bytes(*p.buffer);
    bytes += static_cast<std::int64_t>(own);
    results.blocks.push_back(context.allocate(own, ConstantData::kAlignment));
    if (!results.blocks.back())
      throw UserError(
          "L0406",
          cat("kernel '", results.key.program->name, "': no memory for the ", bytes,
              " bytes that it computes of constants and keeps"),
          where,
          context.options().memory_budget > 0
              ? cat("the context's memory_budget is ", context.options().memory_budget, " bytes")
              : std::string(),
          "raise memory_budget, or use a schedule that keeps less");
  }
  make(results.blocks.data());
  results.made = true;
}

LATHE_DECL std::size_t ConstantShelf::size() const {
  std::lock_guard<std::mutex> lock(list_->mutex);
  return list_->all.size();
}

}  // namespace lathe
