#pragma once

#include <lathe/ir/narrow.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/jit/binding.hpp>

namespace lathe {
namespace detail {

/// What a program allocates.
struct AllocatedSizes : Visitor {
  Vec<Buffer> found;
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<AllocNode>()) found.push_back(n->buffer);
    descend(s);
  }
};

/// Dims and constants that a size is made of, as bits: an expression has no more bits than its
/// leaves together. False: it is made of something else.
inline bool size_bits(const AnyExpr& e, const Vec<Ref<DimNode>>& dims, int& constant,
                      int& symbols) {
  if (const auto* value = as_const_int(e)) {
    for (std::int64_t v = *value; v != 0 && v != -1; v >>= 1) ++constant;
    return ++constant, true;
  }
  if (const auto* var = e.as<VarNode>()) {
    ++symbols;
    for (const auto& d : dims)
      if (d->var.get() == var) return true;
    return false;
  }
  if (const auto* n = e.as<BinaryNode>())
    return !is_comparison(n->op) && !is_logic(n->op) && size_bits(n->a, dims, constant, symbols) &&
           size_bits(n->b, dims, constant, symbols);
  return false;
}

/// The value of an extent without wrapping; false if it does not fit 64 bits, and no number below
/// 0.
inline bool exact_size(const AnyExpr& e, const Vec<Ref<DimNode>>& dims,
                       const std::uint64_t* dim_slots, std::int64_t& out) {
  if (const auto* value = as_const_int(e)) return out = *value, true;
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (e.get() == dims[k]->var.get()) return out = static_cast<std::int64_t>(dim_slots[k]), true;
  const auto* n = e.as<BinaryNode>();
  std::int64_t a = 0, b = 0;
  if (!n || !exact_size(n->a, dims, dim_slots, a) || !exact_size(n->b, dims, dim_slots, b))
    return false;
  switch (n->op) {
    case BinaryOp::add:
      return !__builtin_add_overflow(a, b, &out);
    case BinaryOp::sub:
      return !__builtin_sub_overflow(a, b, &out);
    case BinaryOp::mul:
      return !__builtin_mul_overflow(a, b, &out);
    default:
      return out = scalar_binary(n->op, kIndex, Scalar{a}, Scalar{b}).i, true;
  }
}

}  // namespace detail

LATHE_DECL void Binding::add_sizes() {
  detail::AllocatedSizes all;
  all.stmt(program_->body);
  // A parameter's plain extents are those of its view, which is checked.
  auto is_plain = [](const AnyExpr& e) { return as_const_int(e) || e.as<VarNode>(); };
  for (const auto& p : program_->params) {
    bool plain = true;
    for (std::size_t d = 0; p.buffer && d < p.buffer->shape.size(); ++d)
      plain = plain && is_plain(p.buffer->shape[d]);
    if (!plain) all.found.push_back(p.buffer);
  }
  for (const auto& b : all.found) {
    int constant = 0, symbols = 0;
    bool known = true;  // extents in terms of a loop around the alloc are not
    for (const auto& e : b->shape)
      known = known && detail::size_bits(e, program_->dims, constant, symbols);
    const int most = 56 - constant;
    if (!known || (symbols == 0 && most > 0)) continue;
    sizes_.push_back({&b->name, b->shape});
    const int bits = symbols && most > 0 ? most / symbols : -1;
    if (bits < small_bits_) small_bits_ = bits;
  }
}

LATHE_DECL bool Binding::fits_memory(const Sized& s, const std::uint64_t* slots) const {
  std::int64_t count = 1, extent = 0;
  bool empty = false, overflow = false;
  for (const auto& e : s.shape) {
    if (!detail::exact_size(e, program_->dims, slots + first_dim_, extent)) return false;
    empty = empty || extent <= 0;
    overflow = __builtin_mul_overflow(count, extent, &count) || overflow;
  }
  return empty || (!overflow && count <= kMostSpan);
}

}  // namespace lathe
