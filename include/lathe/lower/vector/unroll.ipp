#pragma once

#include <algorithm>
#include <lathe/arith/poly.hpp>
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

class Unroll : public Mutator {
 public:
  explicit Unroll(std::size_t nodes) : nodes_(nodes) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    const auto* extent = as_const_int(f->extent);
    if (f->loop_kind == ForKind::unrolled) return unrolled(*f, extent);
    if (f->loop_kind == ForKind::serial && extent && *extent <= kRegisterRows) {
      WalksRegisters walk(f->var);
      walk.stmt(f->body);
      Stmt body = stmt(f->body);
      if (walk.found && *extent * count_loops(body) <= kCopiedLoops)
        return copies(*f, body, *extent);
      if (!f->attributes.has<UnrollAttr>())
        return make_for(f->var, f->min, f->extent, body, f->loop_kind, f->attributes);
    }
    if (const auto* unroll = f->attributes.find<UnrollAttr>())
      return partly(*f, stmt(f->body), unroll->factor);
    return descend(s);
  }

 private:
  // Nobody knows how many copies there would be where a pass has cut the loop at a Dim.
  Stmt unrolled(const ForNode& f, const std::int64_t* extent) {
    Stmt body = stmt(f.body);
    if (extent) return copies(f, body, *extent);
    return make_for(f.var, f.min, f.extent, body, ForKind::serial, f.attributes);
  }

  void spend(const ForNode& f, const Stmt& body, std::int64_t times) {
    if (times <= 1) return;
    std::size_t size = node_count(body);
    nodes_ += size * static_cast<std::size_t>(times);
    if (nodes_ <= kUnrollBudget && times < 65536) return;
    throw UserError("L0601",
                    "unroll: loop '" + f.var->name + "' of extent " + std::to_string(times) +
                        " would copy " + std::to_string(size) + " nodes " + std::to_string(times) +
                        " times, over the budget of " + std::to_string(kUnrollBudget) +
                        " nodes a program",
                    {}, {}, "split the loop and unroll the inner part only");
  }

  Stmt copies(const ForNode& f, const Stmt& body, std::int64_t count) {
    spend(f, body, count);
    Vec<Stmt> out;
    for (std::int64_t k = 0; k < count; ++k)
      out.push_back(CloneFresh(f.var, is_const(f.min, 0) ? AnyExpr(k) : f.min + k).stmt(body));
    return hints_first(std::move(out));
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
    spend(f, body, factor);
    const AnyExpr n = make_binary(BinaryOp::max, f.extent, AnyExpr(0));
    AnyExpr trips = floordiv(n, factor);
    VarRef outer = make_var(f.var->name);
    Vec<Stmt> group;
    for (std::int64_t k = 0; k < factor; ++k)
      group.push_back(CloneFresh(f.var, f.min + AnyExpr(outer) * factor + k).stmt(body));
    Stmt main = make_for(outer, 0, trips, hints_first(std::move(group)), ForKind::serial, rest);
    if (extent && *extent % factor == 0) return main;
    VarRef tail = make_var(f.var->name);
    Stmt last = CloneFresh(f.var, f.min + trips * factor + AnyExpr(tail)).stmt(body);
    return make_seq({main, make_for(tail, 0, floormod(n, factor), last, ForKind::serial, rest)});
  }

  std::size_t nodes_;
};

}  // namespace detail

LATHE_DECL Program unroll_loops(const Program& program) {
  detail::Unroll pass(node_count(program->body));
  return program.with(pass.stmt(program->body), Stage::vector);
}

}  // namespace lathe
