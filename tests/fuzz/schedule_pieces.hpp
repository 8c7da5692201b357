// What the arguments of random steps are made of: loops, factors, buffers of the schedule as it is.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <string>
#include <utility>
#include <vector>

#include "block_uses.hpp"

namespace fuzz {

class SchedulePieces {
 public:
  /// The Dims with their values in this case.
  using Dims = std::vector<std::pair<std::string, std::int64_t>>;

 protected:
  using LoopRef = lathe::LoopRef;
  using BlockRef = lathe::BlockRef;
  using Arg = lathe::Arg;
  using Args = lathe::Args;

  SchedulePieces(Random& random, const Dims& dims) : random_(random), dims_(dims) {}

  LoopRef some_loop(const lathe::Schedule& s) {
    if (!loops_.empty() && random_.chance(90)) return random_.pick(loops_);
    if (random_.chance(30)) return any_loop(s);
    for (int tries = 0; tries < 4; ++tries) {
      auto blocks = s.blocks();
      if (blocks.empty()) return any_loop(s);
      auto loops = s.loops(random_.pick(blocks));
      if (!loops.empty()) return random_.pick(loops);
    }
    return loops_.empty() ? LoopRef(lathe::make_var("none")) : loops_[0];
  }
  /// Of the whole program: it may lie inside a block.
  LoopRef any_loop(const lathe::Schedule& s) {
    std::vector<LoopRef> all;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      if (const auto* f = below.as<lathe::ForNode>()) all.emplace_back(f->var);
    });
    return all.empty() ? LoopRef(lathe::make_var("none")) : random_.pick(all);
  }
  /// A loop and those around it, from the outermost, whether there is a block in them or not.
  std::vector<LoopRef> some_chain(const lathe::Schedule& s) {
    class Chains : public lathe::Visitor {
     public:
      std::vector<std::vector<LoopRef>> all;
      void stmt(const lathe::Stmt& below) override {
        const auto* loop = below.as<lathe::ForNode>();
        if (!loop) return descend(below);
        open_.emplace_back(loop->var);
        all.push_back(open_);
        descend(below);
        open_.pop_back();
      }

     private:
      std::vector<LoopRef> open_;
    } chains;
    chains.stmt(s.program()->body);
    return chains.all.empty() ? std::vector<LoopRef>() : random_.pick(chains.all);
  }
  Arg factor() {
    static const std::vector<int> values = {1, 2, 2, 3, 4, 4, 5, 8, 8, 16, 0, 7};
    if (!samples_.empty() && random_.chance(30)) return random_.pick(samples_);
    return Arg::of_number(random_.pick(values));
  }
  Arg factors() {
    std::vector<Arg> list;
    for (int k = 1 + random_.below(2); k > 0; --k) list.push_back(factor());
    auto at = static_cast<std::ptrdiff_t>(
        random_.chance(75) ? 0 : random_.below(static_cast<int>(list.size()) + 1));
    if (random_.chance(92))
      list.insert(list.begin() + at, Arg::of(lathe::Factor(lathe::infer)));
    else
      list.insert(list.begin() + at, factor());
    return Arg::of_list(std::move(list));
  }
  Arg tail() {
    static const std::vector<std::string> tails = {"auto",  "auto",  "auto",    "guard",
                                                   "exact", "mask",  "peel",    "shift",
                                                   "shift", "shift", "round_up"};
    return Arg::of_word(random_.pick(tails));
  }
  Arg scope() {
    static const std::vector<std::string> scopes = {"global", "global", "local",
                                                    "local",  "shared", "register"};
    return Arg::of_word(random_.pick(scopes));
  }
  Arg some_buffer(const lathe::Schedule& s) {
    std::vector<std::string> names;
    class Names : public lathe::Visitor {
     public:
      explicit Names(std::vector<std::string>& out) : out_(out) {}
      void buffer(const lathe::Buffer& b) override { out_.push_back(b->name); }

     private:
      std::vector<std::string>& out_;
    } visitor(names);
    visitor.stmt(s.program()->body);
    return Arg::of_buffer(names.empty() ? "none" : random_.pick(names));
  }
  /// A buffer that the block reads or writes, as a rule.
  Arg touched_buffer(const lathe::Schedule& s) {
    const std::vector<BlockUse> uses = block_uses(s.program()->body);
    for (const auto& use : uses)
      if (use.tag == block_.tag && random_.chance(90)) {
        std::vector<lathe::Buffer> all = use.stores;
        all.insert(all.end(), use.loads.begin(), use.loads.end());
        if (!all.empty()) return Arg::of_buffer(random_.pick(all)->name);
      }
    return some_buffer(s);
  }
  Arg some_loops(const lathe::Schedule& s, bool adjacent) {
    std::vector<LoopRef> picked;
    if (loops_.size() < 2) return Arg::of(std::vector<LoopRef>{some_loop(s), some_loop(s)});
    if (adjacent && random_.chance(90)) {
      int count = std::min(static_cast<int>(loops_.size()), 2 + random_.below(2));
      int first = random_.below(static_cast<int>(loops_.size()) - count + 1);
      for (int k = 0; k < count; ++k) picked.push_back(loops_[static_cast<std::size_t>(first + k)]);
      return Arg::of(picked);
    }
    picked = loops_;
    for (std::size_t k = picked.size(); k > 1; --k)
      std::swap(picked[k - 1],
                picked[static_cast<std::size_t>(random_.below(static_cast<int>(k)))]);
    if (random_.chance(40))
      picked.resize(2 +
                    static_cast<std::size_t>(random_.below(static_cast<int>(picked.size()) - 1)));
    return Arg::of(picked);
  }
  /// Two or three loops that follow each other, mostly of one extent.
  Arg following_loops(const lathe::Schedule& s) {
    std::vector<std::vector<LoopRef>> candidates;
    const int strict = random_.chance(85);
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& parent) {
      std::vector<LoopRef> run;
      const lathe::ForNode* last = nullptr;
      for (const auto& child : lathe::seq_of(parent)) {
        const auto* loop = child.as<lathe::ForNode>();
        if (!loop || (last && strict && !lathe::structurally_equal(last->extent, loop->extent)))
          run.clear();
        last = loop;
        if (!loop) continue;
        run.emplace_back(loop->var);
        if (run.size() > 1) candidates.emplace_back(run.end() - 2, run.end());
        if (run.size() > 2) candidates.emplace_back(run.end() - 3, run.end());
      }
    });
    if (candidates.empty() || random_.chance(5)) return some_loops(s, true);
    return Arg::of(random_.pick(candidates));
  }
  /// A loop above a block that reads what this one stores, or the other way round.
  std::vector<LoopRef> partner_loops(const lathe::Schedule& s, bool consumer) {
    const std::vector<BlockUse> uses = block_uses(s.program()->body);
    std::vector<LoopRef> candidates;
    for (const auto& own : uses)
      for (const auto& other : uses)
        if (own.tag == block_.tag && other.tag != own.tag &&
            (consumer ? share(own.stores, other.loads) : share(other.stores, own.loads)))
          for (const auto& loop : s.loops(BlockRef(other.tag))) candidates.push_back(loop);
    return candidates;
  }
  LoopRef partner_loop(const lathe::Schedule& s, bool consumer) {
    const std::vector<LoopRef> candidates = partner_loops(s, consumer);
    return candidates.empty() || random_.chance(15) ? some_loop(s) : random_.pick(candidates);
  }
  /// A loop that feeds a reduce iterator; the outermost one if asked.
  LoopRef reduce_loop(const lathe::Schedule& s, bool outermost) {
    const std::vector<BlockUse> uses = block_uses(s.program()->body);
    std::vector<LoopRef> candidates;
    for (const auto& use : uses) {
      if (use.tag != block_.tag && random_.chance(50)) continue;
      for (const auto& loop : s.loops(BlockRef(use.tag))) {
        bool feeds = false;
        for (const auto& it : use.node->iters)
          feeds = feeds ||
                  (it.kind == lathe::IterKind::reduce && lathe::uses_var(it.binding, loop.var));
        if (!feeds) continue;
        if (use.tag == block_.tag && outermost) return loop;
        candidates.push_back(loop);
      }
    }
    return candidates.empty() || random_.chance(10) ? some_loop(s) : random_.pick(candidates);
  }

  Random& random_;
  const Dims& dims_;
  BlockRef block_;
  std::vector<LoopRef> loops_;
  std::vector<Arg> samples_;  ///< as factors
  Args tile_;                 ///< of a split: a loop and the factors that were sampled for it
};

}  // namespace fuzz
