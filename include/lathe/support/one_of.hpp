// A value of one of several types. A std::variant of fifteen types with two
// visits cost 2 s of compile time in a file that holds all bodies, and a fifth
// of its memory (g++ 12, -O0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace lathe {

/// At first the first type's empty value. Moves must not throw.
template <class... Ts>
class OneOf {
  template <class T>
  static constexpr bool holds_any_as = (std::is_same_v<T, Ts> || ...);

 public:
  static constexpr std::size_t kTypes = sizeof...(Ts);

  OneOf() : OneOf(First{}) {}
  template <class T>
  requires(holds_any_as<T>) OneOf(T value) : index_(index_of<T>()) {
    ::new (static_cast<void*>(bytes_)) T(static_cast<T&&>(value));
  }
  OneOf(const OneOf& other) : index_(other.index_) { operations().copy(bytes_, other.bytes_); }
  OneOf(OneOf&& other) noexcept : index_(other.index_) { operations().move(bytes_, other.bytes_); }
  OneOf& operator=(OneOf other) noexcept {
    operations().destroy(bytes_);
    index_ = other.index_;
    operations().move(bytes_, other.bytes_);
    return *this;
  }
  ~OneOf() { operations().destroy(bytes_); }

  /// The empty value of the type at an index below kTypes.
  static OneOf of_type(std::size_t index) {
    OneOf (*const make[])() = {[] { return OneOf(Ts{}); }...};
    return make[index]();
  }

  /// Where its type stands in the list.
  std::size_t index() const { return index_; }
  /// Null if it is of another type.
  template <class T>
  const T* as() const {
    static_assert(holds_any_as<T>);
    return index_ == index_of<T>() ? static_cast<const T*>(address()) : nullptr;
  }

  /// Calls f with what it is, which f may change.
  template <class F>
  void visit(F&& f) {
    std::size_t k = 0;
    ((k++ == index_ ? void(f(*static_cast<Ts*>(address()))) : void()), ...);
  }
  template <class F>
  void visit(F&& f) const {
    std::size_t k = 0;
    ((k++ == index_ ? void(f(*static_cast<const Ts*>(address()))) : void()), ...);
  }

  friend bool operator==(const OneOf& a, const OneOf& b) {
    return a.index_ == b.index_ && a.operations().equal(a.bytes_, b.bytes_);
  }

 private:
  template <class T, class...>
  struct Head {
    using Type = T;
  };
  using First = typename Head<Ts...>::Type;

  struct Operations {
    void (*copy)(void* to, const void* from);
    void (*move)(void* to, void* from);
    void (*destroy)(void* value);
    bool (*equal)(const void* a, const void* b);
  };
  // Functions, not lambdas: unoptimised code has two for each of these.
  template <class T>
  static void copy_value(void* to, const void* from) {
    ::new (to) T(*static_cast<const T*>(from));
  }
  template <class T>
  static void move_value(void* to, void* from) {
    ::new (to) T(static_cast<T&&>(*static_cast<T*>(from)));
  }
  template <class T>
  static void destroy_value(void* value) {
    static_cast<T*>(value)->~T();
  }
  template <class T>
  static bool equal_values(const void* a, const void* b) {
    return *static_cast<const T*>(a) == *static_cast<const T*>(b);
  }
  template <class T>
  static constexpr Operations kOperationsOf = {copy_value<T>, move_value<T>, destroy_value<T>,
                                               equal_values<T>};
  const Operations& operations() const {
    static constexpr const Operations* kAll[] = {&kOperationsOf<Ts>...};
    return *kAll[index_];
  }

  template <class T>
  static constexpr std::uint8_t index_of() {
    std::uint8_t index = 0;
    (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
    return index;
  }
  void* address() { return std::launder(bytes_); }
  const void* address() const { return std::launder(bytes_); }

  alignas(Ts...) unsigned char bytes_[sizeof(std::aligned_union_t<1, Ts...>)];
  std::uint8_t index_;
};

}  // namespace lathe
