#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/schedule.hpp>

namespace lathe {
namespace detail {

// What the symbols of a trace stand for in the schedule that it is replayed on.
class ReplayMap {
 public:
  explicit ReplayMap(const Program& program) : program_(program) {}

  /// False if the argument names a reference that no step gave.
  bool translate(Arg& arg) const {
    for (auto& item : arg.list)
      if (!translate(item)) return false;
    if (arg.kind == ArgKind::expr) arg.expr = with_samples(with_dims(arg.expr, symbols()));
    if (arg.kind == ArgKind::map) {
      Vec<AnyExpr> to;
      for (const auto& e : arg.map->to) to.push_back(with_dims(e, arg.map->from));
      arg.map = make_ref<LayoutMapNode>(arg.map->from, to);
    }
    if (arg.kind != ArgKind::loop && arg.kind != ArgKind::block && arg.kind != ArgKind::sample)
      return true;
    for (const auto& [from, to] : known_)
      if (same(from, arg)) return arg = to, true;
    return false;
  }
  void set(const Arg& from, const Arg& to) {
    for (auto& entry : known_)
      if (same(entry.first, from)) return;
    known_.emplace_back(from, to);
  }

 private:
  static bool same(const Arg& a, const Arg& b) {
    return a.kind == b.kind && a.loop == b.loop && a.block == b.block;
  }
  // Of sampled numbers, whose names may be those of Dims.
  Vec<VarRef> symbols() const {
    Vec<VarRef> out;
    for (const auto& [from, to] : known_)
      if (from.kind == ArgKind::sample) out.push_back(from.loop);
    return out;
  }
  AnyExpr with_samples(const AnyExpr& e) const {
    Substitution map;
    for (const auto& [from, to] : known_)
      if (from.kind == ArgKind::sample) map.emplace_back(from.loop, AnyExpr(to.loop));
    return substitute(e, map);
  }
  // Dims are found by name: those of a trace that was parsed are only names.
  AnyExpr with_dims(const AnyExpr& e, const Vec<VarRef>& bound) const {
    Substitution map;
    for (const auto& v : free_vars(e)) {
      bool skip = false;
      for (const auto& b : bound) skip |= b == v;
      for (const auto& dim : program_->dims)
        if (!skip && dim->var->name == v->name) map.emplace_back(v, AnyExpr(dim->var));
    }
    return substitute(e, map);
  }
  Program program_;
  Vec<std::pair<Arg, Arg>> known_;
};

}  // namespace detail

LATHE_DECL Schedule replay(const Trace& trace, Schedule start, bool any_program, Location where) {
  if (!any_program && trace.program_hash != 0 &&
      trace.program_hash != structural_hash(start.program()))
    throw UserError(
        "L0227",
        "replay: the trace was recorded on another program than '" + start.program()->name + "'",
        where, {}, "pass any_program = true to try it all the same");
  detail::ReplayMap map(start.program());
  for (std::size_t k = 0; k < trace.entries.size(); ++k) {
    const TraceEntry& e = trace.entries[k];
    std::string step =
        "replay: step " + std::to_string(k + 1) + ", " + std::string(e.primitive->name);
    Args args = e.inputs;
    for (auto& a : args)
      if (!map.translate(a))
        throw UserError("L0227", step + ": uses a reference that no step before it gave", where);
    Args results = start.apply(*e.primitive, std::move(args), where);
    if (e.results.empty()) continue;
    if (results.size() != e.results.size())
      throw UserError("L0227",
                      step + ": gave " + std::to_string(results.size()) +
                          " results, but the trace has " + std::to_string(e.results.size()),
                      where);
    for (std::size_t r = 0; r < results.size(); ++r) map.set(e.results[r], results[r]);
  }
  return start;
}

}  // namespace lathe
