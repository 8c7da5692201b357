// What a schedule wants of a loop for buffers or blocks by name: annotations that list them, and
// that lowering realises.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

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

}  // namespace lathe::detail
