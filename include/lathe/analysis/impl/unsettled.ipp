#pragma once

#include <lathe/analysis/uses.hpp>
#include <lathe/arith/poly.hpp>

namespace lathe {
namespace detail {

/// Takes from accesses of a statement what loads memory that the statement writes: an index that is
/// another one each time touches anything, and the bounds of such a loop are new variables.
class SettleTerms {
 public:
  explicit SettleTerms(const Stmt& s) : s_(s) {}

  void run(Vec<AccessSite>& sites) {
    for (std::size_t k = 0; k < sites.size(); ++k) {
      AccessSite& site = sites[k];
      for (auto& loop : site.loops)
        if (changes(loop->min) || changes(loop->extent)) loop = of_any_extent(*loop, site.unknown);
      if (!index_changes(site)) continue;
      const bool update = site.kind == AccessKind::update;
      site.kind = AccessKind::opaque;
      site.indices.clear(), site.inner_indices.clear();
      site.declared = {};
      if (!update) continue;
      AccessSite read = site;
      read.is_write = false;
      sites.insert_at(k++, std::move(read));
    }
  }

 private:
  bool index_changes(const AccessSite& site) {
    for (const auto* list : {&site.indices, &site.inner_indices, &site.bindings})
      for (const auto& e : *list)
        if (changes(e)) return true;
    for (const auto& range : site.declared.ranges)
      if (changes(range.min) || changes(range.extent)) return true;
    return false;
  }

  bool changes(const AnyExpr& e) {
    if (e.kind() == ExprKind::Const || e.kind() == ExprKind::Var) return false;
    LoadedBuffers loads;
    loads.expr(e);
    for (const auto& b : loads.found)
      if (is_written(b)) return true;
    return false;
  }

  bool is_written(const Buffer& buffer) {
    for (const auto& [known, written] : known_)
      if (known == buffer) return written;
    const bool written =
        any_use_of({buffer}, s_, [](const BufferUse& use) { return use.is_write; });
    known_.emplace_back(buffer, written);
    return written;
  }

  ForRef of_any_extent(const ForNode& loop, Vec<VarRef>& unknown) {
    const VarRef min = make_var("begin"), extent = make_var("extent");
    if (changes(loop.min)) unknown.push_back(min);
    if (changes(loop.extent)) unknown.push_back(extent);
    const Stmt out = make_for(loop.var, changes(loop.min) ? AnyExpr(min) : loop.min,
                              changes(loop.extent) ? AnyExpr(extent) : loop.extent, loop.body,
                              loop.loop_kind, loop.annotations);
    return ForRef(out.as<ForNode>());
  }

  const Stmt& s_;
  Vec<std::pair<Buffer, bool>> known_;
};

}  // namespace detail
}  // namespace lathe
