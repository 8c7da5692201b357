// What random computations are made of: sizes, inputs, stages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lathe/dsl/dsl.hpp>
#include <lathe/dsl/program.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../support/random.hpp"

namespace fuzz {

using lathe::AnyExpr;
using lathe::AnyTensor;
using lathe::AnyValue;
using lathe::BinaryOp;
using lathe::CallOp;
using lathe::DType;
using test::Random;

/// A row of a table by its weight.
template <class Row>
const Row& pick_weighted(Random& random, const std::vector<Row>& rows) {
  int all = 0;
  for (const auto& row : rows) all += row.weight;
  int at = random.below(all);
  for (const auto& row : rows)
    if ((at -= row.weight) < 0) return row;
  return rows.back();
}

/// An extent with its value in this case: a number, or a Dim.
struct Size {
  AnyExpr any;
  std::int64_t value = 0;
  bool same(const Size& other) const {
    return any.same_as(other.any) || (!symbolic() && !other.symbolic() && value == other.value);
  }
  bool symbolic() const { return any.kind() != lathe::ExprKind::Const; }
  operator AnyExpr() const { return any; }
};

struct Shaped {
  AnyTensor tensor;
  std::vector<Size> shape;

  template <class... I>
  AnyExpr operator()(const I&... at) const {
    return tensor.at({AnyExpr(at)...});
  }
};

/// A loop of the computation that is being written.
struct Axis {
  AnyExpr at;
  Size size;
  operator AnyExpr() const { return at; }
};
using Axes = std::vector<Axis>;

struct ComputedProgram {
  lathe::Program program;
  std::string family;
  std::vector<std::pair<std::string, std::int64_t>> dims;  ///< values of this case
  std::vector<std::string> focus{};                        ///< primitives that it is about
  /// A text that may mean nothing: a UserError, wherever it comes from, ends its case well.
  bool loose = false;
  /// A text that claims what is not so: some UserError must come before its code runs.
  bool untrue = false;
};

class ProgramPieces {
 protected:
  explicit ProgramPieces(Random& random) : random_(random) {}

  Size size(std::int64_t largest = 40) {
    static const std::vector<std::int64_t> values = {0, 1,  2,  3,  4,  5,  7,  8,
                                                     9, 13, 16, 16, 17, 31, 32, 33};
    std::int64_t value = random_.pick(values);
    while (value > largest || (value == 0 && !random_.chance(15))) value = random_.pick(values);
    return size_of(value);
  }
  Size size_of(std::int64_t value) {
    if (!symbolic_ || random_.chance(50)) return {AnyExpr(value), value};
    for (const auto& s : symbols_)
      if (s.value == value) return s;
    lathe::DimOptions options;
    if (value > 0 && value % 8 == 0 && random_.chance(50)) options.multiple_of = 8;
    std::string name = "n" + std::to_string(symbols_.size());
    lathe::Dim dim(name, options);
    dims_.emplace_back(name, value);
    dim_list_ += (dim_list_.empty() ? "" : ", ") + name;
    if (options.multiple_of > 1) dim_list_ += " by 8";
    symbols_.push_back({dim.any(), value});
    return symbols_.back();
  }
  /// s * factor + more.
  static Size scaled(const Size& s, std::int64_t factor, std::int64_t more = 0) {
    const std::int64_t value = s.value * factor + more;
    return {s.symbolic() ? s.any * factor + more : AnyExpr(value), value};
  }
  static Size product(const Size& a, const Size& b) {
    const std::int64_t value = a.value * b.value;
    return {a.symbolic() || b.symbolic() ? a.any * b.any : AnyExpr(value), value};
  }
  static Size smaller(const Size& a, const Size& b) {
    const std::int64_t value = std::min(a.value, b.value);
    const bool open = a.symbolic() || b.symbolic();
    return {open ? lathe::make_binary(BinaryOp::min, a.any, b.any) : AnyExpr(value), value};
  }
  std::vector<Size> shape(int rank) {
    std::vector<Size> out;
    std::int64_t room = 3000;
    for (int k = 0; k < rank; ++k) {
      out.push_back(size(room));
      room /= std::max<std::int64_t>(1, out.back().value);
    }
    return out;
  }
  static std::vector<lathe::Extent> extents(const std::vector<Size>& shape) {
    std::vector<lathe::Extent> out;
    for (const auto& s : shape) out.push_back(lathe::Extent(s.any));
    return out;
  }
  Shaped input(const std::vector<Size>& shape, DType t) {
    return {lathe::make_input("X" + std::to_string(inputs_++), t, extents(shape)), shape};
  }
  /// A computation of one or more tensors; body(axes) gives the value.
  template <class Body>
  std::vector<Shaped> compute(const std::vector<Size>& shape, Body body) {
    std::string name = "T" + std::to_string(computed_++);
    auto tensors = lathe::compute_any(name, extents(shape), [&](std::span<const lathe::VarRef> at) {
      std::vector<Axis> axes;
      for (std::size_t k = 0; k < at.size(); ++k) axes.push_back({AnyExpr(at[k]), shape[k]});
      return body(axes);
    });
    std::vector<Shaped> out;
    for (auto& t : tensors) out.push_back({t, shape}), stages_.push_back(out.back());
    return out;
  }
  Axis reduce_axis(const Size& s, lathe::Vec<lathe::AnyReduce>& axes) {
    axes.push_back(lathe::make_reduce("r" + std::to_string(reduces_++), 0, lathe::Extent(s.any)));
    return {AnyExpr(axes.back().var), s};
  }

  /// The last stage and sometimes others are outputs.
  lathe::Program program(int percent_of_others) {
    lathe::OutputList outputs{{stages_.back().tensor}};
    for (std::size_t k = 0; k + 1 < stages_.size(); ++k)
      if (random_.chance(percent_of_others)) outputs.tensors.push_back(stages_[k].tensor);
    return lathe::program_of(outputs);
  }

  Random& random_;
  bool symbolic_ = false;
  std::vector<Shaped> stages_;
  std::vector<std::pair<std::string, std::int64_t>> dims_;
  std::string dim_list_;  ///< as the text form declares them

 private:
  std::vector<Size> symbols_;
  int inputs_ = 0, computed_ = 0, reduces_ = 0;
};

}  // namespace fuzz
