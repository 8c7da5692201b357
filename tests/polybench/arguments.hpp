// Memory for a kernel's parameters, and calls with it.
#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/jit.hpp>

#include "kernel.hpp"

namespace polybench {

/// One array for each parameter of a program that has no Dims, with its contents.
class Arguments {
 public:
  /// Numbers between 0 and 1 that need rounding when they are added, then what the kernel makes of
  /// them. Outputs hold numbers too, which must not show.
  Arguments(const Kernel& kernel, const Counts& sizes) {
    const lt::Program program = kernel.script(Sizes(sizes.begin(), sizes.end()));
    for (const auto& param : program->params) {
      Array array;
      array.is_inout = param.access == lt::Access::inout;
      array.is_int = param.dtype() == lt::kI32;
      std::int64_t count = 1;
      if (param.buffer)
        for (const auto& e : param.buffer->shape) array.extents.push_back(lt::const_int(e).value());
      for (const std::int64_t e : array.extents) count *= e;
      fill(array, static_cast<std::size_t>(count), arrays_.size());
      arrays_.push_back(std::move(array));
    }
    if (kernel.prepare) kernel.prepare(sizes, arrays());
  }

  Arrays arrays() {
    std::vector<void*> data;
    for (auto& a : arrays_) data.push_back(a.data());
    return Arrays(std::move(data));
  }
  /// As the arguments of a call, which hold as long as this object stays where it is.
  std::vector<lt::AnyView> views() {
    std::vector<lt::AnyView> out;
    for (auto& a : arrays_) {
      a.strides.assign(a.extents.size(), 1);
      for (std::size_t d = a.extents.size(); d-- > 1;)
        a.strides[d - 1] = a.strides[d] * a.extents[d];
      lt::AnyView view = a.is_int ? lt::AnyView(lt::View<int, 0>(a.ints.data()))
                                  : lt::AnyView(lt::View<double, 0>(a.doubles.data()));
      view.rank = static_cast<int>(a.extents.size());
      view.extents = a.extents.data();
      view.strides = a.strides.data();
      out.push_back(view);
    }
    return out;
  }

  /// What kernels change of their inputs is as it is in `other`, whose sizes are the same.
  void reset(const Arguments& other) {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (!arrays_[k].is_inout) continue;
      arrays_[k].ints = other.arrays_[k].ints;
      arrays_[k].doubles = other.arrays_[k].doubles;
    }
  }

  std::size_t size() const { return arrays_.size(); }
  const std::vector<double>& doubles(std::size_t k) const { return arrays_[k].doubles; }
  const std::vector<int>& ints(std::size_t k) const { return arrays_[k].ints; }

 private:
  struct Array {
    bool is_int = false, is_inout = false;
    std::vector<std::int64_t> extents, strides;
    std::vector<double> doubles;
    std::vector<int> ints;
    void* data() { return is_int ? static_cast<void*>(ints.data()) : doubles.data(); }
  };

  static void fill(Array& array, std::size_t count, std::size_t seed) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t number = k * 37 + k / 101 * 13 + seed * 11 + 3;
      if (array.is_int)
        array.ints.push_back(static_cast<int>(number % 89));
      else
        array.doubles.push_back(static_cast<double>(number % 101) / 101);
    }
  }

  std::vector<Array> arrays_;
};

}  // namespace polybench
