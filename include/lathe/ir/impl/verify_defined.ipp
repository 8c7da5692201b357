#pragma once

#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// Whether `b` has no elements, so that nothing can be read from it or stored to it.
inline bool has_no_elements(const Buffer& b) {
  for (const auto& extent : b->shape)
    if (const auto* value = as_const_int(extent); value && *value == 0) return true;
  return false;
}

/// Finds what a program reads that nothing stores before: outputs and allocs, in program order.
/// Inside a loop a store may come later, for the next iteration.
class FindUndefined : Visitor {
 public:
  std::string reason;
  const StmtNode* place = nullptr;

  explicit FindUndefined(const ProgramNode& p) {
    for (const auto& param : p.params)
      if (param.buffer && param.access == Access::out) undefined_.insert(param.buffer.get());
    stmt(p.body);
    for (const auto& param : p.params)
      if (param.buffer && param.access == Access::out && !is_stored(param.buffer))
        fail(cat("nothing is stored to '", param.buffer->name, "', an 'out' parameter"), nullptr);
  }

 private:
  struct Early {
    Buffer buffer;
    const StmtNode* place;
  };

  void fail(std::string why, const StmtNode* at) {
    if (!reason.empty()) return;
    reason = std::move(why), place = at;
  }
  void fail(const Early& read) {
    fail(cat("'", read.buffer->name, "' is read before anything is stored in it"), read.place);
  }
  bool is_stored(const Buffer& b) const { return stored_.contains(b.get()) || has_no_elements(b); }

  void expr(const AnyExpr& e) override {
    descend(e);
    const auto* load = e.as<LoadNode>();
    if (!load || is_stored(load->buffer) || !undefined_.contains(load->buffer.get())) return;
    early_.push_back({load->buffer, current_});
    if (loops_ == 0) fail(early_.back());
  }
  void stmt(const Stmt& s) override {
    const StmtNode* around = std::exchange(current_, s.get());
    const bool loop = s.as<ForNode>() || s.as<WhileNode>();
    loops_ += loop;
    if (const auto* alloc = s.as<AllocNode>()) undefined_.insert(alloc->buffer.get());
    descend(s);
    if (const auto* store = s.as<StoreNode>()) stored_.insert(store->buffer.get());
    if (const auto* atomic = s.as<AtomicNode>()) stored_.insert(atomic->buffer.get());
    loops_ -= loop;
    if (loop && loops_ == 0) {
      for (const auto& read : early_)
        if (!is_stored(read.buffer)) fail(read);
      early_.clear();
    }
    current_ = around;
  }

  NodeSet undefined_, stored_;
  Vec<Early> early_;
  const StmtNode* current_ = nullptr;
  int loops_ = 0;
};

}  // namespace detail

LATHE_DECL void verify_dim(const VarRef& dim, const Vec<Param>& params, Location where) {
  for (const auto& p : params)
    for (std::size_t d = 0; p.buffer && d < p.buffer->shape.size(); ++d)
      if (p.buffer->shape[d].get() == dim.get()) return;
  throw UserError(
      "L0114",
      cat("Dim '", dim->name, "' is the extent of no argument, so a call cannot tell its value"),
      where, {}, "use it alone as an extent of an argument");
}

LATHE_DECL void verify_defined(const Program& program, Location where) {
  if (program->stage != Stage::blocks) return;
  for (const auto& dim : program->dims) verify_dim(dim->var, program->params, where);
  detail::FindUndefined undefined(*program);
  if (undefined.reason.empty()) return;
  std::string shown =
      undefined.place ? detail::excerpt_of(program, undefined.place) : std::string();
  throw UserError("L0506", cat("program '", program->name, "': ", undefined.reason), where, shown);
}

}  // namespace lathe
