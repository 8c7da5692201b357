// Layout maps: an element's place in a buffer, from old indices to new ones.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe {

/// An index inside a layout map. / and % round toward minus infinity; indices are never negative.
class Index {
 public:
  Index(const Index&) = default;
  Index& operator=(const Index&) = default;
  Index(std::int64_t value) : expr_(value) {}
  Index(int value) : expr_(value) {}
  explicit Index(AnyExpr expr) : expr_(std::move(expr)) {}
  const AnyExpr& expr() const { return expr_; }

  friend Index operator+(const Index& a, const Index& b) { return Index(a.expr_ + b.expr_); }
  friend Index operator-(const Index& a, const Index& b) { return Index(a.expr_ - b.expr_); }
  friend Index operator-(const Index& a) { return Index(AnyExpr(0) - a.expr_); }
  friend Index operator*(const Index& a, const Index& b) { return Index(a.expr_ * b.expr_); }
  friend Index operator/(const Index& a, const Index& b) {
    return Index(floordiv(a.expr_, b.expr_));
  }
  friend Index operator%(const Index& a, const Index& b) {
    return Index(floormod(a.expr_, b.expr_));
  }
  friend Index floordiv(const Index& a, const Index& b) { return a / b; }
  friend Index floormod(const Index& a, const Index& b) { return a % b; }

 private:
  AnyExpr expr_;
};

/// What a layout map returns: the new indices.
struct IndexTuple {
  Vec<AnyExpr> indices;
};

/// layout(b / 32, a, b % 32)
template <class... Indices>
IndexTuple layout(const Indices&... indices) {
  return {{Index(indices).expr()...}};
}

/// A map from an element's old indices to its new ones.
struct LayoutMapNode : RefCounted {
  Vec<VarRef> from;
  Vec<AnyExpr> to;
  LayoutMapNode(Vec<VarRef> its_from, Vec<AnyExpr> its_to)
      : from(std::move(its_from)), to(std::move(its_to)) {}
};
using LayoutMap = Ref<LayoutMapNode>;

namespace detail {

// How many Index arguments a callable takes, up to 8; -1 if it takes none of these numbers.
template <class F, class... Args>
constexpr int layout_arity() {
  if constexpr (std::is_invocable_v<const F&, Args...>) {
    return static_cast<int>(sizeof...(Args));
  } else if constexpr (sizeof...(Args) < 8) {
    return layout_arity<F, Args..., Index>();
  } else {
    return -1;
  }
}

template <class F, std::size_t... K>
LayoutMap make_layout_map(const F& f, const Vec<VarRef>& from, std::index_sequence<K...>) {
  IndexTuple out = f(Index(AnyExpr(from[K]))...);
  return make_ref<LayoutMapNode>(from, std::move(out.indices));
}

}  // namespace detail

/// The map of a callable such as [](Index a, Index b) { return layout(b / 32, a, b % 32); }.
template <class F>
LayoutMap layout_map(const F& f) {
  constexpr int rank = detail::layout_arity<F>();
  static_assert(rank >= 0,
                "a layout map takes one lathe::Index per dimension and returns lathe::layout(...)");
  Vec<VarRef> from;
  for (int k = 0; k < rank; ++k) {
    std::string name = "d";
    name +=
        std::to_string(k);  // not "d" + ...: -Wrestrict of GCC 12 and 13 takes that for an overlap
    from.push_back(make_var(std::move(name)));
  }
  return detail::make_layout_map(
      f, from, std::make_index_sequence<static_cast<std::size_t>(rank < 0 ? 0 : rank)>());
}

}  // namespace lathe
