#include <doctest/doctest.h>

#include <lathe/ir/lex.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string tokens_of(std::string_view text) {
  std::string out;
  for (const auto& token : detail::tokenize(text, {})) {
    if (!out.empty()) out += ' ';
    if (token.starts_line) out += '|';
    out += token.kind == detail::TokenKind::end ? "." : std::string(token.text);
  }
  return out;
}

}  // namespace

TEST_CASE("text splits into names, numbers, strings and symbols") {
  CHECK(tokens_of("for i in 0..n:") == "|for i in 0 .. n : |.");
  CHECK(tokens_of("a.b a..b x.0") == "|a.b a .. b x.0 |.");
  CHECK(tokens_of("1.5f64 1e-5 1e+20bf16 3u8") == "|1.5f64 1e-5 1e+20bf16 3u8 |.");
  CHECK(tokens_of("a<<=b") == "|a << = b |.");
  CHECK(tokens_of("a<=b==c") == "|a <= b == c |.");
  CHECK(tokens_of("--a") == "|- - a |.");
  CHECK(tokens_of("\"a\\\"b\" `x y`") == "|\"a\\\"b\" x y |.");
}

TEST_CASE("lines break only outside brackets, and comments end with them") {
  CHECK(tokens_of("a # b\n  c\r\n\nd") == "|a |c |d |.");
  CHECK(tokens_of("f(a, # x\n b)\nc") == "|f ( a , b ) |c |.");
  auto tokens = detail::tokenize("a\n  bc d", {});
  CHECK(tokens[1].line == 2);
  CHECK(tokens[1].column == 3);
  CHECK(tokens[2].column == 6);
}

TEST_CASE("escapes come back as they were") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (char quote : {'"', '`'}) {
    std::string quoted = detail::escape(all, quote), back;
    CHECK(quoted.find('\n') == std::string::npos);
    REQUIRE(detail::unescape(std::string_view(quoted).substr(1, quoted.size() - 2), back));
    CHECK(back == all);
  }
  std::string out;
  CHECK(!detail::unescape("\\", out));
  CHECK(!detail::unescape("\\q", out));
  CHECK(!detail::unescape("\\x1", out));
  CHECK(!detail::unescape("\\x1g", out));
  CHECK(detail::unescape("\\x1f", out));
}

TEST_CASE("an error shows a long line around its place") {
  std::string line = std::string(300, 'a') + " $ " + std::string(300, 'b');
  try {
    detail::tokenize(line, {"f.cpp", 1});
    FAIL("no error");
  } catch (const UserError& error) {
    CHECK(error.message() == "parse: line 1, column 302: this character begins nothing");
    CHECK(std::string(error.what())
              .find(std::string(49, 'a') + " $ " + std::string(48, 'b') + "\n") !=
          std::string::npos);
  }
}
