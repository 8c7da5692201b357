// Random arguments of each primitive, on live references: legal more often than not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mark_arguments.hpp"
#include "random_intrinsic.hpp"

namespace fuzz {

class ScheduleArguments : protected MarkArguments {
 public:
  using Make = lathe::Args (ScheduleArguments::*)(const lathe::Schedule&);
  struct Row {
    const char* primitive;
    int weight;
    Make make;  ///< the arguments; none if nothing sensible can be said
    /// Where there are none: a step with arguments that suit both, which makes room for this one.
    const char* before = nullptr;
    Make make_before = nullptr;
  };
  static const std::vector<Row>& rows() {
    using A = ScheduleArguments;
    static const std::vector<Row> all = {
        {"split", 3, &A::split},
        {"fuse", 2, &A::fuse},
        {"loop_partition", 2, &A::loop_partition},
        {"merge", 3, &A::merge},
        {"reorder", 2, &A::reorder},
        {"tile", 1, &A::tile},
        {"parallel", 1, &A::parallel},
        {"vectorize", 3, &A::vectorize},
        {"unroll", 1, &A::unroll},
        {"bind", 2, &A::bind},
        {"atomic", 5, &A::atomic},
        {"partition", 3, &A::partition},
        {"compute_at", 2, &A::compute_at},
        {"reverse_compute_at", 2, &A::reverse_compute_at},
        {"compute_inline", 1, &A::this_block},
        {"reverse_compute_inline", 2, &A::reverse_compute_inline},
        {"cache_read", 1, &A::cache_read},
        {"cache_write", 2, &A::cache_write},
        {"decompose_reduction", 2, &A::decompose_reduction},
        {"rfactor", 2, &A::rfactor},
        {"share_window", 1, &A::share_window},
        {"split_terms", 1, &A::split_terms},
        {"fold_lanes", 3, &A::fold_lanes},
        {"set_scope", 1, &A::set_scope},
        {"transform_layout", 1, &A::transform_layout},
        {"storage_align", 1, &A::storage_align},
        {"change_type", 3, &A::change_type},
        {"hoist_storage", 2, &A::hoist_storage},
        {"double_buffer", 2, &A::double_buffer},
        {"rolling_buffer", 8, &A::rolling_buffer, "compute_at", &A::place_to_roll},
        {"software_pipeline", 2, &A::software_pipeline},
        {"transform_block_layout", 2, &A::transform_block_layout},
        {"prefetch", 1, &A::prefetch},
        {"annotate", 1, &A::annotate},
        {"unannotate", 1, &A::unannotate},
        {"add_unit_loop", 1, &A::add_unit_loop},
        {"sample_perfect_tile", 1, &A::sample_perfect_tile},
        {"sample_categorical", 1, &A::sample_categorical},
        {"sample_compute_location", 1, &A::this_block},
        {"assume", 1, &A::assume},
        {"reindex", 2, &A::reindex},
        {"cache_padded", 2, &A::reindex},
        {"hoist_invariant", 2, &A::hoist_invariant},
        {"select_to_predicate", 2, &A::this_block},
        {"resolve_selects", 2, &A::this_block},
        {"box_domain", 2, &A::box_domain},
        {"clone", 2, &A::clone},
        {"pad", 2, &A::pad},
        {"decompose_padding", 5, &A::decompose_padding},
        {"blockize", 4, &A::blockize},
        {"tensorize", 2, &A::tensorize}};
    return all;
  }

 protected:
  using MarkArguments::MarkArguments;

 private:
  Args split(const Schedule& s) {
    if (!tile_.empty() && random_.chance(70)) return std::exchange(tile_, {});
    if (random_.chance(20)) {
      Args past_the_end = round_up(s);
      if (!past_the_end.empty()) return past_the_end;
    }
    return {some_loop(s), factors(), tail()};
  }
  Args fuse(const Schedule& s) { return {some_loops(s, true)}; }
  Args merge(const Schedule& s) { return {following_loops(s)}; }
  Args reorder(const Schedule& s) { return {some_loops(s, false)}; }
  Args tile(const Schedule& s) { return {some_loop(s), some_loop(s), factor(), factor(), tail()}; }
  Args parallel(const Schedule& s) {
    return {random_.chance(60) && !loops_.empty() ? loops_[0] : some_loop(s),
            Arg::of_number(random_.below(3))};
  }
  Args vectorize(const Schedule& s) {
    return {random_.chance(60) && !loops_.empty() ? loops_.back() : some_loop(s)};
  }
  Args unroll(const Schedule& s) {
    return {some_loop(s), Arg::of_number(random_.chance(50) ? 0 : random_.below(5))};
  }
  /// Outer loops over blocks, inner ones over threads.
  Args bind(const Schedule& s) {
    static const std::vector<std::string> blocks = {"blockIdx.x", "blockIdx.y"},
                                          threads = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    LoopRef loop = some_loop(s);
    const bool outer = !loops_.empty() && loop == loops_[0];
    if (random_.chance(3)) return {loop, Arg::of_text("thread")};
    return {loop, Arg::of_text(random_.pick(outer && random_.chance(80) ? blocks : threads))};
  }
  /// A block that may be, as a rule; seldom one that stores what it reads, or none.
  Args atomic(const Schedule& s) {
    std::vector<Arg> candidates;
    for (const auto& use : block_uses(s.program()->body))
      if ((use.node->reducer ? !use.node->init : share(use.stores, use.loads)) &&
          (random_.chance(15) || !s.check(*lathe::find_primitive("atomic"), {BlockRef(use.tag)})))
        candidates.push_back(BlockRef(use.tag));
    if (candidates.empty()) return random_.chance(95) ? Args() : Args{block_};
    return {random_.chance(95) ? random_.pick(candidates) : Arg(block_)};
  }
  Args compute_at(const Schedule& s) { return {block_, partner_loop(s, true)}; }
  /// Under a loop of what the block reads; a legal one every other time, if there is one.
  Args reverse_compute_at(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& loop : partner_loops(s, false)) candidates.push_back({block_, loop});
    const std::vector<Args> legal = legal_of(s, "reverse_compute_at", candidates);
    if (!legal.empty() && random_.chance(50)) return random_.pick(legal);
    return {block_, partner_loop(s, false)};
  }
  /// Of primitives that take nothing but the block.
  Args this_block(const Schedule&) { return {block_}; }
  Args hoist_invariant(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks())
      for (const auto& loop : s.loops(block)) candidates.push_back({block, loop});
    return legal_or_none(s, "hoist_invariant", candidates);
  }
  Args box_domain(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks()) candidates.push_back({block});
    return legal_or_none(s, "box_domain", candidates);
  }
  Args cache_read(const Schedule& s) { return {block_, some_buffer(s), scope()}; }
  Args cache_write(const Schedule&) { return {block_, scope()}; }
  Args decompose_reduction(const Schedule& s) {
    return {block_, reduce_loop(s, random_.chance(60))};
  }
  Args rfactor(const Schedule& s) {
    return {reduce_loop(s, false), Arg::of_number(random_.below(3) - 1)};
  }
  Args share_window(const Schedule& s) { return {reduce_loop(s, false)}; }
  Args split_terms(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& block : s.blocks()) candidates.push_back({block});
    return legal_or_none(s, "split_terms", candidates);
  }
  Args fold_lanes(const Schedule& s) {
    const int lanes = random_.chance(95) ? 1 << (1 + random_.below(6)) : random_.below(7) - 1;
    return {reduce_loop(s, false), Arg::of_number(lanes), tail()};
  }
  Args set_scope(const Schedule& s) { return {some_buffer(s), scope()}; }
  Args transform_block_layout(const Schedule& s) { return {block_, Arg(block_layout(s))}; }
  Args add_unit_loop(const Schedule& s) {
    return {random_.chance(50) ? Arg(some_loop(s)) : Arg(block_)};
  }
  Args sample_perfect_tile(const Schedule& s) {
    return {some_loop(s), Arg::of_number(1 + random_.below(3)),
            Arg::of_number(1 << random_.below(6)), Arg::of_number(random_.below(3))};
  }
  Args sample_categorical(const Schedule&) {
    return {Arg::of_list({Arg::of_number(2), factor(), factor()})};
  }
  Args assume(const Schedule& s) {
    if (dims_.empty() && random_.chance(95)) return {};
    return {Arg::of(lathe::Factor(condition(s)))};
  }
  Args reindex(const Schedule& s) { return {block_, touched_buffer(s)}; }
  /// A block that several read, as a rule, and some of these.
  Args clone(const Schedule& s) {
    std::vector<Args> candidates;
    const std::vector<BlockUse> uses = block_uses(s.program()->body);
    for (const auto& own : uses) {
      std::vector<Arg> readers;
      for (const auto& other : uses)
        if (other.tag != own.tag && share(own.stores, other.loads))
          readers.emplace_back(BlockRef(other.tag));
      if (readers.empty() || (readers.size() == 1 && random_.chance(70))) continue;
      const std::size_t left = static_cast<std::size_t>(random_.below(2));
      while (readers.size() > 1 + left) {
        auto at = static_cast<std::ptrdiff_t>(random_.below(static_cast<int>(readers.size())));
        readers.erase(readers.begin() + at);
      }
      candidates.push_back({BlockRef(own.tag), Arg::of_list(std::move(readers))});
    }
    if (candidates.empty()) return {};
    if (random_.chance(5)) return {block_, Arg::of_list({block_})};
    return random_.pick(candidates);
  }
  /// Small multiples, of few iterators as a rule.
  Args pad(const Schedule& s) {
    lathe::BlockSite site = lathe::find_block(s.program()->body, block_.tag);
    static const std::vector<int> values = {2, 3, 4, 4, 5, 8, 16};
    std::vector<Arg> multiples;
    for (std::size_t k = 0; k < site.block->iters.size(); ++k)
      multiples.push_back(Arg::of_number(random_.chance(50) ? 1 : random_.pick(values)));
    if (random_.chance(3)) multiples.push_back(Arg::of_number(random_.below(3) - 1));
    return {block_, Arg::of_list(std::move(multiples))};
  }
  static bool stores_padding(const BlockUse& use) {
    const auto* store = use.node->body.as<lathe::StoreNode>();
    const auto* select = store ? store->value.as<lathe::SelectNode>() : nullptr;
    return select && !use.node->reducer &&
           (select->yes.as<lathe::ConstNode>() || select->no.as<lathe::ConstNode>());
  }
  /// A block that stores a constant in some cases, as a rule.
  Args decompose_padding(const Schedule& s) {
    std::vector<Args> candidates;
    for (const auto& use : block_uses(s.program()->body)) {
      if (!stores_padding(use) && (use.tag != block_.tag || random_.chance(98))) continue;
      for (const auto& loop : s.loops(BlockRef(use.tag)))
        candidates.push_back({BlockRef(use.tag), loop});
      candidates.push_back({BlockRef(use.tag), some_loop(s)});
    }
    return mostly_legal(s, "decompose_padding", candidates);
  }
  int rank_of(const lathe::Schedule& s, const std::string& name) {
    class Find : public lathe::Visitor {
     public:
      explicit Find(const std::string& name) : name_(name) {}
      void buffer(const lathe::Buffer& b) override {
        if (b->name == name_) rank = b->rank();
      }
      int rank = 0;

     private:
      const std::string& name_;
    } find(name);
    find.stmt(s.program()->body);
    return find.rank;
  }
  /// A permutation, a blocking, a padding stride, or something that is not injective.
  lathe::LayoutMap layout(int rank) {
    std::vector<lathe::VarRef> from;
    std::vector<AnyExpr> to;
    for (int k = 0; k < rank; ++k) from.push_back(lathe::make_var("d" + std::to_string(k)));
    for (const auto& v : from) to.push_back(v);
    for (std::size_t k = to.size(); k > 1; --k)
      if (random_.chance(50))
        std::swap(to[k - 1], to[static_cast<std::size_t>(random_.below(static_cast<int>(k)))]);
    if (rank > 0 && random_.chance(60)) {
      auto at = static_cast<std::size_t>(random_.below(rank));
      AnyExpr e = to[at], f = AnyExpr(1 + random_.below(8));
      to[at] = lathe::floordiv(e, f);
      if (random_.chance(90)) to.push_back(lathe::floormod(e, f));
    }
    return lathe::make_ref<lathe::LayoutMapNode>(from, to);
  }
  /// The block's iterators in another order, one cut in two or two made one, mostly without gaps.
  lathe::LayoutMap block_layout(const lathe::Schedule& s) {
    lathe::BlockSite site = lathe::find_block(s.program()->body, block_.tag);
    std::vector<lathe::VarRef> from;
    std::vector<AnyExpr> to;
    const auto& iters = site.block->iters;
    for (std::size_t k = 0; k < iters.size(); ++k) {
      from.push_back(lathe::make_var("d" + std::to_string(k)));
      AnyExpr value = from[k];
      const std::int64_t* extent = lathe::as_const_int(iters[k].extent);
      const std::int64_t f = 2 + random_.below(3);
      if (random_.chance(30) && (!extent || *extent % f == 0 || random_.chance(10))) {
        to.push_back(lathe::floordiv(value, AnyExpr(f)));
        value = lathe::floormod(value, AnyExpr(f));
      } else if (random_.chance(20) && k > 0 && !to.empty() &&
                 (iters[k].kind == iters[k - 1].kind || random_.chance(10))) {
        to.back() = to.back() * iters[k].extent + value - iters[k].min;
        continue;
      } else if (random_.chance(10)) {
        value = AnyExpr(0) - value;
      }
      to.push_back(value);
    }
    const int swaps = random_.chance(40) ? 0 : 2;
    for (int k = 0; k < swaps && to.size() > 1; ++k) {
      auto at = static_cast<std::size_t>(random_.below(static_cast<int>(to.size()) - 1));
      std::swap(to[at], to[at + 1]);
    }
    return lathe::make_ref<lathe::LayoutMapNode>(from, to);
  }
  /// Something true of a Dim in this case; or what no call can check.
  AnyExpr condition(const lathe::Schedule& s) {
    if (dims_.empty()) return lathe::make_bool(random_.chance(50));
    const auto& [name, value] = random_.pick(dims_);
    AnyExpr n(lathe::make_var(name));
    for (const auto& dim : s.program()->dims)
      if (dim->var->name == name) n = dim->var;
    const std::int64_t less = value - random_.below(4), more = value + random_.below(4);
    const std::int64_t factor = value % 4 == 0 ? 4 : value % 3 == 0 ? 3 : 1;
    switch (random_.below(7)) {
      case 0:
        return n >= AnyExpr(less);
      case 1:
        return n <= AnyExpr(more);
      case 2:
        return lathe::eq(n, AnyExpr(value));
      case 3:
        return lathe::eq(lathe::make_binary(lathe::BinaryOp::mod, n, AnyExpr(factor)), AnyExpr(0));
      case 4:
        return lathe::logical_and(n >= AnyExpr(less),
                                  lathe::eq(lathe::floormod(n, AnyExpr(factor)), AnyExpr(0)));
      case 5:
        return lathe::ne(n, AnyExpr(value + 1));
      default:
        return lathe::eq(lathe::floormod(n, AnyExpr(value + 2)), AnyExpr(value));
    }
  }
  /// A nest that may be one block, as a rule; or any loop. None where every block has its init.
  Args blockize(const lathe::Schedule& s) {
    std::vector<Arg> candidates;
    bool ready = false;
    for (const auto& use : block_uses(s.program()->body)) {
      ready = ready || !use.node->init;
      for (const auto& loop : s.loops(BlockRef(use.tag)))
        if (random_.chance(50) && !s.check(*lathe::find_primitive("blockize"), {loop}))
          candidates.emplace_back(loop);
    }
    if (!ready && random_.chance(80)) return {};
    return {candidates.empty() || random_.chance(10) ? Arg(some_loop(s))
                                                     : random_.pick(candidates)};
  }
  /// The innermost loops of a block with a row made of what they do, or with one that does not fit.
  Args tensorize(const lathe::Schedule& s) {
    lathe::BlockSite site = lathe::find_block(s.program()->body, block_.tag);
    for (const auto& other : lathe::blocks_below(s.program()->body))  // one that has no init
      if ((site.block->init || random_.chance(30)) && !other.block->init && !other.loops.empty())
        site = other;
    loops_ = s.loops(BlockRef(site.block->tag));
    if (loops_.empty() || random_.chance(10))
      return {some_loop(s), Arg::of_text(random_.chance(90) ? "vpdpbusd" : "none")};
    const int inner = std::min(static_cast<int>(loops_.size()), 1 + random_.below(2));
    const std::size_t first = loops_.size() - static_cast<std::size_t>(inner);
    auto row = IntrinsicMaker::row(site, first, random_.chance(50));
    if (!row) return {loops_[first], Arg::of_text("vdpbf16ps")};
    const std::size_t at =
        random_.chance(95)
            ? first
            : static_cast<std::size_t>(random_.below(static_cast<int>(loops_.size())));
    return {loops_[at], Arg::of_text(row->name), Arg::of_text(row->description),
            Arg::of_text(row->implementation), Arg::of_text(row->rounding)};
  }
  /// One or two points inside a loop, or at its ends, or out of order.
  Args loop_partition(const lathe::Schedule& s) {
    LoopRef loop = some_loop(s);
    lathe::LoopSite site = lathe::find_loop(s.program()->body, loop.var);
    if (!site.loop) return {loop, Arg::of_list({})};
    const AnyExpr& extent = site.loop->extent;
    const std::int64_t* n = lathe::as_const_int(extent);
    std::vector<Arg> points;
    if (n && random_.chance(90)) {
      const int below = static_cast<int>(std::clamp<std::int64_t>(*n, 0, 40));
      int first = random_.chance(90) && below > 1 ? 1 + random_.below(below - 1)
                                                  : random_.below(below + 2) - 1;
      points.push_back(Arg::of_number(first));
      if (random_.chance(40)) points.push_back(Arg::of_number(first + random_.below(3)));
    } else {
      points.push_back(symbolic_point(extent));
      if (random_.chance(30)) points.push_back(symbolic_point(extent));
    }
    return {loop, Arg::of_list(std::move(points))};
  }
  Arg symbolic_point(const AnyExpr& extent) {
    AnyExpr some(1 + random_.below(4));
    switch (random_.below(4)) {
      case 0:
        return Arg::of(lathe::Factor(some));
      case 1:
        return Arg::of(lathe::Factor(lathe::make_binary(lathe::BinaryOp::min, extent, some)));
      case 2:
        return Arg::of(lathe::Factor(lathe::floordiv(extent, some)));
      default:
        return Arg::of(lathe::Factor(extent - some));
    }
  }
  Args transform_layout(const lathe::Schedule& s) {
    Arg buffer = some_buffer(s);
    lathe::LayoutMap map = layout(rank_of(s, buffer.text));
    return {buffer, Arg(map)};
  }
};

}  // namespace fuzz
