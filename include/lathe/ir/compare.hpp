// Equality of programs up to names.
#pragma once

#include <cstdint>
#include <lathe/ir/stmt.hpp>

namespace lathe {

/// Same structure, where bound variables, buffers and block tags correspond one to one. What a name
/// is called never matters: not of variables, buffers, params, dims, blocks, reducers or programs.
/// Everything else does: order of params and dims, dtypes, shapes, strides, scopes, alignment,
/// bounds of dims, loop kinds, attributes, messages, stage, and the elements of constants, by their
/// hashes. Constants in expressions are equal if their bits are.
/// What is free in a Stmt or AnyExpr equals only itself.
bool structurally_equal(const Program& a, const Program& b);
bool structurally_equal(const Stmt& a, const Stmt& b);
bool structurally_equal(const AnyExpr& a, const AnyExpr& b);
bool structurally_equal(const ReducerRef& a, const ReducerRef& b);
/// Structurally equal with the same names everywhere, whatever elements their constants have: what
/// is made of either is made of the other.
bool equal_but_for_contents(const Program& a, const Program& b);

/// Equal for structurally equal ones; the same in every process and on every machine. The elements
/// of constants do not count: schedules and code of one program fit any. What is free in a Stmt or
/// AnyExpr counts by name and dtype.
std::uint64_t structural_hash(const Program& program);
std::uint64_t structural_hash(const Stmt& stmt);
std::uint64_t structural_hash(const AnyExpr& expr);

}  // namespace lathe
