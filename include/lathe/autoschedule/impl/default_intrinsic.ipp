#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/tensor_intrin.hpp>
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

  /// Whether the intrinsic takes a wider type than the operand has: it reads a copy.
  bool widens_a() const { return a.buffer->dtype != product->type_of(product->a); }
  bool widens_b() const { return b.buffer->dtype != product->type_of(product->b); }
};

// The buffers of a block that are the operands of a product, which may take wider integers than
// they hold.
class ProductOperands {
 public:
  Buffer a, b;  ///< none: the block computes something else
  ProductOperands(const ProductRow& product, const BlockNode& block, bool turned) {
    const DType wide = product.type_of(product.a);
    Stmt body = block.body;
    Vec<std::pair<Buffer, Buffer>> widened;
    for (const auto& read : reads_of(block)) {
      const Buffer& from = read.buffer;
      if (!widens_to(from->dtype, wide) || wide != product.type_of(product.b)) continue;
      BufferNode node = *from;
      node.dtype = wide;
      const Buffer to(new BufferNode(std::move(node)));
      body = Retype(from, to, NoElement::none).stmt(body);
      widened.emplace_back(to, from);
    }
    BlockNode wider = block;
    wider.body = body;
    TensorMatch match(product.code, wider, turned);
    match.run(*only_store(wider));
    if (!match.difference.empty() || match.bound.size() != 3) return;
    for (const Bound& bound : match.bound) {
      Buffer is = bound.buffer;
      for (const auto& [to, from] : widened)
        if (to == is) is = from;
      if (bound.operand == product.a) a = is;
      if (bound.operand == product.b) b = is;
    }
  }

 private:
  static bool widens_to(DType from, DType to) {
    return is_exchangeable(from) && to.is_int() && from.bits < to.bits && to.is_signed();
  }
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
      for (const bool turned : {false, true}) {
        const ProductOperands operands(product, block, turned);
        if (!operands.a.get() || !operands.b.get()) break;
        IntrinsicFit fit;
        fit.product = &product, fit.turned = turned;
        for (const AccessSite& read : nest.reads) {
          if (read.buffer == operands.a) fit.a = read;
          if (read.buffer == operands.b) fit.b = read;
        }
        if (!find_loops(nest, fit)) continue;
        out.push_back(std::move(fit));
        break;
      }
    }
    return out;
  }

 private:
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

}  // namespace detail
}  // namespace lathe
