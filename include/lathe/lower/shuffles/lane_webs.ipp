#pragma once

#include <algorithm>
#include <lathe/lower/shuffles/lane_webs.hpp>

namespace lathe::detail {

inline bool is_register(const Buffer& buffer, const Vec<AnyExpr>& indices) {
  return buffer->scope == Scope::reg && buffer->dtype.lanes > 1 && indices.empty();
}
LATHE_DECL bool stores_register(const StoreNode& n) { return is_register(n.buffer, n.indices); }

inline bool is_held_shuffle(const ShuffleNode& n, const TargetCaps& caps) {
  const DType first = n.vectors[0].dtype();
  const bool alike = std::all_of(n.vectors.begin(), n.vectors.end(),
                                 [&](const AnyExpr& v) { return v.dtype() == first; });
  return alike && first.bits >= 8 && !first.is_bool() && first.bytes() <= caps.register_bytes &&
         n.dtype.bytes() <= caps.register_bytes;
}

inline bool is_call_by_lane(const CallNode& n) {
  return !crosses_lanes(n.op) && !is_tile(n.op) &&
         std::all_of(n.args.begin(), n.args.end(),
                     [&](const AnyExpr& a) { return a.dtype().lanes == n.dtype.lanes; });
}

LATHE_DECL LaneRole lane_role(const AnyExpr& e, const TargetCaps& caps) {
  switch (e.kind()) {
    case ExprKind::Const:
      return LaneRole::uniform;
    case ExprKind::Broadcast:
      return e.as<BroadcastNode>()->value.dtype().lanes == 1 ? LaneRole::uniform : LaneRole::other;
    case ExprKind::Shuffle:
      return is_held_shuffle(*e.as<ShuffleNode>(), caps) ? LaneRole::shuffle : LaneRole::other;
    case ExprKind::Load: {
      const auto* n = e.as<LoadNode>();
      return is_register(n->buffer, n->indices) && !n->mask ? LaneRole::by_lane : LaneRole::other;
    }
    case ExprKind::Call:
      return is_call_by_lane(*e.as<CallNode>()) ? LaneRole::by_lane : LaneRole::other;
    case ExprKind::Ramp:
      return LaneRole::other;
    default:
      return LaneRole::by_lane;
  }
}

LATHE_DECL LaneWebs::LaneWebs(const Stmt& body, const TargetCaps& caps) : caps_(caps) {
  stmt(body);
  for (std::size_t web = 0; web < parents_.size(); ++web)
    if (pinned_[web]) pin(static_cast<int>(web));
  for (Move& move : moves_) {
    for (int& web : move.from) web = find(web);
    move.to = find(move.to);
  }
}

LATHE_DECL int LaneWebs::find(int web) const {
  if (web == kInOrder) return web;
  const auto parent = [&](int of) -> int& { return parents_[static_cast<std::size_t>(of)]; };
  while (parent(web) != web) web = parent(web) = parent(parent(web));
  return web;
}
LATHE_DECL int LaneWebs::fresh() {
  parents_.push_back(static_cast<int>(parents_.size()));
  pinned_.push_back(false);
  return parents_.back();
}
LATHE_DECL void LaneWebs::pin(int web) {
  if (web != kInOrder) pinned_[static_cast<std::size_t>(find(web))] = true;
}
LATHE_DECL int LaneWebs::joined(int a, int b) {
  if (a == kInOrder || b == kInOrder) return std::max(a, b);
  const int root = find(a);
  parents_[static_cast<std::size_t>(find(b))] = root;
  return root;
}
LATHE_DECL int LaneWebs::web_of(const AnyExpr& e) const {
  const int* web = webs_.find(e.get());
  return web ? find(*web) : kInOrder;
}

LATHE_DECL void LaneWebs::stmt(const Stmt& s) {
  if (const auto* let = s.as<LetStmtNode>()) {
    bind(let->var, let->value);
    return stmt(let->body);
  }
  if (const auto* alloc = s.as<AllocNode>()) return stmt(alloc->body);
  if (const auto* store = s.as<StoreNode>(); store && stores_register(*store)) {
    const int value = visit(store->value);
    const int mask = store->mask ? visit(store->mask) : kInOrder;
    joined(joined(web_of_buffer(store->buffer), value), mask);
    return;
  }
  const int inside = s.as<ForNode>() ? 1 : 0;
  depth_ += inside;
  descend(s);
  depth_ -= inside;
}

// A name has a web even where its value has none: another binding of it may.
LATHE_DECL void LaneWebs::bind(const VarRef& var, const AnyExpr& value) {
  const int web = visit(value);
  if (var->dtype.lanes == 1) return;
  const int* known = webs_.find(var.get());
  const int own = known ? *known : fresh();
  webs_[var.get()] = joined(own, web);
  // What an arm loads into a name is loaded by the lanes that choose the arm, unless the name's
  // lanes move.
  if (arms_ > 0 && find_load(value)) pin(own);
}

LATHE_DECL int LaneWebs::web_of_buffer(const Buffer& buffer) {
  if (const int* known = buffers_.find(buffer.get())) return find(*known);
  const int web = fresh();
  buffers_.insert(buffer.get(), web);
  return web;
}

LATHE_DECL void LaneWebs::use(const AnyExpr& e) {
  const int web = visit(e);
  if (web != kInOrder) moves_.push_back(in_place(e, {web}, kInOrder));
}

LATHE_DECL LaneWebs::Move LaneWebs::in_place(const AnyExpr& e, Vec<int> from, int to) const {
  Move move{e.dtype(), std::move(from), to, e.dtype().lanes, {}, depth_};
  for (int l = 0; l < move.lanes; ++l) move.map.push_back(l);
  move.keeps = true;
  return move;
}

LATHE_DECL int LaneWebs::visit(const AnyExpr& e) {
  const int* known = webs_.find(e.get());
  const int before = known ? find(*known) : kInOrder;
  // What an arm shares with other code is asked again for what arms alone are asked.
  if (known && (e.as<VarNode>() || arms_ == 0 || !in_arms_.insert(e.get()).second)) return before;
  int web = kInOrder;
  switch (lane_role(e, caps_)) {
    case LaneRole::uniform:
      descend(e);
      break;
    case LaneRole::by_lane:
      web = visit_by_lane(e);
      break;
    case LaneRole::shuffle:
      web = visit_shuffle(*e.as<ShuffleNode>());
      break;
    case LaneRole::other:
      descend(e);
      web = e.dtype().lanes > 1 ? source(e) : kInOrder;
      break;
  }
  return webs_[e.get()] = joined(before, web);
}

LATHE_DECL int LaneWebs::source(const AnyExpr& e) {
  const int web = fresh();
  Move move = in_place(e, {kInOrder}, web);
  const auto* ramp = e.as<RampNode>();
  move.constant = ramp && as_const_int(ramp->base) && as_const_int(ramp->stride);
  move.keeps = !move.constant;
  moves_.push_back(std::move(move));
  // Its mask, of the lanes that choose the arm, would have to move too.
  if (arms_ > 0 && e.as<LoadNode>()) pin(web);
  return web;
}

LATHE_DECL int LaneWebs::visit_by_lane(const AnyExpr& e) {
  if (e.as<VarNode>()) return e.dtype().lanes > 1 ? source(e) : kInOrder;
  if (const auto* n = e.as<LoadNode>()) return web_of_buffer(n->buffer);
  if (const auto* n = e.as<LetNode>()) {
    for (const LetBinding& b : n->bindings) bind(b.var, b.value);
    return visit(n->body);
  }
  if (const auto* n = e.as<SelectNode>()) return visit_select(*n);
  int web = kInOrder;
  const auto joins = [&](const AnyExpr& operand) { web = joined(web, visit(operand)); };
  if (const auto* n = e.as<BinaryNode>()) joins(n->a), joins(n->b);
  if (const auto* n = e.as<UnaryNode>()) joins(n->a);
  if (const auto* n = e.as<CastNode>()) joins(n->value);
  if (const auto* n = e.as<CallNode>())
    for (const AnyExpr& arg : n->args) joins(arg);
  return web;
}

LATHE_DECL int LaneWebs::visit_select(const SelectNode& n) {
  const int condition = visit(n.condition), by_lanes = n.condition.dtype().lanes > 1 ? 1 : 0;
  arms_ += by_lanes;
  const int yes = visit(n.yes), no = visit(n.no);
  arms_ -= by_lanes;
  return joined(condition, joined(yes, no));
}

LATHE_DECL int LaneWebs::visit_shuffle(const ShuffleNode& n) {
  Move move{n.dtype, {}, kInOrder, n.vectors[0].dtype().lanes, n.lanes, depth_};
  move.is_shuffle = true;
  for (const AnyExpr& v : n.vectors) move.from.push_back(visit(v));
  if (n.dtype.lanes > 1) move.to = fresh();
  moves_.push_back(move);
  return move.to;
}

}  // namespace lathe::detail
