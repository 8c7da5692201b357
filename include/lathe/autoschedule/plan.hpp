// Plans: what the default schedule decides by what it costs, as data.
#pragma once

#include <cstdint>
#include <lathe/support/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

/// One way to do what a decision is about: {"i", {8, 3}} is a register tile of 8 rows of loop i by
/// 3 vectors.
struct PlanOption {
  std::string name;                   ///< a shape, a loop, an instruction; none has blanks
  std::vector<std::int64_t> numbers;  ///< what they count depends on the decision
  double cycles = 0;  ///< predicted, of a vector of terms; 0: the rule counts no cycles

  /// "i 8 3"
  std::string str() const;
};

/// What was decided for one block, and what it was compared with.
struct Decision {
  std::string block, what;
  PlanOption taken;
  std::vector<PlanOption> others;  ///< fewest cycles first

  /// "C register_tile i 8 3 # 0.53 cycles; next i 6 4 0.55, i 12 2 0.58"
  std::string str() const;
};

/// The decisions behind a default schedule. A plan can be printed, read, changed and applied again,
/// also to another shape of the same program. What is decided, with its numbers:
///   shape           how a reduction is computed: register_tile, window_tile, fold_tile,
///                   partial_lanes, intrinsic, fold_columns, fold_channels, streamed_terms
///   register_tile   the loop over rows, or "-" for one row: rows, vectors
///   window_tile     "places": rows, columns (loops along which windows slide), vectors, reduce
///                   loops that are written out
///   window_apart    the same of a copy whose rows lie in sets of their own
///   fold_tile       "results": rows, columns
///   partial_lanes   "lanes": partial results
///   intrinsic       the row of tensor_intrins() and its operand a: rows, vectors, whether a is
///                   copied
///   panels(B)       "copy": whether what is read of B is laid out in panels
///   blocks          "tiles": along the lanes, which share the second cache; 0: all
///   row_blocks      "tiles": of rows, which share the last cache; 0: all
///   term_blocks     "terms": those whose sums stay in registers, tiles along the lanes; 0: all
///   vectors         "lanes" of an elementwise nest: lanes, vectors side by side
struct Plan {
  std::vector<Decision> decisions;

  /// What was decided for a block; nullptr: nothing.
  const Decision* find(std::string_view block, std::string_view what) const;
  /// A line for each decision, after that of the version.
  std::string str() const;
  /// The text that str() gives; what stands behind # is not read. L0266, with the line, for any
  /// other.
  static Plan parse(std::string_view text, Location where = Location::here());
};

}  // namespace lathe
