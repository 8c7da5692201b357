// Lists. A compiler takes 1 ms for a Vec of another type and 12 to 25 ms for a
// std::vector (g++ 12, C++20): with its hundred types of lists the header took half as long again.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <lathe/support/config.hpp>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace lathe {

namespace detail {

/// Moves elements to new memory and ends the old ones.
using MoveItems = void (*)(void* to, void* from, std::size_t count);

/// Memory of `bytes` that holds `count` elements of a list, whose old memory is freed.
inline void* grown_list(void* items, std::size_t count, std::size_t element, std::size_t bytes,
                        MoveItems move) {
  void* to = ::operator new(bytes);
  if (!items) return to;
  if (move)
    move(to, items, count);
  else
    std::memcpy(to, items, count * element);
  ::operator delete(items);
  return to;
}

}  // namespace detail

/// A list that grows at its end. Elements move when it grows, and must not throw then.
template <class T>
class Vec {
 public:
  using value_type = T;

  Vec() = default;
  Vec(std::initializer_list<T> items) : Vec(items.begin(), items.end()) {}
  template <class Iterator>
  requires(!std::is_integral_v<Iterator>) Vec(Iterator first, Iterator last) : Vec() {
    append(first, last);
  }
  explicit Vec(std::size_t size) : Vec() { resize(size); }
  Vec(std::size_t size, const T& item) : Vec() { assign(size, item); }
  Vec(const Vec& other) : Vec() {
    if (!other.empty()) append(other);
  }
  Vec(Vec&& other) noexcept : items_(other.items_), size_(other.size_), room_(other.room_) {
    other.items_ = nullptr;
    other.size_ = other.room_ = 0;
  }
  // Two: of a class that holds lists, one that takes its argument by value would make the copy
  // assignment noexcept.
  Vec& operator=(const Vec& other) {
    Vec copy(other);
    swap(copy);
    return *this;
  }
  Vec& operator=(Vec&& other) noexcept {
    Vec taken(static_cast<Vec&&>(other));
    swap(taken);
    return *this;
  }
  ~Vec() {
    if (!items_) return;
    clear();
    ::operator delete(static_cast<void*>(items_));
  }

  template <class A>
  Vec(const std::vector<T, A>& other) : Vec(other.begin(), other.end()) {}
  template <class A>
  operator std::vector<T, A>() const {
    return std::vector<T, A>(begin(), end());
  }

  LATHE_ACCESSOR std::size_t size() const { return size_; }
  LATHE_ACCESSOR bool empty() const { return size_ == 0; }
  LATHE_ACCESSOR T* data() { return items_; }
  LATHE_ACCESSOR const T* data() const { return items_; }
  LATHE_ACCESSOR T* begin() { return items_; }
  LATHE_ACCESSOR const T* begin() const { return items_; }
  LATHE_ACCESSOR T* end() { return items_ + size_; }
  LATHE_ACCESSOR const T* end() const { return items_ + size_; }
  LATHE_ACCESSOR T& operator[](std::size_t k) { return items_[k]; }
  LATHE_ACCESSOR const T& operator[](std::size_t k) const { return items_[k]; }
  T& front() { return items_[0]; }
  const T& front() const { return items_[0]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(static_cast<T&&>(item)); }
  /// The arguments may refer to elements.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == room_) return grow(T(static_cast<Args&&>(args)...));
    T* made = ::new (static_cast<void*>(items_ + size_)) T(static_cast<Args&&>(args)...);
    ++size_;
    return *made;
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    make_room(size_ + static_cast<std::size_t>(last - first));
    for (; first != last; ++first) emplace_back(*first);
  }
  void append(const Vec& other) { append(other.begin(), other.end()); }
  void pop_back() { items_[--size_].~T(); }
  void clear() {
    while (size_ > 0) items_[--size_].~T();
  }

  /// The new element has index `k`, those from there on the next ones.
  void insert_at(std::size_t k, T item) {
    emplace_back(std::move(item));
    for (std::size_t i = size_ - 1; i > k; --i) std::swap(items_[i], items_[i - 1]);
  }
  /// Elements `k` to `k + count` go, the order of the others stays.
  void erase_at(std::size_t k, std::size_t count = 1) {
    if (count == 0) return;  // no element may move to itself
    for (std::size_t i = k; i + count < size_; ++i) items_[i] = std::move(items_[i + count]);
    while (count-- > 0) pop_back();
  }
  template <class Condition>
  void erase_if(Condition condition) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      if (condition(static_cast<const T&>(items_[k]))) continue;
      if (kept != k) items_[kept] = std::move(items_[k]);
      ++kept;
    }
    while (size_ > kept) pop_back();
  }

  void resize(std::size_t size) {
    while (size_ > size) pop_back();
    make_room(size);
    while (size_ < size) emplace_back();
  }
  void assign(std::size_t size, const T& item) {
    Vec made;
    made.reserve(size);
    while (made.size_ < size) made.emplace_back(item);
    swap(made);
  }
  void reserve(std::size_t room) {
    if (room > room_) set_room(room);
  }
  void swap(Vec& other) noexcept {
    T* const items = items_;
    const std::size_t size = size_, room = room_;
    items_ = other.items_, size_ = other.size_, room_ = other.room_;
    other.items_ = items, other.size_ = size, other.room_ = room;
  }

  friend bool operator==(const Vec& a, const Vec& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t k = 0; k < a.size_; ++k)
      if (!(a.items_[k] == b.items_[k])) return false;
    return true;
  }

 private:
  static void move_elements(void* to, void* from, std::size_t count) {
    T *made = static_cast<T*>(to), *old = static_cast<T*>(from);
    for (; count > 0; --count, ++made, ++old) {
      ::new (static_cast<void*>(made)) T(static_cast<T&&>(*old));
      old->~T();
    }
  }
  void set_room(std::size_t room) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    detail::MoveItems move = nullptr;
    if constexpr (!std::is_trivially_copyable_v<T>) move = move_elements;
    items_ = static_cast<T*>(detail::grown_list(items_, size_, sizeof(T), room * sizeof(T), move));
    room_ = room;
  }
  /// A list that has grown already gets room for more than is asked: it may grow by little often.
  void make_room(std::size_t size) {
    if (size > room_) set_room(size < 2 * room_ ? 2 * room_ : size);
  }
  // The new element comes made: what it is made of may lie in the old memory.
  T& grow(T&& item) {
    set_room(room_ == 0 ? 4 : 2 * room_);
    return *::new (static_cast<void*>(items_ + size_++)) T(static_cast<T&&>(item));
  }

  T* items_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

/// Whether an element equals `item`.
template <class T>
bool contains(const Vec<T>& list, const T& item) {
  for (const T& x : list)
    if (x == item) return true;
  return false;
}

}  // namespace lathe
