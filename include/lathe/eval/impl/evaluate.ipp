#pragma once

#include <lathe/eval/evaluate.hpp>
#include <lathe/eval/frame.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

inline char* EvalBlock::reserve(const Context& context, std::int64_t bytes) {
  if (bytes <= bytes_) return start_;
  auto* larger = static_cast<char*>(context.allocate(static_cast<std::size_t>(bytes)));
  if (!larger) return nullptr;
  if (context_) context_->deallocate(start_);
  context_ = &context, start_ = larger, bytes_ = bytes;
  return start_;
}

inline EvalFrame::EvalFrame(const EvalTree& tree, const std::uint64_t* slots, CallReport& call,
                            Location where)
    : tree_(tree),
      call_(call),
      context_(call.context()),
      where_(where),
      vars_(static_cast<std::size_t>(tree.slots)),
      memory_(tree.buffers.size()) {
  for (std::size_t k = 0; k < tree.call.size(); ++k) {
    const auto& [buffer, place, t] = tree.call[k];
    if (buffer >= 0) continue;
    std::uint64_t bits =
        t.bits == 64 ? slots[k] : slots[k] & ((std::uint64_t{1} << t.element_bytes() * 8) - 1);
    var(place) = t.is_bool() ? Scalar{bits != 0} : scalar_from_bits(t, bits);
  }
  // Their extents and strides may be any of those variables.
  for (std::size_t k = 0; k < tree.call.size(); ++k) {
    const int b = tree.call[k].buffer;
    if (b < 0) continue;
    auto& m = memory_[static_cast<std::size_t>(b)];
    m.base = reinterpret_cast<char*>(static_cast<std::uintptr_t>(slots[k]));
    lay_out(b);
    if (tree.options.find_uninitialized)
      m.stored.assign(static_cast<std::size_t>(m.count),
                      !tree.buffers[static_cast<std::size_t>(b)].output);
  }
}

inline void EvalFrame::lay_out(int buffer) {
  const EvalBuffer& b = tree_.buffers[static_cast<std::size_t>(buffer)];
  EvalMemory& m = memory_[static_cast<std::size_t>(buffer)];
  m.rank = static_cast<int>(b.shape.size());
  m.shape.resize(b.shape.size()), m.strides.resize(b.shape.size());
  m.element_bytes = b.element.element_bytes() * b.lanes;
  std::int64_t dense = 1;
  bool empty = false, overflow = false;
  std::int64_t low = 0, high = 0, reach = 0;
  for (int d = m.rank; d-- > 0;) {
    auto k = static_cast<std::size_t>(d);
    std::int64_t extent = b.shape[k]->at(*this, 0).i;
    m.shape[k] = extent;
    m.strides[k] = !b.strides.empty()                       ? b.strides[k]->at(*this, 0).i
                   : b.outer_strides >= 0 && d + 1 < m.rank ? var(b.outer_strides + d).i
                                                            : dense;
    if (extent <= 0) {
      empty = true;
      continue;
    }
    overflow |= __builtin_mul_overflow(dense, extent, &dense) ||
                __builtin_mul_overflow(extent - 1, m.strides[k], &reach) ||
                __builtin_add_overflow(reach, reach < 0 ? low : high, reach < 0 ? &low : &high);
  }
  m.too_large = !empty && (overflow || high > kMostSpan);
  m.low = empty ? 0 : low;
  m.count = empty ? 0 : high - low + 1;
}

inline std::string EvalFrame::list_indices(const Vec<const EvalExpr*>& indices, int lane) {
  return join(indices, ", ",
              [&](const EvalExpr* i) { return format_int(i->spread(*this, lane).i); });
}
inline std::string EvalFrame::list_shape(int buffer) const {
  const auto& m = memory_[static_cast<std::size_t>(buffer)];
  std::string shape;
  for (int d = 0; d < m.rank; ++d)
    append(shape, d ? ", " : "", m.shape[static_cast<std::size_t>(d)]);
  return shape;
}

inline void EvalFrame::fail(int buffer, const Vec<const EvalExpr*>& indices, int lane,
                            const char* what) {
  throw InternalError(
      cat("evaluator: ", tree_.buffers[static_cast<std::size_t>(buffer)].buffer->name, "[",
          list_indices(indices, lane), "] ", what, ", its shape is [", list_shape(buffer), "]"));
}

// Before lowering the indices are those that a user wrote; later a pass has made them.
inline void EvalFrame::fail_outside(int buffer, const Vec<const EvalExpr*>& indices, int lane) {
  if (!tree_.blocks) fail(buffer, indices, lane, "is outside of the buffer");
  const std::string& name = tree_.buffers[static_cast<std::size_t>(buffer)].buffer->name;
  throw UserError("L0409",
                  cat("evaluate: '", name, "' has no element [", list_indices(indices, lane),
                      "], its shape is [", list_shape(buffer), "]"),
                  where_, {},
                  cat("lt::pad(", name, ", value) and lt::clamp(", name,
                      ") can be read outside, and lt::select(lt::in_bounds(", name,
                      ", …), …, …) reads inside only"));
}

inline std::int64_t EvalFrame::offset(int buffer, const Vec<const EvalExpr*>& indices, int lane) {
  const EvalMemory& m = memory_[static_cast<std::size_t>(buffer)];
  std::int64_t offset = 0;
  if (tree_.flat) {
    if (!indices.empty()) offset = indices[0]->spread(*this, lane).i;
    if (offset < m.low || offset >= m.low + m.count) fail_outside(buffer, indices, lane);
    return offset;
  }
  for (int d = 0; d < m.rank; ++d) {
    std::int64_t i = indices[static_cast<std::size_t>(d)]->spread(*this, lane).i;
    if (i < 0 || i >= m.shape[static_cast<std::size_t>(d)]) fail_outside(buffer, indices, lane);
    offset += i * m.strides[static_cast<std::size_t>(d)];
  }
  return offset;
}

// An element of several lanes (a promoted register) is indexed as a whole.
inline char* EvalFrame::address(int buffer, std::int64_t offset, int lane) {
  const EvalBuffer& b = tree_.buffers[static_cast<std::size_t>(buffer)];
  const EvalMemory& m = memory_[static_cast<std::size_t>(buffer)];
  return m.base + offset * m.element_bytes + (b.lanes == 1 ? 0 : lane * b.element.element_bytes());
}

inline Scalar EvalFrame::load(const EvalExpr& e, int lane) {
  if (e.a && !e.a->spread(*this, lane).i) return scalar_of(e.dtype, 0, 0);
  std::int64_t at = offset(e.slot, e.args, lane);
  const auto& m = memory_[static_cast<std::size_t>(e.slot)];
  if (!m.stored.empty() && !m.stored[static_cast<std::size_t>(at - m.low)])
    fail(e.slot, e.args, lane, "is read before anything was stored");
  return read_element(e.dtype, address(e.slot, at, lane));
}

inline void EvalFrame::store(const EvalStmt& s, std::int64_t at, int lane, Scalar value) {
  auto& m = memory_[static_cast<std::size_t>(s.slot)];
  if (s.kind == EvalStmt::atomic && !m.stored.empty() &&
      !m.stored[static_cast<std::size_t>(at - m.low)])
    fail(s.slot, s.args, lane, "is read before anything was stored");
  DType t = tree_.buffers[static_cast<std::size_t>(s.slot)].element;
  char* place = address(s.slot, at, lane);
  if (s.kind == EvalStmt::atomic)
    value = scalar_binary(static_cast<BinaryOp>(s.op), t, read_element(t, place), value);
  write_element(t, place, value);
  if (!m.stored.empty()) m.stored[static_cast<std::size_t>(at - m.low)] = true;
}

// All lanes are evaluated before any is stored.
inline void EvalFrame::run_store(const EvalStmt& s) {
  int lanes = s.a->lanes;
  for (const auto* index : s.args) lanes = index->lanes > lanes ? index->lanes : lanes;
  if (lanes == 1) {
    if (s.b && !s.b->at(*this, 0).i) return;
    Scalar value = s.a->at(*this, 0);
    return store(s, offset(s.slot, s.args, 0), 0, value);
  }
  struct Lane {
    bool on;
    std::int64_t offset;
    Scalar value;
  };
  Vec<Lane> all(static_cast<std::size_t>(lanes));
  for (int l = 0; l < lanes; ++l) {
    Lane& to = all[static_cast<std::size_t>(l)];
    to.on = !s.b || s.b->spread(*this, l).i;
    if (!to.on) continue;
    to.value = s.a->spread(*this, l);
    to.offset = offset(s.slot, s.args, l);
  }
  for (int l = 0; l < lanes; ++l)
    if (const Lane& from = all[static_cast<std::size_t>(l)]; from.on)
      store(s, from.offset, l, from.value);
}

inline void EvalFrame::run_let(const EvalStmt& s) {
  for (int l = 0; l < s.a->lanes; ++l) var(s.slot + l) = s.a->at(*this, l);
}

inline EvalStatus EvalFrame::run_loop(const EvalStmt& s) {
  for (std::size_t k = 1; k < s.children.size(); ++k)
    if (EvalStatus status = run(*s.children[k])) return status;
  const std::int64_t min = s.a->at(*this, 0).i, extent = s.b->at(*this, 0).i;
  for (std::int64_t i = 0; i < extent; ++i) {
    var(s.slot).i = min + i;
    if (EvalStatus status = run(*s.children[0])) return status;
  }
  return 0;
}

inline EvalStatus EvalFrame::run_block(const EvalStmt& s) {
  for (const auto& it : s.iters) {
    const std::int64_t at = it.binding->at(*this, 0).i;
    var(it.slot).i = at;
    const std::int64_t min = it.min->at(*this, 0).i, extent = it.extent->at(*this, 0).i;
    if (at < min || at - min >= extent) return 0;
  }
  for (const auto* condition : s.conditions)
    if (!condition->at(*this, 0).i) return 0;
  return run(*s.children[0]);
}

// Content is undefined: all ones, which is NaN in every floating type, so that a read of it shows.
// Of a large buffer only the first part: a host gives memory as it is touched, and may have less.
inline EvalStatus EvalFrame::run_alloc(const EvalStmt& s) {
  EvalMemory& m = memory_[static_cast<std::size_t>(s.slot)];
  lay_out(s.slot);
  const std::int64_t bytes = m.too_large ? 0 : m.count * m.element_bytes;
  char* start = m.too_large ? nullptr : m.owned.reserve(context_, bytes);
  if (!start) return static_cast<EvalStatus>(Status::out_of_memory);
  constexpr std::int64_t filled = std::int64_t{1} << 26;
  std::memset(start, 0xFF, static_cast<std::size_t>(std::min(bytes, filled)));
  m.base = start - m.low * m.element_bytes;
  const Scope scope = tree_.buffers[static_cast<std::size_t>(s.slot)].buffer->scope;
  const bool is_register = scope == Scope::reg || scope == Scope::fragment;
  if (tree_.options.find_uninitialized && !is_register)
    m.stored.assign(static_cast<std::size_t>(m.count), false);
  return run(*s.children[0]);
}

inline EvalStatus EvalFrame::run_check(const EvalStmt& s) {
  if (s.a->at(*this, 0).i) return 0;
  const EvalStatus status = static_cast<EvalStatus>(Status::assertion) + s.slot;
  if (!s.args.empty()) call_.report(0, status);
  for (std::size_t k = 0; k < s.args.size(); ++k)
    call_.report(static_cast<std::int64_t>(k) + 1, s.args[k]->at(*this, 0).i);
  return status;
}

inline EvalStatus EvalFrame::run(const EvalStmt& s) {
  switch (s.kind) {
    case EvalStmt::seq:
      for (const auto* child : s.children)
        if (EvalStatus status = run(*child)) return status;
      return 0;
    case EvalStmt::loop:
      return run_loop(s);
    case EvalStmt::store:
    case EvalStmt::atomic:
      return run_store(s), 0;
    case EvalStmt::let:
      return run_let(s), run(*s.children[0]);
    case EvalStmt::branch:
      if (s.a->at(*this, 0).i) return run(*s.children[0]);
      return s.children.size() > 1 ? run(*s.children[1]) : 0;
    case EvalStmt::repeat:
      while (s.a->at(*this, 0).i)
        if (EvalStatus status = run(*s.children[0])) return status;
      return 0;
    case EvalStmt::check:
      return run_check(s);
    case EvalStmt::alloc:
      return run_alloc(s);
    case EvalStmt::block:
      return run_block(s);
  }
  unreachable("evaluator: unknown statement");
}

}  // namespace detail

LATHE_DECL Evaluator::Evaluator(const Program& program, EvaluatorOptions options)
    : program_(program) {
  if (!program) throw UserError("L0506", "the program is empty", Location{});
  tree_ = detail::make_eval_tree(program, options);
}

LATHE_DECL void Evaluator::run(const std::uint64_t* slots, const Context& context,
                               Location where) const {
  if (!tree_)
    throw UserError("L0313", "an empty evaluator is run", where, {}, "make it of a program");
  const auto& tree = static_cast<const detail::EvalTree&>(*tree_);
  CallReport call(context);
  const detail::EvalStatus status = detail::within_memory("evaluate", where, [&] {
    detail::EvalFrame frame(tree, slots, call, where);
    return frame.run(*tree.body);
  });
  if (status == 0) return;
  const auto& messages = tree.messages;
  call.finish(status, {program_->name, messages.data(), static_cast<int>(messages.size())}, where);
}

}  // namespace lathe
