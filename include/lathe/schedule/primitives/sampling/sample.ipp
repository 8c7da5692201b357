#pragma once

#include <algorithm>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/loops/split.ipp>
#include <lathe/support/random.hpp>
#include <lathe/support/reversed.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline Vec<std::int64_t> numbers_of(const Arg& list) {
  Vec<std::int64_t> out;
  for (const auto& item : list.list) out.push_back(item.number);
  return out;
}

// In ascending order; none above the limit.
inline Vec<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high) {
  Vec<std::int64_t> small, large;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  for (std::int64_t d : reversed(large)) small.push_back(d);
  small.erase_if([&](std::int64_t d) { return d < low || d > high; });
  return small;
}

// Finding the divisors of more takes too long.
inline constexpr std::int64_t kMostTiled = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostFactors = 16;

inline Verdict check_tiled_loop(const ForNode& loop, const Args& args) {
  const std::int64_t *extent = as_const_int(loop.extent), n = args[1].number, most = args[2].number,
                     least = args[3].number;
  if (!extent || *extent < 1 || *extent > kMostTiled)
    return refusal_at(loop.var, "L0233",
                      "loop " + describe(loop) + " has no constant extent from 1 to 2^40",
                      "split it by {lt::infer, 1, ...}");
  if (n < 1 || n > kMostFactors)
    return refusal_at(loop.var, "L0233", std::to_string(n) + " factors are not 1 to 16");
  const auto inner = n == 1 ? Vec<std::int64_t>{*extent} : divisors(*extent, least, most);
  if (!inner.empty() && inner.front() >= least && inner.front() <= most) return {};
  return refusal_at(loop.var, "L0233",
                    "no factor from " + std::to_string(least) + " to " + std::to_string(most) +
                        (n == 1 ? " is" : " divides") + " the extent of loop " + describe(loop),
                    "its divisors: " + divisors_text(*extent));
}

inline Verdict check_tile_decision(const ForNode& loop, const Args& args) {
  const Vec<std::int64_t> tile = numbers_of(args[4]);
  const std::string what = "decision " + factors_text(args[4].list);
  if (static_cast<std::int64_t>(tile.size()) != args[1].number)
    return refusal_at(loop.var, "L0233",
                      what + " has " + std::to_string(tile.size()) + " factors, not " +
                          std::to_string(args[1].number));
  std::int64_t product = 1;
  for (std::int64_t f : tile)
    if (f < 1 || __builtin_mul_overflow(product, f, &product))
      return refusal_at(loop.var, "L0233", what + " holds " + std::to_string(f));
  if (product != *as_const_int(loop.extent))
    return refusal_at(loop.var, "L0233",
                      what + " gives " + std::to_string(product) + ", but loop " + describe(loop) +
                          " has another extent");
  if (tile.back() >= args[3].number && tile.back() <= args[2].number) return {};
  return refusal_at(loop.var, "L0233",
                    what + " ends with a factor that is not " + std::to_string(args[3].number) +
                        " to " + std::to_string(args[2].number));
}

inline void give_samples(const Program& program, const Vec<std::int64_t>& values, Edit* edit) {
  if (!edit) return;
  edit->program = program;
  edit->samples = values;
  for (std::size_t k = 0; k < values.size(); ++k)
    edit->results.push_back(Sample(make_var("n" + std::to_string(k))));
}

inline Verdict run_sample_perfect_tile(const Program& program, const Args& args, Edit* edit) {
  const ForRef loop = find_loop(program->body, args[0].loop).loop;
  if (auto no = check_tiled_loop(*loop, args)) return no;
  if (args[4].list.empty()) {
    if (edit) edit->program = program;
    return {};
  }
  if (auto no = check_tile_decision(*loop, args)) return no;
  give_samples(program, numbers_of(args[4]), edit);
  return {};
}

// The innermost factor first, evenly among those that may be; then each next one among the divisors
// of what is left; the outermost is the rest.
inline Arg draw_tile(const Program& program, const Args& args, std::uint64_t random) {
  std::int64_t left = *as_const_int(find_loop(program->body, args[0].loop).loop->extent);
  const auto n = static_cast<std::size_t>(args[1].number);
  Vec<Arg> tile(n);
  for (std::size_t k = n; k-- > 0;) {
    const bool inner = k + 1 == n;
    const auto among = divisors(left, inner ? args[3].number : 1, inner ? args[2].number : left);
    const std::int64_t f =
        k == 0 ? left : among[random_below(among.size(), random_bits(random, k))];
    tile[k] = Arg::of_number(f);
    left /= f;
  }
  return Arg::of_list(std::move(tile));
}

LATHE_DECL const Primitive& primitive_sample_perfect_tile() {
  static const Primitive record{"sample_perfect_tile",
                                1,
                                {{"loop", ArgKind::loop},
                                 {"n", ArgKind::number},
                                 {"max_inner", ArgKind::number, "64"},
                                 {"min_inner", ArgKind::number, "1"},
                                 {"decision", ArgKind::list, "[]", ArgKind::number}},
                                "factors that multiply to a loop's extent, at random",
                                run_sample_perfect_tile,
                                ArgKind::sample,
                                Results::counted,
                                draw_tile};
  return record;
}

inline Verdict check_weights(const Args& args) {
  const Vec<std::int64_t> values = numbers_of(args[0]), weights = numbers_of(args[1]);
  if (values.empty()) return refusal("L0233", "there are no values");
  if (weights.empty()) return {};
  if (weights.size() != values.size())
    return refusal("L0233", std::to_string(values.size()) + " values have " +
                                std::to_string(weights.size()) + " weights");
  std::int64_t sum = 0;
  for (std::int64_t w : weights)
    if (w < 0 || __builtin_add_overflow(sum, w, &sum))
      return refusal("L0233",
                     "weights " + factors_text(args[1].list) + " hold " + std::to_string(w));
  if (sum > 0) return {};
  return refusal("L0233", "weights " + factors_text(args[1].list) + " are all 0");
}

inline Verdict run_sample_categorical(const Program& program, const Args& args, Edit* edit) {
  const Vec<std::int64_t> values = numbers_of(args[0]);
  if (auto no = check_weights(args)) return no;
  const std::int64_t at = args[2].number;
  if (at == -1) {
    if (edit) edit->program = program;
    return {};
  }
  if (at < 0 || at >= static_cast<std::int64_t>(values.size()))
    return refusal("L0233", "decision " + std::to_string(at) + " is no position in " +
                                factors_text(args[0].list));
  give_samples(program, {values[static_cast<std::size_t>(at)]}, edit);
  return {};
}

inline Arg draw_categorical(const Program&, const Args& args, std::uint64_t random) {
  Vec<std::int64_t> weights = numbers_of(args[1]);
  if (weights.empty()) weights.assign(args[0].list.size(), 1);
  std::uint64_t sum = 0;
  for (std::int64_t w : weights) sum += static_cast<std::uint64_t>(w);
  std::uint64_t at = random_below(sum, random);
  std::int64_t k = 0;
  for (; at >= static_cast<std::uint64_t>(weights[static_cast<std::size_t>(k)]); ++k)
    at -= static_cast<std::uint64_t>(weights[static_cast<std::size_t>(k)]);
  return Arg::of_number(k);
}

LATHE_DECL const Primitive& primitive_sample_categorical() {
  static const Primitive record{"sample_categorical",
                                1,
                                {{"values", ArgKind::list, {}, ArgKind::number},
                                 {"weights", ArgKind::list, "[]", ArgKind::number},
                                 {"decision", ArgKind::number, "-1"}},
                                "one of several values, at random by weight",
                                run_sample_categorical,
                                ArgKind::sample,
                                Results::one,
                                draw_categorical};
  return record;
}

}  // namespace lathe::detail
