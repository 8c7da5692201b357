#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/held.hpp>
#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

inline bool holds_range(DType t, ConstInterval range) {
  const ConstInterval all = range_of_type(t);
  return !range.empty() && range.has_min() && range.has_max() && range.min >= all.min &&
         range.max <= all.max;
}

// What is stored to a buffer: by stores that overwrite, and by blocks that add it up.
class StoredValues : public Visitor {
 public:
  StoredValues(const Buffer& buffer, const Stmt& s) : buffer_(buffer) { stmt(s); }
  Vec<std::pair<const BlockNode*, AnyExpr>> found;  ///< the block is null where there is none

  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    const BlockNode* outer = block_;
    if (const auto* b = s.as<BlockNode>()) block_ = b;
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_)
      found.emplace_back(block_, n->value);
    descend(s);
    block_ = outer;
  }

 private:
  const Buffer& buffer_;
  const BlockNode* block_ = nullptr;
};

// Least, largest and positions of either are moved and compared with one another, never computed
// with: any type that keeps their order will do, if it has a number that is left to the identity.
inline NoElement no_element_of(const BlockNode& block, const Buffer& buffer) {
  const ReducerNode& reducer = *block.reducer;
  const bool arg = is_arg_reducer(reducer);
  const Vec<Stmt> stores = seq_of(block.body);
  const auto* store = stores.size() == (arg ? 2u : 1u) ? stores.back().as<StoreNode>() : nullptr;
  if (!store || store->buffer != buffer || reducer.identity.size() != stores.size())
    return NoElement::none;
  const BinaryOp op = classify(reducer).op.value_or(BinaryOp::add);
  if (!arg && op != BinaryOp::min && op != BinaryOp::max) return NoElement::none;
  const AnyExpr& identity = reducer.identity.back();
  const ConstInterval all = range_of_type(identity.dtype());
  return is_const(identity, all.max)   ? NoElement::largest
         : is_const(identity, all.min) ? NoElement::least
                                       : NoElement::none;
}
inline NoElement no_element_of(const Program& program, const Buffer& buffer) {
  std::optional<NoElement> all;
  for (const auto& writer : writers(program->body, buffer)) {
    if (!writer.block->reducer) continue;
    const NoElement one = no_element_of(*writer.block, buffer);
    if (all && *all != one) return NoElement::none;
    all = one;
  }
  return all.value_or(NoElement::none);
}

// The range of what buffers hold: of parameters that of their type, of temporaries what is stored.
class ValueRanges {
 public:
  explicit ValueRanges(const Program& program)
      : program_(program), facts_(program_facts(program)) {}

  /// Of what is ever held while the program runs, sums that are not done included; unbounded where
  /// no sum is proven not to wrap.
  ConstInterval of(const Buffer& buffer) {
    for (const auto& [known, range] : known_)
      if (known == buffer) return range;
    const ConstInterval type = range_of_type(buffer->dtype);
    if (!is_exchangeable(buffer->dtype) || !is_private(program_->body, buffer) ||
        open_.size() >= kDeepest || contains(open_, buffer) || has_typed_uses(program_, buffer))
      return type;
    open_.push_back(buffer);
    const ConstInterval range = stored_range(buffer);
    open_.pop_back();
    known_.emplace_back(buffer, range);
    return range;
  }

  /// The same of all that is stored to a buffer, of a parameter too.
  HeldIntegers held(const Buffer& buffer) {
    const NoElement no_element = no_element_of(program_, buffer);
    if (no_element == NoElement::none) return {stored_range(buffer), no_element};
    std::optional<ConstInterval> all;
    for (const auto& [block, value] : StoredValues(buffer, program_->body).found) {
      if (is_const(value, lathe::no_element_of(value.dtype(), no_element))) continue;
      const ConstInterval one = of(block, value);
      all = all ? range_hull(*all, one) : one;
    }
    return {all.value_or(ConstInterval{}), no_element};
  }

 private:
  ConstInterval stored_range(const Buffer& buffer) {
    std::optional<ConstInterval> set;
    ConstInterval added{0, 0};
    for (const auto& [block, value] : StoredValues(buffer, program_->body).found) {
      const ConstInterval one = of(block, value);
      if (block && block->reducer) {
        added = range_add(added, sum_of(*block, one));
        if (block->init) set = set ? range_hull(*set, {0, 0}) : ConstInterval{0, 0};
      } else {
        set = set ? range_hull(*set, one) : one;
      }
    }
    if (!set) return {};
    return range_add(*set, added);
  }

  // Of a value that a block stores.
  ConstInterval of(const BlockNode* block, const AnyExpr& value) {
    class KnownLoads : public Mutator {
     public:
      KnownLoads(ValueRanges& ranges, Facts& facts) : ranges_(ranges), facts_(facts) {}
      AnyExpr expr(const AnyExpr& e) override {
        const auto* load = e.as<LoadNode>();
        if (!load || !is_exchangeable(e.dtype())) return descend(e);
        VarRef var = make_var("value", e.dtype());
        ConstInterval range = ranges_.of(load->buffer);
        if (!holds_range(e.dtype(), range)) range = range_of_type(e.dtype());
        if (load->mask.get()) range = range_hull(range, {0, 0});
        facts_.bind(var, range);
        if (e.dtype() == kIndex) facts_.data(var);
        return var;
      }

     private:
      ValueRanges& ranges_;
      Facts& facts_;
    };
    Facts facts = facts_;
    if (block)
      for (const auto& it : block->iters) facts.bind(it);
    const AnyExpr known = KnownLoads(*this, facts).expr(value);
    return range_meet(const_bounds(known, facts), range_of_type(value.dtype()));
  }

  // Of any part of the sum that the block adds to one element.
  ConstInterval sum_of(const BlockNode& block, ConstInterval one) const {
    const BlockInfo info = info_of(program_, block.tag);
    const ReducerNode& reducer = *block.reducer;
    if (!info.is_reduction() || !info.injective || info.reducer.op != BinaryOp::add ||
        reducer.identity.size() != 1 || !is_const(reducer.identity[0], 0))
      return {};
    const auto times = Instances(find_block(program_->body, block.tag), facts_).most_updates();
    if (!times) return {};
    const ConstInterval all = range_mul(range_hull(one, {0, 0}), {0, *times});
    return range_hull(all, {0, 0});
  }

  static constexpr std::size_t kDeepest = 64;  ///< producers of producers that are looked at
  const Program& program_;
  const Facts facts_;
  Vec<Buffer> open_;  ///< whose range is being asked for: they store what they hold
  Vec<std::pair<Buffer, ConstInterval>> known_;
};

}  // namespace detail

LATHE_DECL std::span<const DType> exchangeable_types() {
  static constexpr DType types[] = {kI8, kU8, kI16, kU16, kI32, kU32, kI64};
  return types;
}
LATHE_DECL bool is_exchangeable(DType t) {
  const auto all = exchangeable_types();
  return std::find(all.begin(), all.end(), t) != all.end();
}

LATHE_DECL std::int64_t no_element_of(DType t, NoElement which) {
  const ConstInterval all = detail::range_of_type(t);
  return which == NoElement::least ? all.min : all.max;
}

LATHE_DECL HeldIntegers held_integers(const Program& program, const Buffer& buffer) {
  return detail::ValueRanges(program).held(buffer);
}
LATHE_DECL Vec<ConstInterval> held_ranges(const Program& program, const Vec<Buffer>& buffers) {
  detail::ValueRanges ranges(program);
  Vec<ConstInterval> out;
  for (const Buffer& b : buffers) {
    const ConstInterval held = ranges.of(b);
    const bool numbers = detail::no_element_of(program, b) == NoElement::none;
    out.push_back(numbers && detail::holds_range(b->dtype, held) ? held
                                                                 : detail::range_of_type(b->dtype));
  }
  return out;
}
LATHE_DECL bool can_hold(DType t, const HeldIntegers& held) {
  const auto is_free = [&] {
    const std::int64_t left = no_element_of(t, held.no_element);
    return left < held.range.min || left > held.range.max;
  };
  return detail::holds_range(t, held.range) && (held.no_element == NoElement::none || is_free());
}

LATHE_DECL bool has_typed_uses(const Program& program, const Buffer& buffer) {
  bool atomic = false;
  each_statement(program->body, [&](const Stmt& s) {
    const auto* n = s.as<AtomicNode>();
    atomic |= n && n->buffer == buffer;
  });
  return atomic || detail::any_use(program->body, [&](const detail::BufferUse& use) {
           return use.buffer == buffer &&
                  (use.kind == AccessKind::opaque ||
                   (use.block && use.block->attributes.has<AnyOrderAttr>()));
         });
}

}  // namespace lathe
