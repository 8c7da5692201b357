// Views, the arguments of a kernel: a pointer with extents and strides, owned by somebody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lathe/support/element_type.hpp>
#include <lathe/support/error.hpp>
#include <type_traits>

namespace lathe {

/// An extent or a stride as callers have them: any integer type.
struct ViewInt {
  std::int64_t value;
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) constexpr ViewInt(I i)
      : value(static_cast<std::int64_t>(i)) {}
};

/// Rank-R view of elements of type T; strides count elements. Nothing is owned, nothing is copied.
///     std::vector<float> v(48);
///     lt::View<float, 2> a(v.data(), {6, 8});          // dense, row-major
///     lt::View<float, 2> b(v.data(), {6, 4}, {8, 1});  // the left half of each row
template <class T, int R>
class View {
  static_assert(R >= 0);
  static constexpr std::size_t slots = R > 0 ? R : 1;

 public:
  using element_type = T;
  static constexpr int rank = R;

  explicit View(T* data) requires(R == 0) : data_(data) {}
  View(T* data, const ViewInt (&extents)[slots]) requires(R > 0) : data_(data) {
    for (int d = 0; d < R; ++d) extents_[d] = extents[d].value;
    make_dense();
  }
  View(T* data, const ViewInt (&extents)[slots], const ViewInt (&strides)[slots]) requires(R > 0)
      : data_(data) {
    for (int d = 0; d < R; ++d) extents_[d] = extents[d].value, strides_[d] = strides[d].value;
  }
  /// From arrays of R values; null strides mean dense row-major.
  static View from(T* data, const std::int64_t* extents, const std::int64_t* strides = nullptr) {
    View v(data, Unset{});
    for (int d = 0; d < R; ++d) v.extents_[d] = extents[d];
    if (!strides)
      v.make_dense();
    else
      for (int d = 0; d < R; ++d) v.strides_[d] = strides[d];
    return v;
  }
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_const_v<U>) View(const View<U, R>& other)
      : View(from(other.data(), other.extents(), other.strides())) {}

  template <class... I>
  requires(sizeof...(I) == R && (std::is_integral_v<I> && ...)) T& operator()(I... index) const {
    std::int64_t offset = 0;
    [[maybe_unused]] int d = 0;
    ((offset += static_cast<std::int64_t>(index) * strides_[d++]), ...);
    return data_[offset];
  }

  T* data() const { return data_; }
  std::int64_t extent(int d) const { return extents_[d]; }
  std::int64_t stride(int d) const { return strides_[d]; }
  const std::int64_t* extents() const { return extents_; }
  const std::int64_t* strides() const { return strides_; }
  /// Elements; modulo 2^64 for a view that no memory holds, which calls and lathe::view refuse.
  std::int64_t size() const {
    std::uint64_t n = 1;
    for (int d = 0; d < R; ++d) n *= static_cast<std::uint64_t>(extents_[d]);
    return static_cast<std::int64_t>(n);
  }

 private:
  struct Unset {};
  View(T* data, Unset) : data_(data) {}
  void make_dense() {
    std::uint64_t step = 1;
    for (int d = R - 1; d >= 0; --d) {
      strides_[d] = static_cast<std::int64_t>(step);
      step *= static_cast<std::uint64_t>(extents_[d]);
    }
  }

  T* data_;
  std::int64_t extents_[slots] = {};
  std::int64_t strides_[slots] = {};
};

/// A view whose rank and element type are values; it borrows the extents and strides of the view
/// that it is made of, which must live as long.
struct AnyView {
  void* data = nullptr;
  int rank = 0;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;
  ElementType type;
  int element_bytes = 0;
  bool read_only = false;

  AnyView() = default;
  template <class T, int R>
  AnyView(const View<T, R>& v)
      : data(const_cast<std::remove_const_t<T>*>(v.data())),
        rank(R),
        extents(v.extents()),
        strides(v.strides()),
        type(ElementTypeOf<std::remove_const_t<T>>::value),
        element_bytes(static_cast<int>(sizeof(T))),
        read_only(std::is_const_v<T>) {}
};

namespace detail {
/// Refuses a view larger than the container that it looks into, or of a negative extent (L0401).
void check_view_fits(const std::int64_t* extents, int rank, std::int64_t held, Location where);

// A container by reference, or something cheap that owns nothing (a span) by value.
template <class C>
concept Viewable = requires(C& c) {
  *c.data(), c.size();
}
&&(std::is_lvalue_reference_v<C> || std::is_trivially_copyable_v<std::remove_cvref_t<C>>);
template <class C>
using ViewedElement = std::remove_pointer_t<decltype(std::declval<C&>().data())>;
}  // namespace detail

/// A dense view of a vector, array or span: `view(data, {6, 8})`. L0401 if the container is too
/// small.
template <detail::Viewable C, std::size_t R>
View<detail::ViewedElement<C>, static_cast<int>(R)> view(C&& c, const ViewInt (&extents)[R],
                                                         Location where = Location::here()) {
  View<detail::ViewedElement<C>, static_cast<int>(R)> result(c.data(), extents);
  detail::check_view_fits(result.extents(), static_cast<int>(R),
                          static_cast<std::int64_t>(c.size()), where);
  return result;
}

/// All of a vector, array or span, as rank 1.
template <detail::Viewable C>
View<detail::ViewedElement<C>, 1> view(C&& c) {
  return View<detail::ViewedElement<C>, 1>(c.data(), {c.size()});
}

/// How an argument type of one's own becomes a view: specialise with `static constexpr int rank`,
/// `using element_type` and `static View<element_type, rank> view(C&)`. See interop/eigen.hpp.
template <class C>
struct ViewOf;

}  // namespace lathe
