// Random computations of the DSL's untyped core: small, of every kind that schedules and back ends
// treat differently.
#pragma once

#include <lathe/dsl/boundary.hpp>
#include <lathe/dsl/dsl.hpp>
#include <lathe/dsl/program.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../support/random_ir.hpp"

namespace fuzz {

using lathe::AnyExpr;
using lathe::AnyTensor;
using lathe::AnyValue;
using lathe::BinaryOp;
using lathe::CallOp;
using lathe::DType;
using test::Random;

/// An extent with its value in this case: a number, or a Dim.
struct Size {
  AnyExpr any;
  std::int64_t value = 0;
  bool same(const Size& other) const {
    return any.same_as(other.any) || (!symbolic() && !other.symbolic() && value == other.value);
  }
  bool symbolic() const { return any.kind() == lathe::ExprKind::Var; }
};

struct Shaped {
  AnyTensor tensor;
  std::vector<Size> shape;
};

/// A loop of the computation that is being written.
struct Axis {
  AnyExpr at;
  Size size;
};

struct ComputedProgram {
  lathe::Program program;
  std::string family;
  std::vector<std::pair<std::string, std::int64_t>> dims;  ///< values of this case
};

class ProgramMaker {
 public:
  explicit ProgramMaker(Random& random) : random_(random) {}

  ComputedProgram make() {
    using Family = void (ProgramMaker::*)();
    static const std::vector<std::pair<const char*, Family>> families = {
        {"elementwise", &ProgramMaker::elementwise},
        {"reduction", &ProgramMaker::reduction},
        {"gemm", &ProgramMaker::gemm},
        {"stencil", &ProgramMaker::stencil},
        {"permute", &ProgramMaker::permute},
        {"casts", &ProgramMaker::casts},
        {"dag", &ProgramMaker::dag},
        {"dag", &ProgramMaker::dag},
        {"softmax", &ProgramMaker::softmax},
        {"conv", &ProgramMaker::conv},
        {"gather", &ProgramMaker::gather}};
    const auto& [name, family] = random_.pick(families);
    symbolic_ = random_.chance(25);
    wild_ = random_.chance(40);
    static const std::vector<DType> common = {lathe::kF32, lathe::kF32, lathe::kF32, lathe::kF64,
                                              lathe::kI32, lathe::kI64, lathe::kI8,  lathe::kU8,
                                              lathe::kF16, lathe::kBF16};
    dtype_ = random_.chance(80) ? random_.pick(common) : random_.pick(all_dtypes());
    (this->*family)();
    return {program(), name, dims_};
  }

  static const std::vector<DType>& all_dtypes() {
    static const std::vector<DType> all = {
        lathe::kBool, lathe::kI4,  lathe::kU4,  lathe::kI8,   lathe::kU8,  lathe::kI16,
        lathe::kU16,  lathe::kI32, lathe::kU32, lathe::kI64,  lathe::kU64, lathe::kF16,
        lathe::kBF16, lathe::kF32, lathe::kF64, lathe::kE4M3, lathe::kE5M2};
    return all;
  }

 private:
  using Index = std::vector<AnyExpr>;

  // Sizes, inputs, computations.
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
    symbols_.push_back({dim.any(), value});
    return symbols_.back();
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
  Axis reduce_axis(const Size& s, std::vector<lathe::AnyReduce>& axes) {
    axes.push_back(lathe::make_reduce("r" + std::to_string(reduces_++), 0, lathe::Extent(s.any)));
    return {AnyExpr(axes.back().var), s};
  }

  /// The last stage and sometimes others are outputs.
  lathe::Program program() {
    lathe::OutputList outputs{{stages_.back().tensor}};
    for (std::size_t k = 0; k + 1 < stages_.size(); ++k)
      if (random_.chance(15)) outputs.tensors.push_back(stages_[k].tensor);
    return lathe::program_of(outputs);
  }

  // Expressions.
  // Which NaN an operation gives is open, its sign too: nobody may look at it.
  AnyExpr without_nan(const AnyExpr& e) {
    return lathe::make_select(lathe::make_call(CallOp::is_nan, {e}), number(e.dtype()), e);
  }
  AnyExpr number(DType t) {
    if (t.is_bool()) return lathe::make_bool(random_.chance(50));
    return lathe::make_const(t, t.is_unsigned() ? 1 + random_.below(4) : random_.below(7) - 3);
  }
  AnyExpr limited(const AnyExpr& at, const Size& s) {
    AnyExpr low = lathe::make_binary(BinaryOp::max, at, AnyExpr(0));
    return lathe::make_binary(BinaryOp::min, low, s.any - 1);
  }
  /// Some index that lies inside an axis of this size (not 0).
  AnyExpr index_in(const Size& s, const std::vector<Axis>& axes) {
    std::vector<Axis> equal;
    for (const auto& a : axes)
      if (a.size.same(s)) equal.push_back(a);
    if (!equal.empty() && random_.chance(75)) {
      AnyExpr at = random_.pick(equal).at;
      if (random_.chance(80)) return at;
      return random_.chance(50) ? s.any - 1 - at : limited(at + (random_.below(5) - 2), s);
    }
    if (axes.empty() || random_.chance(20))
      return AnyExpr(random_.below(static_cast<int>(s.value)));
    AnyExpr at = random_.pick(axes).at;
    if (random_.chance(50)) return lathe::floormod(at * (1 + random_.below(3)), s.any);
    return limited(random_.chance(50) ? lathe::floordiv(at, AnyExpr(2)) : at, s);
  }
  AnyExpr read(const Shaped& x, const std::vector<Axis>& axes) {
    Index at, outside;
    bool empty = false;
    for (const auto& s : x.shape) {
      bool found = false;
      for (const auto& a : axes) found = found || a.size.same(s);
      empty = empty || (s.value == 0);
      at.push_back(s.value > 0 ? index_in(s, axes) : axes.empty() ? AnyExpr(0) : axes[0].at);
    }
    AnyExpr value = x.tensor.at(at);
    if (!empty) return value;
    return lathe::make_select(lathe::in_bounds_any(x.tensor, at), value, number(x.tensor.dtype()));
  }
  AnyExpr cast(DType t, const AnyExpr& e) { return lathe::make_cast(t, e); }

  AnyExpr some_condition(const std::vector<Axis>& axes, int depth) {
    if (!axes.empty() && (!wild_ || random_.chance(50))) {
      const Axis& a = random_.pick(axes);
      return a.at <
             AnyExpr(1 + random_.below(static_cast<int>(std::max<std::int64_t>(1, a.size.value))));
    }
    if (!wild_) return lathe::make_bool(random_.chance(50));
    auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + random_.below(6));
    return lathe::make_binary(op, value(dtype_, axes, depth - 1), value(dtype_, axes, depth - 1));
  }

  AnyExpr int_value(DType t, const std::vector<Axis>& axes, int depth) {
    static const std::vector<BinaryOp> ops = {
        BinaryOp::add,    BinaryOp::sub,     BinaryOp::mul,      BinaryOp::min,
        BinaryOp::max,    BinaryOp::div,     BinaryOp::mod,      BinaryOp::bit_and,
        BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::floordiv, BinaryOp::floormod,
        BinaryOp::shl,    BinaryOp::shr};
    AnyExpr a = value(t, axes, depth - 1);
    switch (random_.below(8)) {
      case 0:
        return lathe::make_unary(random_.chance(50) ? lathe::UnaryOp::neg : lathe::UnaryOp::bit_not,
                                 a);
      case 1:
        return lathe::make_call(random_.chance(50) ? CallOp::abs : CallOp::popcount, {a});
      default:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
    }
  }
  AnyExpr bool_value(const std::vector<Axis>& axes, int depth) {
    AnyExpr a = value(lathe::kBool, axes, depth - 1);
    if (random_.chance(30)) return lathe::logical_not(a);
    static const std::vector<BinaryOp> ops = {BinaryOp::and_, BinaryOp::or_, BinaryOp::eq,
                                              BinaryOp::ne};
    return lathe::make_binary(random_.pick(ops), a, value(lathe::kBool, axes, depth - 1));
  }
  AnyExpr wild_float(DType t, const std::vector<Axis>& axes, int depth) {
    AnyExpr a = value(t, axes, depth - 1);
    static const std::vector<CallOp> calls = {
        CallOp::floor, CallOp::ceil, CallOp::trunc, CallOp::round, CallOp::sqrt,
        CallOp::exp2,  CallOp::log,  CallOp::log2,  CallOp::tan,   CallOp::exp};
    static const std::vector<BinaryOp> ops = {BinaryOp::div, BinaryOp::fast_min,
                                              BinaryOp::fast_max};
    switch (random_.below(6)) {
      case 0:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
      case 1:
        return lathe::make_call(CallOp::copysign, {a, without_nan(value(t, axes, depth - 1))});
      case 2:
        return lathe::make_select(lathe::make_call(CallOp::is_nan, {a}), number(t), a);
      case 3:
        return lathe::make_call(CallOp::scale2,
                                {a, lathe::make_int(lathe::kI32, random_.below(9) - 4)});
      case 4:
        return lathe::make_call(CallOp::fma,
                                {a, value(t, axes, depth - 1), value(t, axes, depth - 1)});
      default:
        return lathe::make_call(random_.pick(calls), {a});
    }
  }
  AnyExpr float_value(DType t, const std::vector<Axis>& axes, int depth) {
    static const std::vector<BinaryOp> ops = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                              BinaryOp::min, BinaryOp::max};
    static const std::vector<CallOp> smooth = {CallOp::tanh, CallOp::sin, CallOp::cos, CallOp::erf,
                                               CallOp::abs};
    if (wild_ && random_.chance(30)) return wild_float(t, axes, depth);
    AnyExpr a = value(t, axes, depth - 1);
    switch (random_.below(10)) {
      case 0:
        return lathe::make_unary(lathe::UnaryOp::neg, a);
      case 1:
        return random_.chance(70) ? a : lathe::make_call(random_.pick(smooth), {a});
      case 2:
        return a / (lathe::make_call(CallOp::abs, {value(t, axes, depth - 1)}) + 1);
      case 3:
        return a * lathe::make_float(t, 0.25);
      default:
        return lathe::make_binary(random_.pick(ops), a, value(t, axes, depth - 1));
    }
  }
  /// An expression over what may be read at these axes.
  AnyExpr value(DType t, const std::vector<Axis>& axes, int depth) {
    if (depth <= 0 || random_.chance(15)) {
      if (sources_.empty() || random_.chance(10)) return number(t);
      return cast(t, read(random_.pick(sources_), axes));
    }
    if (random_.chance(12))
      return lathe::make_select(some_condition(axes, depth), value(t, axes, depth - 1),
                                value(t, axes, depth - 1));
    if (wild_ && random_.chance(5) && !axes.empty()) return cast(t, random_.pick(axes).at);
    return t.is_bool()    ? bool_value(axes, depth)
           : t.is_float() ? float_value(t, axes, depth)
                          : int_value(t, axes, depth);
  }

  // Reductions.
  lathe::ReducerRef single_reducer(DType t) {
    if (t.is_bool()) return random_.chance(50) ? lathe::any_reducer() : lathe::all_reducer();
    switch (random_.below(8)) {
      case 0:
        return lathe::prod_reducer(t);
      case 1:
        return lathe::min_reducer(t);
      case 2:
        return lathe::max_reducer(t);
      case 3:
        return random_.chance(50) ? fold_reducer(t) : xor_reducer(t);
      default:
        return lathe::sum_reducer(t);
    }
  }
  /// Neither associative nor commutative: the order of the axis is part of the result.
  lathe::ReducerRef fold_reducer(DType t) {
    return lathe::make_reducer(
        "fold", {lathe::make_const(t, 1)},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{AnyExpr(l[0]) * lathe::make_const(t, 2) - AnyExpr(r[0])};
        },
        false, false);
  }
  lathe::ReducerRef xor_reducer(DType t) {
    if (t.is_float()) return lathe::sum_reducer(t);
    return lathe::make_reducer(
        "xor", {lathe::make_const(t, 0)},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{lathe::make_binary(BinaryOp::bit_xor, l[0], r[0])};
        });
  }
  lathe::ReducerRef extremes_reducer(DType t) {
    AnyExpr low = lathe::min_reducer(t)->identity[0], high = lathe::max_reducer(t)->identity[0];
    return lathe::make_reducer(
        "extremes", {low, high},
        [&](std::span<const lathe::VarRef> l, std::span<const lathe::VarRef> r) {
          return std::vector<AnyExpr>{lathe::make_binary(BinaryOp::min, l[0], r[0]),
                                      lathe::make_binary(BinaryOp::max, l[1], r[1])};
        });
  }
  AnyValue reduced(DType t, std::vector<Axis> axes, const std::vector<Size>& over, int depth) {
    AnyValue v;
    for (const auto& s : over) axes.push_back(reduce_axis(s, v.axes));
    AnyExpr term = value(t, axes, depth);
    if (!t.is_bool() && random_.chance(20)) {
      bool arg = random_.chance(60);
      v.reducer = !arg                 ? extremes_reducer(t)
                  : random_.chance(50) ? lathe::argmax_reducer(t)
                                       : lathe::argmin_reducer(t);
      v.values = {term, arg ? lathe::reduce_position(v.axes) : term};
    } else {
      v.reducer = single_reducer(t);
      v.values = {term};
    }
    if (random_.chance(15)) v.predicate = axes.back().at < AnyExpr(random_.below(20));
    return v;
  }

  // Families: each adds stages.
  DType near_dtype() { return random_.chance(75) ? dtype_ : random_.pick(all_dtypes()); }

  void elementwise() {
    std::vector<Size> full = shape(random_.below(4));
    for (int k = 1 + random_.below(3); k > 0; --k) {
      std::vector<Size> some;
      for (const auto& s : full)
        if (random_.chance(70)) some.push_back(s);
      sources_.push_back(input(random_.chance(60) ? full : some, near_dtype()));
    }
    for (int k = 1 + random_.below(3); k > 0; --k)
      sources_.push_back(compute(full, [&](const std::vector<Axis>& axes) {
        return AnyValue(value(dtype_, axes, 3));
      })[0]);
  }
  void reduction() {
    std::vector<Size> kept = shape(random_.below(3)), over{size(33)};
    if (random_.chance(30)) over.push_back(size(9));
    std::vector<Size> full = kept;
    full.insert(full.begin() + random_.below(static_cast<int>(kept.size()) + 1), over.begin(),
                over.end());
    sources_.push_back(input(full, near_dtype()));
    if (random_.chance(40)) sources_.push_back(input(over, near_dtype()));
    if (random_.chance(30))
      sources_.push_back(compute(full, [&](const std::vector<Axis>& axes) {
        return AnyValue(value(dtype_, axes, 2));
      })[0]);
    auto folded = compute(
        kept, [&](const std::vector<Axis>& axes) { return reduced(dtype_, axes, over, 2); });
    for (const auto& t : folded) sources_.push_back(t);
    if (random_.chance(50))
      compute(kept,
              [&](const std::vector<Axis>& axes) { return AnyValue(value(dtype_, axes, 2)); });
  }
  void gemm() {
    Size m = size(17), n = size(33), k = size(17);
    std::vector<Size> batch;
    if (random_.chance(20)) batch.push_back(size(3));
    auto with = [&](std::vector<Size> rest, bool batched) {
      if (batched) rest.insert(rest.begin(), batch.begin(), batch.end());
      return rest;
    };
    bool ta = random_.chance(30), tb = random_.chance(30), both = random_.chance(70);
    Shaped a =
        input(with(ta ? std::vector<Size>{k, m} : std::vector<Size>{m, k}, true), near_dtype());
    Shaped b =
        input(with(tb ? std::vector<Size>{n, k} : std::vector<Size>{k, n}, both), near_dtype());
    Shaped c = compute(with({m, n}, true), [&](const std::vector<Axis>& axes) {
      AnyValue v;
      AnyExpr r = reduce_axis(k, v.axes).at;
      std::size_t d = batch.size();
      Index ia, ib;
      if (d) ia.push_back(axes[0].at);
      if (d && both) ib.push_back(axes[0].at);
      AnyExpr i = axes[d].at, j = axes[d + 1].at;
      for (const auto& e : ta ? Index{r, i} : Index{i, r}) ia.push_back(e);
      for (const auto& e : tb ? Index{j, r} : Index{r, j}) ib.push_back(e);
      AnyExpr x = cast(dtype_, a.tensor.at(ia)), y = cast(dtype_, b.tensor.at(ib));
      v.values = {dtype_.is_bool() ? lathe::logical_and(x, y) : x * y};
      v.reducer = dtype_.is_bool() ? lathe::any_reducer() : lathe::sum_reducer(dtype_);
      return v;
    })[0];
    sources_ = {c};
    if (random_.chance(30)) sources_.push_back(input({n}, dtype_));
    for (int stages = random_.below(3); stages > 0; --stages)
      sources_.push_back(compute(with({m, n}, true), [&](const std::vector<Axis>& axes) {
        return AnyValue(value(dtype_, axes, 2));
      })[0]);
  }
  void stencil() {
    std::vector<Size> full = shape(1 + random_.below(2));
    Shaped last = input(full, dtype_);
    for (int k = 1 + random_.below(3); k > 0; --k) {
      int radius = 1 + random_.below(2), step = random_.chance(15) ? -1 : 1;
      bool pad = random_.chance(50);
      auto window = [&](const std::vector<Axis>& axes) {
        AnyExpr sum;
        for (int at = -radius; at <= radius; ++at) {
          Index index;
          for (std::size_t d = 0; d < axes.size(); ++d)
            index.push_back(axes[d].at * step + (step < 0 ? axes[d].size.any - 1 : AnyExpr(0)));
          std::size_t d = axes.size() - 1;
          index[d] = index[d] + at;
          AnyExpr inside = lathe::in_bounds_any(last.tensor, index);
          AnyExpr x = pad ? lathe::make_select(inside, last.tensor.at(index), number(dtype_))
                          : last.tensor.at(lathe::clamped_any(last.tensor, index));
          sum = !sum ? x : dtype_.is_bool() ? lathe::logical_or(sum, x) : sum + x;
        }
        return AnyValue(sum);
      };
      last = compute(full, window)[0];
    }
  }
  void permute() {
    std::vector<Size> from = shape(2 + random_.below(2)), to = from;
    for (std::size_t k = to.size() - 1; k > 0; --k)
      std::swap(to[k], to[static_cast<std::size_t>(random_.below(static_cast<int>(k) + 1))]);
    sources_.push_back(input(from, dtype_));
    sources_.push_back(compute(
        to, [&](const std::vector<Axis>& axes) { return AnyValue(value(dtype_, axes, 1)); })[0]);
    std::int64_t count = 1;
    for (const auto& s : from) count *= s.value;
    Shaped x = sources_.back();
    Size flat{AnyExpr(count), count};
    compute({flat}, [&](const std::vector<Axis>& axes) {
      Index at;
      AnyExpr rest = axes[0].at;
      for (std::size_t k = x.shape.size(); k-- > 0;) {
        at.insert(at.begin(), k == 0 ? rest : lathe::floormod(rest, x.shape[k].any));
        rest = lathe::floordiv(rest, x.shape[k].any);
      }
      return AnyValue(x.tensor.at(at));
    });
  }
  void casts() {
    std::vector<Size> full = shape(1 + random_.below(2));
    Shaped last = input(full, random_.pick(all_dtypes()));
    for (int k = 1 + random_.below(4); k > 0; --k) {
      DType t = random_.pick(all_dtypes());
      last = compute(full, [&](const std::vector<Axis>& axes) {
        Index at;
        for (const auto& a : axes) at.push_back(a.at);
        AnyExpr x = last.tensor.at(at);
        if (random_.chance(30) && !x.dtype().is_bool()) x = x + number(x.dtype());
        return AnyValue(cast(t, x));
      })[0];
    }
  }
  void dag() {
    std::vector<Size> pool = shape(3);
    auto some_shape = [&] {
      std::vector<Size> out;
      for (int k = random_.below(4); k > 0; --k) out.push_back(random_.pick(pool));
      std::int64_t count = 1;
      for (const auto& s : out) count *= std::max<std::int64_t>(1, s.value);
      while (count > 4000) count /= std::max<std::int64_t>(1, out.back().value), out.pop_back();
      return out;
    };
    for (int k = 1 + random_.below(2); k > 0; --k)
      sources_.push_back(input(some_shape(), near_dtype()));
    for (int k = 2 + random_.below(5); k > 0; --k) {
      DType t = random_.chance(85) ? dtype_ : random_.pick(all_dtypes());
      bool reduce = random_.chance(35);
      auto made = compute(some_shape(), [&](const std::vector<Axis>& axes) {
        return reduce ? reduced(t, axes, {random_.pick(pool)}, 2) : AnyValue(value(t, axes, 2));
      });
      for (const auto& x : made) sources_.push_back(x);
    }
  }
  void softmax() {
    if (!dtype_.is_float()) dtype_ = lathe::kF32;
    Size m = size(17), n = size(33);
    Shaped x = input({m, n}, dtype_);
    Shaped top = compute({m}, [&](const std::vector<Axis>& axes) {
      AnyValue v;
      AnyExpr r = reduce_axis(n, v.axes).at;
      v.values = {x.tensor.at({axes[0].at, r})}, v.reducer = lathe::max_reducer(dtype_);
      return v;
    })[0];
    Shaped e = compute({m, n}, [&](const std::vector<Axis>& axes) {
      return AnyValue(lathe::make_call(
          CallOp::exp, {x.tensor.at({axes[0].at, axes[1].at}) - top.tensor.at({axes[0].at})}));
    })[0];
    Shaped sum = compute({m}, [&](const std::vector<Axis>& axes) {
      AnyValue v;
      AnyExpr r = reduce_axis(n, v.axes).at;
      v.values = {e.tensor.at({axes[0].at, r})}, v.reducer = lathe::sum_reducer(dtype_);
      return v;
    })[0];
    compute({m, n}, [&](const std::vector<Axis>& axes) {
      return AnyValue(e.tensor.at({axes[0].at, axes[1].at}) / sum.tensor.at({axes[0].at}));
    });
  }
  void conv() {
    int stride = 1 + random_.below(2), dilation = 1 + random_.below(2), pad = random_.below(3);
    symbolic_ = false;
    std::int64_t kernel = 1 + random_.below(4), in = 1 + random_.below(20);
    std::int64_t out = (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    if (in + 2 * pad < dilation * (kernel - 1) + 1) out = 0;
    Size channels = size(9), filters = size(17), w{AnyExpr(in), in}, k{AnyExpr(kernel), kernel},
         o{AnyExpr(out), out};
    Shaped x = input({channels, w}, dtype_), f = input({filters, channels, k}, dtype_);
    if (dtype_.is_bool()) return elementwise();
    sources_ = {compute({filters, o}, [&](const std::vector<Axis>& axes) {
      AnyValue v;
      AnyExpr c = reduce_axis(channels, v.axes).at, t = reduce_axis(k, v.axes).at;
      Index at = {c, axes[1].at * stride + t * dilation - pad};
      AnyExpr inside = lathe::in_bounds_any(x.tensor, at);
      AnyExpr value = lathe::make_select(inside, x.tensor.at(at), lathe::make_const(dtype_, 0));
      v.values = {value * f.tensor.at({axes[0].at, c, t})}, v.reducer = lathe::sum_reducer(dtype_);
      return v;
    })[0]};
    if (random_.chance(60))
      compute({filters, o},
              [&](const std::vector<Axis>& axes) { return AnyValue(value(dtype_, axes, 1)); });
  }
  void gather() {
    Size rows = size(17), columns = size(17), picked = size(17);
    if (rows.value == 0) rows = {AnyExpr(3), 3};
    static const std::vector<DType> types = {lathe::kI32, lathe::kI64, lathe::kU8, lathe::kI16};
    Shaped table = input({rows, columns}, dtype_), index = input({picked}, random_.pick(types));
    Shaped y = compute({picked, columns}, [&](const std::vector<Axis>& axes) {
      AnyExpr row = limited(cast(lathe::kI64, index.tensor.at({axes[0].at})), rows);
      return AnyValue(table.tensor.at({row, axes[1].at}));
    })[0];
    sources_ = {y, table};
    if (random_.chance(60))
      compute({picked, columns},
              [&](const std::vector<Axis>& axes) { return AnyValue(value(dtype_, axes, 2)); });
  }

  Random& random_;
  bool symbolic_ = false, wild_ = false;
  DType dtype_ = lathe::kF32;
  std::vector<Shaped> sources_, stages_;
  std::vector<Size> symbols_;
  std::vector<std::pair<std::string, std::int64_t>> dims_;
  int inputs_ = 0, computed_ = 0, reduces_ = 0;
};

}  // namespace fuzz
