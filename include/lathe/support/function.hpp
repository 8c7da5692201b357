// Callables without <functional>: borrowed for one call (FunctionRef) or owned and shared (Hook).
#pragma once

#include <cstddef>
#include <lathe/support/ref.hpp>
#include <type_traits>
#include <utility>

namespace lathe {

template <class Signature>
class FunctionRef;

/// A borrowed callable: valid while the callable that it was made from lives.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>) FunctionRef(F&& f)
      : object_(address(f)), call_([](void* object, Args... args) -> R {
          return (*reinterpret_cast<std::remove_reference_t<F>*>(object))(
              std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  template <class F>
  static void* address(F& f) {
    if constexpr (std::is_function_v<F>)
      return reinterpret_cast<void*>(&f);
    else
      return const_cast<void*>(static_cast<const volatile void*>(&f));
  }

  void* object_;
  R (*call_)(void*, Args...);
};

template <class Signature>
class Hook;

/// An owned callable that copies share; empty hooks are false. It may be called from many threads
/// at once.
template <class R, class... Args>
class Hook<R(Args...)> {
 public:
  Hook() = default;
  Hook(std::nullptr_t) {}
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Hook> &&
           std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>) Hook(F&& f)
      : target_(new Model<std::remove_cvref_t<F>>(std::forward<F>(f))) {}

  explicit operator bool() const { return static_cast<bool>(target_); }
  R operator()(Args... args) const { return target_->call(std::forward<Args>(args)...); }

 private:
  struct Callable : RefCounted {
    virtual R call(Args... args) const = 0;
  };
  template <class F>
  struct Model final : Callable {
    template <class G>
    explicit Model(G&& g) : f(std::forward<G>(g)) {}
    R call(Args... args) const override { return f(std::forward<Args>(args)...); }
    mutable F f;
  };
  Ref<Callable> target_;
};

}  // namespace lathe
