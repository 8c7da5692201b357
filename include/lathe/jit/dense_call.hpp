// The usual call without loops or tables: row-major views of the very shapes that the binding has
// checked (Binding::dense_plan), compared by code that the argument types unroll. That the numbers
// of slots are constants lets a kernel start on its data before the checks have read theirs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lathe/jit/call_check.hpp>
#include <lathe/support/slot_layout.hpp>
#include <utility>

namespace lathe {
namespace detail {

/// Arguments of these ranks (-1: a scalar), in the order of the parameters, without Dims or
/// declared strides.
template <int... Rank>
struct DenseSignature {
  static constexpr int ranks[sizeof...(Rank) + 1] = {Rank..., 0};
  static constexpr int params() { return sizeof...(Rank); }
  static constexpr int rank(int p) { return ranks[p]; }
  static constexpr bool owns(int) { return false; }
  static constexpr int dims() { return 0; }
  static constexpr bool passes_stride(int p, int axis) { return axis + 1 < ranks[p]; }
};

/// Where each of these arguments has its part of the plan, its slot, and the slots of its outer
/// strides.
template <int... Rank>
struct DenseLayout {
  static constexpr std::size_t count = sizeof...(Rank);
  std::array<std::size_t, count + 1> plan{}, slot{}, strides{};
  std::size_t slots = 0;

  constexpr DenseLayout() {
    using Signature = DenseSignature<Rank...>;
    for_each_slot(Signature(), [this](CallSlot::Kind kind, int p, int axis) {
      const bool is_stride = kind == CallSlot::Kind::stride;
      if (!is_stride || axis == 0) (is_stride ? strides : slot)[std::size_t(p)] = slots;
      ++slots;
    });
    for (std::size_t k = 0; k < count; ++k) {
      const int rank = Signature::ranks[k];
      plan[k + 1] = plan[k] + (rank < 0 ? 0 : 2 + 2 * std::size_t(rank));
    }
  }
};

/// Fills a view's slots; false if it differs from its part of the plan. Branches, since they are
/// predicted: the call does not wait for what they compare.
template <int R>
[[gnu::always_inline]] inline bool match_dense(const CallArg& given, const std::int64_t* plan,
                                               std::uint64_t* slot, std::uint64_t* strides,
                                               ArgBytes& bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(given.data);
  *slot = base;
  bytes = {base, base + static_cast<std::uintptr_t>(plan[1])};
  if (check_address(base, static_cast<std::uintptr_t>(plan[0]), bytes) != CallError::none)
    return false;
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
[[gnu::always_inline]] inline bool fill_dense(std::index_sequence<K...>, const std::int64_t* plan,
                                              std::uint64_t* slots, const A&... args) {
  constexpr auto& at = dense_layout<A...>;
  std::array<ArgBytes, sizeof...(A) + 1> bytes{};
  const auto alone = [&](std::size_t w) { return ((w == K || apart(bytes[w], bytes[K])) && ...); };
  return (args.match(plan + at.plan[K], slots + at.slot[K], slots + at.strides[K], bytes[K]) &&
          ...) &&
         ((!A::written || alone(K)) && ...);
}

}  // namespace detail
}  // namespace lathe
