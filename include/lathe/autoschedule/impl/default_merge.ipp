#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/analysis/access.hpp>
#include <lathe/analysis/block.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/footprint.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// Results that are read from the same places, or from each other, as the state and the weights of
// an optimizer, or as the largest and the least element of each row: their nests become one, so
// that each place is read from memory once.
class MergeNests : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    each_pair({}, kNeighbours, [&](const ForNode& first, const ForNode& second) {
      return (meets(first, second) || meet_in_cache(first, second)) &&
             merge(first, second).var.get();
    });
    merge_folds({});
    each_pair({}, kNeighbours, [&](const ForNode& first, const ForNode& second) {
      return meet_in_rows(first, second) && attempt([&] {
               const LoopRef rows = merge(first, second);
               return rows.var.get() && merge_folds(rows.var);
             });
    });
  }

 private:
  // Places of memory that one loop goes along: more of them share sets of the first cache.
  static constexpr std::size_t kMostStreams = 8;
  // Vectors of one nest for each vector of the other.
  static constexpr std::int64_t kMostVectors = 4;

  // How many places of their sequence loops may be apart: a fold across lanes takes five to seven.
  static constexpr std::size_t kNeighbours = 1, kFoldsApart = 16;

  // Merges pairs of loops below one loop, or of the program if there is none; what is merged meets
  // the next one in its place. Whether there were any.
  template <class Step>
  bool each_pair(const VarRef& around, std::size_t apart, const Step& merges) {
    const auto pairs_now = [&] {
      const Stmt& all = s_.program()->body;
      return pairs_of(around.get() ? find_loop(all, around).loop->body : all, apart);
    };
    bool any = false;
    auto pairs = pairs_now();
    for (std::size_t k = 0; k < pairs.size();) {
      const auto [first, second] = pairs[k];
      if (merges(*first, *second))
        any = true, pairs = pairs_now();
      else
        ++k;
    }
    return any;
  }
  static Vec<std::pair<ForRef, ForRef>> pairs_of(const Stmt& root, std::size_t apart) {
    Vec<std::pair<ForRef, ForRef>> out;
    each_statement(root, [&](const Stmt& s) {
      const auto* seq = s.as<SeqNode>();
      for (std::size_t k = 0; seq && k < seq->stmts.size(); ++k) {
        const auto* a = seq->stmts[k].as<ForNode>();
        for (std::size_t j = k + 1; a && j < seq->stmts.size() && j <= k + apart; ++j)
          if (const auto* b = seq->stmts[j].as<ForNode>()) out.emplace_back(ForRef(a), ForRef(b));
      }
    });
    return out;
  }

  // Folds of the same terms, as the least and the largest of a row, become one loop, which loads
  // each term once.
  bool merge_folds(const VarRef& around) {
    return each_pair(around, kFoldsApart, [&](const ForNode& first, const ForNode& second) {
      return share_terms(first, second) && merge(first, second).var.get();
    });
  }
  // Whether both add nothing but cheap terms, of the same places, to what registers hold.
  bool share_terms(const ForNode& first, const ForNode& second) const {
    if (trip(first) != trip(second) || !folds_cheaply(first) || !folds_cheaply(second) ||
        vectors_held(first) + vectors_held(second) > 0.75 * target_.vector_registers)
      return false;
    const Vec<AccessSite> a = accesses_in(first), b = accesses_in(second);
    return std::any_of(b.begin(), b.end(),
                       [&](const AccessSite& read) { return shares(a, first, read, second); });
  }
  bool folds_cheaply(const ForNode& loop) const {
    if (loop.loop_kind != ForKind::serial || job_.kept.holds(loop)) return false;
    const auto blocks = blocks_below(loop.body);
    return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](const auto& site) {
      return feeds(loop, *site.block, IterKind::reduce) && body_cost(*site.block).math == 0;
    });
  }
  double vectors_held(const ForNode& loop) const {
    double vectors = 0;
    for (const auto& site : blocks_below(loop.body)) {
      double results = 1;
      for (const auto& inner : site.loops) results *= static_cast<double>(trip(*inner));
      for (const auto* store : stores_of(*site.block))
        vectors += std::ceil(results * store->buffer->dtype.element_bytes() / target_.vector_bytes);
    }
    return vectors;
  }
  // Whether each iteration of both folds rows, of which some may be folded in one loop.
  bool meet_in_rows(const ForNode& first, const ForNode& second) const {
    if (trip(first) != trip(second) || !is_over_results(first) || !is_over_results(second))
      return false;
    for (const Stmt& a : seq_of(first.body))
      for (const Stmt& b : seq_of(second.body)) {
        const auto *x = a.as<ForNode>(), *y = b.as<ForNode>();
        if (x && y && share_terms(*x, *y)) return true;
      }
    return false;
  }

  // The loop that both have become; of no variable where they can't.
  LoopRef merge(const ForNode& first, const ForNode& second) {
    const std::int64_t a = trip(first), b = trip(second);
    if (std::min(a, b) < 1) return {};
    const std::int64_t times = std::max(a, b) / std::min(a, b);
    if (times > kMostVectors ||
        (a != b && (!as_const_int(first.extent) || !as_const_int(second.extent) ||
                    times * std::min(a, b) != std::max(a, b))))
      return {};
    LoopRef merged;
    const bool done = attempt([&] {
      LoopRef one = alone(first), other = alone(second);
      if (a > b) one = in_parts(one, times);
      if (b > a) other = in_parts(other, times);
      if (s_.check(primitive_merge(), {Arg::of(Vec<LoopRef>{one, other})})) return false;
      const Program apart = s_.program();
      merged = s_.merge(one, other);
      return independent(s_.program(), merged) || !independent(apart, one) ||
             !independent(apart, other);
    });
    return done ? merged : LoopRef();
  }
  // Iterations that wait for others can't be shared by threads, nor by the units of one.
  static bool independent(const Program& program, const LoopRef& loop) {
    return !primitive_parallel().run(program, {loop, Arg::of_number(0)}, nullptr);
  }
  // Without copies of its iterations, which are those of one nest.
  LoopRef alone(const ForNode& f) {
    const LoopRef loop(f.var);
    if (f.attributes.find<UnrollAttr>()) s_.unannotate(loop, "unroll_explicit");
    return loop;
  }
  LoopRef in_parts(const LoopRef& loop, std::int64_t parts) {
    const auto halves = s_.split_any(loop, {infer, parts});
    s_.unroll(halves[1]);
    return halves[0];
  }

  bool meets(const ForNode& first, const ForNode& second) const {
    if (!is_elementwise(first) || !is_elementwise(second)) return false;
    const Vec<AccessSite> a = accesses_in(first), b = accesses_in(second);
    Vec<Buffer> touched;
    for (const auto* all : {&a, &b})
      for (const auto& access : *all)
        if (!contains(touched, access.buffer)) touched.push_back(access.buffer);
    return touched.size() <= kMostStreams && leaves_first_cache(touched) &&
           std::any_of(b.begin(), b.end(),
                       [&](const AccessSite& read) { return shares(a, first, read, second); }) &&
           (trip(first) == trip(second) || !passes_on(a, b));
  }
  // Whether what an iteration of both touches stays in the second cache, which does not hold all
  // that they read: rows that are reduced more than once. Least and most of 4000x4000: 0.63 of the
  // time.
  bool meet_in_cache(const ForNode& first, const ForNode& second) const {
    if (trip(first) != trip(second) || !is_over_results(first) || !is_over_results(second) ||
        (is_elementwise(first) && is_elementwise(second)))
      return false;
    const auto cache = static_cast<double>(target_.l2_bytes);
    const Vec<AccessSite> a = accesses_in(first), b = accesses_in(second);
    return std::any_of(b.begin(), b.end(),
                       [&](const AccessSite& read) {
                         return bytes_of(*read.buffer, cache) > cache &&
                                shares(a, first, read, second);
                       }) &&
           2 * (bytes_of_iteration(first) + bytes_of_iteration(second)) <= cache;
  }
  double bytes_of_iteration(const ForNode& loop) const {
    const AnyExpr bytes = work_of(s_.program(), loop.var).bytes;
    const std::int64_t* size = bytes.get() ? as_const_int(bytes) : nullptr;
    return size ? static_cast<double>(*size) : std::numeric_limits<double>::infinity();
  }
  // Whether no iteration adds to what another one computes.
  bool is_over_results(const ForNode& loop) const {
    if (loop.loop_kind != ForKind::serial || job_.kept.holds(loop)) return false;
    const auto blocks = blocks_below(loop.body);
    return !blocks.empty() && std::none_of(blocks.begin(), blocks.end(), [&](const auto& site) {
      return feeds(loop, *site.block, IterKind::reduce);
    });
  }
  // Whether one loop touches what the other one reads, and goes along it as that does.
  static bool shares(const Vec<AccessSite>& a, const ForNode& first, const AccessSite& read,
                     const ForNode& second) {
    return !read.is_write && std::any_of(a.begin(), a.end(), [&](const AccessSite& other) {
      return other.buffer == read.buffer && goes_along(other, first, read, second);
    });
  }
  bool leaves_first_cache(const Vec<Buffer>& buffers) const {
    const auto cache = static_cast<double>(target_.l1_bytes);
    double bytes = 0;
    for (const auto& buffer : buffers) bytes += bytes_of(*buffer, cache);
    return bytes > cache;
  }
  // What is stored in short vectors and loaded in longer ones waits for the first cache.
  static bool passes_on(const Vec<AccessSite>& a, const Vec<AccessSite>& b) {
    return std::any_of(a.begin(), a.end(), [&](const AccessSite& write) {
      return write.is_write && std::any_of(b.begin(), b.end(), [&](const AccessSite& read) {
               return read.buffer == write.buffer;
             });
    });
  }
  static bool goes_along(const AccessSite& a, const ForNode& first, const AccessSite& b,
                         const ForNode& second) {
    const auto x = flat_stride(a, first.var), y = flat_stride(b, second.var);
    return x && y && *x != 0 && *x * trip(first) == *y * trip(second);
  }

  Vec<AccessSite> accesses_in(const ForNode& loop) const {
    return accesses_below(find_loop(s_.program()->body, loop.var));
  }
  bool is_elementwise(const ForNode& loop) const {
    if (loop.loop_kind != ForKind::serial || job_.kept.holds(loop)) return false;
    const auto blocks = blocks_below(loop.body);
    return !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](const auto& site) {
      return classify(s_.program()->body, site.block->tag).is_complete();
    });
  }
};

}  // namespace detail
}  // namespace lathe
