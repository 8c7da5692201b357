#pragma once

#include <bit>
#include <cstdlib>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Channels that are computed alike: the unit loop is fused with the one around it, where it is too
// short for lanes and all runs through both as through one.
class LengthenUnit : NestSteps {
 public:
  using NestSteps::NestSteps;

  // The nest with the longer loop; no unit: it is not so, or the loop has `enough` iterations.
  // `moves`: another nest's loops are to name its places, or it is to follow another nest.
  DefaultNest run(const BlockNode& block, const DefaultNest& nest, std::int64_t enough,
                  bool moves = false) {
    const std::int64_t channels = trip_of(nest, nest.unit);
    if (channels < 2 || channels >= enough || !has_const_trip(nest, nest.unit)) return {};
    const LoopRef around = innermost(nest, [&](const LoopRef& loop) {
      return !(loop == nest.unit) && run_through(nest.writes, loop, nest.unit, channels);
    });
    if (!around.var.get() || tells_apart(block, nest, around)) return {};
    std::int64_t period = 1;
    for (const AccessSite& read : nest.reads) {
      if (run_through({read}, around, nest.unit, channels)) continue;
      const std::int64_t registers = registers_of(block, nest, read, around);
      if (registers == 0) return {};
      period = std::max(period, registers);
    }
    Places places;
    attempt([&] {
      places = block.reducer || moves ? one_iterator(block, nest, around) : one_loop(nest, around);
      return places.fused.var.get() != nullptr;
    });
    if (!places.fused.var.get()) return {};
    DefaultNest longer = over_fused(block, nest, places);
    longer.period = period;
    return longer;
  }

 private:
  // What each channel has of its own, as weights: after how many registers a lane has the same
  // again. One where whole groups of channels fill 16 bytes; three where three such groups do, if
  // all places have the same, so that registers are made once. 0: more, or it is none of these.
  static std::int64_t repeats(const DefaultNest& nest, const AccessSite& read,
                              const LoopRef& around, std::int64_t element) {
    if (flat_stride(read, around.var) != std::int64_t{0} || !flat_stride(read, nest.unit.var))
      return 0;
    const std::int64_t channels = trip_of(nest, nest.unit), registers = odd_part(channels);
    if (channels / registers * element > 16) return 0;
    const bool once = std::all_of(nest.all.begin(), nest.all.end(), [&](const ForRef& loop) {
      return loop->var == nest.unit.var || flat_stride(read, loop->var) == std::int64_t{0};
    });
    return registers == 1 || (registers == 3 && once) ? registers : 0;
  }

  static std::int64_t odd_part(std::int64_t channels) {
    return channels >> std::countr_zero(std::uint64_t(channels));
  }

  // What all channels of a place share, as its opacity: lanes of a vector find it within as much
  // memory as they store, and it is there before, not computed along with the places.
  bool shared_by_channels(const DefaultNest& nest, const AccessSite& read,
                          const LoopRef& around) const {
    const auto apart = flat_stride(read, around.var);
    return apart && *apart > 0 && *apart <= trip_of(nest, nest.unit) &&
           flat_stride(read, nest.unit.var) == std::int64_t{0} &&
           is_param(s_.program(), read.buffer);
  }
  // Vectors of one channel each compute once what a place's channels share, but are taken apart and
  // stored interleaved. Bytes and words, 2 to 8 channels: as one loop 0.2 to 0.95 of the time with
  // AVX-512 and with AVX2, but for bytes of two with AVX2 (0.92 to 1.18); f32 of 3 and 6 0.4 to
  // 1.1, of 2, 4 and 8 0.8 to 1.3; f64 as long.
  static bool pays_together(const BlockNode& block, const DefaultNest& nest) {
    constexpr double kShuffles = 2;  // that a vector takes for each array
    const int bytes = nest.writes[0].buffer->dtype.element_bytes();
    if (bytes > 4 || (bytes == 4 && odd_part(trip_of(nest, nest.unit)) != 3)) return false;
    const auto apart = std::count_if(nest.reads.begin(), nest.reads.end(), [&](const auto& read) {
      return flat_stride(read, nest.unit.var) == std::int64_t{1};
    });
    const SharedWork shared(block, nest.unit);
    return apart > 0 && shared.cost.math == 0 &&
           shared.cost.ops <= kShuffles * static_cast<double>(apart + 1);
  }
  // What a block computes that names no channel.
  struct SharedWork : Visitor {
    BodyCost cost;
    SharedWork(const BlockNode& block, const LoopRef& unit) {
      for (const auto& it : block.iters)
        if (uses_var(it.binding, unit.var)) channels_.push_back(it.var);
      stmt(block.body);
    }
    void expr(const AnyExpr& e) override {
      if (!names_one_of(e, channels_)) return cost.expr(e);
      if (e.kind() != ExprKind::Load) descend(e);
    }
    void stmt(const Stmt& s) override {
      if (const auto* store = s.as<StoreNode>()) return expr(store->value);
      descend(s);
    }

   private:
    Vec<VarRef> channels_;
  };

  // After how many registers a lane reads the same of a place again; 0: more than three, or never.
  std::int64_t registers_of(const BlockNode& block, const DefaultNest& nest, const AccessSite& read,
                            const LoopRef& around) const {
    if (block.reducer) return 0;
    if (!shared_by_channels(nest, read, around))
      return repeats(nest, read, around, body_cost(block).widest);
    const std::int64_t registers = odd_part(trip_of(nest, nest.unit));
    return registers <= 3 && pays_together(block, nest) ? registers : 0;
  }

  /// The longer loop, and the loops that stand for those of before: the longer one for the unit
  /// loop, none for the one around it.
  struct Places {
    LoopRef fused;
    Substitution loops;
  };

  Places one_loop(const DefaultNest& nest, const LoopRef& around) {
    Vec<LoopRef> order;
    for (const auto& l : others(nest))
      if (!(l == around)) order.push_back(l);
    order.append({around, nest.unit});
    s_.reorder(order);
    const LoopRef fused = s_.fuse({around, nest.unit});
    return {fused, {{nest.unit.var, fused.var}, {around.var, make_const(kIndex, 0)}}};
  }

  // Of a reduction, whose results lie in a copy that has an axis for each iterator.
  Places one_iterator(const BlockNode& block, const DefaultNest& nest, const LoopRef& around) {
    Vec<VarRef> from;
    Vec<AnyExpr> to, terms, before, before_terms;
    AnyExpr outer, inner;
    for (const auto& it : block.iters) {
      from.push_back(make_var(it.var->name));
      const AnyExpr at(from.back());
      const bool is_term = it.kind == IterKind::reduce;
      if (it.binding.kind() != ExprKind::Var) return {};
      if (it.binding.get() == around.var.get())
        outer = at;
      else if (it.binding.get() == nest.unit.var.get())
        inner = at;
      else
        (is_term ? terms : to).push_back(at),
            (is_term ? before_terms : before).push_back(it.binding);
    }
    if (!outer || !inner) return {};
    to.push_back(outer * trip_of(nest, nest.unit) + inner),
        before.push_back(AnyExpr(nest.unit.var));
    to.append(terms), before.append(before_terms);
    const BlockRef ref(block.tag);
    const std::size_t place = to.size() - terms.size() - 1;
    s_.transform_block_layout(BlockName(ref), make_ref<LayoutMapNode>(from, to));
    const std::vector<LoopRef> loops = s_.loops(ref);
    if (loops.size() != before.size()) return {};
    Places out{loops[place], {{around.var, make_const(kIndex, 0)}}};
    for (std::size_t k = 0; k < loops.size(); ++k)
      out.loops.emplace_back(VarRef(before[k].as<VarNode>()), AnyExpr(loops[k].var));
    return out;
  }

  DefaultNest over_fused(const BlockNode& block, const DefaultNest& nest,
                         const Places& places) const {
    DefaultNest out = over_loop(block, nest, places.loops);
    out.unit = places.fused;
    return out;
  }

  // Whether a value depends on which channel it is, or on the place; but a condition may compare
  // the place with what stays: that a quotient is less than c is that what it divides is.
  static bool tells_apart(const BlockNode& block, const DefaultNest& nest, const LoopRef& around) {
    struct Iterators : Visitor {
      Vec<VarRef> channels;
      VarRef place;
      Facts facts;
      bool found = false;
      void expr(const AnyExpr& e) override {
        if (e.kind() == ExprKind::Load) return;
        if (const auto* n = e.as<BinaryNode>(); n && n->op >= BinaryOp::lt &&
                                                n->a.dtype() == kIndex &&
                                                (compares_place(*n) || prove(e, facts)))
          return;
        for (const auto& var : channels) found = found || e.get() == var.get();
        found = found || e.get() == place.get();
        descend(e);
      }
      void stmt(const Stmt& s) override {
        if (const auto* store = s.as<StoreNode>()) return expr(store->value);
        descend(s);
      }
      bool compares_place(const BinaryNode& n) const {
        if (!place.get() || !is_load_free(n.a) || !is_load_free(n.b)) return false;
        const auto apart = affine_of(n.a - n.b, {place});
        return apart && apart->coef(0) && std::abs(*apart->coef(0)) == 1 &&
               !names_one_of(apart->rest, channels);
      }
    } iterators;
    for (const auto& it : block.iters) {
      iterators.facts.bind(it);
      if (it.binding.get() == around.var.get())
        iterators.place = it.var;
      else if (uses_var(it.binding, nest.unit.var) || uses_var(it.binding, around.var))
        iterators.channels.push_back(it.var);
    }
    iterators.stmt(block.body);
    return iterators.found;
  }
};

// Rows that lie behind each other in all that a nest touches, and are computed alike, are one: two
// loops become one, so that vectors go on where a row ends.
class JoinRows : NestSteps {
 public:
  using NestSteps::NestSteps;

  // The nest with as few loops as are left; that itself if there is nothing to join.
  DefaultNest run(const BlockNode& block, DefaultNest nest, std::int64_t lanes) {
    const auto pays = [&](const ForNode&, const ForNode& inner) {
      return inner.var.get() != nest.unit.var.get() || ends_in_part(inner, lanes);
    };
    while (join_one(block, nest, pays)) {
    }
    return nest;
  }
  // The same of terms, where a call tells how long their rows are.
  DefaultNest run_terms(const BlockNode& block, DefaultNest nest) {
    const auto pays = [&](const ForNode& outer, const ForNode& inner) {
      return contains(nest.reduce, LoopRef(outer.var)) &&
             contains(nest.reduce, LoopRef(inner.var)) && !as_const_int(inner.extent);
    };
    while (join_one(block, nest, pays)) {
    }
    return nest;
  }

 private:
  // Of rows of so many vectors the last one, which is not full, does not count.
  static constexpr std::int64_t kLongRow = 8;

  // The innermost pair.
  template <class F>
  bool join_one(const BlockNode& block, DefaultNest& nest, const F& pays) {
    for (std::size_t k = nest.all.size(); k-- > 1;) {
      const ForRef outer = nest.all[k - 1], inner = nest.all[k];
      if (!pays(*outer, *inner)) continue;
      if (!behind_each_other(nest, *outer, *inner) || tells_apart(block, *outer, *inner)) continue;
      LoopRef fused;
      if (!attempt([&] { fused = s_.fuse({LoopRef(outer->var), LoopRef(inner->var)}); })) continue;
      const bool unit = inner->var.get() == nest.unit.var.get();
      const LoopRef before = nest.unit;
      nest = over_loop(block, nest, {{inner->var, fused.var}, {outer->var, make_const(kIndex, 0)}});
      nest.unit = unit ? fused : before;
      return true;
    }
    return false;
  }

  static bool ends_in_part(const ForNode& row, std::int64_t lanes) {
    const std::int64_t* trips = as_const_int(row.extent);
    return !trips || (*trips % lanes != 0 && *trips < kLongRow * lanes);
  }

  static bool behind_each_other(const DefaultNest& nest, const ForNode& outer,
                                const ForNode& inner) {
    const auto stay_or_follow = [&](const AccessSite& access) {
      const AnyExpr row = symbolic_stride(*access.buffer, access.indices, outer.var),
                    element = symbolic_stride(*access.buffer, access.indices, inner.var);
      if (!row.get() || !element.get()) return false;
      return is_const(simplify(row - element * inner.extent), 0);
    };
    return std::all_of(nest.reads.begin(), nest.reads.end(), stay_or_follow) &&
           std::all_of(nest.writes.begin(), nest.writes.end(), stay_or_follow);
  }

  // Whether a value depends on where it is, but for what is loaded there; or the loops are no
  // iterators.
  static bool tells_apart(const BlockNode& block, const ForNode& outer, const ForNode& inner) {
    struct Places : Visitor {
      Vec<VarRef> vars;
      bool found = false;
      void expr(const AnyExpr& e) override {
        if (e.kind() == ExprKind::Load) return;
        found = found || (e.kind() == ExprKind::Var && contains(vars, e));
        descend(e);
      }
      void stmt(const Stmt& s) override {
        if (const auto* store = s.as<StoreNode>()) return expr(store->value);
        descend(s);
      }
      static bool contains(const Vec<VarRef>& vars, const AnyExpr& e) {
        return std::any_of(vars.begin(), vars.end(),
                           [&](const VarRef& var) { return e.get() == var.get(); });
      }
    } places;
    for (const auto& it : block.iters) {
      const bool names = uses_var(it.binding, outer.var) || uses_var(it.binding, inner.var);
      if (!names) continue;
      if (it.binding.kind() != ExprKind::Var) return true;
      places.vars.push_back(it.var);
    }
    places.stmt(block.body);
    return places.found || block.predicate.get();
  }
};

// The same ahead of placement, of reductions that are to move to their consumers, and of these:
// where the loops of another nest name places, there are no iterators that could become one.
class JoinChannels : NestSteps {
 public:
  using NestSteps::NestSteps;

  void run() {
    for (const auto& ref : s_.blocks()) {
      const BlockSite at = site(ref);
      if (!at.block || kept(ref) || !classify(*at.block).is_reduction()) continue;
      const auto users = consumers(s_.program()->body, ref.tag);
      if (users.empty() || kept(users) || !joined(ref)) continue;
      join_axes(writes_of(*site(ref).block)[0]);
      for (const auto& user : users)
        if (classify(*user.block).is_complete()) joined(BlockRef(user.block->tag));
    }
  }

 private:
  bool joined(const BlockRef& ref) {
    const BlockSite at = site(ref);
    const DefaultNest nest = nest_of(at);
    if (!nest.unit.var.get()) return false;
    const std::int64_t lanes = target_.lanes(body_cost(*at.block).widest);
    return LengthenUnit(job_).run(*at.block, nest, lanes, true).unit.var.get() != nullptr;
  }

  // S[i, f / 3, f % 3] becomes S[i, f]: what is read of it is told from what is written.
  void join_axes(const AccessSite& write) {
    const std::size_t rank = write.indices.size();
    Vec<AnyExpr> joined = write.indices;
    join_digits(*write.buffer, joined);
    if (rank < 2 || same_expr(joined.back(), write.indices.back())) return;
    Vec<VarRef> from;
    Vec<AnyExpr> to;
    for (std::size_t d = 0; d < rank; ++d) from.push_back(make_var("d" + std::to_string(d)));
    for (std::size_t d = 0; d + 2 < rank; ++d) to.push_back(AnyExpr(from[d]));
    to.push_back(AnyExpr(from[rank - 2]) * write.buffer->shape.back() + AnyExpr(from[rank - 1]));
    attempt([&] { s_.transform_layout(write.buffer->name, make_ref<LayoutMapNode>(from, to)); });
  }
};

}  // namespace detail
}  // namespace lathe
