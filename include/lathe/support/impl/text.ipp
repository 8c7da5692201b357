#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

template <class F>
std::size_t write_float(char (&buffer)[32], F value) {
  if (value != value) return std::strcpy(buffer, "nan"), 3;
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  auto size = static_cast<std::size_t>(end - buffer);
  if (std::string_view(buffer, size).find_first_of(".en") == std::string_view::npos) {
    buffer[size++] = '.';
    buffer[size++] = '0';
  }
  return size;
}

template <class N>
bool parse_all(std::string_view text, N& value) {
  N read{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  value = read;
  return true;
}

template <class N>
std::string_view write_integer(char (&buffer)[32], N value) {
  return {buffer, static_cast<std::size_t>(
                      std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer)};
}

}  // namespace detail

LATHE_DECL TextPiece::TextPiece(double value)
    : text_(digits_, detail::write_float(digits_, value)) {}
LATHE_DECL TextPiece::TextPiece(float value)
    : text_(digits_, detail::write_float(digits_, value)) {}
LATHE_DECL void TextPiece::set_int(std::int64_t value) {
  text_ = detail::write_integer(digits_, value);
}
LATHE_DECL void TextPiece::set_uint(std::uint64_t value) {
  text_ = detail::write_integer(digits_, value);
}

LATHE_DECL void append_pieces(std::string& out, std::initializer_list<TextPiece> pieces) {
  for (const TextPiece& piece : pieces) out += piece.text();
}

LATHE_DECL std::string format_float(double value) { return std::string(TextPiece(value).text()); }
LATHE_DECL std::string format_float(float value) { return std::string(TextPiece(value).text()); }
LATHE_DECL std::string format_int(std::int64_t value) {
  return std::string(TextPiece(value).text());
}
LATHE_DECL std::string format_uint(std::uint64_t value) {
  return std::string(TextPiece(value).text());
}

LATHE_DECL std::string format_hex_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  std::string out = "0x0000000000000000";
  for (std::size_t i = out.size(); bits; bits >>= 4) out[--i] = "0123456789ABCDEF"[bits & 15];
  return out;
}

LATHE_DECL std::string three_digits(double value) {
  const double scale = value < 10 ? 100 : value < 100 ? 10 : 1;
  std::string text = format_float(std::round(value * scale) / scale);
  if (text.size() > 2 && text.substr(text.size() - 2) == ".0") text.resize(text.size() - 2);
  return text;
}

namespace detail {

inline std::string in_units(double value, double step,
                            std::initializer_list<std::string_view> units) {
  const auto* unit = units.begin();
  for (; value >= step && unit + 1 != units.end(); ++unit) value /= step;
  return three_digits(value) + std::string(*unit);
}

}  // namespace detail

LATHE_DECL std::string bytes_in_units(double bytes) {
  return detail::in_units(bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB"});
}
LATHE_DECL std::string count_in_units(double count) {
  return detail::in_units(count, 1000, {"", " k", " M", " G", " T", " P"});
}
LATHE_DECL std::string seconds_in_units(double seconds) {
  return detail::in_units(seconds * 1e9, 1000, {" ns", " us", " ms", " s"});
}

LATHE_DECL bool parse_float(std::string_view text, double& value) {
  return detail::parse_all(text, value);
}
LATHE_DECL bool parse_float(std::string_view text, float& value) {
  return detail::parse_all(text, value);
}
LATHE_DECL bool parse_int(std::string_view text, std::int64_t& value) {
  return detail::parse_all(text, value);
}

LATHE_DECL std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

LATHE_DECL std::string_view taken_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace lathe
