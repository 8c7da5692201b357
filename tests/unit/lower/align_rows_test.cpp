// Rows of register tiles that no vector fills.
#include <sstream>

#include "stages.hpp"

namespace lt = lathe;

namespace {

/// Products of small matrices, `together` at a time, whose tile of sums is kept in `scope`.
template <class T>
lt::Schedule small_products(int rows, int columns, int together, lt::Scope scope) {
  lt::Input<T, 3> A("A", {4, rows, 3}), B("B", {4, 3, columns});
  lt::Reduce r("r", 3);
  auto C = lt::compute("C", {4, rows, columns}, [&](lt::Var t, lt::Var i, lt::Var j) {
    return lt::sum(A(t, i, r) * B(t, r, j), r);
  });
  lt::Schedule s(C);
  auto [t, i, j, k] = s.loops<4>(C);
  auto [to, ti] = s.split(t, {lt::infer, together});
  s.reorder({to, k, ti, i, j});
  lt::BlockRef out = s.cache_write(C, scope);
  s.reverse_compute_at(out, to);
  for (const lt::BlockRef& b : {s.decompose_reduction(C, k), out}) s.vectorize(s.loops(b).back());
  s.vectorize(j);
  return s;
}

std::string rows_of(const lt::Program& p, const lt::Target& target = lt::Target("x86-64-v4")) {
  const std::string text = lt::lower_until("align_rows", p, target).str();
  const std::size_t at = text.find("alloc ");
  return text.substr(at, text.find('\n', at) - at);
}

/// What is left in memory of the tile of sums, by the lines that name it: none of a tile in
/// registers.
template <class T>
std::string tile_in_memory(int rows, int columns, int together, lt::Scope scope) {
  const lt::Program p = small_products<T>(rows, columns, together, scope).program();
  std::string left;
  for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
    std::istringstream lowered(test::check_stages(p, {}, lt::Target(target)).str());
    for (std::string line; std::getline(lowered, line);)
      if (line.find("C_cache[") != std::string::npos) left += line + "\n";
  }
  return left;
}

}  // namespace

TEST_CASE("rows that are no multiple of a vector are registers, of any type and rank") {
  for (const int columns : {2, 3, 5, 7, 8, 16, 19, 29, 31}) {
    CAPTURE(columns);
    CHECK(tile_in_memory<float>(5, columns, 1, lt::Scope::local) == "");
  }
  for (const int columns : {5, 11}) {
    CAPTURE(columns);
    CHECK(tile_in_memory<double>(5, columns, 2, lt::Scope::reg) == "");
    CHECK(tile_in_memory<std::int32_t>(2, columns, 4, lt::Scope::local) == "");
    CHECK(tile_in_memory<std::int8_t>(2, columns, 1, lt::Scope::local) == "");
  }
  // A tile that a sum of rows walks at run time stays in memory, under the name that is looked for.
  CHECK(tile_in_memory<float>(300, 5, 1, lt::Scope::local) != "");
}

TEST_CASE("rows lie as far apart as the masked vector at their end reaches") {
  const auto pitch = [](int columns, const lt::Target& target = lt::Target("x86-64-v4")) {
    return rows_of(small_products<float>(2, columns, 2, lt::Scope::local).program(), target);
  };
  CHECK(pitch(5).find("f32[2, 2, 5] scope local align 64 aligned [1, 8, 0]") != std::string::npos);
  CHECK(pitch(19).find("aligned [1, 20, 0]") != std::string::npos);
  CHECK(pitch(21).find("aligned [1, 24, 0]") != std::string::npos);
  CHECK(pitch(16).find("aligned") == std::string::npos);
  // Without masks a row ends in shorter vectors.
  CHECK(pitch(5, lt::Target("x86-64-v3")).find("aligned") == std::string::npos);
}

TEST_CASE("rows stay together that are memory, or lie as a schedule says") {
  lt::Schedule s = small_products<float>(5, 5, 1, lt::Scope::local);
  lt::Schedule global = s;
  global.set_scope("C_cache", lt::Scope::global);
  CHECK(rows_of(global.program()).find("aligned") == std::string::npos);
  s.storage_align("C_cache", 1, 16, 2);
  CHECK(rows_of(s.program()).find("aligned [1, 16, 2]") != std::string::npos);
  test::check_stages(s.program());
  // More rows than there are registers.
  const auto many = small_products<float>(300, 5, 1, lt::Scope::local).program();
  CHECK(rows_of(many).find("aligned") == std::string::npos);
}

TEST_CASE("rows stay together that a vector reads across") {
  const lt::Program p = lt::parse(R"(
program P(in X: f32[4, 5], out Y: f32[20]):
  alloc T: f32[4, 5] scope local
  for i in 0..4:
    vectorized for j in 0..5:
      T[i, j] = X[i, j] * 2.0
  vectorized for k in 0..20:
    Y[k] = T[k / 5, k % 5]
)");
  CHECK(rows_of(p).find("aligned") == std::string::npos);
  test::check_stages(p);
}
