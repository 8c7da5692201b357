// How much effort LLVM spends on a text: where its time is more than linear in the text, less.
#pragma once

#include <algorithm>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// What a line costs the code generator: a wide vector is as many registers, one of bits is taken
/// apart where there are no mask registers, a division is one for each lane, and all divisions use
/// the same two registers, which makes each wait for all others.
inline std::size_t line_weight(std::string_view line) {
  const std::size_t open = line.find('<');
  std::size_t lanes = 0;
  for (std::size_t k = open + 1; open != line.npos && k < line.size(); ++k) {
    if (line[k] < '0' || line[k] > '9') break;
    lanes = lanes * 10 + static_cast<std::size_t>(line[k] - '0');
  }
  constexpr std::string_view divisions[] = {" sdiv ", " udiv ", " srem ", " urem "};
  constexpr std::size_t kDivision = 12;
  for (std::string_view d : divisions)
    if (line.find(d) != line.npos) return kDivision * (lanes ? lanes : 1);
  if (lanes > 0 && line.find(" x i1>") != line.npos) return lanes;
  return lanes > 16 ? lanes / 16 : 1;
}

/// Lines between two labels by their weight, at most.
inline std::size_t longest_block(std::string_view text) {
  std::size_t longest = 0, lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool label = end > at && text[end - 1] == ':';
    lines = label ? 0 : lines + line_weight(text.substr(at, end - at));
    longest = std::max(longest, lines);
    at = end + 1;
  }
  return longest;
}

/// The level that the code generator gets for this text.
inline int codegen_level_for(std::string_view text, int wanted) {
  constexpr std::size_t kLongBlock = 20000;
  return longest_block(text) > kLongBlock ? 0 : wanted;
}

}  // namespace detail

LATHE_DECL std::string default_passes(int llvm_major, std::string_view text) {
  constexpr std::size_t kManyLoops = 256;
  constexpr std::string_view latch = "!llvm.loop ";
  std::size_t loops = 0;
  for (std::size_t at = text.find(latch); at != text.npos; at = text.find(latch, at + 1)) ++loops;
  // From 18 on, instcombine given as text aborts the process when it misses its fixpoint; 16 and 17
  // do not know the parameter.
  std::string_view instcombine =
      llvm_major >= 18 ? "instcombine<no-verify-fixpoint>" : "instcombine";
  const bool inlines = text.find("alwaysinline") != text.npos;
  return cat(inlines ? "always-inline," : "", "function(sroa,early-cse<memssa>,", instcombine,
             loops > kManyLoops ? "" : ",loop-mssa(licm)", ",simplifycfg)");
}

}  // namespace lathe
