// Rows of tensor intrinsics made of what a block does in its innermost loops: what tensorize has to
// take, unless something around forbids it.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/ir/visit.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {

class IntrinsicMaker {
 public:
  /// The row for the loops from `first` on that are right above the block; none if they are too
  /// many, or the block is no single store of what its iterators do not name.
  static std::optional<lathe::TensorIntrin> row(const lathe::BlockSite& site, std::size_t first,
                                                bool vector) {
    IntrinsicMaker maker(site, first, vector);
    return maker.ok_ ? maker.make() : std::nullopt;
  }

 private:
  using AnyExpr = lathe::AnyExpr;
  struct Operand {
    lathe::Buffer buffer;
    lathe::Vec<AnyExpr> indices;
    lathe::Buffer param;
    std::vector<std::size_t> axes;  ///< loops
  };

  IntrinsicMaker(const lathe::BlockSite& site, std::size_t first, bool vector)
      : block_(*site.block),
        loops_(site.loops.begin() + static_cast<long>(first), site.loops.end()),
        vector_(vector) {
    std::vector<lathe::Stmt> stores;
    for (const auto& s : lathe::seq_of(block_.body)) stores.push_back(s);
    store_ = stores.size() == 1 ? stores[0].as<lathe::StoreNode>() : nullptr;
    ok_ = store_ && block_.reads.empty() && block_.writes.empty() && !block_.predicate.get();
    std::int64_t points = 1;
    for (const auto& f : loops_) {
      const std::int64_t* extent = lathe::as_const_int(f->extent);
      ok_ = ok_ && extent && *extent > 0 && *extent <= 16;
      if (ok_) points *= *extent;
      extents_.push_back(ok_ ? *extent : 1);
      vars_.push_back(lathe::make_var("t" + std::to_string(vars_.size())));
    }
    vector_ = vector_ && loops_.size() == 1 && extents_[0] > 1 && !block_.reducer;
    ok_ = ok_ && points <= 64;
  }

  const Operand& operand(const lathe::Buffer& buffer, const lathe::Vec<AnyExpr>& indices) {
    for (const auto& o : operands_) {
      bool same = o.buffer == buffer;
      for (std::size_t d = 0; same && d < indices.size(); ++d)
        same = lathe::structurally_equal(o.indices[d], indices[d]);
      if (same) return o;
    }
    lathe::Substitution bindings;
    for (const auto& it : block_.iters) bindings.emplace_back(it.var, it.binding);
    Operand out{buffer, indices, {}, {}};
    lathe::Vec<AnyExpr> shape;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      bool varies = false;
      for (const auto& i : indices)
        varies = varies || lathe::uses_var(lathe::substitute(i, bindings), loops_[k]->var);
      if (!varies) continue;
      out.axes.push_back(k);
      shape.emplace_back(extents_[k]);
    }
    out.param = lathe::make_buffer("P" + std::to_string(operands_.size()), buffer->dtype, shape);
    operands_.push_back(out);
    return operands_.back();
  }

  // The expression with parameters for buffers, at these values of the loops.
  class Rewrite : public lathe::Mutator {
   public:
    Rewrite(IntrinsicMaker& maker, const std::vector<AnyExpr>& at, int lanes)
        : maker_(maker), at_(at), lanes_(lanes) {}
    AnyExpr expr(const AnyExpr& e) override {
      if (e.kind() == lathe::ExprKind::Const) return lathe::make_broadcast(e, lanes_);
      if (e.kind() == lathe::ExprKind::Var || e.kind() == lathe::ExprKind::Let)
        return maker_.ok_ = false, e;
      const auto* n = e.as<lathe::LoadNode>();
      if (!n) return maker_.ok_ ? descend(e) : e;
      if (n->mask.get()) maker_.ok_ = false;
      const Operand& o = maker_.operand(n->buffer, n->indices);
      AnyExpr load = lathe::make_load(o.param, maker_.place(o, at_));
      return load.dtype().lanes == lanes_ ? load : lathe::make_broadcast(load, lanes_);
    }

   private:
    IntrinsicMaker& maker_;
    const std::vector<AnyExpr>& at_;
    int lanes_;
  };

  lathe::Vec<AnyExpr> place(const Operand& o, const std::vector<AnyExpr>& at) const {
    lathe::Vec<AnyExpr> out;
    for (std::size_t axis : o.axes) out.push_back(at[axis]);
    return out;
  }
  AnyExpr value(const std::vector<AnyExpr>& at, int lanes = 1) {
    return Rewrite(*this, at, lanes).expr(store_->value);
  }

  std::optional<lathe::TensorIntrin> make() {
    operand(store_->buffer, store_->indices);
    std::vector<AnyExpr> iters;
    for (std::size_t k = 0; k < loops_.size(); ++k)
      iter_vars_.push_back(lathe::make_var("v" + std::to_string(k))),
          iters.emplace_back(iter_vars_[k]);
    AnyExpr term = value(iters);
    if (!ok_) return {};
    lathe::TensorIntrin row;
    row.name = "own";
    row.description = text(described(term, iters));
    row.implementation = text(vector_ ? lanes() : points());
    row.rounding = block_.reducer ? "as the loops have it" : "";
    return row;
  }

  lathe::Stmt described(const AnyExpr& term, const std::vector<AnyExpr>& iters) {
    const Operand& out = operands_[0];
    lathe::BlockNode block(lathe::make_ref<lathe::BlockTagNode>("own"), {},
                           lathe::make_store(out.param, place(out, iters), term));
    block.reducer = block_.reducer;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      const bool reduce = lathe::feeds(*loops_[k], block_, lathe::IterKind::reduce);
      block.iters.push_back({iter_vars_[k], 0, extents_[k],
                             reduce ? lathe::IterKind::reduce : lathe::IterKind::spatial,
                             AnyExpr(vars_[k])});
    }
    lathe::Stmt body = lathe::make_block(std::move(block));
    for (std::size_t k = loops_.size(); k-- > 0;)
      body = lathe::make_for(vars_[k], 0, extents_[k], body);
    return body;
  }

  lathe::Stmt lanes() {
    const int count = static_cast<int>(extents_[0]);
    std::vector<AnyExpr> at{lathe::make_ramp(AnyExpr(0), AnyExpr(1), count)};
    return lathe::make_store(operands_[0].param, place(operands_[0], at), value(at, count));
  }

  // One store for each point, in the order of the loops.
  lathe::Stmt points() {
    lathe::Vec<lathe::Stmt> all;
    std::vector<std::int64_t> point(loops_.size(), 0);
    for (bool more = true; more;) {
      std::vector<AnyExpr> at(point.begin(), point.end());
      lathe::Vec<AnyExpr> to = place(operands_[0], at);
      AnyExpr v = value(at);
      if (const auto& r = block_.reducer)
        v = lathe::substitute(
            r->combine[0], {{r->lhs[0], lathe::make_load(operands_[0].param, to)}, {r->rhs[0], v}});
      all.push_back(lathe::make_store(operands_[0].param, to, v));
      more = false;
      for (std::size_t k = point.size(); k-- > 0 && !more;)
        if (++point[k] < extents_[k])
          more = true;
        else
          point[k] = 0;
    }
    return lathe::make_seq(std::move(all));
  }

  std::string text(const lathe::Stmt& body) const {
    lathe::ProgramNode p;
    p.name = "own";
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const auto access = k > 0            ? lathe::Access::in
                          : block_.reducer ? lathe::Access::inout
                                           : lathe::Access::out;
      p.params.push_back({access, operands_[k].param, {}});
    }
    p.body = body;
    return lathe::Program(std::move(p)).str();
  }

  const lathe::BlockNode& block_;
  std::vector<lathe::ForRef> loops_;
  bool vector_, ok_ = true;
  const lathe::StoreNode* store_ = nullptr;
  std::vector<std::int64_t> extents_;
  std::vector<lathe::VarRef> vars_, iter_vars_;
  std::vector<Operand> operands_;
};

}  // namespace fuzz
