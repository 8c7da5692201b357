#pragma once

#include <lathe/analysis/dependence.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

/// The body of a block with atomic updates for its stores. Nothing else in it may read what they
/// update: an iteration that runs between would be seen there.
class AtomicStores : public Mutator {
 public:
  explicit AtomicStores(const BlockNode& block)
      : block_(block), written_(buffers_written(block.body)) {}

  /// Why that can't be; empty if it can.
  std::string why;
  bool reassociates = false;

  Stmt run() {
    for (const auto& it : block_.iters) expr(it.min), expr(it.extent), expr(it.binding);
    optional(block_.predicate);
    Stmt body = stmt(block_.body);
    if (updates_ == 0) fail("has no store that is not atomic");
    return body;
  }

  Stmt stmt(const Stmt& s) override {
    switch (s.kind()) {
      case StmtKind::Store:
        return update(*s.as<StoreNode>());
      case StmtKind::Seq:
      case StmtKind::For:
      case StmtKind::If:
      case StmtKind::LetStmt:
      case StmtKind::Atomic:
        return descend(s);
      default:
        return fail("holds more than stores"), s;
    }
  }
  AnyExpr expr(const AnyExpr& e) override {
    if (const auto* load = e.as<LoadNode>(); load && contains(written_, load->buffer))
      fail("reads " + in_quotes(load->buffer->name) + " besides updating it");
    if (const auto* call = e.as<CallNode>(); call && !op_pure(call->op))
      fail("has a call that is not pure");
    return descend(e);
  }

 private:
  void fail(std::string reason) {
    if (why.empty()) why = std::move(reason);
  }

  // element = op(element, term)
  Stmt update(const StoreNode& store) {
    std::optional<BinaryOp> op;
    AnyExpr term = block_.reducer ? term_of_reducer(store, op) : term_of(store, op);
    if (!op) return make_ref<StoreNode>(store);
    const DType t = store.buffer->dtype;
    const bool sums = *op == BinaryOp::add || *op == BinaryOp::sub || *op == BinaryOp::mul;
    if (t.bits % 8 != 0 && !t.is_bool())
      fail("updates elements of " + t.str() + ", which share bytes");
    else if (t.is_float() && t.bits < 32)
      fail("updates elements of " + t.str() + ", which no machine does atomically");
    else if (!atomics_commute(*op, t) && !(t.is_float() && sums))
      fail("updates " + in_quotes(store.buffer->name) + " with an operator whose order matters");
    reassociates |= !atomics_commute(*op, t);
    ++updates_;
    for (const auto& i : store.indices) expr(i);
    return make_ref<AtomicNode>(*op, store.buffer, store.indices, expr(term));
  }

  AnyExpr term_of_reducer(const StoreNode& store, std::optional<BinaryOp>& op) {
    const ReducerInfo info = classify(*block_.reducer);
    if (info.kind == ReducerClass::reorder) op = info.op;
    if (!op)
      fail("folds with reducer " + in_quotes(block_.reducer->name) +
           ", which is no single operator of which the order is free");
    return store.value;
  }

  AnyExpr term_of(const StoreNode& store, std::optional<BinaryOp>& op) {
    const auto* n = store.value.as<BinaryNode>();
    const bool left = n && is_element(n->a, store);
    const bool right = n && !left && n->op != BinaryOp::sub && is_element(n->b, store);
    if ((left || right) && !store.mask) {
      op = n->op;
      return left ? n->b : n->a;
    }
    fail("stores to " + in_quotes(store.buffer->name) +
         " what is no update of the element: x = x op y");
    return store.value;
  }

  static bool is_element(const AnyExpr& e, const StoreNode& store) {
    const auto* load = e.as<LoadNode>();
    bool same = load && load->buffer == store.buffer && !load->mask &&
                load->indices.size() == store.indices.size();
    for (std::size_t d = 0; same && d < store.indices.size(); ++d)
      same = same_expr(load->indices[d], store.indices[d]);
    return same;
  }

  const BlockNode& block_;
  const Vec<Buffer> written_;
  int updates_ = 0;
};

inline Verdict run_atomic(const Program& program, const Args& args, Edit* edit) {
  const BlockTag& tag = args[0].block;
  const BlockSite site = find_block(program->body, tag);
  const std::string name = "block " + in_quotes(tag->name);
  if (site.block->init)
    return refusal_at(tag, "L0256", name + " sets its elements before it updates them",
                      "decompose_reduction first");
  if (const auto* stream = site.block->attributes.find<StreamAttr>();
      stream && stream->how != Streaming::none)
    return refusal_at(tag, "L0256", name + " stores past the caches",
                      "annotate it with \"stream\" 0 first");
  AtomicStores stores(*site.block);
  BlockNode block = *site.block;
  block.body = stores.run();
  if (!stores.why.empty()) return refusal_at(tag, "L0256", name + " " + stores.why);
  if (!edit) return {};
  block.reducer = {};
  block.reads.clear(), block.writes.clear();
  if (stores.reassociates) {
    block.attributes.set(AnyOrderAttr{});
    edit->reassociates = "atomic: " + in_quotes(tag->name) + " updates in any order";
  }
  edit->program = program.with(replace_at(site.path, make_block(std::move(block))));
  return {};
}

LATHE_DECL const Primitive& primitive_atomic() {
  static const Primitive record{"atomic",
                                1,
                                {{"block", ArgKind::block}},
                                "a block updates its elements atomically",
                                run_atomic};
  return record;
}

}  // namespace lathe::detail
