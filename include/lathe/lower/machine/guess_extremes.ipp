#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/lower/machine/extreme_region.ipp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/vector/clone.hpp>

namespace lathe {
namespace detail {

/// A loop that does nothing but take the largest, or smallest, floats into registers.
class ExtremeLoop : public Visitor {
 public:
  explicit ExtremeLoop(const ForNode& loop) { note_loop(loop); }

  struct Extreme {
    Buffer reg;
    BinaryOp op;
  };
  Vec<Extreme> registers;
  bool possible = true;
  double terms = 1;  ///< of each register at most; 0: not known

  /// What is folded in by a store of the loop's form; empty for any other.
  static AnyExpr term_of(const StoreNode& n) {
    const BinaryNode* fold = as_extreme(n.value);
    if (!fold || n.mask.get() || n.buffer->scope != Scope::reg || n.buffer->rank() != 0) return {};
    for (const auto* side : {&fold->a, &fold->b}) {
      const auto* load = side->as<LoadNode>();
      if (load && load->buffer == n.buffer) return side == &fold->a ? fold->b : fold->a;
    }
    return {};
  }

  void expr(const AnyExpr&) override {}
  void stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) return note_loop(*f);
    if (const auto* n = s.as<StoreNode>()) return note_store(*n);
    const auto* branch = s.as<IfNode>();
    const bool structure = s.kind() == StmtKind::Seq || s.kind() == StmtKind::LetStmt ||
                           (branch && is_load_free(branch->condition));
    if (!structure) possible = false;
    if (possible) descend(s);
  }

 private:
  void note_loop(const ForNode& loop) {
    possible = possible && loop.loop_kind == ForKind::serial;
    const std::int64_t* extent = as_const_int(loop.extent);
    terms *= extent ? static_cast<double>(*extent) : 0;
    if (possible) stmt(loop.body);
  }
  void note_store(const StoreNode& n) {
    if (!term_of(n).get()) {
      possible = false;
      return;
    }
    const BinaryOp op = n.value.as<BinaryNode>()->op;
    for (const auto& known : registers)
      if (known.reg == n.buffer) {
        possible = possible && known.op == op;
        return;
      }
    registers.push_back({n.buffer, op});
  }
};

// Extremes of which NaN is one, and -0 is less than 0, take five instructions a term; one that
// ignores both takes one. It gives the same unless a term is NaN, which a sum of all terms tells,
// or the result is a zero; a loop that ends so is run again as it stood.
class GuessExtremes : public Mutator {
 public:
  Stmt stmt(const Stmt& s) override {
    if (const auto* n = s.as<AllocNode>(); n && n->buffer->scope == Scope::reg) {
      const ExtremeRegion region(*n);
      if (pays(region)) return detail::guessed(region, s);
    }
    const auto* f = s.as<ForNode>();
    if (!f) return descend(s);
    ExtremeLoop loop(*f);
    if (!pays(loop) || reads_terms(loop, *f)) return descend(s);
    Stmt out = guessed(loop, s);
    for (const auto& copy : copies_) out = make_alloc(copy.sum, make_alloc(copy.start, out));
    return out;
  }

 private:
  struct Copy {
    Buffer reg, start, sum;
  };

  static bool pays(const ExtremeRegion& region) {
    constexpr double kFew = 4;  // with fewer the tests after it take longer (rows of 16 f64, Zen 4)
    return region.possible && !region.results.empty() && region.extremes >= kFew;
  }
  bool pays(const ExtremeLoop& loop) const {
    constexpr double kFewTerms = 8;  // the tests after the loop take as long
    constexpr std::size_t kRegisters = 12;
    return loop.possible && !loop.registers.empty() && loop.registers.size() <= kRegisters &&
           (loop.terms == 0 || loop.terms >= kFewTerms);
  }

  // A register is read by the fold into it alone.
  static bool reads_terms(const ExtremeLoop& loop, const ForNode& f) {
    bool found = false;
    each_statement(f.body, [&](const Stmt& s) {
      const auto* n = s.as<StoreNode>();
      const auto* let = s.as<LetStmtNode>();
      const AnyExpr part = n ? ExtremeLoop::term_of(*n) : let ? let->value : AnyExpr();
      if (!part.get()) return;
      for (const auto& r : loop.registers) found = found || loads_from(part, r.reg);
    });
    return found;
  }
  static bool loads_from(const AnyExpr& e, const Buffer& buffer) {
    struct Find : Visitor {
      const Buffer* wanted;
      bool found = false;
      void expr(const AnyExpr& part) override {
        const auto* load = part.as<LoadNode>();
        found = found || (load && load->buffer == *wanted);
        if (!found) descend(part);
      }
    } find;
    find.wanted = &buffer;
    find.expr(e);
    return find.found;
  }

  Stmt guessed(const ExtremeLoop& loop, const Stmt& whole) {
    copies_.clear();
    Vec<Stmt> out, again;
    WrongGuess wrong;
    for (const auto& r : loop.registers) {
      const DType type = r.reg->dtype;
      const auto made = [&](const char* what) {
        return Buffer(new BufferNode(r.reg->name + what, type, {}, {}, Scope::reg));
      };
      copies_.push_back({r.reg, made("_start"), made("_sum")});
      const Copy& copy = copies_.back();
      const AnyExpr result = make_load(r.reg, {}), start = make_load(copy.start, {});
      out.push_back(make_store(copy.start, {}, result));
      out.push_back(make_store(copy.sum, {}, make_float(type, 0)));
      again.push_back(make_store(r.reg, {}, start));
      wrong.note_sum(make_load(copy.sum, {}) + result);
      wrong.note_result(result);
    }
    again.push_back(CloneFresh().stmt(whole));
    out.push_back(Fast(copies_).stmt(whole));
    out.push_back(make_if(wrong.any, make_seq(std::move(again))));
    return make_seq(std::move(out));
  }

  class Fast : public Mutator {
   public:
    explicit Fast(const Vec<Copy>& copies) : copies_(copies) {}
    Stmt stmt(const Stmt& s) override {
      const auto* n = s.as<StoreNode>();
      if (!n) return descend(s);
      const AnyExpr term = ExtremeLoop::term_of(*n);
      const BinaryOp op = n->value.as<BinaryNode>()->op;
      const VarRef value = make_var("term", term.dtype());
      for (const auto& copy : copies_) {
        if (copy.reg != n->buffer) continue;
        // A register that is NaN stays it: the second operand is what no comparison prefers.
        const BinaryOp fast = fast_extreme(op);
        Stmt fold = make_store(copy.reg, {}, make_binary(fast, value, make_load(copy.reg, {})));
        Stmt sum = make_store(copy.sum, {}, make_load(copy.sum, {}) + AnyExpr(value));
        return make_let_stmt(value, term, make_seq({fold, sum}));
      }
      unreachable("an extreme of no register");
    }

   private:
    const Vec<Copy>& copies_;
  };

  Vec<Copy> copies_;
};

}  // namespace detail

LATHE_DECL Program guess_extremes(const Program& program) {
  return program.with(detail::GuessExtremes().stmt(program->body));
}

}  // namespace lathe
