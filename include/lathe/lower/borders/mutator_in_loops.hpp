// A mutator that knows the ranges of the loops around what it rewrites.
#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/lower/machine/sharing_mutator.hpp>

namespace lathe::detail {

class MutatorInLoops : public SharingMutator {
 public:
  explicit MutatorInLoops(const Program& program) : facts_(program) {}

  Stmt stmt(const Stmt& s) override {
    const auto* loop = s.as<ForNode>();
    if (!loop) return SharingMutator::stmt(s);
    const Facts around = facts_;
    facts_.bind(*loop);
    Stmt out = SharingMutator::stmt(s);
    facts_ = around;
    return out;
  }

 protected:
  Facts facts_;
};

}  // namespace lathe::detail
