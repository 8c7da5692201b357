#pragma once

#include <lathe/ir/rebuild.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// The nodes of a statement whose unrolled loops are written out.
class WrittenOut : public Visitor {
 public:
  explicit WrittenOut(const Stmt& s) { stmt(s); }
  double nodes = 0;

  void expr(const AnyExpr& e) override {
    nodes += copies_;
    descend(e);
  }
  void stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    const std::int64_t* extent =
        f && f->loop_kind == ForKind::unrolled ? as_const_int(f->extent) : nullptr;
    const double around = copies_;
    if (extent) copies_ *= static_cast<double>(*extent);
    descend(s);
    copies_ = around;
  }

 private:
  double copies_ = 1;
};

/// Whether a variable tells which register is meant: its loop must be written out.
inline bool names_registers(const VarRef& var, const Stmt& body) {
  struct Registers : Visitor {
    const VarRef& var;
    bool found = false;
    explicit Registers(const VarRef& v) : var(v) {}
    void look(const Buffer& b, const Vec<AnyExpr>& indices) {
      if (b->scope == Scope::global) return;
      for (const auto& index : indices) found = found || uses_var(index, var);
    }
    void expr(const AnyExpr& e) override {
      if (const auto* n = e.as<LoadNode>()) look(n->buffer, n->indices);
      descend(e);
    }
    void stmt(const Stmt& s) override {
      if (const auto* n = s.as<StoreNode>()) look(n->buffer, n->indices);
      descend(s);
    }
  } registers(var);
  registers.stmt(body);
  return registers.found;
}

/// A copy of a tile for borders that only a call knows. Written out, each of its loads has ends to
/// look for, and LLVM takes most of its time for what runs once a row; so loops stay loops where
/// there would be many.
class RolledBorder : public Mutator {
 public:
  static constexpr double kManyNodes = 1500;

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    if (!f || f->loop_kind != ForKind::unrolled || names_registers(f->var, f->body))
      return descend(s);
    return make_for(f->var, f->min, f->extent, stmt(f->body), ForKind::serial, f->attributes);
  }
};

inline Stmt rolled_border(const Stmt& s) {
  return WrittenOut(s).nodes > RolledBorder::kManyNodes ? RolledBorder().stmt(s) : s;
}

}  // namespace lathe::detail
