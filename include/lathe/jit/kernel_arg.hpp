// What a typed kernel takes as an argument, and what a user is told who gives something else.
#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/jit/dense_call.hpp>
#include <lathe/runtime/abi.hpp>
#include <lathe/runtime/view.hpp>
#include <tuple>

namespace lathe {

namespace detail {

template <class C>
concept HasViewOf = requires(std::remove_reference_t<C>& c) {
  ViewOf<std::remove_cvref_t<C>>::view(c);
};
template <class From, class To>
concept SameElement = (std::is_same_v<std::remove_const_t<From>, std::remove_const_t<To>> ||
                       SameDType<From, To>)&&(std::is_const_v<To> || !std::is_const_v<From>);
template <class C>
inline constexpr bool is_view = false;
template <class T, int R>
inline constexpr bool is_view<View<T, R>> = true;
// A view of rank 1 has data() and size() too, but need not be contiguous.
template <class C, class T>
concept ContiguousOf = !is_view<std::remove_cvref_t<C>> && requires(C & c) {
  c.data();
  c.size();
}
&&SameElement<std::remove_pointer_t<decltype(std::declval<C&>().data())>, T>;

/// One parameter of a typed kernel: what converts to it.
template <class P>
struct KernelArg {
  static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= 8,
                "lathe: a scalar parameter of this type is not supported");
  P value;
  template <class A>
  requires std::is_convertible_v<A, P> KernelArg(const A& a) : value(static_cast<P>(a)) {}
  CallArg call() const {
    CallArg out;
    out.scalar = to_slot(value);
    return out;
  }
  static constexpr int rank = -1;
  static constexpr bool written = false;
  [[gnu::always_inline]] bool match(const std::int64_t*, std::uint64_t* slot, std::uint64_t*,
                                    ArgBytes&) const {
    *slot = to_slot(value);
    return true;
  }
};

/// Lives for one call, on the caller's stack: it may point into a view that lives as long, or into
/// itself.
template <class T, int R>
struct KernelArg<View<T, R>> {
  template <class U>
  requires SameElement<U, T> KernelArg(const View<U, R>& v) {
    set(v.data(), v.extents(), v.strides());
  }
  /// A vector, array or span of all elements.
  template <class C>
  requires(R == 1 && ContiguousOf<C, T> && !HasViewOf<C>) KernelArg(C&& c) {
    set(c.data(), static_cast<std::int64_t>(c.size()));
  }
  template <class C>
  requires(R == 1 && ContiguousOf<const C, T> && !HasViewOf<const C>) KernelArg(const C& c) {
    set(c.data(), static_cast<std::int64_t>(c.size()));
  }
  template <class U, std::size_t N>
  requires(R == 1 && SameElement<U, T>) KernelArg(U (&array)[N]) {
    set(array, static_cast<std::int64_t>(N));
  }
  /// A number of one's own, for a result without axes.
  template <class U>
  requires(R == 0 && SameElement<U, T>) KernelArg(U& element) { set(&element, own_, own_); }
  template <class U>
  requires(R == 0 && SameElement<U, T>) KernelArg(U* element) { set(element, own_, own_); }
  template <class C>
  requires(HasViewOf<std::remove_reference_t<C>>) KernelArg(C&& c) {
    const View<T, R> v = ViewOf<std::remove_cvref_t<C>>::view(c);
    for (int d = 0; d < R; ++d) own_[d] = v.extent(d), own_[R + d] = v.stride(d);
    set(v.data(), own_, own_ + R);
  }
  KernelArg(const KernelArg&) = delete;
  KernelArg& operator=(const KernelArg&) = delete;

  const CallArg& call() const { return call_; }
  static constexpr int rank = R;
  static constexpr bool written = !std::is_const_v<T>;
  [[gnu::always_inline]] bool match(const std::int64_t* plan, std::uint64_t* slot,
                                    std::uint64_t* strides, ArgBytes& bytes) const {
    return match_dense<R>(call_, plan, slot, strides, bytes);
  }

 private:
  void set(const void* data, const std::int64_t* extents, const std::int64_t* strides) {
    call_.data = const_cast<void*>(data);
    call_.extents = extents;
    call_.strides = strides;
  }
  void set(const void* data, std::int64_t size) {
    own_[0] = size;
    own_[1] = 1;
    set(data, own_, own_ + 1);
  }

  CallArg call_;
  std::int64_t own_[R > 0 ? std::size_t(2 * R) : 1];  ///< extents, then strides, of what is no View
};

template <class C>
struct ElementOfArg {};
template <class T, int R>
struct ElementOfArg<View<T, R>> {
  using type = T;
};
template <class C>
requires requires(C& c) { typename ViewOf<C>::element_type; }
struct ElementOfArg<C> {
  using type = typename ViewOf<C>::element_type;
};
template <class C>
requires(!is_view<C>) && (!HasViewOf<C>)&&requires(C& c) {
  c.data();
  c.size();
}
struct ElementOfArg<C> {
  using type = std::remove_pointer_t<decltype(std::declval<C&>().data())>;
};

/// Why an argument of a kernel does not fit its parameter, for whoever reads the compiler's errors.
template <class P, class A>
struct ExplainArg {
  static_assert(std::is_convertible_v<A, KernelArg<P>>,
                "lathe: a scalar parameter takes a number of its type");
};
template <class T, int R, class A>
struct ExplainArg<View<T, R>, A> {
  using C = std::remove_cvref_t<A>;
  static constexpr bool fits = std::is_convertible_v<A, KernelArg<View<T, R>>>;
  static constexpr bool has_elements = requires { typename ElementOfArg<C>::type; };
  template <class V>
  struct Element {
    using type = T;
  };
  template <class V>
  requires requires { typename ElementOfArg<V>::type; }
  struct Element<V> : ElementOfArg<V> {};
  using U = typename Element<C>::type;
  static constexpr bool same_type =
      std::is_same_v<std::remove_const_t<U>, std::remove_const_t<T>> || SameDType<U, T>;
  static constexpr bool read_only =
      std::is_const_v<U> || (std::is_const_v<std::remove_reference_t<A>> && !is_view<C>);

  static_assert(fits || has_elements,
                "lathe: an argument of a kernel is a container of elements, lt::view(container, "
                "{extents}), or lt::View<T, R>(pointer, {extents})");
  static_assert(fits || same_type,
                "lathe: the elements of this argument have another type than the parameter's");
  static_assert(fits || !same_type || std::is_const_v<T> || !read_only,
                "lathe: the kernel writes to this parameter: its argument can't be const");
  static_assert(fits || !has_elements || !same_type || (read_only && !std::is_const_v<T>),
                "lathe: the parameter has another rank than this argument: "
                "lt::view(container, {rows, columns}) says which shape a container has");
};

template <class... P>
struct KernelParams {
  template <class... A>
  static constexpr bool take() {
    if constexpr (sizeof...(A) == sizeof...(P))
      return (std::is_convertible_v<A, KernelArg<P>> && ...);
    else if constexpr (sizeof...(A) == sizeof...(P) + 1)
      return std::is_convertible_v<std::tuple_element_t<sizeof...(P), std::tuple<A...>>, Location>;
    else
      return false;
  }
};

}  // namespace detail

}  // namespace lathe
