// Mistakes that the DSL finds while a tensor is being described, each with its error id.
#pragma once

#include <lathe/dsl/any.hpp>

namespace lathe::detail {

/// L0101 unless name is a letter or underscore, then letters, digits, underscores.
void check_name(const std::string& name, Location where);
/// L0102 negative extent · L0103 product over 2^56 · L0104 not a scalar i64 · L0119 names something
/// else than dims · L0124 too large an expression
void check_extents(const std::string& name, const Vec<AnyExpr>& extents, Location where);
/// L0102, L0104, L0127 for a reduce range.
void check_reduce_range(const std::string& name, const AnyExpr& min, const AnyExpr& extent,
                        Location where);
/// L0104 unless e is a scalar i64; `what` begins the message.
void check_index_type(const std::string& what, const AnyExpr& e, Location where);
/// L0123, L0124 for an expression that is too large.
void check_weight(const std::string& what, const AnyExpr& e, Location where);
/// L0108 number of indices, L0104 their type, L0116 an undefined tensor.
void check_indices(const AnyTensor& tensor, const Vec<AnyExpr>& indices, Location where);
/// Everything about what a body gave: L0105 L0106 L0107 L0109 L0116 L0117 L0124 L0127.
void check_value(const TensorSource& source, const AnyValue& value);
/// L0126 if a load of a finished compute surely happens at an element that does not exist.
void check_reads(const TensorSource& source);
/// L0129 if e reads a buffer of a script, which no compute knows.
void check_buffers(const TensorSource& source, const AnyExpr& e);
/// L0121 unless the combine uses only its own operands, and the identity nothing. L0109, L0116,
/// L0124 for what it gives.
void check_reducer(const ReducerNode& reducer, Location where);
/// L0131 if numbers refute a law that the reducer claims, for such terms where there are some.
void check_reducer_laws(const ReducerNode& reducer, std::span<const AnyExpr> terms, Location where);
/// L0109 with the words of what a node of the untyped core said of its operands.
UserError unfit_operands(const std::string& what, const InternalError& e, Location where);

}  // namespace lathe::detail
