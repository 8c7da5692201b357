// Halide's applications as problems: what each one reads and gives. Its file holds both sides.
#pragma once

#include <span>

#include "core/case.hpp"
#include "core/extents.hpp"

namespace bench {

/// Planes, rows, columns.
struct AppShape {
  Extents in, out;
};

struct AppRow {
  App::Kind kind;
  const char* name;
  std::int64_t h, w;  ///< the size that is measured
  double operations;  ///< nominal, for each pixel of the result
  AppShape (*shape)(std::int64_t h, std::int64_t w);
  double tolerance;  ///< of results in [0, 1]; where a rounded value picks a table's entry
};

std::span<const AppRow> app_rows();
const AppRow& app_row(App::Kind kind);
inline AppShape app_shape(const App& app) { return app_row(app.kind).shape(app.h, app.w); }

}  // namespace bench
