// How far the approximate instructions of f32 are off, over all 2^32 arguments.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o approximations approximations.cu -lcuda
#include "common.hpp"

namespace {

#define APPROXIMATION(type, text, exact_value)                       \
  struct type {                                                      \
    static constexpr const char* name = text;                        \
    static __device__ float approximate(float x) {                   \
      float out;                                                     \
      asm(text " %0, %1;" : "=f"(out) : "f"(x));                     \
      return out;                                                    \
    }                                                                \
    static __device__ double exact(double x) { return exact_value; } \
  };
APPROXIMATION(Exp2, "ex2.approx.f32", exp2(x))
APPROXIMATION(Log2, "lg2.approx.f32", log2(x))
APPROXIMATION(Reciprocal, "rcp.approx.f32", 1 / x)
APPROXIMATION(ReciprocalRoot, "rsqrt.approx.f32", 1 / sqrt(x))
APPROXIMATION(Root, "sqrt.approx.f32", sqrt(x))
APPROXIMATION(Tanh, "tanh.approx.f32", tanh(x))
APPROXIMATION(Sine, "sin.approx.f32", sin(x))

/// The largest error of a class of arguments. Bits of doubles that are not negative are ordered as
/// the doubles, so that integers' atomics find it.
struct Worst {
  unsigned long long units;               ///< in the last place of the result
  unsigned long long relative, absolute;  ///< absolute: of results between -1 and 1
  unsigned long long specials;  ///< results of another class: NaN, infinity, or zero for a number
};
enum { normal, subnormal_argument, subnormal_result, classes };

__device__ void raise(unsigned long long* to, double value) {
  atomicMax(to, static_cast<unsigned long long>(__double_as_longlong(value)));
}

__device__ bool same_class(float got, float want) {
  if (isnan(want)) return isnan(got);
  if (isinf(want) || isinf(got) || isnan(got)) return got == want;
  return true;
}

template <class F>
__global__ void measure(float limit, Worst* worst) {
  const auto first = blockIdx.x * blockDim.x + threadIdx.x;
  double units[classes] = {}, relative[classes] = {}, absolute[classes] = {};
  unsigned specials[classes] = {};
  for (unsigned long long bits = first; bits < 1ull << 32; bits += gridDim.x * blockDim.x) {
    const float x = __uint_as_float(static_cast<unsigned>(bits));
    if (fabsf(x) > limit && !isinf(x)) continue;
    const double exact = F::exact(x);
    const float want = static_cast<float>(exact), got = F::approximate(x);
    const bool small = fabs(exact) < 0x1p-126;
    const int kind = x != 0 && fabsf(x) < 0x1p-126f ? subnormal_argument
                     : small && exact != 0          ? subnormal_result
                                                    : normal;
    if (!same_class(got, want)) ++specials[kind];
    if (!isfinite(want) || !isfinite(got)) continue;
    const double error = fabs(got - exact);
    const int exponent = small ? -126 : ilogb(exact);
    units[kind] = fmax(units[kind], error == 0 ? 0 : scalbn(error, 23 - exponent));
    if (fabs(exact) < 1) absolute[kind] = fmax(absolute[kind], error);
    if (exact != 0) relative[kind] = fmax(relative[kind], error / fabs(exact));
  }
  for (int kind = 0; kind < classes; ++kind) {
    raise(&worst[kind].units, units[kind]);
    raise(&worst[kind].relative, relative[kind]);
    raise(&worst[kind].absolute, absolute[kind]);
    atomicAdd(&worst[kind].specials, specials[kind]);
  }
}

double to_double(unsigned long long bits) {
  double out;
  static_assert(sizeof out == sizeof bits);
  std::copy_n(reinterpret_cast<const char*>(&bits), sizeof out, reinterpret_cast<char*>(&out));
  return out;
}

template <class F>
void report(float limit = 1e39f) {
  DeviceArray<Worst> worst(classes);
  worst.clear();
  measure<F><<<132 * 8, 256>>>(limit, worst.data());
  CHECK(cudaGetLastError());
  const std::vector<Worst> out = worst.to_host();
  const char* const names[] = {"normal", "subnormal argument", "subnormal result"};
  for (int kind = 0; kind < classes; ++kind)
    std::printf(
        "%-18s %-20s %12.4g ulp, relative 2^%.2f, absolute below 1 2^%.2f, other class %llu\n",
        F::name, names[kind], to_double(out[kind].units), std::log2(to_double(out[kind].relative)),
        std::log2(to_double(out[kind].absolute)), out[kind].specials);
}

template <class F>
__global__ void evaluate(const float* in, float* out, int count) {
  if (threadIdx.x < count) out[threadIdx.x] = F::approximate(in[threadIdx.x]);
}

template <class F>
void print_values(const std::vector<float>& arguments) {
  const DeviceArray<float> in(arguments);
  DeviceArray<float> out(arguments.size());
  evaluate<F><<<1, 32>>>(in.data(), out.data(), static_cast<int>(arguments.size()));
  const std::vector<float> values = out.to_host();
  std::printf("%s:", F::name);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::printf(" (%g) = %.9g;", arguments[i], values[i]);
  std::printf("\n");
}

}  // namespace

int main() {
  print_device();
  report<Exp2>();
  report<Log2>();
  report<Reciprocal>();
  report<ReciprocalRoot>();
  report<Root>();
  report<Tanh>();
  report<Sine>(3.1415927f);
  print_values<Exp2>({0, 1, 10, -10, -126, -127, -149, -150, -151, 128, -INFINITY, 1e-40f});
  print_values<Log2>({1, 8, 0, -1, 1e-40f, INFINITY});
  print_values<Reciprocal>({1, 3, 1e-40f, 2e38f, 0, INFINITY});
  print_values<Tanh>({0, 1e-40f, 1e-5f, 0.5f, 20, -INFINITY});
}
