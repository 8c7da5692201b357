// The annotations that mean something: where they may stand, and their values.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <span>
#include <string>
#include <string_view>

namespace lathe::detail {

/// What the value of an annotation is. Lists stand between commas, their fields between colons; a
/// name is any text that is not empty.
enum class MarkValue : std::uint8_t {
  number,  ///< from `min` to `max`
  word,    ///< one of `words`, which stand between blanks
  names,   ///< a list of names
  hints,   ///< a list of name:number:number, of ranges [1, 2^20] and [0, 3]
  stages,  ///< a list of number:number, each from 0 to 2^20
  counts   ///< a list of name:number, from 1 to 2^20
};
struct MarkRow {
  std::string_view key;
  bool on_loop;  ///< else on a block
  MarkValue value;
  std::int64_t min = 0, max = 0;
  std::string_view words = {};
};
/// All keys that the library reads. Keys that begin with "user." are free.
std::span<const MarkRow> mark_rows();

/// Why an annotation of a loop, or of a block, says nothing; empty if it says something.
std::string mark_problem(const Annotation& a, bool on_loop);

}  // namespace lathe::detail
