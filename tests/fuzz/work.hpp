// How much a program computes: a schedule may recompute a producer in every iteration of a deep
// nest, which is right and takes for ever.
#pragma once

#include <algorithm>
#include <lathe/arith/interval.hpp>
#include <lathe/ir/visit.hpp>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {

/// Nodes that the evaluator visits, at most, for these sizes.
class Work : public lathe::Visitor {
 public:
  Work(const lathe::Program& program, const std::vector<std::pair<std::string, std::int64_t>>& dims)
      : facts_(program) {
    for (const auto& dim : program->dims)
      for (const auto& [name, value] : dims)
        if (dim->var->name == name) sizes_.emplace_back(dim->var, lathe::AnyExpr(value));
    stmt(program->body);
  }
  double nodes() const { return nodes_; }

  void stmt(const lathe::Stmt& s) override {
    if (const auto* block = s.as<lathe::BlockNode>()) {
      nodes_ += times_ * static_cast<double>(lathe::node_count(block->body));
      return;
    }
    const auto* loop = s.as<lathe::ForNode>();
    if (!loop) return descend(s);
    const double outside = times_;
    const lathe::AnyExpr extent = lathe::substitute(loop->extent, sizes_);
    const lathe::ConstInterval range = lathe::const_bounds(extent, facts_);
    times_ *= static_cast<double>(std::max<std::int64_t>(range.has_max() ? range.max : 64, 0));
    descend(s);
    times_ = outside;
  }

 private:
  lathe::Facts facts_;
  lathe::Substitution sizes_;
  double times_ = 1, nodes_ = 0;
};

}  // namespace fuzz
