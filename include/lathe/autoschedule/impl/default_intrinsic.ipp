#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/primitives/blocks/term_products.ipp>
#include <lathe/schedule/primitives/storage/retype.ipp>
#include <lathe/schedule/primitives/tensor/tensor_match.ipp>

namespace lathe {
namespace detail {

// An intrinsic that adds up products of two operands: a[row?, depth] * b[depth, column], the depth
// in groups that lie side by side.
struct ProductRow {
  Intrinsic code;
  const TensorIntrin* row = nullptr;
  std::size_t a = 0, b = 0;  ///< of its operands
  std::int64_t rows = 1, columns = 1, groups = 1, group = 1;
  bool in_tiles = false;  ///< whether sums are tile registers

  std::int64_t depth() const { return groups * group; }
  DType type_of(std::size_t operand) const { return code.operands[operand].described->dtype; }
};

// What of a nest an intrinsic takes.
struct IntrinsicFit {
  const ProductRow* product = nullptr;
  AccessSite a, b;               ///< of its operands, over the loops
  LoopRef rows, columns, depth;  ///< no rows: one
  bool rows_lie_apart = false;   ///< whether one axis of a is that of its rows
  bool turned = false;           ///< whether b is written first
  bool moves_b = false;          ///< whether b's bytes have another sign than the intrinsic's

  /// Whether the intrinsic takes a wider type than the operand has: it reads a copy.
  bool widens_a() const { return a.buffer->dtype != product->type_of(product->a); }
  bool widens_b() const { return b.buffer->dtype != product->type_of(product->b); }
};

// The buffers of a block that are the operands of a product, which may take wider integers than
// they hold; or, if one of them is moved, bytes of the other sign for b.
class ProductOperands {
 public:
  Buffer a, b;  ///< none: the block computes something else
  ProductOperands(const ProductRow& product, const BlockNode& block, bool turned)
      : product_(product), block_(block), turned_(turned) {
    const DType wide = product.type_of(product.a);
    Vec<Retyped> widened;
    if (wide == product.type_of(product.b))
      for (const auto& read : reads_of(block))
        if (widens_to(read.buffer->dtype, wide)) widened.push_back(retyped(read.buffer, wide));
    match(widened);
  }
  ProductOperands(const ProductRow& product, const BlockNode& block, bool turned,
                  const Buffer& moved)
      : product_(product), block_(block), turned_(turned) {
    const DType to = product.type_of(product.b);
    if ((moved->dtype == kI8 && to == kU8) || (moved->dtype == kU8 && to == kI8))
      match({retyped(moved, to)});
    if (b != moved) a = {}, b = {};
  }

 private:
  struct Retyped {
    Buffer from, to;
  };
  static Retyped retyped(const Buffer& from, DType t) {
    BufferNode node = *from;
    node.dtype = t;
    return {from, Buffer(new BufferNode(std::move(node)))};
  }
  void match(const Vec<Retyped>& all) {
    BlockNode block = block_;
    for (const auto& [from, to] : all)
      block.body = Retype(from, to, NoElement::none).stmt(block.body);
    TensorMatch match(product_.code, block, turned_);
    match.run(*only_store(block));
    if (!match.difference.empty() || match.bound.size() != 3) return;
    for (const Bound& bound : match.bound) {
      Buffer is = bound.buffer;
      for (const auto& [from, to] : all)
        if (to == is) is = from;
      if (bound.operand == product_.a) a = is;
      if (bound.operand == product_.b) b = is;
    }
  }
  static bool widens_to(DType from, DType to) {
    return is_exchangeable(from) && to.is_int() && from.bits < to.bits && to.is_signed();
  }

  const ProductRow& product_;
  const BlockNode& block_;
  const bool turned_;
};

class ProductRowReader {
 public:
  // The product that a row of intrinsics is, if it is one.
  static std::optional<ProductRow> read(const TensorIntrin& row) {
    ProductRow out;
    out.row = &row;
    if (read_intrinsic(row, out.code) || !out.code.block->reducer) return {};
    const auto& operands = out.code.operands;
    if (operands.size() != 3) return {};
    std::size_t sum = 0;
    while (operands[sum].described != out.code.store->buffer) ++sum;
    const auto& at = operands[sum].axes;
    out.in_tiles = operands[sum].is_tile;
    if (at.empty() || at.size() > 2) return {};
    const std::size_t other = (sum + 1) % 3, third = (sum + 2) % 3;
    out.b = has(operands[other].axes, at.back()) ? other : third;
    out.a = out.b == other ? third : other;
    Vec<std::size_t> rows(at.begin(), at.end() - 1), depth;
    for (std::size_t l = 0; l < out.code.loops.size(); ++l)
      if (!has(at, l)) depth.push_back(l);
    if (depth.empty() || depth.size() > 2) return {};
    Vec<std::size_t> first = rows, second(depth.begin(), depth.end() - 1);
    first.append(depth);
    second.push_back(at.back()), second.push_back(depth.back());
    if (!same(operands[out.a].axes, first) || !same(operands[out.b].axes, second)) return {};
    const auto extent = [&](std::size_t l) { return *as_const_int(out.code.loops[l]->extent); };
    if (!rows.empty()) out.rows = extent(rows[0]);
    if (depth.size() == 2) out.groups = extent(depth[0]);
    out.columns = extent(at.back()), out.group = extent(depth.back());
    return out;
  }

 private:
  static bool has(const Vec<std::size_t>& axes, std::size_t loop) {
    return std::find(axes.begin(), axes.end(), loop) != axes.end();
  }
  static bool same(const Vec<std::size_t>& x, const Vec<std::size_t>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
};

inline const Vec<ProductRow>& product_rows() {
  static const Vec<ProductRow> rows = [] {
    Vec<ProductRow> out;
    for (const TensorIntrin& row : tensor_intrins())
      if (auto product = ProductRowReader::read(row)) out.push_back(std::move(*product));
    return out;
  }();
  return rows;
}

// Which intrinsics compute what a nest does.
class FitIntrinsics : NestSteps {
 public:
  using NestSteps::NestSteps;

  Vec<IntrinsicFit> run(const BlockNode& block, const DefaultNest& nest) const {
    Vec<IntrinsicFit> out;
    const StoreNode* store = only_store(block);
    if (!store || store->mask.get() || block.predicate.get() || guard_count(block) > 0 ||
        nest.reads.size() != 2 || nest.reads[0].buffer == nest.reads[1].buffer ||
        !nest.unit.var.get())
      return out;
    for (const ProductRow& product : product_rows()) {
      if (!usable(product)) continue;
      if (auto fit = fit_of(product, block, nest)) out.push_back(std::move(*fit));
    }
    return out;
  }

 private:
  std::optional<IntrinsicFit> fit_of(const ProductRow& product, const BlockNode& block,
                                     const DefaultNest& nest) const {
    for (const bool turned : {false, true}) {
      const ProductOperands operands(product, block, turned);
      if (auto fit = fit_of(product, operands, nest, turned)) return fit;
      for (const AccessSite& read : nest.reads) {
        const ProductOperands moved(product, block, turned, read.buffer);
        auto fit = fit_of(product, moved, nest, turned);
        if (!fit) continue;
        fit->moves_b = true;
        return fit;
      }
    }
    return {};
  }
  std::optional<IntrinsicFit> fit_of(const ProductRow& product, const ProductOperands& operands,
                                     const DefaultNest& nest, bool turned) const {
    if (!operands.a.get() || !operands.b.get()) return {};
    IntrinsicFit fit;
    fit.product = &product, fit.turned = turned;
    for (const AccessSite& read : nest.reads) {
      if (read.buffer == operands.a) fit.a = read;
      if (read.buffer == operands.b) fit.b = read;
    }
    if (!find_loops(nest, fit)) return {};
    return fit;
  }

  bool usable(const ProductRow& product) const {
    if (s_.options().strict && !product.code.rounding.empty()) return false;
    // Sums of several rows in one register have to be laid out for it: that is not planned.
    if (product.rows > 1 && !product.in_tiles) return false;
    for (const auto& feature : product.row->features)
      if (!target_.has(feature)) return false;
    return true;
  }

  static bool uses(const AccessSite& access, const LoopRef& loop) {
    for (const auto& index : access.indices)
      if (uses_var(index, loop.var)) return true;
    return false;
  }
  bool find_loops(const DefaultNest& nest, IntrinsicFit& fit) const {
    const std::size_t rank = fit.b.indices.size();
    fit.columns = nest.unit;
    if (axis_of(fit.b, fit.columns) == rank || !has_const_trip(nest, fit.columns) ||
        uses(fit.a, fit.columns))
      return false;
    for (const auto& l : nest.reduce) {
      if (!has_const_trip(nest, l) || axis_of(fit.b, l) == rank || !uses(fit.a, l)) continue;
      if (fit.depth.var.get() && step_of(fit.a.indices, l.var) != Step::unit) continue;
      fit.depth = l;
    }
    if (!fit.depth.var.get()) return false;
    for (const auto& l : nest.spatial)
      if (uses(fit.a, l) && !uses(fit.b, l) && has_const_trip(nest, l) &&
          (!fit.rows.var.get() || filled(nest, l, fit) >= filled(nest, fit.rows, fit)))
        fit.rows = l;
    if (fit.rows.var.get()) fit.rows_lie_apart = axis_of(fit.a, fit.rows) < fit.a.indices.size();
    return fit.product->rows == 1 || fit.rows.var.get();
  }
  // The share of an instruction's rows that has something to do.
  static double filled(const DefaultNest& nest, const LoopRef& loop, const IntrinsicFit& fit) {
    const std::int64_t trips = trip_of(nest, loop), rows = fit.product->rows;
    return static_cast<double>(trips) / static_cast<double>((trips + rows - 1) / rows * rows);
  }
};

// Products of numbers less their zero points, (a[i, r] - z) * b[r, j]: intrinsics take the numbers,
// and what the zero points add is known from sums of rows and of columns.
class SplitOffsets : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// The blocks besides the product; none: terms are products already, no intrinsic takes them, or
  /// the sums would be as much work.
  Vec<BlockRef> run(const BlockRef& ref) {
    Vec<BlockRef> made;
    const BlockNode& block = *site(ref).block;
    const StoreNode* store = only_store(block);
    if (!store || !store->value.dtype().is_int() || MultiplyOut::of(store->value).size() < 2 ||
        s_.check(primitive_split_terms(), {ref}))
      return made;
    const bool split = attempt([&] {
      made = s_.split_terms(ref);
      return is_worth(ref, made);
    });
    if (!split) made.clear();
    return made;
  }

 private:
  // Terms of the product for one of the sums. Rows of u8 by columns of i8, 300 terms of each,
  // beside terms as they are: 1 row 0.63 to 1.1, 2 rows 0.8 to 1.4, 3 rows 1.2 to 1.5, 8 rows 2.2
  // to 3.1 (AVX-512).
  static constexpr double kWorth = 3;

  bool is_worth(const BlockRef& ref, const Vec<BlockRef>& made) const {
    const BlockSite at = site(ref);
    const DefaultNest product = nest_of(at);
    if (FitIntrinsics(job_).run(*at.block, product).empty()) return false;
    double sums = 0;
    for (const auto& each : made) {
      const BlockSite other = site(each);
      if (other.block->reducer && !of_constants(*other.block)) sums += volume(nest_of(other).all);
    }
    return volume(product.all) >= kWorth * sums;
  }
  // What runs once, ahead of all calls.
  bool of_constants(const BlockNode& block) const {
    const Vec<Buffer> written = buffers_written(block.body);
    for (const auto& read : reads_of(block))
      if (!contains(written, read.buffer) && !is_constant(read.buffer)) return false;
    return true;
  }
};

}  // namespace detail
}  // namespace lathe
