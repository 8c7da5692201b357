#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/vector/clone.hpp>
#include <lathe/lower/vector/jam.ipp>
#include <lathe/lower/vector/widen.ipp>

namespace lathe {
namespace detail {

// The widest element that a loop body loads, stores or computes with; indices do not count.
class WidestElement : public Visitor {
 public:
  int bytes = 1;
  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      note(n->buffer->dtype);
      return;
    }
    if (e.kind() == ExprKind::Cast || e.kind() == ExprKind::Call) note(e.dtype());
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (const auto* n = s.as<StoreNode>()) {
      note(n->buffer->dtype);
      return expr(n->value);
    }
    if (s.kind() == StmtKind::For) return stmt(s.as<ForNode>()->body);
    descend(s);
  }

 private:
  void note(DType t) { bytes = t.element_bytes() > bytes ? t.element_bytes() : bytes; }
};

class VectorizeLoops : public Mutator {
 public:
  VectorizeLoops(const Program& program, const Target& target) : target_(target), facts_(program) {}

  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<IfNode>()) return branch(*n);
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    if (f->loop_kind == ForKind::vectorized) return vectorize(*f);
    Facts outer = facts_;
    facts_.bind(*f);
    Stmt out = descend(s);
    facts_ = outer;
    return out;
  }

 private:
  Stmt branch(const IfNode& n) {
    Facts outer = facts_;
    facts_.assume(n.condition);
    Stmt yes = stmt(n.then_body), no;
    facts_ = outer;
    if (n.else_body) {
      facts_.assume(logical_not(n.condition));
      no = stmt(n.else_body);
      facts_ = outer;
    }
    return make_if(n.condition, yes, no);
  }

  Stmt vectorize(const ForNode& f) {
    Stmt serial = make_for(f.var, f.min, f.extent, f.body, ForKind::serial, f.attributes);
    const auto* extent = as_const_int(f.extent);
    if (!extent || *extent < 2) return stmt(serial);
    WidestElement widest;
    widest.stmt(f.body);
    const std::int64_t lanes =
        std::max<std::int64_t>(target_.lanes(widest.bytes), line_lanes(f.body));
    const std::int64_t full = *extent / lanes, rest = *extent % lanes;
    Vec<Stmt> parts;
    if (full > 0) {
      VarRef chunk = make_var(f.var->name + "_v");
      Facts inside = facts_;
      inside.bind(chunk, 0, full);
      AnyExpr base = full == 1 ? f.min : f.min + AnyExpr(chunk) * lanes;
      Stmt body = widen(f, simplify(base, inside), static_cast<int>(lanes), inside);
      if (!body) return stmt(serial);
      parts.push_back(full == 1 ? body : registers(chunk, full, body));
    }
    std::int64_t done = full * lanes;
    for (auto [count, width] : tail_pieces(f.body, rest, widest.bytes)) {
      Stmt body = width == 1 ? CloneFresh(f.var, simplify(f.min + done, facts_)).stmt(stmt(f.body))
                             : widen_tail(f, done, count, width);
      if (!body) return stmt(serial);
      parts.push_back(CloneFresh().stmt(body));
      done += count;
    }
    return make_seq(std::move(parts));
  }

  // A vector of several registers: these run in step where a loop inside makes each wait for
  // itself.
  Stmt registers(const VarRef& chunk, std::int64_t full, const Stmt& body) const {
    if (full > target_.vector_registers || !WorthJamming::holds(body))
      return make_for(chunk, 0, full, body, ForKind::unrolled);
    Vec<Stmt> copies;
    for (std::int64_t k = 0; k < full; ++k) copies.push_back(CloneFresh(chunk, k).stmt(body));
    return jam(std::move(copies));
  }

  // What fills a line at once, where a store asks for whole ones: it may be several registers. 0
  // where none does.
  std::int64_t line_lanes(const Stmt& body) const {
    std::int64_t lanes = 0;
    each_statement(body, [&](const Stmt& s) {
      const auto* n = s.as<StoreNode>();
      if (n && n->streaming == Streaming::lines)
        lanes =
            std::max<std::int64_t>(lanes, target_.line_bytes / n->buffer->dtype.element_bytes());
    });
    return lanes;
  }

  // How a rest of fewer lanes than a register has is done: (elements, lanes) each. One masked
  // vector where masks are instructions, else powers of two. AVX2 has loads by mask alone that are
  // fast: its stores take 12 cycles on Zen 3.
  Vec<std::pair<int, int>> tail_pieces(const Stmt& body, std::int64_t rest, int bytes) const {
    Vec<std::pair<int, int>> pieces;
    const bool masks = target_.has("avx512bw") || (target_.has("avx512f") && bytes >= 4) ||
                       (target_.has("avx2") && bytes >= 4 && stays_in_registers(body));
    int left = static_cast<int>(rest), width = 1;
    while (width < left) width *= 2;
    if (left > 1 && masks) return {{left, width}};
    for (; left > 0; width /= 2)
      if (width <= left) pieces.emplace_back(width, width), left -= width;
    return pieces;
  }

  static bool stays_in_registers(const Stmt& body) {
    bool all = true;
    each_statement(body, [&](const Stmt& s) {
      const auto* n = s.as<StoreNode>();
      all = all && (!n || n->buffer->scope == Scope::reg);
    });
    return all;
  }

  Stmt widen_tail(const ForNode& f, std::int64_t done, int count, int width) const {
    ForNode loop = f;
    if (count < width) loop.body = make_if(AnyExpr(f.var) < f.min + (done + count), f.body);
    return widen(loop, simplify(f.min + done, facts_), width, facts_);
  }

  // None where the body has no vector form.
  Stmt widen(const ForNode& f, const AnyExpr& base, int lanes, const Facts& facts) const {
    Widen widen(f.var, base, lanes, facts);
    Stmt body = widen.stmt(f.body);
    // A condition that became a mask stands at each load and store.
    return widen.ok ? simplify(fresh_lets(body), facts) : Stmt();
  }

  const Target& target_;
  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program vectorize_loops(const Program& program, const Target& target) {
  return program.with(detail::VectorizeLoops(program, target).stmt(program->body));
}

}  // namespace lathe
