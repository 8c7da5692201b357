// One kernel for many shapes: a Dim takes its value from the arguments of each call, which are
// checked against it.
#include <lathe/lathe.hpp>

#include "common/check.hpp"

namespace lt = lathe;

// Each row minus its mean, for any number of rows.
static void check_rows(const auto& kernel, int rows, int columns) {
  const std::vector<float> x = example::random_values(static_cast<std::size_t>(rows) * columns);
  std::vector<float> y(x.size()), wanted(x.size());
  kernel(lt::view(x, {rows, columns}), lt::view(y, {rows, columns}));
  for (int i = 0; i < rows; ++i) {
    double mean = 0;
    for (int j = 0; j < columns; ++j) mean += x[i * columns + j] / columns;
    for (int j = 0; j < columns; ++j)
      wanted[i * columns + j] = static_cast<float>(x[i * columns + j] - mean);
  }
  example::expect_close((std::to_string(rows) + " x " + std::to_string(columns)).c_str(), y, wanted,
                        1e-5);
}

int main() {
  // [dims]
  lt::Dim rows("rows"), columns("columns", {.min = 8, .max = 4096, .multiple_of = 8});
  lt::Input<float, 2> X("X", {rows, columns});
  lt::Reduce r("r", columns);
  auto total = lt::compute("total", {rows}, [&](lt::Var i) { return lt::sum(X(i, r), r); });
  auto Y = lt::compute("Y", {rows, columns}, [&](lt::Var i, lt::Var j) {
    return X(i, j) - total(i) / lt::cast<float>(columns);
  });
  auto centre = lt::jit(Y, X, Y);
  // [dims]

  for (auto [m, n] : {std::pair{1, 8}, {3, 16}, {100, 1000}, {0, 8}}) check_rows(centre, m, n);

  // [versions]
  // Wide rows that are whole vectors, and any others.
  lt::Schedule any(Y), wide(Y);
  any.parallel(any.loops(Y)[0]);
  wide.assume(columns % 64 == 0 && columns >= 256);
  const auto inner = wide.split<2>(wide.loops(Y)[1], {lt::infer, 64});
  wide.vectorize(inner[1]);
  auto both = lt::jit(lt::versions({wide, any}), X, Y);
  // [versions]
  for (auto [m, n] : {std::pair{5, 256}, {5, 264}, {7, 64}}) check_rows(both, m, n);

  std::vector<float> x(3 * 16), y(3 * 24);
  const auto refused = [&](int x_columns, int y_columns) {
    try {
      centre(lt::view(x, {3, x_columns}), lt::view(y, {3, y_columns}));
    } catch (const lt::UserError& e) {
      std::printf("\n%s\n", e.message().c_str());
    }
  };
  refused(12, 12);  // not a multiple of 8
  refused(16, 24);  // the two do not agree
}
