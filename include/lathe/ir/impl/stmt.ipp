#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/support/reversed.hpp>

namespace lathe {

LATHE_DECL std::string_view to_text(ForKind kind) {
  static constexpr std::string_view texts[] = {
      "serial",     "parallel",   "vectorized",  "unrolled",    "blockIdx.x",
      "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"};
  return texts[static_cast<int>(kind)];
}
LATHE_DECL bool parse_for_kind(std::string_view text, ForKind& out) {
  for (int k = 0; k <= static_cast<int>(ForKind::thread_z); ++k) {
    if (to_text(static_cast<ForKind>(k)) != text) continue;
    out = static_cast<ForKind>(k);
    return true;
  }
  return false;
}
LATHE_DECL std::string_view to_text(IterKind kind) {
  static constexpr std::string_view texts[] = {"spatial", "reduce", "opaque"};
  return texts[static_cast<int>(kind)];
}
LATHE_DECL std::string_view to_text(Scope scope) {
  static constexpr std::string_view texts[] = {"global", "shared", "local", "register", "fragment"};
  return texts[static_cast<int>(scope)];
}
LATHE_DECL std::string_view to_text(Stage stage) {
  static constexpr std::string_view texts[] = {"blocks", "loops", "vector", "flat", "machine"};
  return texts[static_cast<int>(stage)];
}

LATHE_DECL const std::string& Param::name() const { return buffer ? buffer->name : var->name; }
LATHE_DECL DType Param::dtype() const { return buffer ? buffer->dtype : var->dtype; }

LATHE_DECL Program Program::with(Stmt body, Stage stage) const {
  ProgramNode node = **this;
  node.body = std::move(body);
  node.stage = stage;
  node.scheduled = node.scheduled && stage == Stage::blocks;
  return Program(std::move(node));
}

LATHE_DECL Program without_contents(const Program& program) {
  ProgramNode node = *program;
  for (Param& p : node.params) p.content = {};
  return Program(std::move(node));
}

LATHE_DECL Buffer constant_buffer(std::string name, DType dtype, Vec<AnyExpr> shape) {
  Vec<AnyExpr> strides;
  if (shape.size() > 1) {
    strides.resize(shape.size());
    std::uint64_t stride = 1;  // what overflows, verify refuses
    for (std::size_t d = shape.size(); d-- > 0;) {
      strides[d] = AnyExpr(static_cast<std::int64_t>(stride));
      if (const auto* extent = as_const_int(shape[d]))
        stride *= static_cast<std::uint64_t>(*extent);
    }
  }
  return make_ref<BufferNode>(std::move(name), dtype, std::move(shape), std::move(strides),
                              Scope::global, static_cast<int>(ConstantData::kAlignment));
}

LATHE_DECL Buffer make_buffer(std::string name, DType dtype, Vec<AnyExpr> shape, Scope scope) {
  return make_ref<BufferNode>(std::move(name), dtype, std::move(shape), Vec<AnyExpr>{}, scope);
}

LATHE_DECL Stmt make_for(VarRef var, AnyExpr min, AnyExpr extent, Stmt body, ForKind kind,
                         Attributes attributes) {
  return make_ref<ForNode>(std::move(var), std::move(min), std::move(extent), kind,
                           std::move(attributes), std::move(body));
}

LATHE_DECL const LoadNode* prefetched(const Stmt& s) {
  const auto* e = s.as<EvaluateNode>();
  const auto* call = e ? e->call.as<CallNode>() : nullptr;
  return call && call->op == CallOp::prefetch ? call->args[0].as<LoadNode>() : nullptr;
}

LATHE_DECL Stmt make_seq(Vec<Stmt> stmts) {
  Vec<Stmt> flat;
  for (auto& s : stmts) {
    if (!s) continue;
    if (const auto* seq = s.as<SeqNode>()) {
      flat.append(seq->stmts);
    } else {
      flat.push_back(std::move(s));
    }
  }
  if (flat.size() == 1) return flat[0];
  return make_ref<SeqNode>(std::move(flat));
}

LATHE_DECL Stmt make_store(Buffer buffer, Vec<AnyExpr> indices, AnyExpr value, AnyExpr mask) {
  invariant(static_cast<int>(indices.size()) == buffer->rank() || indices.size() == 1,
            "store with a wrong number of indices");
  invariant(value.dtype().scalar() == buffer->dtype.scalar(), "store of another type");
  return make_ref<StoreNode>(std::move(buffer), std::move(indices), std::move(value),
                             std::move(mask));
}

LATHE_DECL Stmt make_if(AnyExpr condition, Stmt then_body, Stmt else_body) {
  return make_ref<IfNode>(std::move(condition), std::move(then_body), std::move(else_body));
}

LATHE_DECL Stmt make_alloc(Buffer buffer, Stmt body) {
  return make_ref<AllocNode>(std::move(buffer), std::move(body));
}

LATHE_DECL Stmt make_let_stmt(VarRef var, AnyExpr value, Stmt body) {
  return make_ref<LetStmtNode>(std::move(var), std::move(value), std::move(body));
}

LATHE_DECL Stmt make_block(BlockNode node) {
  return Ref<BlockNode>(new BlockNode(std::move(node)));
}

LATHE_DECL Vec<Stmt> seq_of(const Stmt& s) {
  if (const auto* seq = s.as<SeqNode>()) return seq->stmts;
  return s ? Vec<Stmt>{s} : Vec<Stmt>{};
}

LATHE_DECL Stmt expand_update(const BlockNode& block) {
  invariant(bool(block.reducer), "expand_update of a block without a reducer");
  const ReducerNode& r = *block.reducer;
  Vec<Stmt> terms = seq_of(block.body);
  invariant(terms.size() == r.combine.size(), "a reducer block needs one store per output");
  Substitution map;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto* store = terms[k].as<StoreNode>();
    invariant(store != nullptr, "a reducer block holds only stores");
    map.emplace_back(r.lhs[k], make_load(store->buffer, store->indices));
    map.emplace_back(r.rhs[k], store->value);
  }
  if (terms.size() == 1) {
    const auto* store = terms[0].as<StoreNode>();
    return make_store(store->buffer, store->indices, substitute(r.combine[0], map));
  }
  // Several outputs: bind every operand once, so that all combines see the old elements.
  Vec<Stmt> stores;
  Substitution lets, operands;
  for (const auto& [var, value] : map) {
    operands.emplace_back(var, AnyExpr(make_var(var->name, var->dtype)));
    lets.emplace_back(VarRef(operands.back().second.as<VarNode>()), value);
  }
  Substitution results;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto* store = terms[k].as<StoreNode>();
    VarRef value = make_var(store->buffer->name + "_new", store->value.dtype());
    results.emplace_back(value, substitute(r.combine[k], operands));
    stores.push_back(make_store(store->buffer, store->indices, value));
  }
  Stmt body = make_seq(std::move(stores));
  for (const auto* list : {&results, &lets})
    for (const auto& [var, value] : reversed(*list)) body = make_let_stmt(var, value, body);
  return body;
}

LATHE_DECL Stmt expand_init(const BlockNode& block) {
  Vec<Stmt> stores;
  std::size_t k = 0;
  for (const auto& s : seq_of(block.body)) {
    const auto* store = s.as<StoreNode>();
    stores.push_back(make_store(store->buffer, store->indices, block.reducer->identity[k++]));
  }
  return make_seq(std::move(stores));
}

}  // namespace lathe
