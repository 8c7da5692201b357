#include "apps/apps.hpp"

namespace bench {

namespace {

using Kind = App::Kind;
using Index = std::int64_t;

AppShape same_planes(Index h, Index w) { return {{3, h, w}, {3, h, w}}; }

constexpr AppRow rows[] = {
    {Kind::harris, "harris", 2560, 1536, 60,
     [](Index h, Index w) {
       return AppShape{{3, h + 4, w + 4}, {h, w}};
     },
     1e-4},
    {Kind::unsharp, "unsharp", 2560, 1536, 35, same_planes, 1e-4},
    {Kind::max_filter, "max filter", 2560, 1536, 240, same_planes, 0},
    {Kind::iir_blur, "iir blur", 2560, 1536, 36, same_planes, 1e-4},
    {Kind::bilateral_grid, "bilateral grid", 2560, 1536, 60,
     [](Index h, Index w) {
       return AppShape{{h, w}, {h, w}};
     },
     1e-4},
    {Kind::nl_means, "nl means", 640, 512, 49 * 36, same_planes, 1e-3},
    {Kind::local_laplacian, "local laplacian", 2560, 1536, 300, same_planes, 2e-3},
};

}  // namespace

std::span<const AppRow> app_rows() { return rows; }

const AppRow& app_row(App::Kind kind) { return rows[static_cast<std::size_t>(kind)]; }

}  // namespace bench
