#include "page.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/visit.hpp>
#include <map>
#include <sstream>

#include "support/root.hpp"

namespace docs {
namespace {

/// What an example shows.
struct Shown {
  std::string before, after;
  bool gives = false;  ///< the step has results
};

Shown show(const Row& row) {
  lt::Schedule s(lt::parse(row.program));
  row.steps.take(s);
  Shown out;
  // Queries leave no step behind.
  const auto entries = s.trace().entries;
  out.gives = entries.empty() || !entries.back().results.empty();
  out.before = lt::parse(row.program).str();
  out.after = s.str();
  return out;
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// The titles of docs/errors.d, by id.
const std::map<std::string, std::string>& error_titles() {
  static const std::map<std::string, std::string> titles = [] {
    std::map<std::string, std::string> out;
    for (const auto& file :
         std::filesystem::directory_iterator(test::root() / "../docs/errors.d")) {
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);)
        if (line.rfind("## L", 0) == 0) out[line.substr(3, 5)] = line.substr(9);
    }
    return out;
  }();
  return titles;
}

/// As headings become anchors: lower case, blanks to hyphens, other signs left out.
std::string anchor(std::string_view heading) {
  std::string out;
  for (char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      out += '-';
    else if (std::isalnum(byte) || c == '-' || c == '_')
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::string refusal_links(std::string_view ids) {
  std::string out;
  for (const auto& id : words(ids)) {
    std::string title = error_titles().at(id);
    out += (out.empty() ? "[" : "; [") + id + "](errors.md#" + anchor(id + " " + title) + ") ";
    title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
    out += title;
  }
  return out;
}

std::string kind_text(lt::ArgKind kind, lt::ArgKind items = lt::ArgKind::none) {
  static const std::map<lt::ArgKind, std::string> names = {
      {lt::ArgKind::none, "any"},        {lt::ArgKind::loop, "loop"},
      {lt::ArgKind::block, "block"},     {lt::ArgKind::buffer, "buffer"},
      {lt::ArgKind::number, "number"},   {lt::ArgKind::inferred, "infer"},
      {lt::ArgKind::expr, "expression"}, {lt::ArgKind::text, "text"},
      {lt::ArgKind::word, "word"},       {lt::ArgKind::map, "map"},
      {lt::ArgKind::sample, "sample"},   {lt::ArgKind::factor, "factor"}};
  if (kind == lt::ArgKind::list) return "list of " + kind_text(items) + "s";
  return names.at(kind);
}

std::string signature(const lt::Primitive& p, const Shown& shown) {
  std::string out(p.name);
  out += '(';
  for (const auto& parameter : p.parameters) {
    if (out.back() != '(') out += ", ";
    out += std::string(parameter.name) + ": " + kind_text(parameter.kind, parameter.items);
    if (!parameter.fallback.empty()) out += " = " + std::string(parameter.fallback);
  }
  out += ')';
  if (!shown.gives) return out;
  return out + " → " + kind_text(p.gives) + (p.results == lt::Results::one ? "" : "s");
}

/// Statements of the example, one a line.
std::string code_lines(std::string_view code) {
  std::string out;
  for (std::size_t at = 0; at < code.size(); ++at) {
    out += code[at];
    const bool end = code[at] == ';' && at + 2 < code.size() && code[at + 2] != '}';
    if (end) out += '\n', ++at;
  }
  return out;
}

std::string fenced(const std::string& text, const char* language = "") {
  return std::string("```") + language + "\n" + text + (text.back() == '\n' ? "" : "\n") + "```\n";
}

std::string capital(std::string_view text) {
  std::string out(text);
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

std::string section(const Row& row) {
  const lt::Primitive& p = *lt::find_primitive(row.name);
  const Shown shown = show(row);
  std::string out = "## " + std::string(row.name) + "\n\n" + capital(p.summary) + ". " +
                    std::string(row.meaning) + "\n\n`" + signature(p, shown) + "`\n\n";
  out += fenced(code_lines(row.steps.code), "cpp") + "\n";
  if (shown.after == shown.before)
    out += "on this program, which stays as it is:\n\n" + fenced(shown.before);
  else
    out += "makes of\n\n" + fenced(shown.before) + "\nthis:\n\n" + fenced(shown.after);
  out += "\n- References: " + std::string(row.references) + ".\n";
  out += "- Changes the rounding of floating-point results: " + std::string(row.rounding) + ".\n";
  out += "- Refused: " +
         (row.refusals == "none" ? "only with the ids of all steps" : refusal_links(row.refusals)) +
         ".\n";
  return out + "- Halide: " + std::string(row.halide) + ". TVM: " + std::string(row.tvm) + ".\n";
}

/// Whether something that the program had is named by no loop or block after the step.
bool consumes(const lt::Program& before, const lt::Program& after) {
  auto refs = [](const lt::Program& p) {
    std::vector<const lt::RefCounted*> out;
    lt::each_statement(p->body, [&](const lt::Stmt& s) {
      if (const auto* f = s.as<lt::ForNode>()) out.push_back(f->var.get());
      if (const auto* b = s.as<lt::BlockNode>()) out.push_back(b->tag.get());
    });
    return out;
  };
  const auto left = refs(after);
  for (const auto* ref : refs(before))
    if (std::find(left.begin(), left.end(), ref) == left.end()) return true;
  return false;
}

}  // namespace

std::vector<Row> all_rows() {
  std::vector<Row> out;
  for (auto rows : {loop_rows, place_rows, memory_rows, other_rows})
    for (auto& row : rows()) out.push_back(row);
  return out;
}

const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
  for (const auto& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string problem(const Row& row) {
  for (std::string_view field : {row.meaning, row.references, row.rounding, row.refusals,
                                 row.halide, row.tvm, row.program, row.steps.code})
    if (field.empty()) return "a field is empty";
  if (!lt::find_primitive(row.name)) return "no such primitive";
  if (row.refusals != "none")
    for (const auto& id : words(row.refusals))
      if (!error_titles().count(id)) return id + " has no heading in docs/errors.d";
  lt::Schedule s(lt::parse(row.program));
  const lt::Program before = s.program();
  row.steps.take(s);
  const auto entries = s.trace().entries;
  if (row.steps.code.find("s." + std::string(row.name)) == std::string_view::npos ||
      (!entries.empty() && entries.back().primitive->name != row.name))
    return "the example does not end with it";
  const bool says = row.references.find("consumed") != std::string_view::npos;
  if (says != consumes(before, s.program())) return "references: the example shows otherwise";
  if (!s.numerics().empty() && row.rounding == kNever) return "rounding: the example reassociates";
  return {};
}

std::string page() {
  std::string out =
      "# Schedule primitives\n\n"
      "Each step of a schedule is checked, leaves a valid program, and never changes what is "
      "computed. This page is written by\n"
      "a test (`LATHE_UPDATE_DOCS=1 build/run/tests/docs`) from the records of the primitives and "
      "the rows in `tests/docs`; its\n"
      "programs are what Lathe prints before and after. A refused step throws `lt::UserError` and "
      "changes nothing. Any step may\n"
      "be refused with " +
      refusal_links(kCommonRefusals) +
      ".\n\n| primitive | what it does | Halide | TVM |\n|---|---|---|---|\n";
  const std::vector<Row> rows = all_rows();
  for (const auto& row : rows)
    out += "| [" + std::string(row.name) + "](#" + anchor(row.name) + ") | " +
           std::string(lt::find_primitive(row.name)->summary) + " | " + std::string(row.halide) +
           " | " + std::string(row.tvm) + " |\n";
  for (const auto& row : rows) out += "\n" + section(row);
  return out;
}

}  // namespace docs
