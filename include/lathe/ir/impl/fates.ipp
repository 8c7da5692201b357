#pragma once

#include <lathe/ir/fates.hpp>
#include <lathe/ir/impl/attributes.ipp>

namespace lathe::detail {

/// A letter for each change, in their order: k, the attribute is kept; d, it is dropped, as what
/// it asks for is done or of no use there; r, the change is refused; -, it does not happen to what
/// carries such an attribute.
struct FateRow {
  std::string_view key, letters;
};

// clang-format off
inline constexpr FateRow kFates[] = {
    // replace, spread, unfold, share, stage, move, enclose, clone, refill, border, version, lose, join, divert, deliver, hand_over
    {UnrollAttr::kRow.key,            "rrrrrkkkkkdd----"},
    {MaxThreadsAttr::kRow.key,        "rrrrrkkkkkkd----"},
    {TailAttr::kRow.key,              "dkkkkkkkkkkd----"},
    {PartitionAttr::kRow.key,         "rrrrrkkkkkkd----"},
    {PrefetchAttr::kRow.key,          "rkrrrkrkdddr----"},
    {HoistAttr::kRow.key,             "rrrkrkrddddr----"},
    {DoubleBufferAttr::kRow.key,      "rrrkrrrddddr----"},
    {RollingAttr::kRow.key,           "rrrkrrrddddr----"},
    {PipelineAttr::kRow.key,          "rrrrrrrddddr----"},
    {PipelineBufferAttr::kRow.key,    "rrrrrrrddddr----"},
    {PipelineStatementAttr::kRow.key, "rrrrrrrddddr----"},
    {GuardsAttr::kRow.key,            "-------kk---dkdd"},
    {StreamAttr::kRow.key,            "-------dk---rdkk"},
    {AnyOrderAttr::kRow.key,          "-------kd---rkdk"},
    {UserHint::kRow.key,              "rrrrrkkkdkkdrkdk"},
};
// clang-format on

constexpr bool fates_are_complete() {
  if (std::size(kFates) != Attribute::kTypes) return false;
  for (std::size_t k = 0; k < Attribute::kTypes; ++k)
    if (kFates[k].key != kAttributeRows.at[k]->key ||
        kFates[k].letters.size() != static_cast<std::size_t>(Change::hand_over) + 1)
      return false;
  return true;
}
static_assert(fates_are_complete());

LATHE_DECL Fate fate_of(const Attribute& a, Change change) {
  const char letter = kFates[a.index()].letters[static_cast<std::size_t>(change)];
  invariant(letter != '-', "a change that does not happen to what carries the attribute");
  return letter == 'k' ? Fate::keep : letter == 'd' ? Fate::drop : Fate::refuse;
}

LATHE_DECL const Attribute* forbids(const Attributes& all, Change change) {
  for (const auto& a : all)
    if (fate_of(a, change) == Fate::refuse) return &a;
  return nullptr;
}

LATHE_DECL Attributes after(Change change, const Attributes& all) {
  Attributes out = all;
  out.erase_if([&](const Attribute& a) { return fate_of(a, change) != Fate::keep; });
  return out;
}

}  // namespace lathe::detail
