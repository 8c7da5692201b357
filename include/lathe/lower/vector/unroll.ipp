#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>

namespace lathe {
namespace detail {

// Nodes that a program may grow to by unrolling. An LLVM line costs about 12 µs to compile, so this
// is seconds.
inline constexpr std::size_t kUnrollBudget = 400000;

// Rows of a register tile: no target has registers for more.
inline constexpr std::int64_t kRegisterRows = 32;

// Loops that copying one nobody asked to unroll may leave: each is branches, for little use of
// registers.
inline constexpr std::int64_t kCopiedLoops = 64;

class CountLoops : public Visitor {
 public:
  std::int64_t count = 0;
  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    count += s.as<ForNode>() != nullptr;
    descend(s);
  }
};

inline std::int64_t count_loops(const Stmt& s) {
  CountLoops loops;
  loops.stmt(s);
  return loops.count;
}

// Whether a loop walks over a temporary that is meant for registers: only its copies have constant
// indices.
class WalksRegisters : public Visitor {
 public:
  explicit WalksRegisters(const VarRef& var) : var_(var) {}
  bool found = false;

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) note(*n->buffer, n->indices);
    if (!found) descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) note(*n->buffer, n->indices);
    if (!found) descend(s);
  }

 private:
  void note(const BufferNode& b, const Vec<AnyExpr>& indices) {
    if (b.scope != Scope::reg && b.scope != Scope::local) return;
    std::int64_t bytes = b.dtype.element_bytes();
    for (const auto& extent : b.shape)
      bytes *= as_const_int(extent) ? *as_const_int(extent) : kRegisterBytes + 1;
    for (const auto& i : indices) found = found || (bytes <= kRegisterBytes && uses_var(i, var_));
  }

  // 32 registers of 64 bytes.
  static constexpr std::int64_t kRegisterBytes = 2048;
  const VarRef& var_;
};

/// One copy after the other, the hints of all first: LLVM orders loads before a prefetch that
/// follows them, and a later copy's would keep those of all earlier ones in registers.
inline Stmt hints_first(Vec<Stmt> copies) {
  const Stmt all = make_seq(std::move(copies));
  const auto* seq = all.as<SeqNode>();
  if (!seq) return all;
  Vec<Stmt> out = seq->stmts;
  std::stable_partition(out.begin(), out.end(), prefetched);
  return make_seq(std::move(out));
}

// Whether a variable decides what of a body runs.
class Decides : public Visitor {
 public:
  explicit Decides(const VarRef& var) : vars_{var} {}
  bool found = false;

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<SelectNode>()) note(n->condition);
    if (const auto* n = e.as<LoadNode>()) note(n->mask);
    if (const auto* n = e.as<LetNode>())
      for (const auto& b : n->bindings) name(b.var, b.value);
    if (!found) descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<IfNode>()) note(n->condition);
    if (const auto* n = s.as<StoreNode>()) note(n->mask);
    if (const auto* n = s.as<ForNode>()) note(n->extent);
    if (const auto* n = s.as<LetStmtNode>()) name(n->var, n->value);
    if (!found) descend(s);
  }

 private:
  bool uses(const AnyExpr& e) const {
    return std::any_of(vars_.begin(), vars_.end(), [&](const VarRef& v) { return uses_var(e, v); });
  }
  void note(const AnyExpr& e) { found = found || (e.get() && uses(e)); }
  void name(const VarRef& var, const AnyExpr& value) {
    if (!value.dtype().is_float() && uses(value)) vars_.push_back(var);
  }

  Vec<VarRef> vars_;
};

class Unroll : public Mutator {
 public:
  explicit Unroll(const Program& program) : nodes_(node_count(program->body)), facts_(program) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    const Facts outer = facts_;
    facts_.bind(*f);
    const Stmt body = stmt(f->body);
    facts_ = outer;
    const auto* extent = as_const_int(f->extent);
    if (f->loop_kind == ForKind::unrolled) return unrolled(*f, body, extent);
    if (f->loop_kind == ForKind::serial && extent && *extent <= kRegisterRows) {
      WalksRegisters walk(f->var);
      walk.stmt(f->body);
      if (walk.found && *extent * count_loops(body) <= kCopiedLoops)
        return copies(*f, body, *extent);
    }
    if (const auto* unroll = f->attributes.find<UnrollAttr>())
      return partly(*f, body, unroll->factor);
    if (body.same_as(f->body)) return s;
    return make_for(f->var, f->min, f->extent, body, f->loop_kind, f->attributes);
  }

 private:
  // Nobody knows how many copies there would be where a pass has cut the loop at a Dim.
  Stmt unrolled(const ForNode& f, const Stmt& body, const std::int64_t* extent) {
    if (extent) return copies(f, body, *extent);
    return make_for(f.var, f.min, f.extent, body, ForKind::serial, f.attributes);
  }

  // The body at `times` values of the loop's variable. A copy is what is left of it where the value
  // decides conditions: only that counts, but it has to be written first.
  template <class Value>
  Vec<Stmt> bodies(const ForNode& f, const Stmt& body, std::int64_t times, const Facts& facts,
                   const Value& value) {
    const std::size_t size = node_count(body);
    Decides decides(f.var);
    decides.stmt(body);
    const std::size_t written =
        times > kMostCopies ? kMostWritten + 1
                            : size * static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
    if (decides.found) written_ += written;
    if (written_ > kMostWritten || (!decides.found && nodes_ + written > kUnrollBudget + size))
      refuse(f, size, times);
    Vec<Stmt> out;
    for (std::int64_t k = 0; k < times; ++k) {
      Stmt copy = CloneFresh(f.var, value(k)).stmt(body);
      if (decides.found) copy = simplify(copy, facts);
      nodes_ += decides.found ? node_count(copy) : size;
      if (nodes_ > kUnrollBudget + size) refuse(f, size, times);
      out.push_back(std::move(copy));
    }
    nodes_ -= size;
    return out;
  }

  [[noreturn]] static void refuse(const ForNode& f, std::size_t size, std::int64_t times) {
    throw UserError("L0601",
                    "unroll: loop '" + f.var->name + "' of extent " + std::to_string(times) +
                        " would copy " + std::to_string(size) + " nodes " + std::to_string(times) +
                        " times, over the budget of " + std::to_string(kUnrollBudget) +
                        " nodes a program",
                    {}, {}, "split the loop and unroll the inner part only");
  }

  Stmt copies(const ForNode& f, const Stmt& body, std::int64_t count) {
    const bool from_zero = is_const(f.min, 0);
    return hints_first(bodies(f, body, count, facts_,
                              [&](std::int64_t k) { return from_zero ? AnyExpr(k) : f.min + k; }));
  }

  // Bounds are read before the first iteration, which may change what they load.
  Stmt once_evaluated(const ForNode& f, const Stmt& body, std::int64_t factor) {
    const VarRef min = make_var(f.var->name + "_begin"), extent = make_var(f.var->name + "_extent");
    const Stmt loop = make_for(f.var, min, extent, body, f.loop_kind, f.attributes);
    return make_let_stmt(
        min, f.min, make_let_stmt(extent, f.extent, partly(*loop.as<ForNode>(), body, factor)));
  }

  // for q < n: S  →  for q < n / f: f copies; for t < n % f: S. A range that ends before it begins
  // has no remainder.
  Stmt partly(const ForNode& f, const Stmt& body, std::int64_t factor) {
    Attributes rest = f.attributes;
    rest.erase<UnrollAttr>();
    const auto* extent = as_const_int(f.extent);
    if (extent && *extent < factor) factor = *extent;
    if (factor <= 1) return make_for(f.var, f.min, f.extent, body, f.loop_kind, rest);
    if (!is_load_free(f.min) || !is_load_free(f.extent)) return once_evaluated(f, body, factor);
    const AnyExpr n = make_binary(BinaryOp::max, f.extent, AnyExpr(0));
    AnyExpr trips = floordiv(n, factor);
    VarRef outer = make_var(f.var->name);
    Facts inside = facts_;
    inside.bind(outer, 0, trips);
    Vec<Stmt> group = bodies(f, body, factor, inside,
                             [&](std::int64_t k) { return f.min + AnyExpr(outer) * factor + k; });
    Stmt main = make_for(outer, 0, trips, hints_first(std::move(group)), ForKind::serial, rest);
    if (extent && *extent % factor == 0) return main;
    VarRef tail = make_var(f.var->name);
    Stmt last = CloneFresh(f.var, f.min + trips * factor + AnyExpr(tail)).stmt(body);
    nodes_ += node_count(last);
    return make_seq({main, make_for(tail, 0, floormod(n, factor), last, ForKind::serial, rest)});
  }

  static constexpr std::int64_t kMostCopies = 65536;
  // Nodes of copies before their conditions are decided: at a microsecond each it is seconds.
  static constexpr std::size_t kMostWritten = 4 * kUnrollBudget;
  std::size_t nodes_, written_ = 0;
  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program unroll_loops(const Program& program) {
  return program.with(detail::Unroll(program).stmt(program->body), Stage::vector);
}

}  // namespace lathe
