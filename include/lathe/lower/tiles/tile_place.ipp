#pragma once

#include <lathe/arith/rules.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/lower/tiles/tile_place.hpp>

namespace lathe::detail {

/// Lane l of a vector of indices is base + numbers[l] + the sum of factor * counts[l] over the
/// terms: what lane_offsets tells, and strides that only a call knows.
struct LaneTerms {
  struct Term {
    AnyExpr factor;
    Vec<std::int64_t> counts;
  };
  AnyExpr base;
  Vec<std::int64_t> numbers;
  Vec<Term> terms;
};

inline std::optional<LaneTerms> lane_terms(const AnyExpr& e);

inline Vec<std::int64_t> repeated_lanes(const Vec<std::int64_t>& lanes, int count,
                                        std::int64_t step) {
  Vec<std::int64_t> out;
  for (int k = 0; k < count; ++k)
    for (std::int64_t v : lanes) out.push_back(v + k * step);
  return out;
}

inline std::optional<LaneTerms> repeated_terms(const AnyExpr& value, int count,
                                               const AnyExpr& stride) {
  auto out = lane_terms(value);
  if (!out) return {};
  const std::size_t inner = out->numbers.size();
  const std::int64_t* known = as_const_int(stride);
  out->numbers = repeated_lanes(out->numbers, count, known ? *known : 0);
  for (auto& term : out->terms) term.counts = repeated_lanes(term.counts, count, 0);
  if (known) return out;
  Vec<std::int64_t> turns;
  for (int k = 0; k < count; ++k)
    for (std::size_t l = 0; l < inner; ++l) turns.push_back(k);
  out->terms.push_back({stride, std::move(turns)});
  return out;
}

inline bool is_uniform(const LaneTerms& t) {
  for (std::int64_t v : t.numbers)
    if (v != 0) return false;
  return t.terms.empty();
}

inline std::optional<LaneTerms> multiplied_terms(LaneTerms a, LaneTerms b) {
  if (is_uniform(a)) std::swap(a, b);
  if (!is_uniform(b)) return {};
  const std::int64_t* known = as_const_int(b.base);
  a.base = fold_mul(a.base, b.base);
  for (auto& term : a.terms) term.factor = fold_mul(term.factor, b.base);
  if (known)
    for (auto& v : a.numbers) v *= *known;
  else
    a.terms.push_back({b.base, std::exchange(a.numbers, Vec<std::int64_t>(a.numbers.size(), 0))});
  return a;
}

inline std::optional<LaneTerms> combined_terms(const BinaryNode& n) {
  auto a = lane_terms(n.a), b = lane_terms(n.b);
  if (!a || !b) return {};
  if (n.op == BinaryOp::mul) return multiplied_terms(std::move(*a), std::move(*b));
  if (n.op != BinaryOp::add) return {};
  a->base = fold_add(a->base, b->base);
  for (std::size_t l = 0; l < a->numbers.size(); ++l) a->numbers[l] += b->numbers[l];
  a->terms.append(b->terms);
  return a;
}

inline std::optional<LaneTerms> lane_terms(const AnyExpr& e) {
  if (e.dtype().scalar() != kIndex) return {};
  if (!e.dtype().is_vector()) return LaneTerms{e, {0}, {}};
  if (const auto* c = e.as<ConstNode>())
    return LaneTerms{
        AnyExpr(c->i), Vec<std::int64_t>(static_cast<std::size_t>(e.dtype().lanes), 0), {}};
  if (const auto* b = e.as<BroadcastNode>()) return repeated_terms(b->value, b->lanes, AnyExpr(0));
  if (const auto* r = e.as<RampNode>()) {
    const auto* stride = r->stride.as<BroadcastNode>();
    return repeated_terms(r->base, r->lanes, stride ? stride->value : r->stride);
  }
  if (const auto* n = e.as<BinaryNode>()) return combined_terms(*n);
  return {};
}

// The distance of rows in counts that are the same along each row but for `step` an element.
inline std::optional<std::int64_t> row_distance(const Vec<std::int64_t>& lanes, int rows,
                                                std::int64_t step) {
  const std::size_t columns = lanes.size() / static_cast<std::size_t>(rows);
  const std::int64_t distance = rows > 1 ? lanes[columns] - lanes[0] : 0;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    const auto row = static_cast<std::int64_t>(l / columns),
               column = static_cast<std::int64_t>(l % columns);
    if (lanes[l] != lanes[0] + row * distance + column * step) return {};
  }
  return distance;
}

LATHE_DECL std::optional<TilePlace> tile_place(const Buffer& buffer, const Vec<AnyExpr>& indices,
                                               int rows) {
  auto lanes = indices.size() == 1 ? lane_terms(indices[0]) : std::nullopt;
  if (!lanes || lanes->numbers.size() % static_cast<std::size_t>(rows) != 0) return {};
  const auto numbers = row_distance(lanes->numbers, rows, 1);
  if (!numbers) return {};
  TilePlace out{buffer, fold_add(lanes->base, AnyExpr(lanes->numbers[0])), AnyExpr(*numbers), rows,
                static_cast<int>(lanes->numbers.size()) / rows};
  for (const auto& term : lanes->terms) {
    const auto distance = row_distance(term.counts, rows, 0);
    if (!distance) return {};
    out.base = fold_add(out.base, fold_mul(term.factor, AnyExpr(term.counts[0])));
    out.pitch = fold_add(out.pitch, fold_mul(term.factor, AnyExpr(*distance)));
  }
  out.base = simplify(out.base), out.pitch = simplify(out.pitch);
  return out;
}

LATHE_DECL AnyExpr index_of(const TilePlace& place) {
  const AnyExpr row =
      place.columns == 1 ? place.base : make_ramp(place.base, AnyExpr(1), place.columns);
  return place.rows == 1 ? row : make_ramp(row, place.pitch, place.rows);
}

LATHE_DECL AnyExpr index_in_row(const TilePlace& place, const AnyExpr& row, const AnyExpr& first,
                                int lanes, int step) {
  const AnyExpr at = fold_add(fold_add(place.base, fold_mul(row, place.pitch)), first);
  return lanes == 1 ? at : make_ramp(at, AnyExpr(step), lanes);
}

}  // namespace lathe::detail
