// The memory of a case, and whether two results agree.
#pragma once

#include <memory>
#include <optional>

#include "core/case.hpp"

namespace bench {

class Buffer {
 public:
  /// Buffers of one case differ in `number`, so that their addresses differ in the bits that choose
  /// a cache set.
  Buffer(std::int64_t size, int number);
  std::span<float> span() { return {data_.get() + offset_, static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::int64_t size_, offset_;
  std::unique_ptr<float[], Free> data_;
};

/// Random inputs, in [0, 1) for images and [-1, 1) for the others, and an output.
struct Operands {
  std::vector<Buffer> in;
  Buffer out;
};
Operands make_operands(const Problem& problem);
Job make_job(const Case& what, Operands& operands, int threads, bool hand);

/// Says where `got` differs from `want` by more than rounding.
std::optional<std::string> difference(const Problem& problem, std::span<const float> got,
                                      std::span<const float> want);

}  // namespace bench
