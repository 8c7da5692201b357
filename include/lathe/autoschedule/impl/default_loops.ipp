#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// Vectors of loops that hold statements without blocks, as scripts write them: the innermost loop
// along which all memory lies side by side, or is one element, and that carries nothing. Where each
// step along memory needs the one before (recurrences, sums so far), rows that do not need each
// other become lanes, and squares of memory are turned in registers.
class VectorizeBareLoops : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    Vec<ForRef> nests;
    each_statement(s_.program()->body, [&](const Stmt& s) {
      const auto* f = s.as<ForNode>();
      if (f && !job_.kept.holds(*f) && block_tags(f->body).size() == 0) nests.push_back(ForRef(f));
    });
    // Outer loops come first; one whose inner loop has become vectors stays.
    Vec<VarRef> done;
    for (const auto& loop : reversed(nests)) {
      if (holds_one_of(*loop, done)) continue;
      if (try_loop(loop) || try_rows(loop)) done.push_back(loop->var);
    }
  }

 private:
  static bool holds_one_of(const ForNode& loop, const Vec<VarRef>& loops) {
    bool holds = false;
    each_statement(loop.body, [&](const Stmt& s) {
      const auto* f = s.as<ForNode>();
      holds = holds || (f && contains(loops, f->var));
    });
    return holds;
  }

  bool try_loop(const ForRef& loop) {
    if (loop->loop_kind != ForKind::serial || trip(*loop) < 2) return false;
    const LoopSite site = find_loop(s_.program()->body, loop->var);
    if (!site.loop) return false;
    int widest = 1;
    bool stores = false, jumps = false;
    Vec<Buffer> running;
    for (const auto& access : accesses_below(site)) {
      if (access.indices.empty() && access.buffer->rank() > 0) return false;
      const Step step = step_of(access.indices, loop->var);
      if (step >= Step::strided) return false;
      stores = stores || (access.is_write && step == Step::unit);
      if (runs_on(access, loop->var) && !contains(running, access.buffer))
        running.push_back(access.buffer);
      const VarRef& inner = access.loops.back()->var;
      jumps = jumps || (inner != loop->var && step_of(access.indices, inner) >= Step::strided);
      widest = std::max(widest, access.buffer->dtype.element_bytes());
    }
    const std::int64_t lanes = target_.lanes(widest);
    if (!stores || trip(*loop) < lanes) return false;
    return attempt([&] {
      std::int64_t width = lanes * registers_in_step(running.size(), trip(*loop) / lanes);
      if (jumps) width = std::max(width, lanes_of_run(lanes, trip(*loop), widest));
      s_.vectorize(s_.split_any(LoopRef(loop->var), {infer, width})[1]);
    });
  }

  /// Whether steps of an inner loop store to one place, so that they wait for each other.
  static bool runs_on(const AccessSite& access, const VarRef& loop) {
    const VarRef& inner = access.loops.back()->var;
    return access.is_write && inner != loop && step_of(access.indices, inner) == Step::none;
  }

  /// How many vectors fill the time that each waits for itself, and the registers.
  std::int64_t registers_in_step(std::size_t running, std::int64_t vectors) const {
    if (running == 0) return 1;
    std::int64_t out = kElementwiseUnroll;
    while (out > 1 && (out > vectors ||
                       2 * out * static_cast<std::int64_t>(running) > target_.vector_registers))
      out /= 2;
    return out;
  }

  /// Of a loop around others that jump from row to row: some lines of each, as memory fetches whole
  /// ones and a step waits for the one before.
  std::int64_t lanes_of_run(std::int64_t lanes, std::int64_t trips, int bytes) const {
    const std::int64_t most = std::min<std::int64_t>(kLinesOfRun * target_.line_bytes / bytes,
                                                     target_.vector_registers / 2 * lanes);
    std::int64_t width = lanes;
    while (2 * width <= std::min(most, trips)) width *= 2;
    return width;
  }

  bool try_rows(const ForRef& loop) {
    if (loop->loop_kind != ForKind::serial || trip(*loop) < kLeastRows) return false;
    const LoopSite site = find_loop(s_.program()->body, loop->var);
    if (!site.loop) return false;
    const auto rows = rows_along(site);
    if (!rows) return false;
    const std::int64_t lanes =
        power_of_two(std::min<std::int64_t>(trip(*loop), target_.lanes(rows->widest)));
    return attempt([&] {
      for (const auto& along : rows->along) {
        // All squares that one step needs at a time stay in registers.
        const std::int64_t most = std::min<std::int64_t>(
            lanes, target_.vector_registers / static_cast<std::int64_t>(along.buffers.size()));
        const std::int64_t columns = power_of_two(std::min(most, kTurnedColumns));
        if (columns < 2 || trip(*along.loop) < columns) return false;
        s_.unroll(s_.split_any(LoopRef(along.loop->var), {infer, columns})[1]);
      }
      s_.vectorize(s_.split_any(LoopRef(loop->var), {infer, lanes})[1]);
      return true;
    });
  }

  /// The innermost loops along which a loop's rows lie in memory.
  struct Rows {
    struct Along {
      ForRef loop;
      Vec<Buffer> buffers;  ///< that its body accesses along rows
    };
    Vec<Along> along;
    int widest = 1;
  };
  static constexpr std::int64_t kLeastRows = 4, kTurnedColumns = 16, kLinesOfRun = 4;

  /// None unless all accesses below the loop go along rows, do not depend on it, or happen once a
  /// row.
  static std::optional<Rows> rows_along(const LoopSite& site) {
    Rows out;
    for (const auto& access : accesses_below(site)) {
      if (access.indices.empty() && access.buffer->rank() > 0) return {};
      out.widest = std::max(out.widest, access.buffer->dtype.element_bytes());
      const Step step = step_of(access.indices, site.loop->var);
      if (step == Step::none || step == Step::unit) continue;
      const ForRef& inner = access.loops.back();
      for (const auto& index : access.indices)
        if (!affine_of(index, {site.loop->var})) return {};
      if (inner->var == site.loop->var) continue;
      if (inner->loop_kind != ForKind::serial || !neighbours(access.indices, inner->var)) return {};
      Rows::Along* known = nullptr;
      for (auto& a : out.along)
        if (a.loop->var == inner->var) known = &a;
      if (!known) known = &out.along.emplace_back(Rows::Along{inner, {}});
      if (!contains(known->buffers, access.buffer)) known->buffers.push_back(access.buffer);
    }
    if (out.along.empty()) return {};
    return out;
  }

  static bool neighbours(const Vec<AnyExpr>& indices, const VarRef& loop) {
    const Stride stride = stride_of(indices, loop);
    return stride.step == Step::unit || (stride.step == Step::strided && stride.elements == -1);
  }

  static std::int64_t power_of_two(std::int64_t most) {
    std::int64_t out = 1;
    while (2 * out <= most) out *= 2;
    return out;
  }
};

}  // namespace detail
}  // namespace lathe
