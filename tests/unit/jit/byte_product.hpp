// A product of bytes, whose default schedule takes tile registers where it may.
#pragma once

#include <lathe/lathe.hpp>
#include <string>
#include <vector>

#include "../schedule/intrinsics.hpp"

namespace test {

class ByteProduct {
 public:
  ByteProduct(int rows, int columns, int depth)
      : rows_(rows), columns_(columns), depth_(depth), gemm_(rows, columns, depth) {
    for (int e = 0; e < rows * depth; ++e) a_.push_back(static_cast<std::uint8_t>(e * 37 % 256));
    for (int e = 0; e < depth * columns; ++e)
      b_.push_back(static_cast<std::int8_t>(e * 53 % 256 - 128));
  }

  struct Run {
    std::vector<std::int32_t> values;
    std::string lowered;
    bool has(const char* words) const { return lowered.find(words) != std::string::npos; }
  };
  Run run(const lathe::JitOptions& options) const {
    Run out;
    out.values.resize(static_cast<std::size_t>(rows_ * columns_));
    auto f = lathe::jit({gemm_.C, options}, gemm_.A, gemm_.B, gemm_.C);
    out.lowered = f.lowered().str();
    f(lathe::view(a_, {rows_, depth_}), lathe::view(b_, {depth_, columns_}),
      lathe::view(out.values, {rows_, columns_}));
    return out;
  }

 private:
  int rows_, columns_, depth_;
  ByteGemm gemm_;
  std::vector<std::uint8_t> a_;
  std::vector<std::int8_t> b_;
};

}  // namespace test
