#pragma once

#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

LATHE_DECL bool is_reserved(std::string_view word) {
  static constexpr std::string_view words[] = {
      "program",        "in",           "out",    "inout",  "stage",    "by",
      "strides",        "scope",        "align",  "pass",   "for",      "block",
      "alloc",          "let",          "stream", "where",  "atomic",   "if",
      "else",           "while",        "assert", "eval",   "reducer",  "reduce",
      "opaque",         "init",         "reads",  "writes", "parallel", "vectorized",
      "unrolled",       "true",         "false",  "inf",    "nan",      "nonassociative",
      "noncommutative", "stream_lines", "aligned"};
  for (auto w : words)
    if (w == word) return true;
  if (ForKind kind; parse_for_kind(word, kind) && is_bound(kind)) return true;
  auto dot = word.find('.');
  DType dtype;
  return dot != std::string_view::npos &&
         (word.substr(dot) == ".inf" || word.substr(dot) == ".nan") &&
         parse_dtype(word.substr(0, dot), dtype);
}

LATHE_DECL std::string quoted_name(std::string_view name) {
  return is_plain_name(name) && !is_reserved(name) ? std::string(name) : escape(name, '`');
}

// Levels above the current one are those of a block's own iterators, seen from its bindings.
inline bool PrintedNames::taken(const std::string& name) const {
  const auto* found = entries_.find(name);
  if (!found) return false;
  for (const auto& e : *found)
    if (!e.hidden_in_blocks || e.level >= level_) return true;
  return false;
}

inline std::string PrintedNames::unique(const std::string& base) const {
  if (!taken(base)) return base;
  const auto* count = numbered_.find(base);
  for (std::size_t k = count ? *count + 1 : 1;; ++k) {
    std::string numbered = cat(base, '_', k);
    if (!taken(numbered)) return numbered;
  }
}

inline std::string PrintedNames::bind(const RefCounted* node, std::string_view name,
                                      bool hidden_in_blocks) {
  Bound next;
  next.base = name;
  next.name = unique(next.base);
  next.text = quoted_name(next.name);
  entries_[next.name].push_back({node, level_, hidden_in_blocks});
  if (next.name != next.base) ++numbered_[next.base];
  return (bound_[node] = std::move(next)).text;
}

inline void PrintedNames::release(const RefCounted* node) {
  const Bound& bound = bound_[node];
  auto& list = entries_[bound.name];
  for (std::size_t k = list.size(); k-- > 0;) {
    if (list[k].node != node) continue;
    list.erase_at(k);
    if (bound.name != bound.base) --numbered_[bound.base];
    return;
  }
}

inline std::string PrintedNames::use(const RefCounted* node, std::string_view name) {
  const Bound* found = bound_.find(node);
  return found ? found->text : bind(node, name);
}

}  // namespace detail
}  // namespace lathe
