// The usual call without loops or tables: row-major views of known shape, checked by code that the
// argument types unroll. Slots are numbered as kernel_slots does it; that they are constants lets a
// kernel start on its data before the checks have read theirs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lathe/jit/binding.hpp>
#include <utility>

namespace lathe {
namespace detail {

/// The bytes of one argument of a call; none for a scalar.
struct ArgBytes {
  std::uintptr_t begin = 0, end = 0;
};

/// Where each argument of these ranks (-1: a scalar) has its part of Binding::dense_plan, its slot,
/// and the slots of its outer strides.
template <int... Rank>
struct DenseLayout {
  static constexpr std::size_t count = sizeof...(Rank);
  std::array<std::size_t, count + 1> plan{}, slot{}, strides{};
  std::size_t slots = 0;

  constexpr DenseLayout() {
    const int ranks[count + 1] = {Rank..., 0};
    std::size_t at = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (ranks[k] >= 0) slot[k] = slots++, plan[k] = at, at += 2 + 2 * std::size_t(ranks[k]);
    for (std::size_t k = 0; k < count; ++k) {
      strides[k] = slots;
      if (ranks[k] > 1) slots += std::size_t(ranks[k]) - 1;
    }
    for (std::size_t k = 0; k < count; ++k)
      if (ranks[k] < 0) slot[k] = slots++;
  }
};

/// Fills a view's slots; false if it differs from its part of the plan. Branches, since they are
/// predicted: the call does not wait for what they compare.
template <int R>
bool match_dense(const CallArg& given, const std::int64_t* plan, std::uint64_t* slot,
                 std::uint64_t* strides, ArgBytes& bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(given.data);
  *slot = base;
  bytes = {base, base + static_cast<std::uintptr_t>(plan[1])};
  if (base == 0 || (base & static_cast<std::uintptr_t>(plan[0])) != 0) return false;
  for (int d = 0; d < R; ++d) {
    if (given.extents[d] != plan[2 + 2 * d] || given.strides[d] != plan[3 + 2 * d]) return false;
    if (d + 1 < R) strides[d] = static_cast<std::uint64_t>(given.strides[d]);
  }
  return true;
}

template <class... A>
inline constexpr DenseLayout<A::rank...> dense_layout;

/// Fills the slots as Binding::bind does. False: not the usual call, or not a legal one.
template <std::size_t... K, class... A>
bool fill_dense(std::index_sequence<K...>, const std::int64_t* plan, std::uint64_t* slots,
                const A&... args) {
  constexpr auto& at = dense_layout<A...>;
  std::array<ArgBytes, sizeof...(A) + 1> bytes;
  const auto alone = [&](std::size_t w) {
    return ((w == K || bytes[w].begin >= bytes[K].end || bytes[K].begin >= bytes[w].end) && ...);
  };
  return (args.match(plan + at.plan[K], slots + at.slot[K], slots + at.strides[K], bytes[K]) &&
          ...) &&
         ((!A::written || alone(K)) && ...);
}

}  // namespace detail
}  // namespace lathe
