#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/analysis/block.hpp>
#include <lathe/arith/affine.hpp>
#include <lathe/cost/stage_model.hpp>
#include <lathe/cost/step.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

LATHE_DECL bool StageModel::moves(const StageAccess& access, int loop) const {
  const VarRef& var = loops[static_cast<std::size_t>(loop)].loop->var;
  if (access.site.kind == AccessKind::opaque) return true;
  return std::any_of(access.site.indices.begin(), access.site.indices.end(),
                     [&](const AnyExpr& index) { return uses_var(index, var); });
}
LATHE_DECL int StageModel::innermost_move(const StageAccess& access, int below) const {
  int loop = below - 1;
  while (loop >= 0 && !moves(access, loop)) --loop;
  return loop;
}

class ModelMaker {
 public:
  ModelMaker(const BlockSite& site, ProgramWork& work, const Machine& machine)
      : work_(work), machine_(machine) {
    model_.site = site;
    model_.mix = operation_mix(*site.block);
  }

  StageModel made() && {
    loops();
    accesses();
    lanes();
    instructions();
    folds();
    for (int level = 0; level < 3; ++level) misses(level);
    return std::move(model_);
  }

 private:
  void loops() {
    const Facts facts(work_.program());
    Facts inside = facts;
    for (const auto& f : model_.site.loops) {
      const double trip = std::max(1.0, work_.number(f->extent, inside));
      inside.bind(*f);
      model_.loops.push_back({f, trip, feeds(*f, *model_.site.block, IterKind::reduce), false});
      model_.points *= trip;
      if (f->loop_kind == ForKind::parallel) model_.threads *= trip;
    }
    model_.threads = std::min(model_.threads, machine_.cores);
    for (std::size_t k = model_.loops.size(); k-- > 0;) {
      const ForKind kind = model_.loops[k].loop->loop_kind;
      if (kind != ForKind::vectorized && kind != ForKind::unrolled) break;
      model_.loops[k].written_out = true;
    }
  }
  // The first loop of those that are written out; the number of loops if none is.
  int first_written_out() const {
    int k = static_cast<int>(model_.loops.size());
    while (k > 0 && model_.loops[static_cast<std::size_t>(k - 1)].written_out) --k;
    return k;
  }
  int lane_loop() const {
    for (int k = static_cast<int>(model_.loops.size()); k-- > 0;)
      if (loop(k).loop->loop_kind == ForKind::vectorized) return k;
    return -1;
  }
  const StageLoop& loop(int k) const { return model_.loops[static_cast<std::size_t>(k)]; }

  void accesses() {
    for (const auto& site : work_.accesses()) {
      if (!site.block || site.block->tag != model_.site.block->tag) continue;
      StageAccess access;
      access.site = site;
      access.in_registers =
          site.buffer->scope == Scope::reg || site.buffer->scope == Scope::fragment;
      access.element_bytes = site.buffer->dtype.element_bytes();
      const int lane = lane_loop();
      if (lane >= 0) access.lane = lane_step(site, loop(lane).loop->var);
      model_.accesses.push_back(std::move(access));
    }
  }
  static LaneStep lane_step(const AccessSite& site, const VarRef& lane) {
    switch (step_of(site.indices, lane)) {
      case Step::none:
        return LaneStep::same;
      case Step::unit:
        return LaneStep::unit;
      case Step::strided:
        return LaneStep::apart;
      default:
        return lies_near(site, lane) ? LaneStep::unit : LaneStep::apart;
    }
  }
  // Of quotients and remainders, as of panels, neighbours mostly are near; of data and of whole
  // rows they are not.
  static bool lies_near(const AccessSite& site, const VarRef& lane) {
    return std::none_of(site.indices.begin(), site.indices.end(), [&](const AnyExpr& index) {
      return uses_var(index, lane) && (find_load(index) || affine_of(index, {lane}));
    });
  }

  void lanes() {
    const int lane = lane_loop();
    model_.vectors = model_.points;
    if (lane < 0) return;
    const double whole = std::max(1.0, machine_.vector_bytes / model_.mix.widest);
    const double trip = loop(lane).trip;
    model_.lanes = std::min(trip, whole);
    model_.vectors = model_.points / trip * std::ceil(trip / whole);
  }

  // Loads and stores: what is written out is loaded once for each place, and what does not move
  // along the loops next to it stays in a register.
  void instructions() {
    const int first = first_written_out(), lane = lane_loop();
    for (const auto& access : model_.accesses) {
      double count = 1;
      for (int k = first; k < static_cast<int>(model_.loops.size()); ++k)
        if (k != lane && model_.moves(access, k)) count *= loop(k).trip;
      if (lane >= 0 && access.lane == LaneStep::unit)
        count *= std::ceil(loop(lane).trip * access.element_bytes / machine_.vector_bytes);
      model_.registers = std::max(model_.registers, access.site.is_write ? count : 0);
      if (access.in_registers) continue;
      // More values than registers are loaded and stored each time.
      const bool kept = count <= machine_.vector_registers;
      const int outer = kept ? model_.innermost_move(access, first) : first - 1;
      for (int k = 0; k <= outer; ++k)
        if (k != lane) count *= loop(k).trip;
      double elements = 1;
      if (lane >= 0 && access.lane == LaneStep::apart) elements = loop(lane).trip;
      add(access, count, elements);
    }
  }
  void add(const StageAccess& access, double count, double elements) {
    model_.near_bytes += count * elements *
                         (access.lane == LaneStep::unit
                              ? std::min(machine_.vector_bytes, model_.lanes * access.element_bytes)
                              : access.element_bytes);
    const AccessKind kind = access.site.kind;
    const bool loads = kind != AccessKind::write && access.site.reads();
    if (elements > 1) {
      model_.gathered += count * elements * (loads && access.site.is_write ? 2 : 1);
      return;
    }
    if (loads) model_.loads += count;
    if (access.site.is_write) model_.stores += count;
  }

  // Sums that can be in flight: those of the loops that are written out, by vectors.
  void folds() {
    const BlockNode& block = *model_.site.block;
    if (!block.reducer) return;
    const int first = first_written_out(), lane = lane_loop();
    double apart = 1, all = model_.points;
    for (int k = 0; k < static_cast<int>(model_.loops.size()); ++k)
      if ((k >= first || k == lane) && !loop(k).reduces) apart *= loop(k).trip;
    const bool any = std::any_of(model_.loops.begin(), model_.loops.end(),
                                 [](const StageLoop& l) { return l.reduces && l.trip > 1; });
    if (!any) return;
    // A spatial loop inside of all that reduce lets the next element start at once.
    for (int k = first; k-- > 0 && !loop(k).reduces;)
      if (k != lane) apart *= loop(k).trip;
    model_.sums = std::max(1.0, apart / model_.lanes);
    model_.chain = all / apart;
  }

  // Bytes that come from beyond a cache: of the outermost loop whose iteration it holds, what each
  // access moves over, as often as loops around it come back to it.
  void misses(int level) {
    const double room = level == 0   ? machine_.l1_bytes
                        : level == 1 ? machine_.l2_bytes
                                     : machine_.l3_bytes;
    if (work_.bytes({}) <= room || model_.loops.empty()) return;
    int held = 0;
    while (held < static_cast<int>(model_.loops.size()) && work_.bytes(loop(held).loop->var) > room)
      ++held;
    for (auto& access : model_.accesses)
      if (!access.in_registers && first_of(access)) miss(access, level, held);
  }
  // Several accesses of one buffer share what they bring, but for an update.
  bool first_of(const StageAccess& access) const {
    for (const auto& other : model_.accesses)
      if (other.site.buffer == access.site.buffer && other.site.is_write == access.site.is_write)
        return &other == &access;
    return true;
  }
  void miss(StageAccess& access, int level, int held) {
    const auto at = static_cast<std::size_t>(level);
    const Buffer& buffer = access.site.buffer;
    const int last = static_cast<int>(model_.loops.size()) - 1;
    const VarRef inner = held <= last ? loop(held).loop->var : VarRef();
    if (inner && work_.is_inside(buffer, inner)) return;
    const int moved = held <= last ? model_.innermost_move(access, held + 1) : last;
    double bytes =
        moved <= 0 ? work_.bytes_of(buffer, {}) : work_.bytes_of(buffer, loop(moved - 1).loop->var);
    for (int k = 0; k < moved; ++k) {
      bytes *= loop(k).trip;
      if (!model_.moves(access, k)) access.again[at] = k;
    }
    access.missed[at] = bytes * (access.site.is_write ? 2 : 1);
  }

  ProgramWork& work_;
  const Machine& machine_;
  StageModel model_;
};

LATHE_DECL StageModel stage_model(const BlockSite& site, ProgramWork& work,
                                  const Machine& machine) {
  return ModelMaker(site, work, machine).made();
}

}  // namespace detail
}  // namespace lathe
