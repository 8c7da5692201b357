#include <doctest/doctest.h>

#include <cstring>
#include <lathe/support/text.hpp>
#include <limits>
#include <locale>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif

namespace lt = lathe;

TEST_CASE("floats print short and read back") {
  CHECK(lt::format_float(1.0) == "1.0");
  CHECK(lt::format_float(0.1) == "0.1");
  CHECK(lt::format_float(0.1f) == "0.1");
  CHECK(lt::format_float(-0.0) == "-0.0");
  CHECK(lt::format_float(1e20) == "1e+20");
  CHECK(lt::format_float(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(lt::format_float(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(lt::format_float(std::numeric_limits<float>::quiet_NaN()) == "nan");
  std::uint32_t bits = 1;
  for (int i = 0; i < 200000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    float value, back = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (value != value) continue;
    if (!lt::parse_float(lt::format_float(value), back) || std::memcmp(&value, &back, 4) != 0)
      FAIL(bits);
  }
  double third = 0;
  CHECK(lt::parse_float(lt::format_float(1.0 / 3), third));
  CHECK(third == 1.0 / 3);
}

TEST_CASE("parsing takes all of the text or nothing") {
  double d = 7;
  std::int64_t i = 7;
  for (auto text : {"", "x", "1.5x", " 1", "1,5"}) CHECK_FALSE(lt::parse_float(text, d));
  for (auto text : {"", "-", "12a", "1.0", "99999999999999999999"})
    CHECK_FALSE(lt::parse_int(text, i));
  CHECK(d == 7);
  CHECK(i == 7);
  CHECK(lt::parse_int("-9223372036854775808", i));
  CHECK(i == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("pieces") {
  CHECK(lt::cat("i", 4, ' ', 2.5, ' ', true, std::string("s"), std::uint64_t(-1)) ==
        "i4 2.5 trues18446744073709551615");
  CHECK(lt::join(std::vector<int>{1, 2, 3}, ", ") == "1, 2, 3");
  CHECK(lt::join(std::vector<int>{}, ", ") == "");
  CHECK(lt::join(std::vector<int>{1, 2}, " ", [](int i) { return i * 10; }) == "10 20");
  CHECK(lt::format_hex_bits(1.0) == "0x3FF0000000000000");
  CHECK(lt::format_hex_bits(0.0) == "0x0000000000000000");
}

TEST_CASE("the writer indents what is open") {
  lt::TextWriter w;
  w.open("for i in 0..", 8, ":").line("x[i] = 0").open("if c:").line("y").close().close("end");
  CHECK(w.str() == "for i in 0..8:\n  x[i] = 0\n  if c:\n    y\nend\n");
}
