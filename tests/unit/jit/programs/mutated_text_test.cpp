#include "support/mutated_text.hpp"

#include <doctest/doctest.h>

#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>

namespace lt = lathe;

namespace {

/// What a user may do with a program; each step may refuse it, none may break.
void use(const lt::Program& p) {
  lt::evaluate_any(lt::Source(p), {});
  lt::Program scheduled = p;
  if (p->stage == lt::Stage::blocks) {
    const lt::Schedule s(p);
    lt::emit_llvm(lt::lower(s.program(), lt::host()), lt::host(), 19);
    scheduled = lt::default_schedule(p, lt::host()).program();
  }
  const lt::Program lowered = lt::lower(scheduled, lt::host());
  lt::emit_llvm(lowered, lt::host(), 19);
  REQUIRE(lt::parse(lowered.str()).str() == lowered.str());
}

}  // namespace

TEST_CASE("texts with faults that are programs can be scheduled and lowered, or are refused") {
  const std::vector<std::string> texts = test::program_texts();
  int used = 0, refused = 0;
  for (std::uint64_t k = 0; k < 600; ++k) {
    const std::string text = test::mutated(texts[k % texts.size()], k + 100000);
    CAPTURE(k);
    INFO(text);
    lt::Program p;
    try {
      p = lt::parse(text);
    } catch (const lt::UserError&) {
      continue;
    }
    try {
      use(p);
      ++used;
    } catch (const lt::UserError&) {
      ++refused;
    }
  }
  CHECK(used > 40);
  CHECK(refused > 0);
}
