// Marks of loops, as annotations that lowering realises: the tail of a split, whether border
// iterations run apart, which buffers and blocks iterations share.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe {

/// What happens where the factors of a split do not divide the extent. The tail is a mark on the
/// inner loop; lowering realises it.
///   exact: they do divide it · guard: a test per instance · mask: vector lanes are masked · peel:
///   a main loop and a remainder · shift: the last tile moves inward and recomputes, where
///   its blocks may run twice · round_up: computes past the end into temporaries, which become
///   longer; nothing is left of it to realise
enum class Tail : std::uint8_t { exact, guard, mask, peel, shift, round_up };
std::string_view to_text(Tail tail);
bool parse_tail(std::string_view text, Tail& out);

/// Whether iterations in which a condition holds that differs between them run apart from the
/// others. The policy is a mark on the loop; lowering realises it.
///   automatic: where border tiles of a nest are worth a second version · never: conditions that
///   depend on the loop stay where they are · always: the loop becomes up to three, one after the
///   other
enum class Partition : std::uint8_t { automatic, never, always };
std::string_view to_text(Partition policy);
bool parse_partition(std::string_view text, Partition& out);

namespace detail {

inline constexpr const char* kHoistStorage = "hoist_storage";    ///< of buffers
inline constexpr const char* kDoubleBuffer = "double_buffer";    ///< of buffers
inline constexpr const char* kRollingBuffer = "rolling_buffer";  ///< of blocks

/// A text for each statement, "stage:order".
inline constexpr const char* kSoftwarePipeline = "software_pipeline";
/// "name:versions" of buffers, while lowering.
inline constexpr const char* kPipelineBuffers = "pipeline_buffers";

/// The names that an annotation holds, between commas.
inline Vec<std::string> marked_names(const ForNode& loop, const char* key) {
  Vec<std::string> out;
  const AttrValue* list = find_annotation(loop.annotations, key);
  if (!list) return out;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list->text.find(',', begin);
    out.push_back(list->text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return out;
}

inline bool is_marked(const ForNode& loop, const char* key, const std::string& name) {
  for (const auto& marked : marked_names(loop, key))
    if (marked == name) return true;
  return false;
}

inline bool hoists(const ForNode& loop, const BufferNode& buffer) {
  return is_marked(loop, kHoistStorage, buffer.name);
}

/// Of these a loop may carry several: they are about what it holds.
inline bool is_storage_mark(std::string_view key) {
  return key == kHoistStorage || key == kDoubleBuffer || key == kRollingBuffer;
}

/// One that ties its loop to the iterations as they are.
inline bool is_promise(std::string_view key) {
  return key == kDoubleBuffer || key == kRollingBuffer || key == kSoftwarePipeline;
}

}  // namespace detail
}  // namespace lathe
