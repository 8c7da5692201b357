// What a kernel keeps of constants: the addresses that its calls bind.
#pragma once

#include <cstdint>
#include <lathe/ir/stmt.hpp>
#include <lathe/support/vec.hpp>

namespace lathe {

/// The constants that a program owns, in the order of their slots; keeps their elements alive.
class KernelConstants : public RefCounted {
 public:
  explicit KernelConstants(Vec<ConstantRef> contents) : contents_(std::move(contents)) {
    for (const ConstantRef& content : contents_)
      addresses_.push_back(reinterpret_cast<std::uintptr_t>(content->data()));
  }

  int count() const { return static_cast<int>(addresses_.size()); }
  const std::uint64_t* addresses() const { return addresses_.data(); }

 private:
  Vec<ConstantRef> contents_;
  Vec<std::uint64_t> addresses_;
};

namespace detail {
/// Of a program that is to run; none if it owns no constants. L0317 one without elements.
Ref<KernelConstants> constants_of(const Program& program, Location where);
}  // namespace detail

}  // namespace lathe
