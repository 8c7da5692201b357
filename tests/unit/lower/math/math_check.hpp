// How far an expanded function is from the exact one, over many arguments, in units in the last
// place.
#pragma once

#include <bit>
#include <cmath>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/lower/passes_machine.hpp>

#include "../../codegen/kernels.hpp"

namespace test {

/// y[j] = f(x[j]) (or f(x[j], z[j])) for j < n, in vectors of `lanes`; n a multiple of it.
inline lt::Program math_program(lt::CallOp op, lt::DType t, int lanes) {
  Build b(std::string(lt::op_text(op)));
  auto x = b.buffer("x", t), z = b.buffer("z", t), y = b.output("y", t);
  auto n = b.dim("n");
  auto i = lt::make_var("i");
  lt::AnyExpr at = lt::AnyExpr(i) * lanes;
  if (lanes > 1) at = lt::make_ramp(at, lt::AnyExpr(1), lanes);
  std::vector<lt::AnyExpr> args{lt::make_load(x, {at})};
  if (lt::op_arity(op) == 2) args.push_back(lt::make_load(z, {at}));
  b.node.stage = lt::Stage::flat;
  return b.done(lt::make_for(i, 0, lt::AnyExpr(n) / lanes,
                             lt::make_store(y, {at}, lt::make_call(op, std::move(args)))));
}

inline lt::Program to_machine(const lt::Program& p, const lt::Target& target) {
  return lt::legalize_ops(lt::legalize_types(lt::expand_math(p, target), target), target);
}

/// The same bits, or both NaN.
template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0;
}

/// |got - exact| in units of the last place of T at exact; huge where one is NaN or infinite and
/// the other is not.
template <class T>
double ulp_error(T got, long double exact) {
  T rounded = static_cast<T>(exact);
  if (same(got, rounded)) {
    if (std::isnan(got) || std::isinf(got)) return 0;
  } else if (std::isnan(got) || std::isnan(rounded)) {
    return 1e30;
  }
  if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : 1e30;
  constexpr int digits = std::numeric_limits<T>::digits,
                least = std::numeric_limits<T>::min_exponent;
  // Infinity counts as the power of two that would follow the largest number.
  long double reached =
      std::isinf(got) ? std::copysign(std::ldexp(1.0L, std::numeric_limits<T>::max_exponent), got)
                      : static_cast<long double>(got);
  if (std::isinf(exact))
    exact = std::copysign(std::ldexp(1.0L, std::numeric_limits<T>::max_exponent), exact);
  int e = 0;
  std::frexp(exact, &e);
  if (e < least) e = least;
  return static_cast<double>(std::fabs(reached - exact) / std::ldexp(1.0L, e - digits));
}

/// As the C library has it for a wider type.
template <class Wide>
Wide exact_math(lt::CallOp op, Wide x, Wide z) {
  switch (op) {
    case lt::CallOp::exp:
      return std::exp(x);
    case lt::CallOp::exp2:
      return std::exp2(x);
    case lt::CallOp::log:
      return std::log(x);
    case lt::CallOp::log2:
      return std::log2(x);
    case lt::CallOp::sin:
      return std::sin(x);
    case lt::CallOp::cos:
      return std::cos(x);
    case lt::CallOp::tan:
      return std::tan(x);
    case lt::CallOp::tanh:
      return std::tanh(x);
    case lt::CallOp::erf:
      return std::erf(x);
    case lt::CallOp::expm1:
      return std::expm1(x);
    case lt::CallOp::log1p:
      return std::log1p(x);
    case lt::CallOp::atan:
      return std::atan(x);
    case lt::CallOp::atan2:
      return std::atan2(x, z);
    case lt::CallOp::cbrt:
      return std::cbrt(x);
    default:
      return std::pow(x, z);
  }
}

template <class T>
struct WorstCase {
  double ulp = 0;
  T x = 0, z = 0, got = 0;
};

/// One function compiled for one type, lane count and target.
template <class T>
class MathKernel {
  // For f32 the C library's f64 is exact enough, and faster.
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

 public:
  MathKernel(lt::CallOp op, int lanes, const lt::Llvm& llvm, const lt::Target& target = lt::host())
      : op_(op),
        lanes_(lanes),
        program_(to_machine(math_program(op, lt::dtype_of<T>, lanes), target)),
        kernel_(program_, llvm, target) {}

  std::vector<T> operator()(std::vector<T> x, std::vector<T> z = {}) const {
    return on_whole_vectors(x, z, [&](T* y) {
      CHECK(kernel_.call(x.data(), z.data(), y, static_cast<std::int64_t>(x.size())) == 0);
    });
  }
  std::vector<T> evaluate(std::vector<T> x, std::vector<T> z = {}) const {
    return on_whole_vectors(x, z, [&](T* y) {
      const std::uint64_t slots[] = {lt::to_slot(x.data()), lt::to_slot(z.data()), lt::to_slot(y),
                                     lt::to_slot(static_cast<std::int64_t>(x.size()))};
      lt::Evaluator(program_).run(slots);
    });
  }
  void measure(const std::vector<T>& x, const std::vector<T>& z, WorstCase<T>& worst) const {
    std::vector<T> y = (*this)(x, z);
    for (std::size_t j = 0; j < x.size(); ++j) {
      T second = z.empty() ? T(0) : z[j];
      const long double exact = exact_math<Wide>(op_, x[j], second);
      double ulp = ulp_error(y[j], exact);
      if (ulp > worst.ulp) worst = {ulp, x[j], second, y[j]};
    }
  }
  const Kernel& kernel() const { return kernel_; }

 private:
  // With arguments behind the given ones, so that lanes divide their number.
  template <class Run>
  static std::vector<T> on_whole_vectors(std::vector<T>& x, std::vector<T>& z, const Run& run) {
    const std::size_t n = x.size();
    x.resize((n + 63) / 64 * 64, T(1)), z.resize(x.size(), T(1));
    std::vector<T> y(x.size());
    run(y.data());
    y.resize(n);
    return y;
  }

  lt::CallOp op_;
  int lanes_;
  lt::Program program_;
  Kernel kernel_;
};

}  // namespace test
