// Tensors whose elements are known while a computation is described: Constant<T, R>, constant.
#pragma once

#include <lathe/dsl/tensor.hpp>

namespace lathe {

/// A tensor of known elements. No argument of kernels: they have a copy, which nobody can change.
template <class T, int R>
class Constant : public TypedTensor<T, R> {
 public:
  explicit Constant(AnyTensor tensor) : TypedTensor<T, R>(std::move(tensor)) {}
  /// What parse asks for.
  const ConstantRef& content() const { return this->source().content; }
};

namespace detail {

template <class V>
concept StridedElements = requires(const V& v) {
  *v.data(), *v.extents(), *v.strides(), V::rank;
};
template <class C>
concept PackedElements = !StridedElements<C> && requires(const C& c) {
  *c.data(), c.size();
};
template <class C>
using ElementsOf = std::remove_cvref_t<decltype(*std::declval<const C&>().data())>;

/// L0132 unless there are as many elements as the extents say.
void check_element_count(const std::string& name, std::size_t given,
                         std::span<const std::int64_t> extents, Location where);

}  // namespace detail

/// A constant with a copy of the elements of a vector, array or span, row-major:
///     auto W = lt::constant("W", weights, {k, n});
/// What a schedule computes of constants alone runs once, when the kernel is made; without a
/// schedule so do computes of constants alone whose results need no more memory than those. Errors
/// as make_constant, and L0132 another number of elements than the extents say
template <detail::PackedElements C, std::size_t R>
auto constant(std::string name, const C& elements, const std::int64_t (&extents)[R],
              Location where = Location::here()) {
  using T = detail::ElementsOf<C>;
  detail::check_element_count(name, elements.size(), extents, where);
  return Constant<T, static_cast<int>(R)>(
      make_constant(std::move(name), dtype_of<T>, extents, elements.data(), nullptr, where));
}
/// The same of a view, with its extents: lt::constant("W", lt::view(weights, {k, n})).
template <detail::StridedElements V>
auto constant(std::string name, const V& view, Location where = Location::here()) {
  using T = detail::ElementsOf<V>;
  return Constant<T, V::rank>(make_constant(std::move(name), dtype_of<T>,
                                            {view.extents(), std::size_t(V::rank)}, view.data(),
                                            view.strides(), where));
}

}  // namespace lathe
