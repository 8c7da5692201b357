#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {
namespace detail {

// Vectors of loops that hold statements without blocks, as scripts write them: the innermost loop
// along which all memory lies side by side, or is one element, and that carries nothing.
class VectorizeBareLoops : DefaultSteps {
 public:
  using DefaultSteps::DefaultSteps;

  void run() {
    Vec<ForRef> nests;
    each_statement(s_.program()->body, [&](const Stmt& s) {
      const auto* f = s.as<ForNode>();
      if (f && block_tags(f->body).size() == 0) nests.push_back(ForRef(f));
    });
    // Outer loops come first; one whose inner loop has become vectors stays.
    Vec<VarRef> done;
    for (const auto& loop : reversed(nests)) {
      if (holds_one_of(*loop, done)) continue;
      if (try_loop(loop)) done.push_back(loop->var);
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
    bool stores = false;
    for (const auto& access : accesses_below(site)) {
      if (access.indices.empty() && access.buffer->rank() > 0) return false;
      const Step step = step_of(access.indices, loop->var);
      if (step >= Step::strided) return false;
      stores = stores || (access.is_write && step == Step::unit);
      widest = std::max(widest, access.buffer->dtype.element_bytes());
    }
    const std::int64_t lanes = target_.lanes(widest);
    if (!stores || trip(*loop) < lanes) return false;
    return attempt([&] {
      const auto parts = s_.split_any(LoopRef(loop->var), {infer, lanes});
      s_.vectorize(parts[1]);
    });
  }
};

}  // namespace detail
}  // namespace lathe
