// Copies of a statement in which every bound variable and buffer is new, so that both may stand in
// one program.
#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe {
namespace detail {

/// Copies with fresh bound variables and allocations; variables in `replace` are replaced on the
/// way.
class CloneFresh : public Mutator {
 public:
  CloneFresh() = default;
  CloneFresh(const VarRef& var, AnyExpr value) { vars_[var.get()] = std::move(value); }

  LATHE_DECL AnyExpr expr(const AnyExpr& e) override;
  LATHE_DECL Stmt stmt(const Stmt& s) override;
  LATHE_DECL Buffer buffer(const Buffer& b) override;

 private:
  VarRef rename(const VarRef& var);

  NodeMap<AnyExpr> vars_;
  NodeMap<Buffer> buffers_;
};

}  // namespace detail
}  // namespace lathe
