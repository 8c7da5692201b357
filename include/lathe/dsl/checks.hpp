// Which mistakes the DSL finds while a tensor is being described, each with its error id.
#pragma once

#include <lathe/dsl/any.hpp>

namespace lathe::detail {

/// L0101 unless name is a letter or underscore, then letters, digits, underscores.
void check_name(const std::string& name, Location where);
/// L0102 negative extent · L0103 product over 2^63 - 1 · L0104 not a scalar i64 · L0119 names
/// something else than dims
void check_extents(const std::string& name, const std::vector<AnyExpr>& extents, Location where);
/// L0102, L0104 for a reduce range.
void check_reduce_range(const std::string& name, const AnyExpr& min, const AnyExpr& extent,
                        Location where);
/// L0108 number of indices, L0104 their type, L0116 an undefined tensor.
void check_indices(const AnyTensor& tensor, const std::vector<AnyExpr>& indices, Location where);
/// Everything about what a body gave: L0105 L0106 L0107 L0109 L0116 L0117.
void check_value(const TensorSource& source, const AnyValue& value);
/// L0121 unless the combine uses only its own operands.
void check_reducer(const ReducerNode& reducer, Location where);

}  // namespace lathe::detail
