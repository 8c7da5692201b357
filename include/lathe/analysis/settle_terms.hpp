// Accesses whose indices or bounds change while a statement runs.
#pragma once

#include <lathe/analysis/uses.hpp>

namespace lathe::detail {

/// Takes from accesses of a statement what loads memory that the statement writes: such an index,
/// or bound of a loop, is another one each time, and becomes a variable of which nothing is known.
class SettleTerms {
 public:
  explicit SettleTerms(const Stmt& s) : s_(s) {}

  void run(Vec<AccessSite>& sites) {
    for (auto& site : sites) {
      for (auto& loop : site.loops)
        if (changes(loop->min) || changes(loop->extent)) loop = of_any_extent(*loop, site.unknown);
      for (std::size_t d = 0; d < site.indices.size(); ++d)
        if (changes(site.indices[d]))
          site.indices[d] = site.inner_indices[d] = any_number("index", site.unknown);
      for (auto& e : site.bindings)
        if (changes(e)) e = any_number("value", site.unknown);
      for (const auto& range : site.declared.ranges)
        if (changes(range.min) || changes(range.extent)) {
          site.declared = {};
          break;
        }
    }
  }

 private:
  bool changes(const AnyExpr& e) const { return loads_written(e, s_); }

  static AnyExpr any_number(const char* name, Vec<VarRef>& unknown) {
    unknown.push_back(make_var(name));
    return AnyExpr(unknown.back());
  }

  ForRef of_any_extent(const ForNode& loop, Vec<VarRef>& unknown) const {
    const AnyExpr min = changes(loop.min) ? any_number("begin", unknown) : loop.min,
                  extent = changes(loop.extent) ? any_number("extent", unknown) : loop.extent;
    const Stmt out = make_for(loop.var, min, extent, loop.body, loop.loop_kind, loop.attributes);
    return ForRef(out.as<ForNode>());
  }

  const Stmt& s_;
};

}  // namespace lathe::detail
