// docs/schedule.md and docs/coming-from.md say what is so.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "page.hpp"
#include "phrase.hpp"
#include "support/root.hpp"

TEST_CASE("docs: each primitive has its row, which holds what it says") {
  const auto rows = docs::all_rows();
  for (const auto* primitive : docs::lt::primitives()) {
    INFO(std::string(primitive->name), ": add a row to tests/docs");
    CHECK(docs::find_row(rows, primitive->name) != nullptr);
  }
  for (const auto& row : rows) {
    INFO(std::string(row.name));
    CHECK(docs::problem(row) == "");
  }
  CHECK(rows.size() == docs::lt::primitives().size());
}

namespace {

/// With LATHE_UPDATE_DOCS=1 in the environment the page is written.
void check_page(const char* name, const std::string& page) {
  const auto path = test::root() / ".." / "docs" / name;
  if (const char* update = std::getenv("LATHE_UPDATE_DOCS"); update && std::string(update) == "1")
    std::ofstream(path) << page;
  std::ifstream in(path);
  const std::string committed((std::istreambuf_iterator<char>(in)), {});
  INFO("LATHE_UPDATE_DOCS=1 build/run/tests/docs writes docs/", name);
  CHECK(committed == page);
}

}  // namespace

TEST_CASE("docs: the pages are up to date") {
  check_page("schedule.md", docs::page());
  check_page("coming-from.md", docs::coming_from());
}

TEST_CASE("docs: what a page says to write is legal") {
  for (const auto& from : {docs::from_halide(), docs::from_tvm(), docs::from_eigen()})
    for (const auto& phrases : from)
      for (const auto& row : phrases.rows) {
        INFO(std::string(row.theirs), ": ", std::string(row.ours));
        CHECK(!row.differs.empty());
        docs::Scene scene;
        if (row.run) CHECK_NOTHROW(row.run(scene));
        CHECK(lathe::verify_reason(scene.s.program(), lathe::Stage::blocks) == "");
      }
}
