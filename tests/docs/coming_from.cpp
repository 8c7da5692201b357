#include "code_text.hpp"
#include "phrase.hpp"

namespace docs {
namespace {

std::string table(const Phrases& phrases) {
  std::string out = "\n### " + std::string(phrases.title) +
                    "\n\n| there | here | what differs |\n|---|---|---|\n";
  for (const auto& row : phrases.rows) {
    const std::string ours(row.run ? "`" + statement_text(row.ours) + "`" : std::string(row.ours));
    out +=
        "| " + std::string(row.theirs) + " | " + ours + " | " + std::string(row.differs) + " |\n";
  }
  return out;
}

}  // namespace

std::string coming_from() {
  std::string out =
      "# Coming from Halide, TVM or Eigen\n\n"
      "What you would write there, and what that is here. Our side is compiled and run by a test, "
      "which also writes this page\n"
      "(`LATHE_UPDATE_DOCS=1 build/run/tests/docs`; the rows are in `tests/docs`). `A` and `B` are "
      "inputs of 64 x 64, `P` is\n"
      "`2 A`, `C` the product of `P` and `B`, `D` is `max(C, 0)`; `s` is a schedule of `D`, `i`, "
      "`j`, `q` are the loops of `C`, and\n"
      "`x`, `y` those of `D`. [schedule.md](schedule.md) describes each step.\n\n"
      "Three things hold everywhere. A step that is not proved legal is refused with an id, your "
      "line, and what would be legal;\n"
      "there is no schedule with undefined behaviour. References are values that survive a step "
      "unless it consumes them, and then\n"
      "say which step did. And no step changes a result, other than the rounding that "
      "`s.numerics()` lists.\n";
  auto chapter = [&](const char* title, const std::vector<Phrases>& tables) {
    out += "\n## " + std::string(title) + "\n";
    for (const auto& t : tables) out += table(t);
  };
  chapter("Halide", from_halide());
  chapter("TVM", from_tvm());
  chapter("Eigen", from_eigen());
  return out;
}

}  // namespace docs
