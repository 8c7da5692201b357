// What methods of a schedule are told: which block, which buffer.
#pragma once

#include <array>
#include <cstddef>
#include <lathe/dsl/any.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <string>

namespace lathe {

/// Which block a method is about: a reference, a tensor (the block that computes it), or a name.
class BlockName {
 public:
  BlockName(BlockRef ref) : tag_(std::move(ref.tag)) {}
  BlockName(const AnyTensor& tensor) : tensor_(tensor) {}
  BlockName(std::string name) : name_(std::move(name)) {}
  BlockName(const char* name) : name_(name) {}

  const BlockTag& tag() const { return tag_; }
  const AnyTensor& tensor() const { return tensor_; }
  const std::string& name() const { return name_; }

 private:
  BlockTag tag_;
  AnyTensor tensor_;
  std::string name_;
};

/// Which buffer a method is about: a tensor, a block (what it writes), or a name.
using BufferName = BlockName;

namespace detail {

template <std::size_t N, class Ref>
std::array<Ref, N> take(const Vec<Ref>& all) {
  std::array<Ref, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = all[k];
  return out;
}

}  // namespace detail
}  // namespace lathe
