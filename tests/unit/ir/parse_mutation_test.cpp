#include <doctest/doctest.h>

#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

#include "support/mutated_text.hpp"

using namespace lathe;

TEST_CASE("texts with faults are refused with a place, or are programs that read back") {
  const std::vector<std::string> texts = test::program_texts();
  int programs = 0;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const std::string text = test::mutated(texts[k % texts.size()], k);
    CAPTURE(k);
    INFO(text);
    Program p;
    try {
      p = parse(text);
    } catch (const UserError& e) {
      const std::string what = e.what();
      REQUIRE((what.find("line ") != std::string::npos || what.find('^') != std::string::npos ||
               what.find("L0506") != std::string::npos));
      continue;
    }
    ++programs;
    REQUIRE(verify_reason(p, p->stage) == "");
    const std::string printed = p.str();
    const Program again = parse(printed);
    REQUIRE(again.str() == printed);
    REQUIRE(structurally_equal(p, again));
    REQUIRE(structural_hash(p) == structural_hash(again));
  }
  CHECK(programs > 300);
}
