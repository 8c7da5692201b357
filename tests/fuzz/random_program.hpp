// Random computations of the DSL's untyped core: small, of every kind that schedules and back ends
// treat differently.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "random_values.hpp"

namespace fuzz {

struct ComputedProgram {
  lathe::Program program;
  std::string family;
  std::vector<std::pair<std::string, std::int64_t>> dims;  ///< values of this case
};

class ProgramMaker : private RandomValues {
 public:
  explicit ProgramMaker(Random& random) : RandomValues(random) {}

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
        {"gather", &ProgramMaker::gather},
        {"hash", &ProgramMaker::hash}};
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

 private:
  // Each family adds stages.
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
                          : lathe::clamp_any(last.tensor, index);
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
  // i64 arithmetic from indices and data that wraps, decides and addresses.
  void hash() {
    Size rows = size(17), seeds = size(40);
    Shaped table = input({rows}, dtype_), seed = input({seeds}, random_.pick(all_dtypes()));
    Shaped mixed = compute({seeds}, [&](const std::vector<Axis>& axes) {
      const AnyExpr at = axes[0].at;
      AnyExpr start = random_.chance(50) ? at : cast(lathe::kI64, seed.tensor.at({at}));
      return AnyValue(scrambled(random_.chance(30) ? start + at : start));
    })[0];
    sources_ = {compute({seeds}, [&](const std::vector<Axis>& axes) {
      const AnyExpr h = random_.chance(50) ? scrambled(axes[0].at) : mixed.tensor.at({axes[0].at});
      const AnyExpr near = random_.chance(50) ? make_binary(BinaryOp::shr, h, AnyExpr(60)) : h;
      const AnyExpr inside = logical_and(near >= 0, near < rows.any);
      return AnyValue(lathe::make_select(inside, table.tensor.at({near}), number(dtype_)));
    })[0]};
    if (random_.chance(60))
      compute({seeds}, [&](const std::vector<Axis>& axes) {
        return AnyValue(cast(dtype_, scrambled(mixed.tensor.at({axes[0].at}))));
      });
  }
  AnyExpr scrambled(AnyExpr h) {
    static const std::vector<std::int64_t> numbers = {
        6364136223846793005,   INT64_MAX, INT64_MIN, -2654435761, std::int64_t{1} << 62,
        std::int64_t{1} << 33, 1000,      7,         4,           -1};
    static const std::vector<BinaryOp> ops = {
        BinaryOp::mul, BinaryOp::mul, BinaryOp::mul,      BinaryOp::add,
        BinaryOp::sub, BinaryOp::div, BinaryOp::floordiv, BinaryOp::floormod,
        BinaryOp::mod, BinaryOp::min, BinaryOp::max,      BinaryOp::bit_xor};
    for (int k = 1 + random_.below(4); k > 0; --k) {
      if (random_.chance(20))
        h = make_binary(random_.chance(50) ? BinaryOp::shr : BinaryOp::shl, h,
                        AnyExpr(1 + random_.below(62)));
      else
        h = make_binary(random_.pick(ops), h, AnyExpr(random_.pick(numbers)));
    }
    return random_.chance(20) ? cast(lathe::kI64, h < AnyExpr(random_.pick(numbers))) : h;
  }
};

}  // namespace fuzz
