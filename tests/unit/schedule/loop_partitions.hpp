// What tests of loop_partition share: a kernel with a border, and how refusals read.
#pragma once

#include "kernels.hpp"

namespace test {

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What a partition at these points is refused with, without the place.
inline std::string refused_points(lt::Schedule& s, const lt::LoopRef& loop,
                                  const std::vector<lt::Factor>& points) {
  return first_line(refused(s, [&](lt::Schedule& t) { t.loop_partition_any(loop, points); }));
}

/// Y[i] = X[i - 1] + X[i] + X[i + 1] inside, 0 at the borders.
struct Border {
  lt::Input<float, 1> X;
  lt::Tensor<float, 1> Y;
  explicit Border(const lt::Dim& n)
      : X("X", {n}), Y(lt::compute("Y", {n}, [&](lt::Var i) {
          return lt::select(i > 0 && i < n - 1,
                            X(lt::max(i - 1, 0)) + X(i) + X(lt::min(i + 1, n - 1)), 0.0f);
        })) {}
};

}  // namespace test
