#pragma once

#include <algorithm>
#include <lathe/arith/lane_offsets.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/tensor_intrin.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/primitives/tensor/intrinsic.hpp>

namespace lathe::detail {

/// Reads the loops and the block of a description; says what can't be used.
class DescriptionReader : public Visitor {
 public:
  explicit DescriptionReader(Intrinsic& out) : out_(out) {}

  std::string run() {
    if (!out_.description->dims.empty()) return "its description has Dims";
    for (const auto& p : out_.description->params)
      if (!p.buffer || !p.buffer->strides.empty() || !constant_shape(*p.buffer))
        return "parameter " + in_quotes(p.name()) + " is not a dense buffer of constant shape";
    Stmt s = out_.description->body;
    for (const ForNode* f = s.as<ForNode>(); f; f = s.as<ForNode>()) {
      if (!is_const(f->min, 0) || !as_const_int(f->extent)) break;
      out_.loops.emplace_back(f);
      s = f->body;
    }
    const auto* block = s.as<BlockNode>();
    if (!block) return "its description is not one block under loops from 0 of constant extent";
    out_.block = BlockRefNode(block);
    if (!is_plain(*block)) return "the block of its description is not one plain store";
    if (!binds_loops(*block)) return "an iterator of its description is not one of its loops";
    stmt(block->body);
    for (const auto& o : out_.operands)
      if (!o.touched) problem(in_quotes(o.described->name) + " is not used in its description");
    return why_;
  }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) return note(n->buffer, n->indices);
    if (e.kind() == ExprKind::Var) problem("its description computes with an iterator");
    descend(e);
  }
  void stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    note(n->buffer, n->indices);
    expr(n->value);
  }

 private:
  static bool constant_shape(const BufferNode& b) {
    for (const auto& extent : b.shape)
      if (!as_const_int(extent)) return false;
    return true;
  }
  bool is_plain(const BlockNode& b) {
    out_.store = only_store(b);
    return out_.store && !out_.store->mask.get() && !b.init && !b.predicate.get() &&
           b.reads.empty() && b.writes.empty();
  }
  bool binds_loops(const BlockNode& b) {
    for (const auto& it : b.iters) {
      std::size_t at = 0;
      while (at < out_.loops.size() && it.binding.get() != out_.loops[at]->var.get()) ++at;
      if (at == out_.loops.size() || it.kind == IterKind::opaque || !is_const(it.min, 0) ||
          !is_const(it.extent, *as_const_int(out_.loops[at]->extent)) ||
          std::find(loop_of_.begin(), loop_of_.end(), at) != loop_of_.end())
        return false;
      loop_of_.push_back(at);
    }
    return b.iters.size() == out_.loops.size();
  }
  // Each index is an iterator; all accesses to a buffer are at one place.
  void note(const Buffer& buffer, const Vec<AnyExpr>& indices) {
    Intrinsic::Operand* o = out_.operand(buffer);
    Vec<std::size_t> axes;
    for (const auto& index : indices) {
      const auto& iters = out_.block->iters;
      std::size_t k = 0;
      while (k < iters.size() && iters[k].var.get() != index.get()) ++k;
      if (k == iters.size() || std::find(axes.begin(), axes.end(), loop_of_[k]) != axes.end())
        return problem("an index of " + in_quotes(buffer->name) +
                       " in its description is not an iterator of its own");
      axes.push_back(loop_of_[k]);
    }
    if (o->touched && !std::equal(axes.begin(), axes.end(), o->axes.begin()))
      return problem("its description uses " + in_quotes(buffer->name) + " at two places");
    o->axes = axes, o->touched = true;
    o->across = Vec<bool>(axes.size(), false);
  }
  void problem(const std::string& why) {
    if (why_.empty()) why_ = why;
  }

  Intrinsic& out_;
  Vec<std::size_t> loop_of_;  // by iterator
  std::string why_;
};

/// Reads what the implementation touches: stores to the output, at constant places.
class ImplementationReader : public Visitor {
 public:
  explicit ImplementationReader(Intrinsic& out) : out_(out) {}

  std::string run() {
    for (const Stmt& s : seq_of(out_.implementation->body)) {
      const auto* n = s.as<StoreNode>();
      if (!n || n->mask.get() || out_.operand(n->buffer)->described != out_.store->buffer)
        return "its implementation is not stores to " + in_quotes(out_.store->buffer->name);
      stmt(s);
      if (is_tile_value(n->value)) note_tiles(*n);
    }
    if (!out_.operand(out_.store->buffer)->written) return "its implementation stores nothing";
    return why_;
  }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>()) {
      note(n->buffer, n->indices), out_.operand(n->buffer)->read = true;
      if (n->mask) expr(n->mask);
      return;
    }
    descend(e);
  }
  void stmt(const Stmt& s) override {
    const auto* n = s.as<StoreNode>();
    note(n->buffer, n->indices), out_.operand(n->buffer)->written = true;
    expr(n->value);
  }

 private:
  void note_tiles(const StoreNode& n) {
    out_.operand(n.buffer)->is_tile = true;
    for (const auto& a : n.value.as<CallNode>()->args)
      if (const auto* load = a.as<LoadNode>()) out_.operand(load->buffer)->is_tile = true;
  }
  void note(const Buffer& buffer, const Vec<AnyExpr>& indices) {
    Intrinsic::Operand& o = *out_.operand(buffer);
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      auto lanes = lane_offsets(indices[axis]);
      const std::int64_t* base = lanes ? as_const_int(lanes->base) : nullptr;
      if (!base) return problem(buffer, "is used at a place that is no constant");
      const auto [low, high] = std::minmax_element(lanes->offsets.begin(), lanes->offsets.end());
      if (*base + *low < 0 || *base + *high >= *as_const_int(buffer->shape[axis]))
        return problem(buffer, "is used outside of its shape");
      if (*low != *high) o.across[axis] = true;
    }
  }
  void problem(const Buffer& buffer, const std::string& why) {
    if (why_.empty()) why_ = in_quotes(buffer->name) + " of its implementation " + why;
  }

  Intrinsic& out_;
  std::string why_;
};

inline std::string parameters_problem(Intrinsic& out) {
  const auto &a = out.description->params, &b = out.implementation->params;
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k) {
    same = a[k].buffer && b[k].buffer && a[k].access == b[k].access &&
           a[k].dtype() == b[k].dtype() && a[k].buffer->rank() == b[k].buffer->rank() &&
           b[k].buffer->strides.empty();
    for (int d = 0; same && d < a[k].buffer->rank(); ++d)
      same = same_expr(a[k].buffer->shape[static_cast<std::size_t>(d)],
                       b[k].buffer->shape[static_cast<std::size_t>(d)]);
    if (same) out.operands.push_back({a[k].buffer, b[k].buffer, {}, {}});
  }
  return same ? "" : "its description and its implementation differ in their parameters";
}

// A user's texts may be anything.
inline std::string parse_part(const char* what, const std::string& text, Program& out) {
  try {
    out = lathe::parse(text);
  } catch (const UserError& e) {
    return std::string("its ") + what + " can't be read: " + e.message();
  }
  return out->stage == Stage::blocks ? "" : std::string("its ") + what + " is lowered already";
}

inline std::string known_intrinsics() {
  std::string out = "Lathe has";
  for (const auto& row : tensor_intrins()) out += " " + row.name;
  return out + "; a row of your own needs its description and its implementation";
}

LATHE_DECL Verdict read_intrinsic(const TensorIntrin& row, Intrinsic& out) {
  out.name = row.name, out.rounding = row.rounding;
  std::string why = parse_part("description", row.description, out.description);
  if (why.empty()) why = parse_part("implementation", row.implementation, out.implementation);
  if (why.empty()) why = parameters_problem(out);
  if (why.empty()) why = DescriptionReader(out).run();
  if (why.empty()) why = ImplementationReader(out).run();
  if (why.empty()) return {};
  return refusal("L0236", "intrinsic " + in_quotes(row.name) + " is of no use: " + why);
}

}  // namespace lathe::detail
