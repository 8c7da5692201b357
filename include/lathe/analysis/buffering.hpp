// Buffers that iterations of a loop share (two versions, rolling rows, pipelines): plans for the
// steps that mark loops, the checks after later steps, and the passes that realise the marks.
#pragma once

#include <lathe/analysis/access.hpp>
#include <string>
#include <utility>

namespace lathe::detail {

/// Why iterations of a loop can't take turns with two versions of a buffer, said of the buffer;
/// empty if they can.
std::string why_not_doubled(const Program& program, const Buffer& buffer, const LoopSite& site);

/// A block below a loop whose rows are a window that each iteration moves on: all but `step` of
/// them are there from the iteration before.
struct RollPlan {
  ForRef rows;              ///< the block's loop over the rows of the window
  std::int64_t length = 0;  ///< of the window
  std::int64_t step = 0;    ///< rows that are new in an iteration
  bool upward = true;       ///< the new ones are the last that the loop over rows comes to
  Vec<std::pair<Buffer, std::size_t>> outputs;  ///< what the block stores, and the axis of its rows
  std::string why;                              ///< why this is not so, if it is not
};
RollPlan plan_roll(const Program& program, const BlockTag& block, const VarRef& loop);

struct PipelinePlan {
  struct Versions {
    Buffer buffer;
    std::int64_t count;
  };
  Vec<Versions> buffers;  ///< what an iteration has to itself, and more than one statement touches
  std::string why;        ///< why this is not legal, if it is not
};
PipelinePlan plan_pipeline(const Program& program, const VarRef& loop, const PipelineAttr& when);

/// Of the loops from one on inward that hold all uses of a buffer: the first whose iterations would
/// share what lies outside of them.
const ForNode* shared_by_iterations(const ForNode& top, const Buffer& buffer);

}  // namespace lathe::detail
