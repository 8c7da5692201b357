#pragma once

#include <lathe/ir/visit.hpp>
#include <lathe/jit/source.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// Which parameters the statements of a program name. Nothing was simplified before: x * 0 reads x.
class NamedParams : Visitor {
 public:
  explicit NamedParams(const Program& program) : program_(program) { stmt(program->body); }

  /// The first input that nothing reads; null if there is none. One that tells the program a Dim
  /// which no other argument tells counts as read.
  const Param* unread() const {
    for (const Param& p : program_->params)
      if (p.access == Access::in && !is_named(p) && !tells_a_dim(p)) return &p;
    return nullptr;
  }
  std::string inputs() const {
    Vec<std::string> names;
    for (const Param& p : program_->params)
      if (p.access == Access::in && is_named(p)) names.push_back(cat("'", p.name(), "'"));
    return names.empty() ? "no input" : join(names, ", ");
  }

 private:
  void expr(const AnyExpr& e) override {
    if (e.as<VarNode>()) vars_.push_back(e.get());
    descend(e);
  }
  void buffer(const Buffer& b) override { buffers_.push_back(b); }

  bool is_named(const Param& p) const {
    if (!p.buffer) return has_var(p.var.get());
    for (const Buffer& b : buffers_)
      if (b == p.buffer) return true;
    return false;
  }
  bool has_var(const ExprNode* var) const {
    for (const ExprNode* known : vars_)
      if (known == var) return true;
    return false;
  }
  static bool has_extent(const Param& p, const ExprNode* dim) {
    if (!p.buffer) return false;
    for (const AnyExpr& extent : p.buffer->shape)
      if (extent.get() == dim) return true;
    return false;
  }
  bool tells_a_dim(const Param& p) const {
    for (const auto& dim : program_->dims) {
      const ExprNode* var = dim->var.get();
      if (!has_extent(p, var) || !is_needed(p, var)) continue;
      bool told = false;
      for (const Param& other : program_->params) told |= &other != &p && has_extent(other, var);
      if (!told) return true;
    }
    return false;
  }
  // By a statement, or by the shape of another argument.
  bool is_needed(const Param& p, const ExprNode* dim) const {
    if (has_var(dim)) return true;
    NamedParams shapes;
    for (const Param& other : program_->params)
      if (&other != &p && other.buffer)
        for (const AnyExpr& extent : other.buffer->shape) shapes.expr(extent);
    return shapes.has_var(dim);
  }

  NamedParams() = default;

  Program program_;
  Vec<const ExprNode*> vars_;
  Vec<Buffer> buffers_;
};

/// L0316 an input that a program of tensors does not read.
inline void refuse_unread(const Program& program, Location where) {
  const NamedParams named(program);
  const Param* unread = named.unread();
  if (!unread) return;
  throw UserError("L0316",
                  cat("input '", unread->name(), "' is not read by program '", program->name, "'"),
                  where, cat("it reads ", named.inputs()),
                  "leave it out, or say that arguments may go unread: "
                  "JitOptions::unread_inputs = lt::UnreadInputs::allow");
}

}  // namespace detail
}  // namespace lathe
