// The terms of a sum of integers, multiplied out.
#pragma once

#include <algorithm>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// factor * parts[0] * parts[1] * …, in one type of integers, which wrap.
struct TermProduct {
  std::int64_t factor = 1;
  Vec<AnyExpr> parts;
};

inline std::int64_t wrapped_sum(DType t, std::int64_t a, std::int64_t b) {
  return wrap_int(
      t, static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)));
}
inline std::int64_t wrapped_product(DType t, std::int64_t a, std::int64_t b) {
  return wrap_int(
      t, static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)));
}

/// An integer as a sum of products: in a type that wraps, the distributive law holds exactly.
class MultiplyOut {
 public:
  static Vec<TermProduct> of(const AnyExpr& e) {
    if (e->weight > kLargest) return {{1, {e}}};
    if (const std::int64_t* c = as_const_int(e)) return {{wrap_int(e.dtype(), *c), {}}};
    if (const auto* n = e.as<UnaryNode>(); n && n->op == UnaryOp::neg)
      return times(e.dtype(), {{-1, {}}}, of(n->a));
    const auto* n = e.as<BinaryNode>();
    if (n && n->op == BinaryOp::mul) {
      const Vec<TermProduct> a = of(n->a), b = of(n->b);
      if (a.size() * b.size() <= kMostProducts) return times(e.dtype(), a, b);
    }
    if (n && (n->op == BinaryOp::add || n->op == BinaryOp::sub)) {
      Vec<TermProduct> sum = of(n->a), more = of(n->b);
      if (n->op == BinaryOp::sub) more = times(e.dtype(), {{-1, {}}}, more);
      if (sum.size() + more.size() <= kMostProducts) {
        sum.append(more);
        return sum;
      }
    }
    return {{1, {e}}};
  }

  /// Whether both have the same parts, in any order.
  static bool same_parts(const Vec<AnyExpr>& a, Vec<AnyExpr> b) {
    if (a.size() != b.size()) return false;
    for (const auto& part : a) {
      const auto at = std::find_if(b.begin(), b.end(), [&](const AnyExpr& other) {
        return structurally_equal(part, other);
      });
      if (at == b.end()) return false;
      b.erase_at(static_cast<std::size_t>(at - b.begin()));
    }
    return true;
  }

 private:
  static constexpr std::size_t kMostProducts = 16;  ///< a larger sum stays one part
  static constexpr std::uint32_t kLargest = 1000;   ///< nodes of a value that is looked into

  static Vec<TermProduct> times(DType t, const Vec<TermProduct>& a, const Vec<TermProduct>& b) {
    Vec<TermProduct> out;
    for (const auto& x : a)
      for (const auto& y : b) {
        TermProduct both{wrapped_product(t, x.factor, y.factor), x.parts};
        both.parts.append(y.parts);
        out.push_back(std::move(both));
      }
    return out;
  }
};

}  // namespace lathe::detail
