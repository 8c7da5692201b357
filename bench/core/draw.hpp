// Sizes that each run draws anew.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// Knuth's MMIX generator: the sizes of a seed are the same with every C++ library.
class Draw {
 public:
  /// Draws for different names differ.
  Draw(unsigned seed, const std::string& name) : state_(seed) {
    for (const char c : name) next(), state_ += static_cast<unsigned char>(c);
  }
  /// One of low, low + step, … high.
  int from(int low, int high, int step = 1) {
    const auto choices = static_cast<std::uint64_t>((high - low) / step + 1);
    return low + step * static_cast<int>(next() % choices);
  }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::uint64_t state_;
};

}  // namespace bench
