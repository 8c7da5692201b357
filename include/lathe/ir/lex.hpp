// Tokens of a text, and their places for messages.
#pragma once

#include <cstdint>
#include <lathe/support/error.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <string_view>

namespace lathe {
namespace detail {

enum class TokenKind : std::uint8_t { name, number, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;     ///< as written
  int line = 0, column = 0;  ///< from 1
  bool starts_line = false;  ///< the first of its line, outside brackets
  bool glued = false;        ///< no blank before it
  bool quoted = false;       ///< a name between backticks

  bool is(std::string_view symbol) const { return text == symbol && kind == TokenKind::symbol; }
  /// An unquoted word.
  bool is_word(std::string_view word) const {
    return text == word && kind == TokenKind::name && !quoted;
  }
};

/// Throws a UserError that names line and column and shows the line: "parse: line 3, column 7:
/// <problem>".
[[noreturn]] void fail_at(std::string_view source, int line, int column, int length,
                          std::string_view id, std::string_view problem, Location where,
                          std::string_view help = {});

/// All tokens, the last one of kind end. Errors: L0501 a character that begins no token, a tab in
/// an indentation; L0504 a name or string without its end; L0505 longer than 16 MiB.
Vec<Token> tokenize(std::string_view source, Location where);

/// What stands between the quotes of a string or quoted name; \n \t \\ \" \` and \xHH are escapes.
/// False: a bad escape.
bool unescape(std::string_view quoted, std::string& out);
/// The opposite, with the quotes.
std::string escape(std::string_view text, char quote);

/// How error messages show a token: 'for', end of line, end of text.
std::string describe(const Token& token);

/// Whether the text is a name that needs no backticks (keywords apart).
bool is_plain_name(std::string_view text);

}  // namespace detail
}  // namespace lathe
