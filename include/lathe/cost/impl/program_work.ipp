#pragma once

#include <algorithm>
#include <lathe/analysis/kept.hpp>
#include <lathe/arith/interval.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/cost/stage_model.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

LATHE_DECL ProgramWork::ProgramWork(const Program& program, const Machine& machine)
    : program_(program),
      line_bytes_(machine.line_bytes),
      accesses_(lathe::accesses(program->body, AccessTerms::loops, Facts(program))) {
  each_statement(program->body, [&](const Stmt& s) {
    const auto* alloc = s.as<AllocNode>();
    if (!alloc) return;
    const KeptBuffer kept = kept_of(program, alloc->buffer);
    if (!kept.loop) return;
    Inside& inside = inside_[alloc->buffer.get()];
    inside.bytes = size(kept.bytes, *alloc->buffer);
    for (const auto& f : find_loop(program->body, kept.loop->var).loops)
      inside.loops.push_back(f->var);
    inside.loops.push_back(kept.loop->var);
  });
}

LATHE_DECL double ProgramWork::number(const AnyExpr& size, const Facts& facts) {
  if (!size) return -1;
  if (const std::int64_t* n = as_const_int(size)) return double(*n);
  const ConstInterval range = const_bounds(simplify(size, facts), facts);
  if (range.has_max() && range.max < kLargestDim) return double(range.max);
  Substitution guesses;
  for (const auto& v : free_vars(size)) guesses.emplace_back(v, AnyExpr(kGuessedSize));
  const AnyExpr known = simplify(substitute(size, guesses));
  const std::int64_t* n = as_const_int(known);
  return n ? double(*n) : double(kGuessedSize);
}

LATHE_DECL double ProgramWork::size(const AnyExpr& bytes, const BufferNode& buffer) {
  const double found = number(bytes);
  if (found >= 0) return found;
  double all = buffer.dtype.element_bytes();
  for (const auto& extent : buffer.shape) all *= number(extent);
  return all;
}

// A box narrower than a line touches whole lines all the same, where the buffer goes on beside it.
LATHE_DECL double ProgramWork::lines(const Footprint& touched) {
  const double bytes = size(touched.bytes, *touched.buffer);
  if (touched.extents.empty() || !touched.bytes) return bytes;
  const double element = touched.buffer->dtype.element_bytes();
  const double row = std::max(1.0, number(touched.extents.back())) * element;
  const double whole = std::max(1.0, number(touched.buffer->shape.back())) * element;
  return bytes * std::max(1.0, std::min(line_bytes_, whole) / row);
}

LATHE_DECL const ProgramWork::LoopWork& ProgramWork::work(const VarRef& loop) {
  if (const LoopWork* known = loops_.find(loop.get())) return *known;
  LoopWork found;
  for (const auto& f : work_of(program_, loop).buffers) {
    const bool own = f.buffer->scope == Scope::reg || f.buffer->scope == Scope::fragment;
    const Inside* inside = inside_.find(f.buffer.get());
    const bool compact = inside && (!loop || is_inside(f.buffer, loop));
    const double bytes = own ? 0 : compact ? inside->bytes : lines(f);
    found.buffers[f.buffer.get()] = bytes;
    found.bytes += bytes;
  }
  loops_[loop.get()] = std::move(found);
  return *loops_.find(loop.get());
}

LATHE_DECL double ProgramWork::bytes(const VarRef& loop) { return work(loop).bytes; }
LATHE_DECL double ProgramWork::bytes_of(const Buffer& buffer, const VarRef& loop) {
  const double* found = work(loop).buffers.find(buffer.get());
  return found ? *found : 0;
}
LATHE_DECL bool ProgramWork::is_inside(const Buffer& buffer, const VarRef& loop) {
  const Inside* inside = inside_.find(buffer.get());
  return inside &&
         std::find(inside->loops.begin(), inside->loops.end(), loop) != inside->loops.end();
}

}  // namespace lathe::detail
