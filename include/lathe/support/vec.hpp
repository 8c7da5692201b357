// Lists. A compiler takes 1 ms for a Vec of another type and 12 to 25 ms for a
// std::vector (g++ 12, C++20): with its hundred types of lists the header took half as long again.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace lathe {

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
  Vec(Vec&& other) noexcept { swap(other); }
  // Two: of a class that holds lists, one that takes its argument by value would make the copy
  // assignment noexcept.
  Vec& operator=(const Vec& other) {
    Vec copy(other);
    swap(copy);
    return *this;
  }
  Vec& operator=(Vec&& other) noexcept {
    Vec taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Vec() {
    if (!items_) return;
    clear();
    free(items_);
  }

  template <class A>
  Vec(const std::vector<T, A>& other) : Vec(other.begin(), other.end()) {}
  template <class A>
  operator std::vector<T, A>() const {
    return std::vector<T, A>(begin(), end());
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  T* begin() { return items_; }
  const T* begin() const { return items_; }
  T* end() { return items_ + size_; }
  const T* end() const { return items_ + size_; }
  T& operator[](std::size_t k) { return items_[k]; }
  const T& operator[](std::size_t k) const { return items_[k]; }
  T& front() { return items_[0]; }
  const T& front() const { return items_[0]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(std::move(item)); }
  /// The arguments may refer to elements.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == room_) return grow(static_cast<Args&&>(args)...);
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
    while (size_ > 0) pop_back();
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
    if (room > room_) move_to(allocate(room), room);
  }
  void swap(Vec& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  friend bool operator==(const Vec& a, const Vec& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t k = 0; k < a.size_; ++k)
      if (!(a.items_[k] == b.items_[k])) return false;
    return true;
  }

 private:
  static T* allocate(std::size_t room) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(::operator new(room * sizeof(T)));
  }
  static void free(T* items) { ::operator delete(static_cast<void*>(items)); }

  void move_to(T* items, std::size_t room) noexcept {
    for (std::size_t k = 0; k < size_; ++k) {
      ::new (static_cast<void*>(items + k)) T(std::move(items_[k]));
      items_[k].~T();
    }
    free(items_);
    items_ = items;
    room_ = room;
  }

  // The new element first: what it is made of may lie in the old memory.
  /// A list that has grown already gets room for more than is asked: it may grow by little often.
  void make_room(std::size_t size) {
    if (size > room_) reserve(size < 2 * room_ ? 2 * room_ : size);
  }
  template <class... Args>
  T& grow(Args&&... args) {
    const std::size_t room = room_ == 0 ? 4 : 2 * room_;
    Owner to{allocate(room)};
    T* made = ::new (static_cast<void*>(to.items + size_)) T(static_cast<Args&&>(args)...);
    move_to(std::exchange(to.items, nullptr), room);
    ++size_;
    return *made;
  }
  struct Owner {
    T* items;
    ~Owner() { free(items); }
  };

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
