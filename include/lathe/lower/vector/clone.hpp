// Copies of a statement in which every bound variable and buffer is new, so that both may stand in
// one program.
#pragma once

#include <lathe/ir/renew.hpp>

namespace lathe {
namespace detail {

/// Copies with fresh bound variables and allocations; variables in `replace` are replaced on the
/// way.
class CloneFresh : public RenewVars {
 public:
  CloneFresh() = default;
  CloneFresh(const VarRef& var, AnyExpr value) { replace(var, std::move(value)); }

  LATHE_DECL Stmt stmt(const Stmt& s) override;
  LATHE_DECL Buffer buffer(const Buffer& b) override;

 private:
  NodeMap<Buffer> buffers_;
};

}  // namespace detail
}  // namespace lathe
