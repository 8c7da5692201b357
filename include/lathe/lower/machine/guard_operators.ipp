#pragma once

#include <lathe/ir/machine_form.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/machine/workarounds/byte_division.ipp>
#include <lathe/lower/machine/workarounds/constant_masks.ipp>
#include <lathe/lower/passes_machine.hpp>

namespace lathe {
namespace detail {

class GuardOperators : public SharingMutator {
 public:
  explicit GuardOperators(const TargetCaps& caps) : caps_(caps) {}

  Stmt stmt(const Stmt& s) override {
    if (const auto* alloc = s.as<AllocNode>()) note_extents(alloc->buffer);
    const auto* store = s.as<StoreNode>();
    const Stmt other = store && caps_.widens_masked_stores ? without_constant_mask(*store) : Stmt();
    return SharingMutator::stmt(other ? other : s);
  }
  /// Code computes the extent of what it allocates; those of parameters are the caller's.
  Buffer buffer(const Buffer& b) override {
    if (const Buffer* known = buffers_.find(b.get())) return *known;
    return b;
  }

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const AnyExpr out = descend(e);
    if (const auto* n = out.as<BinaryNode>()) return binary(out, *n);
    if (machine_problem(out, caps_).empty()) return out;
    if (const auto* n = out.as<CastNode>()) return machine_conversion(n->dtype, n->value);
    if (const auto* n = out.as<CallNode>(); n && n->op == CallOp::abs)
      return machine_abs(n->args[0]);
    return out;
  }

  void note_extents(const Buffer& b) {
    BufferNode node = *b;
    bool changed = false;
    for (AnyExpr& extent : node.shape) {
      AnyExpr legal = expr(extent);
      changed = changed || !legal.same_as(extent);
      extent = std::move(legal);
    }
    if (changed) buffers_.insert(b.get(), Buffer(new BufferNode(std::move(node))));
  }

  AnyExpr binary(const AnyExpr& e, const BinaryNode& n) const {
    const bool divides = (n.op == BinaryOp::div || n.op == BinaryOp::mod) && n.dtype.is_int();
    const std::int64_t* by = divides ? as_const_int(n.b) : nullptr;
    if (by && *by != 0 && caps_.loses_byte_quotients && llvm_loses_quotients(n.dtype, *by))
      return divided_as_words(n.op, n.a, *by);
    return machine_problem(e, caps_).empty() ? e : machine_binary(n.op, n.a, n.b);
  }

  const TargetCaps& caps_;
  NodeMap<Buffer> buffers_;  ///< those whose extents are not what they were
};

}  // namespace detail

LATHE_DECL Program guard_operators(const Program& program, const TargetCaps& caps) {
  return program.with(detail::GuardOperators(caps).stmt(program->body), Stage::machine);
}

}  // namespace lathe
