// Programs under schedules that experts would write: what the language and the code generator
// reach.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "core/comparison.hpp"

namespace bench {

/// Makes a case when it is asked for: a case holds its memory.
struct HandProgram {
  std::string name;
  std::function<Comparison()> make;
};

std::vector<HandProgram> lane_programs();
std::vector<HandProgram> tile_programs();
std::vector<HandProgram> fold_programs();

/// Memory of a case: Lathe and the peers write to places of their own.
template <class T>
struct HandArrays {
  std::vector<T> in, other, got, want;

  HandArrays(std::size_t ins, std::size_t others, std::size_t outs)
      : in(numbers(ins)), other(numbers(others)), got(outs), want(outs) {}

  std::string difference() const {
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double a = static_cast<double>(got[k]), b = static_cast<double>(want[k]);
      if (!(std::abs(a - b) <= 1e-5 * std::max(1.0, std::abs(b))))
        return "element " + std::to_string(k) + " is " + std::to_string(a) + ", not " +
               std::to_string(b);
    }
    return {};
  }

 private:
  static std::vector<T> numbers(std::size_t n) {
    std::vector<T> out(n);
    for (std::size_t k = 0; k < n; ++k)
      out[k] =
          static_cast<T>(static_cast<double>((k * 37 + k / 91) % 251) / (sizeof(T) > 1 ? 250 : 1));
    return out;
  }
};

/// `lathe` writes arrays->got, `plain` arrays->want.
template <class T>
Comparison hand_case(std::string dtype, std::shared_ptr<HandArrays<T>> arrays,
                     std::function<void()> lathe, std::function<void()> plain) {
  Comparison out;
  out.dtype = std::move(dtype);
  out.bytes = static_cast<double>(sizeof(T) *
                                  (arrays->in.size() + arrays->other.size() + arrays->got.size()));
  out.difference = [arrays, lathe, plain] { return lathe(), plain(), arrays->difference(); };
  out.all = {{"lathe", std::move(lathe)}, {"plain", std::move(plain)}};
  return out;
}

}  // namespace bench
