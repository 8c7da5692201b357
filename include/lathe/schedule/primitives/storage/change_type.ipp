#pragma once

#include <algorithm>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/instances.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// Those whose values are all numbers of i64.
inline constexpr DType kExchangeable[] = {kI8, kU8, kI16, kU16, kI32, kU32, kI64};

inline bool is_exchangeable(DType t) {
  return std::find(std::begin(kExchangeable), std::end(kExchangeable), t) !=
         std::end(kExchangeable);
}

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

// Positions of arg-reductions are moved and compared with one another, never computed with: any
// type that keeps their order will do, if its largest number is left to the identity.
inline bool takes_positions(const BlockNode& block, const Buffer& buffer) {
  if (!block.reducer || !is_arg_reducer(*block.reducer)) return false;
  const AnyExpr& identity = block.reducer->identity[1];
  if (!is_const(identity, range_of_type(identity.dtype()).max)) return false;
  const Vec<Stmt> stores = seq_of(block.body);
  const auto* position = stores.size() == 2 ? stores[1].as<StoreNode>() : nullptr;
  return position && position->buffer == buffer;
}
inline bool holds_positions(const Program& program, const Buffer& buffer) {
  bool any = false;
  for (const auto& writer : writers(program->body, buffer)) {
    if (!writer.block->reducer) continue;
    if (!takes_positions(*writer.block, buffer)) return false;
    any = true;
  }
  return any;
}
inline bool is_no_position(const AnyExpr& value) {
  return is_const(value, range_of_type(value.dtype()).max);
}

// The range of what buffers hold: of parameters that of their type, of temporaries what is stored.
class ValueRanges {
 public:
  explicit ValueRanges(const Program& program)
      : program_(program), facts_(program_facts(program)) {}

  /// Of what is ever held while the program runs, sums that are not done included; unbounded where
  /// no sum is proven not to wrap.
  ConstInterval of(const Buffer& buffer) {
    const ConstInterval type = range_of_type(buffer->dtype);
    if (!is_exchangeable(buffer->dtype) || !is_private(program_->body, buffer) ||
        open_.size() >= kDeepest || contains(open_, buffer) || has_other_uses(buffer))
      return type;
    for (const auto& [known, range] : known_)
      if (known == buffer) return range;
    open_.push_back(buffer);
    const ConstInterval range = stored_range(buffer);
    open_.pop_back();
    known_.emplace_back(buffer, range);
    return range;
  }

  /// Of the positions that are stored, the identity's left out.
  ConstInterval positions(const Buffer& buffer) {
    std::optional<ConstInterval> all;
    for (const auto& [block, value] : StoredValues(buffer, program_->body).found) {
      if (is_no_position(value)) continue;
      const ConstInterval one = of(block, value);
      all = all ? range_hull(*all, one) : one;
    }
    return all.value_or(ConstInterval{});
  }

  /// A use that knows the type of the elements.
  bool has_other_uses(const Buffer& buffer) const {
    bool atomic = false;
    each_statement(program_->body, [&](const Stmt& s) {
      const auto* n = s.as<AtomicNode>();
      atomic |= n && n->buffer == buffer;
    });
    return atomic || any_use(program_->body, [&](const BufferUse& use) {
             return use.buffer == buffer &&
                    (use.kind == AccessKind::opaque ||
                     (use.block && use.block->attributes.has<AnyOrderAttr>()));
           });
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

// Elements of another type: stores cast, loads cast back, sums are added up in the new type, and
// positions compared in it.
class Retype : public Mutator {
 public:
  Retype(const Buffer& from, const Buffer& to, bool positions)
      : from_(from), to_(to), positions_(positions) {}

  Buffer buffer(const Buffer& b) override { return b == from_ ? to_ : b; }
  AnyExpr expr(const AnyExpr& e) override {
    const auto* load = e.as<LoadNode>();
    if (!load || load->buffer != from_) return descend(e);
    const AnyExpr held = make_load(to_, places(load->indices), optional(load->mask));
    const AnyExpr back = make_cast(from_->dtype.with_lanes(load->dtype.lanes), held);
    if (!positions_) return back;
    return make_select(make_binary(BinaryOp::eq, held, no_position(held.dtype())),
                       no_position(back.dtype()), back);
  }
  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == from_) {
      const bool none = positions_ && is_no_position(n->value);
      AnyExpr value = none ? no_position(to_->dtype) : stored(expr(n->value));
      return make_store(to_, places(n->indices), std::move(value), optional(n->mask));
    }
    const auto* block = s.as<BlockNode>();
    if (!block || !block->reducer || !contains(buffers_written(block->body), from_))
      return descend(s);
    BlockNode retyped = *descend(s).as<BlockNode>();
    retyped.reducer = reducer(*block->reducer);
    return make_block(std::move(retyped));
  }

 private:
  Vec<AnyExpr> places(const Vec<AnyExpr>& indices) {
    Vec<AnyExpr> at;
    for (const auto& index : indices) at.push_back(expr(index));
    return at;
  }

  static AnyExpr no_position(DType t) { return make_const(t, range_of_type(t.scalar()).max); }

  ReducerRef reducer(const ReducerNode& r) const {
    if (!positions_) return builtin_reducer("sum", {to_->dtype});
    return with_position_type(r, to_->dtype);
  }

  // The low bits of sums, differences and products follow from those of their operands.
  AnyExpr stored(const AnyExpr& e) const {
    const DType t = to_->dtype.with_lanes(e.dtype().lanes);
    if (t.bits > e.dtype().bits || e->weight > kLargest) return make_cast(t, e);
    if (const auto* cast = e.as<CastNode>(); cast && cast->value.dtype().is_int())
      return make_cast(t, cast->value);
    const auto* n = e.as<BinaryNode>();
    if (!n || (n->op != BinaryOp::add && n->op != BinaryOp::sub && n->op != BinaryOp::mul))
      return make_cast(t, e);
    return make_binary(n->op, stored(n->a), stored(n->b));
  }

  static constexpr std::uint32_t kLargest = 1000;  ///< nodes of a value that is written anew
  const Buffer from_, to_;
  const bool positions_;
};

template <class Holds>
std::string types_that_hold(const Holds& holds) {
  std::string out;
  for (DType t : kExchangeable)
    if (holds(t)) out += " " + t.str();
  return out.empty() ? " none" : out;
}

inline std::string range_text(ConstInterval range) {
  if (range.empty() || !range.has_min() || !range.has_max()) return "values of no proven range";
  return "values from " + std::to_string(range.min) + " to " + std::to_string(range.max) +
         ", as far as is proven";
}

inline Verdict check_change_type(const Program& program, const Buffer& buffer, DType to) {
  const std::string name = "buffer " + in_quotes(buffer->name);
  auto no = [&](const std::string& why, std::string help = {}) {
    return refusal("L0253", name + " " + why, std::move(help));
  };
  if (!is_private(program->body, buffer))
    return no("is a parameter: the caller chose its type", "change that of a copy, of cache_write");
  if (buffer->dtype == to) return no("holds " + to.str() + " already");
  if (!is_exchangeable(buffer->dtype))
    return no("holds " + buffer->dtype.str() + ", whose values other types don't hold");
  ValueRanges ranges(program);
  if (ranges.has_other_uses(buffer))
    return no("is used by an opaque block or an atomic update, which knows its type");
  const bool positions = holds_positions(program, buffer);
  for (const auto& writer : writers(program->body, buffer))
    if (!positions && writer.block->reducer && writer.block->reducer->identity.size() != 1)
      return no("is one of several results of block " + in_quotes(writer.block->name()));
  const ConstInterval range = positions ? ranges.positions(buffer) : ranges.of(buffer);
  const auto holds = [&](DType t) {
    return holds_range(t, range) && (!positions || range.max < range_of_type(t).max);
  };
  // A sum that wraps in one type is another in the other.
  if (holds(to) && holds(buffer->dtype)) return {};
  const DType full = holds(to) ? buffer->dtype : to;
  const ConstInterval all = range_of_type(full);
  return no("holds " + range_text(range) + "; " + full.str() +
                (full == to ? "" : ", in which it is computed now,") + " holds " +
                std::to_string(all.min) + " to " + std::to_string(all.max - positions) +
                (positions ? ", its largest number left to the identity" : ""),
            "types that hold this:" + types_that_hold(holds) +
                "; clamp what is stored, or cast it from a smaller type, for a smaller range");
}

inline Verdict run_change_type(const Program& program, const Args& args, Edit* edit) {
  const Buffer buffer = find_buffer(program, args[0].text);
  DType to;
  if (!parse_dtype(args[1].text, to) || !is_exchangeable(to))
    return refusal("L0253", in_quotes(args[1].text) + " is no type to change to",
                   "types: i8 u8 i16 u16 i32 u32 i64");
  if (auto no = check_change_type(program, buffer, to)) return no;
  if (!edit) return {};
  BufferNode node = *buffer;
  node.dtype = to;
  Retype retype(buffer, Buffer(new BufferNode(std::move(node))), holds_positions(program, buffer));
  edit->program = program.with(retype.stmt(program->body));
  return {};
}

LATHE_DECL const Primitive& primitive_change_type() {
  static const Primitive record{"change_type",
                                1,
                                {{"buffer", ArgKind::buffer}, {"dtype", ArgKind::word}},
                                "a private buffer holds integers of another type",
                                run_change_type};
  return record;
}

}  // namespace lathe::detail
