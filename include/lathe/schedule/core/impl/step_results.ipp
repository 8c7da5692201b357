#pragma once

#include <lathe/schedule/core/primitive.hpp>

namespace lathe {
namespace detail {

inline Vec<LoopRef> as_loops(const Args& results) {
  Vec<LoopRef> out;
  for (const auto& r : results) out.emplace_back(r.loop);
  return out;
}
inline BlockRef as_block(const Args& results) { return BlockRef(results[0].block); }
inline Arg number_list(const Vec<std::int64_t>& numbers) {
  Vec<Arg> list;
  for (std::int64_t n : numbers) list.push_back(Arg::of_number(n));
  return Arg::of_list(std::move(list));
}
inline Arg tail_argument(const std::optional<Tail>& tail) {
  return Arg::of_word(tail ? to_text(*tail) : "auto");
}

}  // namespace detail

}  // namespace lathe
