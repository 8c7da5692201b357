// Random steps on a schedule: of every primitive, on live references, legal more often than not.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/records.hpp>
#include <lathe/schedule/schedule.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crash.hpp"
#include "execution.hpp"
#include "random_intrinsic.hpp"

namespace fuzz {

/// How often each primitive was accepted, and refused by which id.
struct Counts {
  std::map<std::string, std::map<std::string, int>> by_primitive;

  void add(const std::string& primitive, const std::string& outcome) {
    ++by_primitive[primitive][outcome];
  }
};

/// What a block stores and loads.
struct BlockUse {
  lathe::BlockTag tag;
  const lathe::BlockNode* node = nullptr;
  std::vector<lathe::Buffer> stores, loads;
};

class BlockUses : public lathe::Visitor {
 public:
  std::vector<BlockUse> all;

  void stmt(const lathe::Stmt& s) override {
    if (const auto* b = s.as<lathe::BlockNode>()) all.push_back({b->tag, b, {}, {}});
    if (const auto* n = s.as<lathe::StoreNode>(); n && !all.empty())
      all.back().stores.push_back(n->buffer);
    descend(s);
  }
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<lathe::LoadNode>(); n && !all.empty())
      all.back().loads.push_back(n->buffer);
    descend(e);
  }
};

inline bool share(const std::vector<lathe::Buffer>& a, const std::vector<lathe::Buffer>& b) {
  for (const auto& x : a)
    for (const auto& y : b)
      if (x == y) return true;
  return false;
}

class ScheduleMaker {
 public:
  /// The Dims with their values in this case.
  using Dims = std::vector<std::pair<std::string, std::int64_t>>;

  ScheduleMaker(Random& random, Counts& counts, const Dims& dims)
      : random_(random), counts_(counts), dims_(dims) {}

  /// Tries one step. Throws a Failure if it breaks what steps promise.
  void step(lathe::Schedule& s) {
    auto blocks = s.blocks();
    if (blocks.empty()) return;
    block_ = random_.pick(blocks);
    loops_ = s.loops(block_);
    std::string name = random_.pick(names());
    Args args;
    if (!arguments(s, name, args)) return;
    current_step = name;
    take(s, *lathe::find_primitive(name), std::move(args));
    current_step.clear();
  }

 private:
  using LoopRef = lathe::LoopRef;
  using BlockRef = lathe::BlockRef;
  using Arg = lathe::Arg;
  using Args = lathe::Args;

  static const std::vector<std::string>& names() {
    static const std::vector<std::string> weighted = {"split",
                                                      "split",
                                                      "split",
                                                      "fuse",
                                                      "fuse",
                                                      "loop_partition",
                                                      "loop_partition",
                                                      "merge",
                                                      "merge",
                                                      "merge",
                                                      "reorder",
                                                      "reorder",
                                                      "tile",
                                                      "parallel",
                                                      "vectorize",
                                                      "vectorize",
                                                      "vectorize",
                                                      "unroll",
                                                      "compute_at",
                                                      "compute_at",
                                                      "reverse_compute_at",
                                                      "reverse_compute_at",
                                                      "compute_inline",
                                                      "reverse_compute_inline",
                                                      "cache_read",
                                                      "cache_write",
                                                      "cache_write",
                                                      "decompose_reduction",
                                                      "decompose_reduction",
                                                      "rfactor",
                                                      "rfactor",
                                                      "set_scope",
                                                      "transform_layout",
                                                      "storage_align",
                                                      "hoist_storage",
                                                      "hoist_storage",
                                                      "transform_block_layout",
                                                      "transform_block_layout",
                                                      "prefetch",
                                                      "annotate",
                                                      "add_unit_loop",
                                                      "sample_perfect_tile",
                                                      "sample_categorical",
                                                      "assume",
                                                      "sample_compute_location",
                                                      "reindex",
                                                      "reindex",
                                                      "tensorize",
                                                      "tensorize"};
    return weighted;
  }

  /// check, then apply: they agree, a refusal changes nothing, and what comes out is a program.
  void take(lathe::Schedule& s, const lathe::Primitive& primitive, Args args) {
    lathe::Program before = s.program();
    lathe::Verdict verdict = s.check(primitive, args);
    std::string name(primitive.name);
    try {
      keep_samples(primitive, args, s.apply(primitive, args));
    } catch (const lathe::UserError& error) {
      if (!verdict)
        throw Failure("check", name + ": check says legal, apply refuses: " + error.what());
      if (verdict->id != error.id())
        throw Failure(
            "check", name + ": check says " + std::string(verdict->id) + ", apply " + error.what());
      if (!(s.program() == before))
        throw Failure("refusal", name + ": a refusal changed the program");
      counts_.add(name, error.id());
      return;
    }
    if (verdict)
      throw Failure("check", name + ": check says " + std::string(verdict->id) + ", apply accepts");
    counts_.add(name, "accepted");
    std::string reason = lathe::verify_reason(s.program(), lathe::Stage::blocks);
    if (!reason.empty())
      throw Failure("verify", name + " leaves a bad program: " + reason + "\n" + s.program().str());
    std::string text = s.program().str();
    lathe::Program again = lathe::parse(text);
    if (!lathe::structurally_equal(again, s.program()) || again.str() != text)
      throw Failure("round trip", name + ": the text does not read back\n" + text);
  }

  void keep_samples(const lathe::Primitive& primitive, const Args& args, const Args& results) {
    if (primitive.gives != lathe::ArgKind::sample) return;
    std::vector<Arg> factors;
    for (const auto& r : results) factors.push_back(Arg::of(lathe::Factor(lathe::Sample(r.loop))));
    samples_.insert(samples_.end(), factors.begin(), factors.end());
    if (primitive.name == "sample_perfect_tile") tile_ = {args[0], Arg::of_list(factors)};
  }

  LoopRef some_loop(const lathe::Schedule& s) {
    if (!loops_.empty() && random_.chance(90)) return random_.pick(loops_);
    for (int tries = 0; tries < 4; ++tries) {
      auto blocks = s.blocks();
      auto loops = s.loops(random_.pick(blocks));
      if (!loops.empty()) return random_.pick(loops);
    }
    return loops_.empty() ? LoopRef(lathe::make_var("none")) : loops_[0];
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
    BlockUses uses;
    uses.stmt(s.program()->body);
    for (const auto& use : uses.all)
      if (use.tag == block_.tag && random_.chance(90)) {
        std::vector<lathe::Buffer> all = use.stores;
        all.insert(all.end(), use.loads.begin(), use.loads.end());
        if (!all.empty()) return Arg::of_buffer(random_.pick(all)->name);
      }
    return some_buffer(s);
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
  /// A buffer and a loop that holds all that touches it, as a rule.
  Args hoist(const lathe::Schedule& s) {
    std::vector<Args> candidates;
    const lathe::Stmt& root = s.program()->body;
    lathe::each_statement(root, [&](const lathe::Stmt& below) {
      const auto* f = below.as<lathe::ForNode>();
      if (!f) return;
      for (const auto& buffer : lathe::buffers_written(f->body))
        if (lathe::is_private(root, buffer) &&
            lathe::writers(f->body, buffer).size() == lathe::writers(root, buffer).size() &&
            lathe::readers(f->body, buffer).size() == lathe::readers(root, buffer).size())
          candidates.push_back({Arg::of_buffer(buffer->name), LoopRef(f->var)});
    });
    if (candidates.empty() || random_.chance(10)) return {some_buffer(s), some_loop(s)};
    return random_.pick(candidates);
  }
  /// An outer dimension of a buffer that the program allocates, as a rule.
  Args alignment(const lathe::Schedule& s) {
    std::vector<lathe::Buffer> buffers;
    lathe::each_statement(s.program()->body, [&](const lathe::Stmt& below) {
      const auto* a = below.as<lathe::AllocNode>();
      if (a && a->buffer->rank() > 1) buffers.push_back(a->buffer);
    });
    const std::int64_t factor = 1 + random_.below(20);
    Arg by = Arg::of_number(factor);
    Arg offset = Arg::of_number(random_.below(static_cast<int>(factor) + random_.below(2)));
    if (buffers.empty() || random_.chance(10))
      return {some_buffer(s), Arg::of_number(random_.below(3) - 1), by, offset};
    lathe::Buffer buffer = random_.pick(buffers);
    return {Arg::of_buffer(buffer->name), Arg::of_number(random_.below(buffer->rank() - 1)), by,
            offset};
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

  /// False if nothing sensible can be said.
  bool arguments(const lathe::Schedule& s, const std::string& name, Args& args) {
    if (name == "split" && !tile_.empty() && random_.chance(70))
      args = std::exchange(tile_, {});
    else if (name == "split")
      args = {some_loop(s), factors(), tail()};
    else if (name == "fuse")
      args = {some_loops(s, true)};
    else if (name == "loop_partition")
      args = partition(s);
    else if (name == "merge")
      args = {following_loops(s)};
    else if (name == "reorder")
      args = {some_loops(s, false)};
    else if (name == "tile")
      args = {some_loop(s), some_loop(s), factor(), factor(), tail()};
    else if (name == "parallel")
      args = {random_.chance(60) && !loops_.empty() ? loops_[0] : some_loop(s),
              Arg::of_number(random_.below(3))};
    else if (name == "vectorize")
      args = {random_.chance(60) && !loops_.empty() ? loops_.back() : some_loop(s)};
    else if (name == "unroll")
      args = {some_loop(s), Arg::of_number(random_.chance(50) ? 0 : random_.below(5))};
    else if (name == "compute_at" || name == "reverse_compute_at")
      args = {block_, partner_loop(s, name == "compute_at")};
    else if (name == "compute_inline" || name == "reverse_compute_inline")
      args = {block_};
    else if (name == "cache_read")
      args = {block_, some_buffer(s), scope()};
    else if (name == "sample_perfect_tile")
      args = {some_loop(s), Arg::of_number(1 + random_.below(3)),
              Arg::of_number(1 << random_.below(6)), Arg::of_number(random_.below(3))};
    else if (name == "sample_categorical")
      args = {Arg::of_list({Arg::of_number(2), factor(), factor()})};
    else if (name == "sample_compute_location")
      args = {block_};
    else if (name == "assume" && dims_.empty() && random_.chance(95))
      return false;
    else if (name == "assume")
      args = {Arg::of(lathe::Factor(condition(s)))};
    else if (name == "add_unit_loop")
      args = {random_.chance(50) ? Arg(some_loop(s)) : Arg(block_)};
    else if (name == "reindex")
      args = {block_, touched_buffer(s)};
    else if (name == "tensorize")
      args = tensor_arguments(s);
    else if (name == "cache_write")
      args = {block_, scope()};
    else if (name == "decompose_reduction")
      args = {block_, reduce_loop(s, random_.chance(60))};
    else if (name == "rfactor")
      args = {reduce_loop(s, false), Arg::of_number(random_.below(3) - 1)};
    else if (name == "set_scope")
      args = {some_buffer(s), scope()};
    else if (name == "transform_layout")
      args = layout_arguments(s);
    else if (name == "hoist_storage")
      args = hoist(s);
    else if (name == "storage_align")
      args = alignment(s);
    else if (name == "transform_block_layout")
      args = {block_, Arg(block_layout(s))};
    else if (name == "prefetch")
      args = {some_buffer(s), some_loop(s), Arg::of_number(1 + random_.below(4)),
              Arg::of_number(random_.below(4))};
    else
      args = annotation(s);
    return true;
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
  /// The innermost loops of a block with a row made of what they do, or with one that does not fit.
  Args tensor_arguments(const lathe::Schedule& s) {
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
  Args partition(const lathe::Schedule& s) {
    LoopRef loop = some_loop(s);
    lathe::LoopSite site = lathe::find_loop(s.program()->body, loop.var);
    if (!site.loop) return {loop, Arg::of_list({})};
    const AnyExpr& extent = site.loop->extent;
    const std::int64_t* n = lathe::as_const_int(extent);
    std::vector<Arg> points;
    if (n && random_.chance(90)) {
      const int below = static_cast<int>(std::min<std::int64_t>(*n, 40));
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
  /// A loop above a block that reads what this one stores, or the other way round.
  LoopRef partner_loop(const lathe::Schedule& s, bool consumer) {
    BlockUses uses;
    uses.stmt(s.program()->body);
    std::vector<LoopRef> candidates;
    for (const auto& own : uses.all)
      for (const auto& other : uses.all)
        if (own.tag == block_.tag && other.tag != own.tag &&
            (consumer ? share(own.stores, other.loads) : share(other.stores, own.loads)))
          for (const auto& loop : s.loops(BlockRef(other.tag))) candidates.push_back(loop);
    return candidates.empty() || random_.chance(15) ? some_loop(s) : random_.pick(candidates);
  }
  /// A loop that feeds a reduce iterator; the outermost one if asked.
  LoopRef reduce_loop(const lathe::Schedule& s, bool outermost) {
    BlockUses uses;
    uses.stmt(s.program()->body);
    std::vector<LoopRef> candidates;
    for (const auto& use : uses.all) {
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
  Args layout_arguments(const lathe::Schedule& s) {
    Arg buffer = some_buffer(s);
    lathe::LayoutMap map = layout(rank_of(s, buffer.text));
    return {buffer, Arg(map)};
  }
  Args annotation(const lathe::Schedule& s) {
    switch (random_.below(4)) {
      case 0:
        return {some_loop(s), Arg::of_text("unroll_explicit"), Arg::of_number(random_.below(5))};
      case 1:
        return {some_loop(s), Arg::of_text("max_threads"), Arg::of_number(random_.below(3))};
      case 2:
        return {block_, Arg::of_text("stream"), Arg::of_number(random_.below(3))};
      default:
        return {block_, Arg::of_text("user.note"), Arg::of_text("x \"y\"")};
    }
  }

  Random& random_;
  Counts& counts_;
  const Dims& dims_;
  BlockRef block_;
  std::vector<LoopRef> loops_;
  std::vector<Arg> samples_;  ///< as factors
  Args tile_;                 ///< of a split: a loop and the factors that were sampled for it
};

}  // namespace fuzz
