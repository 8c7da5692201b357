// The default schedule beside plain loops, on kinds of programs that the suites do not have. Prints
// a row of docs/performance.md for each: the fastest call of many of both, in turns, on one thread.
#include <cmath>
#include <cstdint>
#include <lathe/lathe.hpp>

#include "../examples/common/check.hpp"

namespace lt = lathe;

namespace {

using Floats = std::vector<float>;

lt::Context& one_thread() {
  static lt::Context context({.threads = 1});
  return context;
}
lt::JitOptions options() { return {.context = &one_thread(), .require_compiled = true}; }

template <class T>
void row(const char* what, const std::vector<T>& got, const std::vector<T>& wanted,
         const std::function<void()>& lathe, const std::function<void()>& plain) {
  const std::vector<double> ms = example::best_ms({lathe, plain}, 1.0);
  const bool same = example::max_error(got, wanted) < 1e-3;
  std::printf("| %s | %.2f |%s\n", what, ms[1] / ms[0], same ? "" : " differs");
}

void sums(int n) {
  lt::Input<float, 2> X("X", {n, n});
  lt::Reduce r("r", n);
  auto rows = lt::compute("rows", {n}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto columns = lt::compute("columns", {n}, [&](lt::Var j) { return lt::sum(X(r, j), r); });
  auto f = lt::jit({rows, options()}, X, rows);
  auto g = lt::jit({columns, options()}, X, columns);
  const Floats x = example::random_values(static_cast<std::size_t>(n) * n);
  Floats y(n), z(n);
  row(
      "sums of rows, 1000x1000", y, z,
      [&] {
        f(lt::view(x, {n, n}), y);
      },
      [&] {
        for (int i = 0; i < n; ++i) {
          float sum = 0;
          for (int k = 0; k < n; ++k) sum += x[i * n + k];
          z[i] = sum;
        }
      });
  row(
      "sums of columns, 1000x1000", y, z,
      [&] {
        g(lt::view(x, {n, n}), y);
      },
      [&] {
        for (int j = 0; j < n; ++j) z[j] = 0;
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) z[j] += x[i * n + j];
      });
}

void softmax(int m, int n) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n), q("q", n);
  auto top = lt::compute("top", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto part =
      lt::compute("part", {m, n}, [&](lt::Var i, lt::Var j) { return lt::exp(X(i, j) - top(i)); });
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(part(i, q), q); });
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return part(i, j) / total(i); });
  auto f = lt::jit({Y, options()}, X, Y);
  const Floats x = example::random_values(static_cast<std::size_t>(m) * n);
  Floats y(x.size()), z(x.size());
  row(
      "softmax of rows, 128x1024", y, z,
      [&] {
        f(lt::view(x, {m, n}), lt::view(y, {m, n}));
      },
      [&] {
        for (int i = 0; i < m; ++i) {
          float most = x[i * n], sum = 0;
          for (int j = 0; j < n; ++j) most = std::max(most, x[i * n + j]);
          for (int j = 0; j < n; ++j) sum += z[i * n + j] = std::exp(x[i * n + j] - most);
          for (int j = 0; j < n; ++j) z[i * n + j] /= sum;
        }
      });
}

void transpose(int n) {
  lt::Input<float, 2> X("X", {n, n});
  auto Y = lt::compute("Y", {n, n}, [&](lt::Var i, lt::Var j) { return X(j, i); });
  auto f = lt::jit({Y, options()}, X, Y);
  const Floats x = example::random_values(static_cast<std::size_t>(n) * n);
  Floats y(x.size()), z(x.size());
  row(
      "transpose, 1000x1000", y, z,
      [&] {
        f(lt::view(x, {n, n}), lt::view(y, {n, n}));
      },
      [&] {
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) z[i * n + j] = x[j * n + i];
      });
}

void convolution(int channels, int size) {
  const int c = channels, h = size;
  lt::Input<float, 3> X("X", {c, h + 2, h + 2});
  lt::Input<float, 4> W("W", {c, c, 3, 3});
  lt::Reduce k("k", c), p("p", 3), q("q", 3);
  auto Y = lt::compute("Y", {c, h, h}, [&](lt::Var o, lt::Var y, lt::Var x) {
    return lt::sum(X(k, y + p, x + q) * W(o, k, p, q), {k, p, q});
  });
  auto f = lt::jit({Y, options()}, X, W, Y);
  const int w = h + 2;
  const Floats x = example::random_values(static_cast<std::size_t>(c) * w * w),
               weights = example::random_values(static_cast<std::size_t>(c) * c * 9);
  Floats out(static_cast<std::size_t>(c) * h * h), z(out.size());
  row(
      "convolution 3x3, 64 channels of 56x56", out, z,
      [&] {
        f(lt::view(x, {c, w, w}), lt::view(weights, {c, c, 3, 3}), lt::view(out, {c, h, h}));
      },
      [&] {
        std::fill(z.begin(), z.end(), 0.0f);
        for (int o = 0; o < c; ++o)
          for (int in = 0; in < c; ++in)
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b)
                for (int i = 0; i < h; ++i)
                  for (int j = 0; j < h; ++j)
                    z[(o * h + i) * h + j] +=
                        x[(in * w + i + a) * w + j + b] * weights[((o * c + in) * 3 + a) * 3 + b];
      });
}

void add(int* __restrict to, int factor, const std::int8_t* __restrict row, int n) {
  for (int j = 0; j < n; ++j) to[j] += factor * row[j];
}

void bytes(int m, int n, int k) {
  lt::Input<std::uint8_t, 2> X("X", {m, k});
  lt::Input<std::int8_t, 2> W("W", {k, n});
  lt::Reduce r("r", k);
  auto C = lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<int>(X(i, r)) * lt::cast<int>(W(r, j)), r);
  });
  auto f = lt::jit({C, options()}, X, W, C);
  std::vector<std::uint8_t> x(static_cast<std::size_t>(m) * k, 3);
  std::vector<std::int8_t> w(static_cast<std::size_t>(k) * n, -2);
  std::vector<int> out(static_cast<std::size_t>(m) * n), z(out.size());
  row(
      "product of bytes in ints, 128x256x512", out, z,
      [&] {
        f(lt::view(x, {m, k}), lt::view(w, {k, n}), lt::view(out, {m, n}));
      },
      [&] {
        std::fill(z.begin(), z.end(), 0);
        const int rows = m, columns = n, depth = k;  // ints that stores to ints can't reach
        for (int i = 0; i < rows; ++i)
          for (int q = 0; q < depth; ++q)
            add(&z[i * columns], x[i * depth + q], &w[q * columns], columns);
      });
}

void gather(int rows, int n) {
  lt::Input<float, 2> T("T", {rows, n});
  lt::Input<std::int64_t, 1> I("I", {rows});
  auto Y = lt::compute("Y", {rows, n}, [&](lt::Var i, lt::Var j) { return T(I(i), j); });
  auto f = lt::jit({Y, options()}, T, I, Y);
  const Floats t = example::random_values(static_cast<std::size_t>(rows) * n);
  std::vector<std::int64_t> at(rows);
  for (int i = 0; i < rows; ++i) at[i] = i * 37 % rows;
  Floats y(t.size()), z(t.size());
  row(
      "rows gathered by index, 1000x256", y, z,
      [&] {
        f(lt::view(t, {rows, n}), at, lt::view(y, {rows, n}));
      },
      [&] {
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < n; ++j) z[i * n + j] = t[at[i] * n + j];
      });
}

}  // namespace

int main() {
  sums(1000);
  softmax(128, 1024);
  transpose(1000);
  convolution(64, 56);
  bytes(128, 256, 512);
  gather(1000, 256);
}
