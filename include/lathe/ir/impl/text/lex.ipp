#pragma once

#include <lathe/ir/lex.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_char(char c) { return is_name_start(c) || is_digit_char(c); }
inline int hex_digit(char c) {
  if (is_digit_char(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The line with this number, without its end.
inline std::string_view line_of(std::string_view source, int line) {
  std::size_t begin = 0;
  for (; line > 1; --line) {
    auto next = source.find('\n', begin);
    if (next == std::string_view::npos) return {};
    begin = next + 1;
  }
  auto end = source.find_first_of("\r\n", begin);
  return source.substr(begin, end == std::string_view::npos ? end : end - begin);
}

/// At most 100 bytes of the line around the place, printable, with '^' under it.
inline std::string underline(std::string_view line, int column, int length) {
  constexpr int kWidth = 100;
  int first = column > kWidth - 20 ? column - kWidth / 2 : 1;
  std::string text, marks;
  for (int at = first; at < first + kWidth && at <= static_cast<int>(line.size()); ++at) {
    char c = line[static_cast<std::size_t>(at - 1)];
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  marks.append(static_cast<std::size_t>(column - first), ' ');
  int rest = static_cast<int>(text.size()) - (column - first);
  if (length > rest) length = rest;
  marks.append(static_cast<std::size_t>(length > 1 ? length : 1), '^');
  return text + "\n" + marks;
}

/// Walks the characters and keeps line, column and the depth of brackets.
class Scanner {
 public:
  Scanner(std::string_view source, Location where) : source_(source), where_(where) {}
  Vec<Token> run();

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  int column() const { return static_cast<int>(at_ - line_begin_) + 1; }
  [[noreturn]] void fail(std::string_view id, std::string_view problem) const {
    fail_at(source_, line_, column(), 1, id, problem, where_);
  }
  void skip_blanks();
  void next_token();
  std::size_t name_length(std::size_t begin) const;
  std::size_t number_length() const;
  std::size_t quoted_length(char quote) const;
  std::size_t symbol_length() const;

  std::string_view source_;
  Location where_;
  Vec<Token> tokens_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1, brackets_ = 0;
  bool starts_line_ = true;
};

inline Vec<Token> Scanner::run() {
  if (source_.size() > std::size_t{1} << 24) fail("L0505", "the text is longer than 16 MiB");
  tokens_.reserve(source_.size() / 4);
  for (skip_blanks(); at_ < source_.size(); skip_blanks()) next_token();
  Token end;
  end.line = line_, end.column = column(), end.starts_line = true;
  tokens_.push_back(end);
  return std::move(tokens_);
}

inline void Scanner::skip_blanks() {
  for (; at_ < source_.size(); ++at_) {
    char c = source_[at_];
    if (c == '#') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      if (at_ == source_.size()) return;
      c = '\n';
    }
    if (c == '\n') {
      ++line_, line_begin_ = at_ + 1;
      if (brackets_ == 0) starts_line_ = true;
    } else if (c == '\t' && starts_line_) {
      fail("L0501", "a tab in an indentation; use blanks");
    } else if (c != ' ' && c != '\r' && c != '\t') {
      return;
    }
  }
}

inline void Scanner::next_token() {
  char c = source_[at_];
  std::size_t length = 0;
  Token token;
  if (is_name_start(c)) {
    token.kind = TokenKind::name, length = name_length(at_);
  } else if (is_digit_char(c)) {
    token.kind = TokenKind::number, length = number_length();
  } else if (c == '"' || c == '`') {
    token.kind = c == '"' ? TokenKind::string : TokenKind::name, length = quoted_length(c);
    token.quoted = c == '`';
  } else {
    token.kind = TokenKind::symbol, length = symbol_length();
    if (c == '(' || c == '[') ++brackets_;
    if ((c == ')' || c == ']') && brackets_ > 0) --brackets_;
  }
  token.text = source_.substr(at_, length);
  token.line = line_, token.column = column();
  token.starts_line = std::exchange(starts_line_, false);
  token.glued = at_ > 0 && source_[at_ - 1] != ' ' && source_[at_ - 1] != '\n';
  if (token.quoted) token.text = token.text.substr(1, length - 2);
  at_ += length;
  tokens_.push_back(token);
}

inline std::size_t Scanner::name_length(std::size_t begin) const {
  std::size_t end = begin;
  while (end < source_.size() &&
         (is_name_char(source_[end]) ||
          (source_[end] == '.' && end + 1 < source_.size() && is_name_char(source_[end + 1]))))
    ++end;
  return end - begin;
}

// Digits, a fraction only if a digit follows the dot ("0..n" is a range), an exponent, and the
// type's name.
inline std::size_t Scanner::number_length() const {
  std::size_t n = 0;
  if (peek() == '0' && peek(1) == 'x') {
    for (n = 2; hex_digit(peek(n)) >= 0;) ++n;
    return n;
  }
  while (is_digit_char(peek(n))) ++n;
  if (peek(n) == '.' && is_digit_char(peek(n + 1)))
    for (++n; is_digit_char(peek(n));) ++n;
  if (peek(n) == 'e') {
    std::size_t digits = peek(n + 1) == '+' || peek(n + 1) == '-' ? n + 2 : n + 1;
    if (is_digit_char(peek(digits)))
      for (n = digits; is_digit_char(peek(n));) ++n;
  }
  while (is_name_char(peek(n))) ++n;
  return n;
}

inline std::size_t Scanner::quoted_length(char quote) const {
  for (std::size_t n = 1; at_ + n < source_.size() && peek(n) != '\n'; ++n) {
    if (peek(n) == '\\' && at_ + n + 1 < source_.size() && peek(n + 1) != '\n')
      ++n;
    else if (peek(n) == quote)
      return n + 1;
  }
  fail("L0504", quote == '"' ? "the string has no closing '\"' on its line"
                             : "the name has no closing '`' on its line");
}

inline std::size_t Scanner::symbol_length() const {
  static constexpr std::string_view symbols[] = {
      "..+", "..", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "(", ")", "[", "]", ",", ":",
      ";",   "@",  "=",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^", "<", ">", "!", "~"};
  for (auto symbol : symbols)
    if (source_.substr(at_, symbol.size()) == symbol) return symbol.size();
  fail("L0501", "this character begins nothing");
}

LATHE_DECL void fail_at(std::string_view source, int line, int column, int length,
                        std::string_view id, std::string_view problem, Location where,
                        std::string_view help) {
  throw UserError(id, cat("parse: line ", line, ", column ", column, ": ", problem), where,
                  underline(line_of(source, line), column, length), help);
}

LATHE_DECL Vec<Token> tokenize(std::string_view source, Location where) {
  return Scanner(source, where).run();
}

LATHE_DECL bool unescape(std::string_view quoted, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      out += quoted[i];
      continue;
    }
    if (++i == quoted.size()) return false;
    switch (quoted[i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case '\\':
      case '"':
      case '`':
        out += quoted[i];
        break;
      case 'x': {
        if (i + 2 >= quoted.size()) return false;
        int high = hex_digit(quoted[i + 1]), low = hex_digit(quoted[i + 2]);
        if (high < 0 || low < 0) return false;
        out += static_cast<char>(high * 16 + low), i += 2;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

LATHE_DECL std::string escape(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      out += '\\', out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      out += "\\x", out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
    } else {
      out += c;
    }
  }
  return out += quote;
}

LATHE_DECL std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  std::string shown(token.text.substr(0, 40));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return token.quoted ? cat("'`", shown, "`'") : cat("'", shown, "'");
}

LATHE_DECL bool is_plain_name(std::string_view text) {
  if (text.empty() || !is_name_start(text[0]) || text.back() == '.') return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_name_char(text[i]) && !(text[i] == '.' && text[i + 1] != '.')) return false;
  return true;
}

}  // namespace detail
}  // namespace lathe
