#pragma once

#include <lathe/eval/compiler.hpp>
#include <lathe/ir/moved_lanes.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

inline int EvalCompiler::var_slot(const VarNode& var) {
  if (const int* known = vars_.find(&var)) return *known;
  int slot = std::exchange(tree_.slots, tree_.slots + var.dtype.lanes);
  vars_.insert(&var, slot);
  return slot;
}

inline void EvalCompiler::describe(EvalBuffer& out, const Buffer& b) {
  out.buffer = b;
  out.element = b->dtype.scalar();
  out.lanes = b->dtype.lanes;
  for (const auto* all : {&b->shape, &b->strides})
    for (const auto& e : *all) check_layout(*b, e);
  out.shape = list(b->shape);
  out.strides = list(b->strides);
}

// A program that nobody verified may say anything; what it reads here need not exist yet.
inline void EvalCompiler::check_layout(const BufferNode& b, const AnyExpr& e) const {
  if (find_load(e))
    throw UserError(
        "L0506",
        cat("program '", program_->name, "': an extent or stride of '", b.name, "' reads memory"),
        Location{}, {}, "give it a name by a let before the alloc");
}

inline int EvalCompiler::buffer_slot(const Buffer& b) {
  if (const int* known = buffers_.find(b.get())) return *known;
  auto slot = tree_.buffers.size();
  buffers_.insert(b.get(), static_cast<int>(slot));
  tree_.buffers.emplace_back();
  EvalBuffer described;
  describe(described, b);
  tree_.buffers[slot] = std::move(described);
  return static_cast<int>(slot);
}

inline void EvalCompiler::bind_params() {
  for (const CallSlot& s : slot_layout(program_)) {
    const Param* param =
        s.param < 0 ? nullptr : &program_->params[static_cast<std::size_t>(s.param)];
    if (s.kind == CallSlot::Kind::buffer) {
      const auto at = static_cast<std::size_t>(buffer_slot(param->buffer));
      tree_.buffers[at].output = param->access == Access::out;
      tree_.call.push_back({static_cast<int>(at), -1});
      continue;
    }
    const VarNode* var = slot_variable(program_, s);
    const int slot = var ? var_slot(*var) : tree_.slots++;
    if (!var && s.index == 0)
      tree_.buffers[static_cast<std::size_t>(buffer_slot(param->buffer))].outer_strides = slot;
    tree_.call.push_back({-1, slot, var ? var->dtype : kIndex});
  }
}

inline void EvalCompiler::compile() {
  tree_.flat = program_->stage >= Stage::flat;
  tree_.blocks = program_->stage == Stage::blocks;
  bind_params();
  tree_.body = stmt(program_->body);
}

inline Vec<const EvalExpr*> EvalCompiler::list(const Vec<AnyExpr>& all) {
  Vec<const EvalExpr*> out;
  for (const auto& e : all) out.push_back(expr(e));
  return out;
}

inline const EvalExpr* EvalCompiler::expr(const AnyExpr& e) {
  if (const auto* found = exprs_.find(e.get())) return *found;
  tree_.exprs.emplace_back();
  EvalExpr& out = tree_.exprs.back();
  out.dtype = e.dtype().scalar();
  out.lanes = e.dtype().lanes;
  out.run = eval_function(e);
  fill(out, e);
  exprs_.insert(e.get(), &out);
  return &out;
}

inline void EvalCompiler::fill_let(EvalExpr& out, const LetNode& let) {
  for (const auto& b : let.bindings) {
    out.picks.push_back(var_slot(*b.var)), out.picks.push_back(0);
    out.args.push_back(expr(b.value));
  }
  out.b = expr(let.body);
  bool all_lanes = MovedLanes(let.body).found();
  for (std::size_t k = let.bindings.size(); k-- > 0;) {
    out.picks[2 * k + 1] = all_lanes;
    all_lanes = all_lanes || MovedLanes(let.bindings[k].value).found();
  }
}

inline void EvalCompiler::fill(EvalExpr& out, const AnyExpr& e) {
  if (const auto* constant = e.as<ConstNode>()) {
    out.value = scalar_of(constant->dtype, constant->i, constant->f);
  } else if (const auto* var = e.as<VarNode>()) {
    out.slot = var_slot(*var);
  } else if (const auto* load = e.as<LoadNode>()) {
    out.slot = buffer_slot(load->buffer);
    out.args = list(load->indices);
    out.a = optional(load->mask);
  } else if (const auto* let = e.as<LetNode>()) {
    fill_let(out, *let);
  } else if (const auto* binary = e.as<BinaryNode>()) {
    out.op = static_cast<std::uint8_t>(binary->op);
    out.dtype = binary->a.dtype().scalar();
    out.a = expr(binary->a);
    out.b = expr(binary->b);
  } else if (const auto* unary = e.as<UnaryNode>()) {
    out.op = static_cast<std::uint8_t>(unary->op);
    out.a = expr(unary->a);
  } else if (const auto* select = e.as<SelectNode>()) {
    out.a = expr(select->condition);
    out.b = expr(select->yes);
    out.c = expr(select->no);
  } else if (const auto* cast = e.as<CastNode>()) {
    out.to = out.dtype;
    out.dtype = cast->value.dtype().scalar();
    out.a = expr(cast->value);
  } else if (const auto* call = e.as<CallNode>()) {
    fill_call(out, *call);
  } else if (const auto* ramp = e.as<RampNode>()) {
    out.a = expr(ramp->base);
    out.b = expr(ramp->stride);
  } else if (const auto* copies = e.as<BroadcastNode>()) {
    out.a = expr(copies->value);
  } else if (const auto* shuffle = e.as<ShuffleNode>()) {
    fill_shuffle(out, *shuffle);
  }
}

inline void EvalCompiler::fill_call(EvalExpr& out, const CallNode& n) {
  out.op = static_cast<std::uint8_t>(n.op);
  if (!op_pure(n.op)) return;
  out.to = is_dot(n.op) ? n.args[1].dtype().scalar() : out.dtype;
  out.dtype = n.args[0].dtype().scalar();
  out.args = list(n.args);
}

inline void EvalCompiler::fill_shuffle(EvalExpr& out, const ShuffleNode& n) {
  out.args = list(n.vectors);
  for (int lane : n.lanes) {
    int vector = 0;
    while (lane >= out.args[static_cast<std::size_t>(vector)]->lanes)
      lane -= out.args[static_cast<std::size_t>(vector++)]->lanes;
    out.picks.push_back(vector);
    out.picks.push_back(lane);
  }
}

inline const EvalStmt* EvalCompiler::seq(Vec<const EvalStmt*> children) {
  if (children.size() == 1) return children[0];
  EvalStmt* out = stmt(EvalStmt::seq);
  out->children = std::move(children);
  return out;
}

inline const EvalStmt* EvalCompiler::inside(const Stmt& s, const StmtNode* around, bool in_else) {
  path_.push_back({around, in_else});
  const EvalStmt* out = stmt(s);
  path_.pop_back();
  return out;
}

inline const EvalStmt* EvalCompiler::stmt(const Stmt& s) {
  if (const auto* n = s.as<ForNode>()) return loop(*n);
  if (const auto* n = s.as<BlockNode>()) return block(*n);
  if (const auto* n = s.as<SeqNode>()) {
    Vec<const EvalStmt*> children;
    for (const auto& child : n->stmts) children.push_back(stmt(child));
    return seq(std::move(children));
  }
  if (const auto* n = s.as<StoreNode>()) {
    auto* out = const_cast<EvalStmt*>(access(EvalStmt::store, n->buffer, n->indices, n->value));
    out->b = optional(n->mask);
    return out;
  }
  if (const auto* n = s.as<AtomicNode>()) {
    auto* out = const_cast<EvalStmt*>(access(EvalStmt::atomic, n->buffer, n->indices, n->value));
    out->op = static_cast<std::uint8_t>(n->op);
    return out;
  }
  return scope(s);
}

/// The statements that go on inside: each leaves a mark on the path.
inline const EvalStmt* EvalCompiler::scope(const Stmt& s) {
  EvalStmt* out = nullptr;
  if (const auto* alloc = s.as<AllocNode>()) {
    out = stmt(EvalStmt::alloc);
    out->slot = buffer_slot(alloc->buffer);
    out->children = {inside(alloc->body, alloc)};
  } else if (const auto* let = s.as<LetStmtNode>()) {
    out = stmt(EvalStmt::let);
    out->slot = var_slot(*let->var);
    out->a = expr(let->value);
    out->children = {inside(let->body, let)};
  } else if (const auto* branch = s.as<IfNode>()) {
    out = stmt(EvalStmt::branch);
    out->a = expr(branch->condition);
    out->children = {inside(branch->then_body, branch)};
    if (branch->else_body) out->children.push_back(inside(branch->else_body, branch, true));
  } else if (const auto* loop = s.as<WhileNode>()) {
    out = stmt(EvalStmt::repeat);
    out->a = expr(loop->condition);
    out->children = {inside(loop->body, loop)};
  } else if (const auto* check = s.as<AssertNode>()) {
    out = stmt(EvalStmt::check);
    out->a = expr(check->condition);
    out->slot = static_cast<int>(tree_.messages.size());
    tree_.messages.push_back(check->message);
    for (const auto& e : check->values) out->args.push_back(expr(e));
  }
  return out ? out : stmt(EvalStmt::seq);  // an Evaluate has no effect that a program can see
}

inline const EvalStmt* EvalCompiler::access(EvalStmt::Kind kind, const Buffer& b,
                                            const Vec<AnyExpr>& indices, const AnyExpr& value) {
  EvalStmt* out = stmt(kind);
  out->slot = buffer_slot(b);
  out->args = list(indices);
  out->a = expr(value);
  return out;
}

inline const EvalStmt* EvalCompiler::loop(const ForNode& n) {
  EvalStmt* out = stmt(EvalStmt::loop);
  out->slot = var_slot(*n.var);
  out->a = expr(n.min);
  out->b = expr(n.extent);
  out->children = {inside(n.body, &n)};
  for (const auto& [where, init] : inits_)
    if (where == &n) out->children.push_back(init);
  return out;
}

LATHE_DECL Ref<EvalTree> make_eval_tree(const Program& program, EvaluatorOptions options) {
  auto* tree = new EvalTree;
  Ref<EvalTree> out(tree);
  tree->options = options;
  EvalCompiler(*tree, program).compile();
  return out;
}

}  // namespace lathe::detail
