#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/dependence.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/impl/doubled.ipp>
#include <lathe/ir/describe.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline constexpr std::int64_t kMostStages = 16;

/// Tests whether the statements of a loop's body may run in stages.
class PipelinePlanner {
 public:
  PipelinePlanner(const Program& program, const VarRef& loop, const PipelineAttr& when)
      : program_(program),
        site_(find_loop(program->body, loop)),
        facts_(program_facts(program)),
        when_(when) {}

  PipelinePlan run() {
    if (plan_.why = body(); !plan_.why.empty()) return plan_;
    if (plan_.why = numbers(); !plan_.why.empty()) return plan_;
    if (plan_.why = buffers(); !plan_.why.empty()) return plan_;
    plan_.why = order();
    return plan_;
  }

 private:
  const ForNode& loop() const { return *site_.loop; }
  std::string loop_text() const { return "loop " + describe(loop()); }

  std::string body() {
    statements_ = seq_of(loop().body);
    if (statements_.size() < 2) return loop_text() + " holds one statement";
    for (const auto& s : statements_)
      if (has_bare_statement(s) || s.kind() == StmtKind::Alloc)
        return loop_text() + " holds a statement that is neither a block nor a nest of blocks";
    if (bound_written_inside(loop()))
      return "the bound of " + loop_text() + " is read from what is written inside it";
    Vec<ForRef> loops = site_.loops;
    loops.push_back(site_.loop);
    for (const auto& f : loops)
      for (const auto& a : f->attributes)
        if (const auto* rolls = a.as<RollingAttr>();
            rolls && block_named(loop().body, rolls->block))
          return "block " + in_quotes(rolls->block) + " keeps rows along loop " +
                 in_quotes(f->var->name);
    return {};
  }

  std::string numbers() {
    const std::size_t n = statements_.size();
    if (when_.stages.size() != n || when_.orders.size() != n)
      return loop_text() + " holds " + std::to_string(n) + " statements, not " +
             std::to_string(when_.stages.size());
    for (std::size_t k = 0; k < n; ++k) {
      if (when_.stages[k] < 0 || when_.stages[k] > kMostStages)
        return "stage " + std::to_string(when_.stages[k]) + " is not between 0 and " +
               std::to_string(kMostStages);
      for (std::size_t other = 0; other < k; ++other)
        if (when_.orders[other] == when_.orders[k])
          return "two statements have the order " + std::to_string(when_.orders[k]);
    }
    return {};
  }

  // Whether a statement k iterations later would run after another one of this iteration.
  bool runs_before(std::size_t a, std::size_t b, std::int64_t later) const {
    const std::int64_t at = when_.stages[a], then = when_.stages[b] + later;
    return at < then || (at == then && when_.orders[a] < when_.orders[b]);
  }

  // Those that an iteration has to itself get versions; the accesses of others are gathered.
  std::string buffers() {
    for (const auto& s : statements_) uses_.push_back(accesses_below(site_, s));
    for (const auto& buffer : buffers_written(loop().body)) {
      Vec<std::size_t> users;
      for (std::size_t k = 0; k < statements_.size(); ++k)
        if (touches(k, buffer)) users.push_back(k);
      if (users.size() < 2 || !is_private(program_->body, buffer)) continue;
      const UsePlaces places(program_, buffer, loop().var);
      if (places.outside || !filled_each_iteration(program_, buffer, loop(), facts_)) continue;
      const std::string name = "buffer " + in_quotes(buffer->name);
      if (places.opaque) return name + " is used by an opaque block";
      if (std::string why = versions(buffer, users); !why.empty()) return why;
    }
    return {};
  }
  bool touches(std::size_t k, const Buffer& buffer) const {
    for (const auto& access : uses_[k])
      if (access.buffer == buffer) return true;
    return false;
  }
  bool writes(std::size_t k, const Buffer& buffer) const {
    for (const auto& access : uses_[k])
      if (access.buffer == buffer && access.is_write) return true;
    return false;
  }

  // As many that no iteration overwrites what one before it still uses.
  std::string versions(const Buffer& buffer, const Vec<std::size_t>& users) {
    std::int64_t count = 1;
    for (std::size_t a : users)
      for (std::size_t b : users) {
        if (a == b || !writes(a, buffer)) continue;
        while (!runs_before(b, a, count)) ++count;
      }
    for (std::size_t a : users)
      for (std::size_t b : users)
        if (a < b && (writes(a, buffer) || writes(b, buffer)) && !runs_before(a, b, 0))
          return late(a, b, "in the same iteration", buffer);
    plan_.buffers.push_back({buffer, count});
    return {};
  }

  std::string late(std::size_t a, std::size_t b, const std::string& when,
                   const Buffer& buffer) const {
    auto named = [&](std::size_t k) {
      const BlockTag tag = first_block_below(statements_[k]);
      return "the statement of block " + in_quotes(tag ? tag->name : "");
    };
    return named(b) + " would run before " + named(a) + ", which touches " +
           in_quotes(buffer->name) + " " + when;
  }

  bool own(const Buffer& buffer) const {
    for (const auto& v : plan_.buffers)
      if (v.buffer == buffer) return true;
    return false;
  }

  std::string order() {
    for (std::size_t a = 0; a < statements_.size(); ++a)
      for (std::size_t b = a + 1; b < statements_.size(); ++b)
        for (const auto& first : uses_[a])
          for (const auto& second : uses_[b]) {
            if (!(first.is_write || second.is_write) || own(first.buffer)) continue;
            if (std::string why = pair(a, b, first, second); !why.empty()) return why;
          }
    return {};
  }

  // Two accesses in one entry of the loop; what is not excluded is one iteration apart.
  std::string pair(std::size_t a, std::size_t b, const AccessSite& first,
                   const AccessSite& second) const {
    Vec<ForRef> loops = site_.loops;
    loops.push_back(site_.loop);
    const DependenceVectors found = dependence(first, second, loops, facts_);
    if (found.answer == Answer::no) return {};
    int along = 0;
    for (const auto& vector : found.vectors) {
      bool same_entry = true;
      for (std::size_t k = 0; k + 1 < vector.size(); ++k)
        same_entry = same_entry && (vector[k] & Direction::eq) != Direction::none;
      if (same_entry) along |= static_cast<int>(vector.back());
    }
    auto may = [&](Direction d) { return (along & static_cast<int>(d)) != 0; };
    if (may(Direction::eq) && !runs_before(a, b, 0))
      return late(a, b, "in the same iteration", first.buffer);
    if (may(Direction::lt) && !runs_before(a, b, 1))
      return late(a, b, "in the iteration before", first.buffer);
    if (may(Direction::gt) && !runs_before(b, a, 1))
      return late(b, a, "in the iteration before", first.buffer);
    return {};
  }

  const Program& program_;
  const LoopSite site_;
  const Facts facts_;
  const PipelineAttr& when_;
  Vec<Stmt> statements_;
  Vec<Vec<AccessSite>> uses_;  ///< by statement
  PipelinePlan plan_;
};

LATHE_DECL PipelinePlan plan_pipeline(const Program& program, const VarRef& loop,
                                      const PipelineAttr& when) {
  return PipelinePlanner(program, loop, when).run();
}

}  // namespace lathe::detail
