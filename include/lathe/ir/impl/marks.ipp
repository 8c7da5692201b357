#pragma once

#include <lathe/ir/marks.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline constexpr std::int64_t kMostMark = 1 << 20;

inline constexpr MarkRow kMarkRows[] = {
    {"unroll_explicit", true, MarkValue::number, 1, 4096},
    {"max_threads", true, MarkValue::number, 1, kMostMark},
    {"tail", true, MarkValue::word, 0, 0, "exact guard mask peel shift round_up"},
    {"partition", true, MarkValue::word, 0, 0, "automatic never always"},
    {"prefetch", true, MarkValue::hints},
    {"hoist_storage", true, MarkValue::names},
    {"double_buffer", true, MarkValue::names},
    {"rolling_buffer", true, MarkValue::names},
    {"software_pipeline", true, MarkValue::stages},
    // The next two stand in a program while it is lowered.
    {"pipeline_buffers", true, MarkValue::counts},
    {"pipeline_statement", true, MarkValue::number, 0, kMostMark},
    {"guards", false, MarkValue::number, 0, kMostMark},
    {"stream", false, MarkValue::number, 0, 2},
    {"any_order", false, MarkValue::number, 0, 1},
};

LATHE_DECL std::span<const MarkRow> mark_rows() { return kMarkRows; }

/// Takes the part up to the separator, or all; false: nothing is left.
inline bool take_part(std::string_view& rest, char separator, std::string_view& part, bool& more) {
  if (!more) return false;
  const std::size_t end = rest.find(separator);
  part = rest.substr(0, end);
  more = end != std::string_view::npos;
  rest.remove_prefix(more ? end + 1 : rest.size());
  return true;
}

inline bool in_range(std::string_view digits, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  return parse_int(digits, value) && value >= min && value <= max;
}

/// One entry of a list. Names may hold colons, so fields are counted from the end.
inline bool mark_entry_fits(std::string_view entry, MarkValue kind) {
  auto last = [&](std::int64_t min, std::int64_t max) {
    const std::size_t at = entry.rfind(':');
    if (at == std::string_view::npos || !in_range(entry.substr(at + 1), min, max)) return false;
    entry = entry.substr(0, at);
    return true;
  };
  switch (kind) {
    case MarkValue::hints:
      return last(0, 3) && last(1, kMostMark) && !entry.empty();
    case MarkValue::stages:
      return last(0, kMostMark) && in_range(entry, 0, kMostMark);
    case MarkValue::counts:
      return last(1, kMostMark) && !entry.empty();
    default:
      return !entry.empty();
  }
}

inline bool mark_list_fits(std::string_view list, MarkValue kind) {
  std::string_view entry;
  for (bool more = true; take_part(list, ',', entry, more);)
    if (!mark_entry_fits(entry, kind)) return false;
  return true;
}

inline bool is_one_of(std::string_view text, std::string_view words) {
  std::string_view word;
  for (bool more = true; take_part(words, ' ', word, more);)
    if (word == text) return true;
  return false;
}

inline std::string expected_value(const MarkRow& row) {
  switch (row.value) {
    case MarkValue::number:
      return cat("a number from ", row.min, " to ", row.max);
    case MarkValue::word:
      return cat("one of ", row.words);
    case MarkValue::names:
      return "a text of names between commas";
    case MarkValue::hints:
      return "a text of buffer:distance:locality between commas, the distance from 1 to 2^20, the "
             "locality from 0 to 3";
    case MarkValue::stages:
      return "a text of stage:order between commas, both from 0 to 2^20";
    case MarkValue::counts:
      return "a text of buffer:versions between commas";
  }
  return {};
}

inline bool mark_fits(const AttrValue& value, const MarkRow& row) {
  if (value.is_text != (row.value != MarkValue::number)) return false;
  if (!value.is_text) return value.number >= row.min && value.number <= row.max;
  if (row.value == MarkValue::word) return is_one_of(value.text, row.words);
  return mark_list_fits(value.text, row.value);
}

LATHE_DECL std::string mark_problem(const Annotation& a, bool on_loop) {
  if (a.key.starts_with("user.") && a.key.size() > 5) return {};
  const char* what = on_loop ? "loop" : "block";
  for (const auto& row : kMarkRows) {
    if (row.key != a.key || row.on_loop != on_loop) continue;
    if (mark_fits(a.value, row)) return {};
    return cat("the annotation '", a.key, "' of a ", what, " is ", expected_value(row));
  }
  std::string known;
  for (const auto& row : kMarkRows)
    if (row.on_loop == on_loop) append(known, known.empty() ? "" : ", ", row.key);
  return cat("no annotation of a ", what, " is called '", a.key, "'; there are ", known,
             ", and free ones that start with 'user.'");
}

}  // namespace lathe::detail
