#pragma once

#include <algorithm>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline void Printer::dims(const ProgramNode& p) {
  bool first = true;
  for (const auto& d : p.dims) {
    put(std::exchange(first, false) ? "<" : ", ", names_.bind(d->var.get(), d->var->name));
    if (d->min != 0 || d->max != INT64_MAX) put(" in ", d->min, "..");
    if (d->max != INT64_MAX) put('=', d->max);
    if (d->multiple_of != 1) put(" by ", d->multiple_of);
  }
  if (!first) put('>');
}

inline void Printer::param(const Param& p) {
  const bool owned = p.constancy == Constancy::owned;
  if (!owned) put(p.access == Access::in ? "in " : p.access == Access::out ? "out " : "inout ");
  if (p.constancy != Constancy::none) put("constant ");
  if (!p.buffer) return put(names_.bind(p.var.get(), p.var->name), ": ", p.var->dtype.str());
  put(names_.bind(p.buffer.get(), p.buffer->name), ": ");
  BufferNode type = *p.buffer;
  if (owned) type.strides.clear();  // constant_buffer has no others
  buffer_type(type);
  if (p.content) put(" hash \"", p.content->hash().str(), '"');
}

inline void Printer::params(const ProgramNode& p, bool one_per_line) {
  for (std::size_t k = 0; k < p.params.size(); ++k) {
    if (k > 0) put(',');
    if (one_per_line)
      end_line(), begin_line(2);
    else if (k > 0)
      put(' ');
    param(p.params[k]);
  }
}

inline void Printer::program(const Program& program) {
  constexpr std::size_t kColumns = 100;
  const ProgramNode& p = *program;
  std::string head;
  for (bool one_per_line : {false, true}) {
    out_.clear(), line_ = 1, names_ = {};
    begin_line(0);
    put("program ", quoted_name(p.name)), dims(p), put('('), params(p, one_per_line), put(')');
    if (p.scheduled) put(" scheduled");
    if (p.stage != Stage::blocks) put(" stage ", to_text(p.stage));
    put(':');
    if (out_.size() <= kColumns || p.params.empty()) break;
  }
  end_line();
  reducers_of(p.body, 1);
  body(p.body, 1);
}

inline Vec<std::string_view> lines_of(std::string_view text) {
  Vec<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// The lines to show: up to three enclosing ones, the line itself, up to three of its body. Indices
/// from 0.
inline Vec<std::size_t> lines_around(const Vec<std::string_view>& lines, std::size_t at) {
  Vec<std::size_t> shown;
  std::size_t indent = indent_of(lines[at]);
  for (std::size_t k = at; k-- > 0 && shown.size() < 3;) {
    if (indent_of(lines[k]) >= indent || lines[k].substr(0, 7) == "program" || lines[k][0] != ' ')
      continue;
    indent = indent_of(lines[k]);
    shown.push_back(k);
  }
  std::reverse(shown.begin(), shown.end());
  shown.push_back(at);
  for (std::size_t k = at + 1;
       k < lines.size() && k <= at + 3 && indent_of(lines[k]) > indent_of(lines[at]); ++k)
    shown.push_back(k);
  return shown;
}

LATHE_DECL std::string excerpt_of(const Program& program, const RefCounted* node) {
  PrintedText printed = print(program);
  const TextPlace* place = printed.find(node);
  if (!place) return {};
  auto lines = lines_of(printed.text);
  auto at = static_cast<std::size_t>(place->line - 1);
  Vec<std::size_t> shown = lines_around(lines, at);
  std::size_t margin = indent_of(lines[shown.front()]);
  std::string out;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    std::string_view line = lines[shown[k]];
    if (k > 0 && shown[k] != shown[k - 1] + 1)
      append(out, std::string(indent_of(lines[shown[k - 1]]) - margin + 2, ' '), "...\n");
    append(out, line.substr(std::min(margin, line.size())), '\n');
    if (shown[k] != at) continue;
    out.append(static_cast<std::size_t>(place->column) - 1 - margin, ' ');
    out.append(static_cast<std::size_t>(std::max(1, place->length)), '^') += '\n';
  }
  return out;
}

}  // namespace detail

LATHE_DECL const TextPlace* PrintedText::find(const RefCounted* node) const {
  for (const auto& place : places)
    if (place.node == node) return &place;
  return nullptr;
}

LATHE_DECL PrintedText print(const Program& program) {
  detail::Printer printer;
  printer.program(program);
  return printer.take();
}

LATHE_DECL std::string str(const Program& program) {
  return program ? print(program).text : "<none>\n";
}

LATHE_DECL std::string str(const Stmt& stmt) {
  if (!stmt) return "<none>\n";
  detail::Printer printer;
  printer.reducers_of(stmt, 0);
  printer.body(stmt, 0);
  return printer.take().text;
}

LATHE_DECL std::string str(const AnyExpr& expr) {
  detail::Printer printer;
  printer.expr(expr);
  return printer.take().text;
}

LATHE_DECL std::string Program::str() const { return lathe::str(*this); }

LATHE_DECL std::string excerpt(const Program& program, const VarRef& loop) {
  return detail::excerpt_of(program, loop.get());
}
LATHE_DECL std::string excerpt(const Program& program, const BlockTag& block) {
  return detail::excerpt_of(program, block.get());
}
LATHE_DECL std::string excerpt(const Program& program, const Stmt& stmt) {
  return detail::excerpt_of(program, stmt.get());
}

}  // namespace lathe
