// Which buffers a schedule wants allocated above a loop: what its annotation "hoist_storage" lists.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe::detail {

inline constexpr const char* kHoistStorage = "hoist_storage";

/// Names of buffers, between commas.
inline Vec<std::string> hoisted_names(const ForNode& loop) {
  Vec<std::string> out;
  const AttrValue* list = find_annotation(loop.annotations, kHoistStorage);
  if (!list) return out;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list->text.find(',', begin);
    out.push_back(list->text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return out;
}

inline bool hoists(const ForNode& loop, const BufferNode& buffer) {
  for (const auto& name : hoisted_names(loop))
    if (name == buffer.name) return true;
  return false;
}

}  // namespace lathe::detail
