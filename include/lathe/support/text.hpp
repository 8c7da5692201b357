// Text: building it, and numbers printed and read the same under every locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <lathe/support/config.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace lathe {

/// Shortest text that reads back as the same number. Always looks like a float: "1.0", "1e+20",
/// "-0.0", "inf", "nan".
std::string format_float(double value);
std::string format_float(float value);
std::string format_int(std::int64_t value);
std::string format_uint(std::uint64_t value);
/// 16 digits, as LLVM IR writes constants: 0x3FF0000000000000 (a float is widened to double first,
/// which is exact).
std::string format_hex_bits(double value);

/// With up to three digits: "1.17", "43.8", "900".
std::string three_digits(double value);
/// The same in the unit that leaves 1 to 999 before it: "1.5 MiB", "43.8 k", "20 us".
std::string bytes_in_units(double bytes);
std::string count_in_units(double count);
std::string seconds_in_units(double seconds);

/// All of `text` as a number; false leaves `value` as it was.
bool parse_float(std::string_view text, double& value);
bool parse_float(std::string_view text, float& value);
bool parse_int(std::string_view text, std::int64_t& value);

/// Without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);
/// What stands before the next `separator`, trimmed; it is taken off the text with the separator.
std::string_view taken_until(std::string_view& text, char separator);

/// One argument of cat(): text, a character or a number, rendered on the stack where it fits.
class TextPiece {
 public:
  TextPiece(std::string_view text) : text_(text) {}
  TextPiece(const std::string& text) : text_(text) {}
  TextPiece(const char* text) : text_(text) {}
  TextPiece(char c) : digits_{c}, text_(digits_, 1) {}
  TextPiece(bool b) : text_(b ? "true" : "false") {}
  template <class I>
  requires(std::is_integral_v<I>) TextPiece(I value) {
    if constexpr (std::is_signed_v<I>)
      set_int(value);
    else
      set_uint(value);
  }
  TextPiece(double value);
  TextPiece(float value);
  TextPiece(const TextPiece&) = delete;
  TextPiece& operator=(const TextPiece&) = delete;

  std::string_view text() const { return text_; }

 private:
  void set_int(std::int64_t value);
  void set_uint(std::uint64_t value);

  char digits_[32];
  std::string_view text_;
};

void append_pieces(std::string& out, std::initializer_list<TextPiece> pieces);

/// cat("loop ", i, " of ", n)
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  append_pieces(out, {TextPiece(parts)...});
  return out;
}
template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  append_pieces(out, {TextPiece(parts)...});
}

/// Elements with `separator` between them; `render(element)` gives anything that cat() takes.
template <class Range, class Render>
std::string join(const Range& range, std::string_view separator, Render render) {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += separator;
    first = false;
    append(out, render(element));
  }
  return out;
}
template <class Range>
std::string join(const Range& range, std::string_view separator) {
  return join(
      range, separator, [](const auto& element) -> const auto& { return element; });
}

/// Text in lines, each indented by two blanks per open level.
class TextWriter {
 public:
  template <class... Parts>
  TextWriter& line(const Parts&... parts) {
    begin();
    append(text_, parts...);
    text_ += '\n';
    return *this;
  }
  /// Lines written until the matching close() are one level deeper.
  template <class... Parts>
  TextWriter& open(const Parts&... parts) {
    line(parts...);
    ++level_;
    return *this;
  }
  TextWriter& close() {
    --level_;
    return *this;
  }
  template <class... Parts>
  TextWriter& close(const Parts&... parts) {
    --level_;
    return line(parts...);
  }
  TextWriter& blank() {
    text_ += '\n';
    return *this;
  }

  int level() const { return level_; }
  const std::string& str() const& { return text_; }
  std::string str() && { return static_cast<std::string&&>(text_); }

 private:
  void begin() { text_.append(static_cast<std::size_t>(level_ > 0 ? level_ * 2 : 0), ' '); }

  std::string text_;
  int level_ = 0;
};

}  // namespace lathe
