// That what is accepted stays right while it is lowered.
#pragma once

#include <support/lowering.hpp>

#include "run.hpp"

namespace test {

inline lt::LoopRef outermost(const lt::Schedule& s, const char* block) { return s.loops(block)[0]; }
inline lt::Schedule schedule_of(const std::string& text) { return lt::Schedule(lt::parse(text)); }

/// check_kept, and that the program computes the same after each of these passes. Once loops are
/// lanes, a load may fetch some that nothing uses and nothing stored.
inline void check_lowered(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  check_kept(start, s, dims);
  const auto expected = run(start.program(), dims);
  bool lanes = false;
  Lowering lowering(s.program());
  for (const std::string pass :
       {"stage_pipelines", "place_doubled", "roll_buffers", "lower_blocks", "compact_buffers",
        "double_buffers", "software_pipelines", "hoist_guards", "unroll", "simplify_flat"}) {
    lanes = lanes || pass == "unroll";
    const lt::Program lowered = lowering.until(pass);
    INFO(pass, "\n", lowered.str());
    CHECK(run(lowered, dims, !lanes) == expected);
  }
}

}  // namespace test
