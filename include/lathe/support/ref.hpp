// Shared ownership of immutable nodes: an intrusive, thread-safe reference count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lathe/support/config.hpp>
#include <lathe/support/vec.hpp>
#include <type_traits>

namespace lathe {

/// Base of everything that a Ref can hold. Copying a node starts a count of its own.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) noexcept {}
  RefCounted& operator=(const RefCounted&) noexcept { return *this; }
  virtual ~RefCounted() = default;

  /// Whether a Ref holds it. One that lives on the stack must never be held: the last Ref would
  /// delete it.
  bool is_shared() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// A new node's first holder, before any other thread can know of it.
  void retain_new() const noexcept { count_.store(1, std::memory_order_relaxed); }
  /// Who holds it alone needs no locked decrement: no other thread can come to hold it meanwhile.
  void release() const noexcept {
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }
  /// Whether more than one Ref holds it now.
  bool shared() const noexcept { return count_.load(std::memory_order_relaxed) > 1; }

 private:
  // A node's destructor releases what it holds, which is a recursion as deep as a graph is tall:
  // from a depth on nodes wait in a list for the outermost to return.
  // Out of line, so that release() is not.
  void destroy() const noexcept;

  mutable std::atomic<std::uint32_t> count_{0};
};

/// Shared ownership of an immutable T. Compares by identity; an empty Ref is false. No
/// std::exchange or swap: unoptimised code would have three functions more for each T.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(const T* node) : node_(node) {
    if (node_) node_->retain();
  }
  Ref(const Ref& other) : node_(other.node_) {
    if (node_) node_->retain();
  }
  Ref(Ref&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  template <class U>
  requires std::is_base_of_v<T, U> Ref(const Ref<U>& other)
      : Ref(static_cast<const T*>(other.get())) {}
  template <class U>
  requires std::is_base_of_v<T, U> Ref(Ref<U>&& other)
  noexcept : node_(other.node_) { other.node_ = nullptr; }
  Ref& operator=(Ref other) noexcept {
    const T* const node = node_;
    node_ = other.node_;
    other.node_ = node;
    return *this;
  }
  ~Ref() {
    if (node_) node_->release();
  }

  LATHE_ACCESSOR const T* get() const { return node_; }
  LATHE_ACCESSOR const T& operator*() const { return *node_; }
  LATHE_ACCESSOR const T* operator->() const { return node_; }
  LATHE_ACCESSOR explicit operator bool() const { return node_ != nullptr; }

  friend bool operator==(const Ref& a, const Ref& b) { return a.node_ == b.node_; }
  friend bool operator<(const Ref& a, const Ref& b) { return a.node_ < b.node_; }

 private:
  template <class U>
  friend class Ref;
  template <class U, class... Args>
  friend Ref<U> make_ref(Args&&... args);
  const T* node_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  Ref<T> made;
  made.node_ = new T{static_cast<Args&&>(args)...};
  made.node_->retain_new();
  return made;
}

namespace detail {
// Nothing to destruct: what is static may be released after a thread's variables are gone.
struct DyingNodes {
  static constexpr int kDeepest = 200;
  int depth = 0;
  Vec<const RefCounted*>* waiting = nullptr;
};
inline thread_local DyingNodes dying_nodes;
}  // namespace detail

[[gnu::noinline]] inline void RefCounted::destroy() const noexcept {
  detail::DyingNodes& dying = detail::dying_nodes;
  if (dying.depth == detail::DyingNodes::kDeepest) return dying.waiting->push_back(this);
  if (dying.depth > 0) {
    ++dying.depth;
    delete this;
    --dying.depth;
    return;
  }
  Vec<const RefCounted*> waiting;
  dying.waiting = &waiting;
  dying.depth = 1;
  delete this;
  while (!waiting.empty()) {
    const RefCounted* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  dying.depth = 0;
}

}  // namespace lathe
