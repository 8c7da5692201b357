// Mutators of what statements bind: sizes that name what changes, and copies whose variables are
// new.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// A mutator that knows the sizes of temporaries: one that names what changes makes another buffer.
class MutatorOfSizes : public Mutator {
 public:
  LATHE_DECL Stmt stmt(const Stmt& s) override;
};

/// A copy whose lets bind fresh variables.
class RenewLets : public MutatorOfSizes {
 public:
  LATHE_DECL AnyExpr expr(const AnyExpr& e) override;
  LATHE_DECL Stmt stmt(const Stmt& s) override;

 protected:
  /// What stands for a variable from here on: a fresh one, or a value.
  VarRef renew(const VarRef& var);
  void replace(const VarRef& var, AnyExpr value);

 private:
  NodeMap<AnyExpr> values_;
};

/// A copy whose loops have fresh variables too.
class RenewVars : public RenewLets {
 public:
  LATHE_DECL Stmt stmt(const Stmt& s) override;
};

}  // namespace lathe::detail
