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

/// Makes a copy of an element in memory that holds none.
using CopyItem = void (*)(void* to, const void* from);
/// Moves elements to new memory and ends the old ones.
using MoveItems = void (*)(void* to, void* from, std::size_t count);
using EndItems = void (*)(void* items, std::size_t count);

/// How elements move when a list grows; without `move` their bytes do.
struct Relocation {
  std::size_t bytes;  ///< of an element
  MoveItems move;
};

/// The memory of a list of elements of any type. What is here is compiled once, what Vec has once a
/// type.
class ListMemory {
 public:
  ListMemory() = default;
  ListMemory(ListMemory&& other) noexcept { swap(other); }
  void swap(ListMemory& other) noexcept {
    void* const items = items_;
    const std::size_t size = size_, room = room_;
    items_ = other.items_, size_ = other.size_, room_ = other.room_;
    other.items_ = items, other.size_ = size, other.room_ = room;
  }

 protected:
  void set_room(std::size_t room, const Relocation& how) {
    void* to = ::operator new(room* how.bytes);
    if (size_ > 0) {
      if (how.move)
        how.move(to, items_, size_);
      else
        std::memcpy(to, items_, size_ * how.bytes);
    }
    ::operator delete(items_);
    items_ = to;
    room_ = room;
  }
  /// A list that has grown already gets room for more than is asked: it may grow by little often.
  void make_room(std::size_t size, const Relocation& how) {
    if (size > room_) set_room(size < 2 * room_ ? 2 * room_ : size, how);
  }
  /// Where the element goes that finds no room.
  void* grow_by_one(const Relocation& how) {
    set_room(room_ == 0 ? 4 : 2 * room_, how);
    return static_cast<char*>(items_) + size_++ * how.bytes;
  }
  /// Without `copy` their bytes are copied.
  void append_copies(const void* items, std::size_t count, const Relocation& how, CopyItem copy) {
    if (count == 0) return;
    make_room(size_ + count, how);
    char* to = static_cast<char*>(items_) + size_ * how.bytes;
    if (!copy) {
      std::memcpy(to, items, count * how.bytes);
      size_ += count;
      return;
    }
    const char* from = static_cast<const char*>(items);
    for (; count > 0; --count, ++size_, to += how.bytes, from += how.bytes) copy(to, from);
  }
  void end_all(EndItems end) {
    if (end) end(items_, size_);
    size_ = 0;
  }
  /// The last thing that happens to it.
  void free_items(EndItems end) {
    if (!items_) return;
    end_all(end);
    ::operator delete(items_);
  }

  void* items_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace detail

/// A list that grows at its end. Elements move when it grows, and must not throw then.
template <class T>
class Vec : private detail::ListMemory {
 public:
  using value_type = T;

  Vec() = default;
  Vec(std::initializer_list<T> items) : Vec() {
    append_copies(items.begin(), items.size(), kRelocation, kCopy);
  }
  template <class Iterator>
  requires(!std::is_integral_v<Iterator>) Vec(Iterator first, Iterator last) : Vec() {
    append(first, last);
  }
  explicit Vec(std::size_t size) : Vec() { resize(size); }
  Vec(std::size_t size, const T& item) : Vec() { assign(size, item); }
  Vec(const Vec& other) : Vec() { append(other); }
  Vec(Vec&& other) noexcept : ListMemory(static_cast<ListMemory&&>(other)) {}
  // Two: of a class that holds lists, one that takes its argument by value would make the copy
  // assignment noexcept.
  Vec& operator=(const Vec& other) {
    Vec copy(other);
    ListMemory::swap(copy);
    return *this;
  }
  Vec& operator=(Vec&& other) noexcept {
    Vec taken(static_cast<Vec&&>(other));
    ListMemory::swap(taken);
    return *this;
  }
  ~Vec() { free_items(kEnd); }

  template <class A>
  Vec(const std::vector<T, A>& other) : Vec(other.begin(), other.end()) {}
  template <class A>
  operator std::vector<T, A>() const {
    return std::vector<T, A>(begin(), end());
  }

  LATHE_ACCESSOR std::size_t size() const { return size_; }
  LATHE_ACCESSOR bool empty() const { return size_ == 0; }
  LATHE_ACCESSOR T* data() { return static_cast<T*>(items_); }
  LATHE_ACCESSOR const T* data() const { return static_cast<const T*>(items_); }
  LATHE_ACCESSOR T* begin() { return static_cast<T*>(items_); }
  LATHE_ACCESSOR const T* begin() const { return static_cast<const T*>(items_); }
  LATHE_ACCESSOR T* end() { return static_cast<T*>(items_) + size_; }
  LATHE_ACCESSOR const T* end() const { return static_cast<const T*>(items_) + size_; }
  LATHE_ACCESSOR T& operator[](std::size_t k) { return static_cast<T*>(items_)[k]; }
  LATHE_ACCESSOR const T& operator[](std::size_t k) const {
    return static_cast<const T*>(items_)[k];
  }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(static_cast<T&&>(item)); }
  /// The arguments may refer to elements.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == room_) return grow(T(static_cast<Args&&>(args)...));
    T* made = ::new (static_cast<void*>(end())) T(static_cast<Args&&>(args)...);
    ++size_;
    return *made;
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    make_room(size_ + static_cast<std::size_t>(last - first), kRelocation);
    for (; first != last; ++first) emplace_back(*first);
  }
  void append(const Vec& other) { append_copies(other.items_, other.size_, kRelocation, kCopy); }
  void pop_back() {
    end()[-1].~T();
    --size_;
  }
  void clear() { end_all(kEnd); }

  /// The new element has index `k`, those from there on the next ones.
  void insert_at(std::size_t k, T item) {
    emplace_back(std::move(item));
    for (std::size_t i = size_ - 1; i > k; --i) std::swap(begin()[i], begin()[i - 1]);
  }
  /// Elements `k` to `k + count` go, the order of the others stays.
  void erase_at(std::size_t k, std::size_t count = 1) {
    if (count == 0) return;  // no element may move to itself
    for (std::size_t i = k; i + count < size_; ++i) begin()[i] = std::move(begin()[i + count]);
    while (count-- > 0) pop_back();
  }
  template <class Condition>
  void erase_if(Condition condition) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      if (condition(static_cast<const T&>(begin()[k]))) continue;
      if (kept != k) begin()[kept] = std::move(begin()[k]);
      ++kept;
    }
    while (size_ > kept) pop_back();
  }

  void resize(std::size_t size) {
    while (size_ > size) pop_back();
    make_room(size, kRelocation);
    while (size_ < size) emplace_back();
  }
  void assign(std::size_t size, const T& item) {
    Vec made;
    made.reserve(size);
    while (made.size_ < size) made.emplace_back(item);
    swap(made);
  }
  void reserve(std::size_t room) {
    if (room > room_) set_room(room, kRelocation);
  }
  void swap(Vec& other) noexcept { ListMemory::swap(other); }

  friend bool operator==(const Vec& a, const Vec& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t k = 0; k < a.size_; ++k)
      if (!(a[k] == b[k])) return false;
    return true;
  }

 private:
  static void copy_item(void* to, const void* from) { ::new (to) T(*static_cast<const T*>(from)); }
  static void move_items(void* to, void* from, std::size_t count) {
    T *made = static_cast<T*>(to), *old = static_cast<T*>(from);
    for (; count > 0; --count, ++made, ++old) {
      ::new (static_cast<void*>(made)) T(static_cast<T&&>(*old));
      old->~T();
    }
  }
  static void end_items(void* items, std::size_t count) {
    while (count > 0) static_cast<T*>(items)[--count].~T();
  }
  // Constants, not calls: unoptimised code has no function for what is evaluated while it is
  // compiled.
  static constexpr detail::Relocation relocation() {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if constexpr (std::is_trivially_copyable_v<T>)
      return {sizeof(T), nullptr};
    else
      return {sizeof(T), move_items};
  }
  static constexpr detail::CopyItem copier() {
    if constexpr (std::is_trivially_copyable_v<T>)
      return nullptr;
    else
      return copy_item;
  }
  static constexpr detail::EndItems ender() {
    if constexpr (std::is_trivially_destructible_v<T>)
      return nullptr;
    else
      return end_items;
  }
  static constexpr detail::Relocation kRelocation = relocation();
  static constexpr detail::CopyItem kCopy = copier();
  static constexpr detail::EndItems kEnd = ender();

  // The new element comes made: what it is made of may lie in the old memory.
  T& grow(T&& item) { return *::new (grow_by_one(kRelocation)) T(static_cast<T&&>(item)); }
};

/// Whether an element equals `item`.
template <class T>
bool contains(const Vec<T>& list, const T& item) {
  for (const T& x : list)
    if (x == item) return true;
  return false;
}

}  // namespace lathe
