// What an expression is worth, lane by lane.
//
// Only the lanes that are asked for are evaluated: that is what makes Select lazy and masks quiet
// in vectors.
#pragma once

#include "calls.hpp"
#include "state.hpp"

namespace oracle {

class Expression {
 public:
  explicit Expression(State& state) : state_(state) {}

  /// Lane l of e.
  Number lane(const lathe::AnyExpr& e, int l) {
    switch (e.kind()) {
      case lathe::ExprKind::Const:
        return constant(*e.as<lathe::ConstNode>());
      case lathe::ExprKind::Var:
        return variable(*e.as<lathe::VarNode>(), l);
      case lathe::ExprKind::Load:
        return load(*e.as<lathe::LoadNode>(), l);
      case lathe::ExprKind::Let:
        return let(*e.as<lathe::LetNode>(), l);
      case lathe::ExprKind::Binary: {
        const auto* n = e.as<lathe::BinaryNode>();
        return binary(n->op, n->a.dtype(), lane(n->a, l), lane(n->b, l));
      }
      case lathe::ExprKind::Unary: {
        const auto* n = e.as<lathe::UnaryNode>();
        return unary(n->op, n->a.dtype(), lane(n->a, l));
      }
      case lathe::ExprKind::Select: {
        const auto* n = e.as<lathe::SelectNode>();
        return lane(spread(n->condition, l).whole ? n->yes : n->no, l);
      }
      case lathe::ExprKind::Cast: {
        const auto* n = e.as<lathe::CastNode>();
        return cast(n->dtype, n->value.dtype(), lane(n->value, l));
      }
      case lathe::ExprKind::Call:
        return called(*e.as<lathe::CallNode>(), l);
      case lathe::ExprKind::Ramp:
        return ramp(*e.as<lathe::RampNode>(), l);
      case lathe::ExprKind::Broadcast: {
        const auto* n = e.as<lathe::BroadcastNode>();
        return lane(n->value, l % n->value.dtype().lanes);
      }
      case lathe::ExprKind::Shuffle:
        return shuffle(*e.as<lathe::ShuffleNode>(), l);
    }
    no_meaning("this expression");
  }

  Lanes all_lanes(const lathe::AnyExpr& e) {
    Lanes out;
    for (int l = 0; l < e.dtype().lanes; ++l) out.push_back(lane(e, l));
    return out;
  }
  /// Lane l of something that may be a scalar beside vectors.
  Number spread(const lathe::AnyExpr& e, int l) { return lane(e, e.dtype().lanes == 1 ? 0 : l); }
  Whole index(const lathe::AnyExpr& e, int l = 0) { return spread(e, l).whole; }
  bool holds(const lathe::AnyExpr& e) { return lane(e, 0).whole != 0; }
  std::vector<Whole> indices(const lathe::Vec<lathe::AnyExpr>& list, int l) {
    std::vector<Whole> out;
    for (const auto& e : list) out.push_back(index(e, l));
    return out;
  }

 private:
  static Number constant(const lathe::ConstNode& n) {
    if (n.dtype.is_float()) return real_number(n.f);
    return whole_number(wrapped(n.dtype, n.i));
  }

  Number variable(const lathe::VarNode& n, int l) {
    const auto promised = promises_.find(&n);
    if (promised != promises_.end()) return lane(promised->second, l);
    const auto found = state_.vars.find(&n);
    if (found == state_.vars.end()) throw std::logic_error("oracle: no variable " + n.name);
    return found->second[static_cast<std::size_t>(l)];
  }

  Number load(const lathe::LoadNode& n, int l) {
    if (bool(n.mask) && !spread(n.mask, l).whole) return {};
    return state_.array(n.buffer).read(indices(n.indices, l), whole_element(n) ? l : 0);
  }
  static bool whole_element(const lathe::LoadNode& n) { return n.buffer->dtype.lanes > 1; }

  // Which lanes of a vector the body asks for is not known yet: each is evaluated when it is.
  Number let(const lathe::LetNode& n, int l) {
    for (const auto& b : n.bindings) {
      if (b.value.dtype().lanes > 1)
        promises_.insert_or_assign(b.var.get(), b.value);
      else
        state_.vars[b.var.get()] = {lane(b.value, 0)};
    }
    const Number out = lane(n.body, l);
    for (const auto& b : n.bindings) promises_.erase(b.var.get());
    return out;
  }

  Number called(const lathe::CallNode& n, int l) {
    switch (n.op) {
      case CallOp::reinterpret:
        return reinterpreted(n, l);
      case CallOp::dot4:
        return integer_dot(n, l, 4 * l, 4 * l, 4);
      case CallOp::dot_words:
        return integer_dot(n, l, 2 * l, 2 * l, 2);
      case CallOp::sad8:
        return differences(n, l);
      case CallOp::mat_dot8:
        return integer_dot(n, l, l / 4 * 16 + (l / 2 % 2) * 8, l / 4 * 16 + l % 2 * 8, 8);
      case CallOp::dot2:
        return dot2(n, l);
      case CallOp::odd_dot2:
        return odd_dot(n, l, 2 * l, 2 * l, 2);
      case CallOp::odd_mat_dot4:
        return odd_dot(n, l, l / 4 * 8 + (l / 2 % 2) * 4, l / 4 * 8 + l % 2 * 4, 4);
      case CallOp::prefetch:
        return {};
      default: {
        Lanes args;
        for (const auto& a : n.args) args.push_back(spread(a, l));
        return call(n.op, n.args[0].dtype(), args);
      }
    }
  }

  // The bits of all lanes stand in a row, the first lane's lowest first, and are cut anew.
  Number reinterpreted(const lathe::CallNode& n, int l) {
    const DType from = n.args[0].dtype(), to = n.dtype;
    std::uint64_t bits = 0;
    for (int k = 0; k < to.bits; ++k) {
      const int at = l * to.bits + k;
      const std::uint64_t lane_bits = bits_of(from, lane(n.args[0], at / from.bits));
      bits |= (lane_bits >> (at % from.bits) & 1) << k;
    }
    return from_bits(to, bits);
  }

  Number integer_dot(const lathe::CallNode& n, int l, int a, int b, int terms) {
    Whole sum = lane(n.args[0], l).whole;
    for (int k = 0; k < terms; ++k)
      sum += lane(n.args[1], a + k).whole * lane(n.args[2], b + k).whole;
    return whole_number(wrapped(n.dtype, sum));
  }
  /// Eight for each lane that has an even number.
  Number differences(const lathe::CallNode& n, int l) {
    Whole sum = lane(n.args[0], l).whole;
    for (int k = 4 * l; l % 2 == 0 && k < 4 * l + 8; ++k) {
      const Whole apart = lane(n.args[1], k).whole - lane(n.args[2], k).whole;
      sum += apart < 0 ? -apart : apart;
    }
    return whole_number(wrapped(n.dtype, sum));
  }
  /// Of an argument that has bf16, or their bits.
  double bf16_lane(const lathe::CallNode& n, std::size_t arg, int k) {
    const Number value = lane(n.args[arg], k);
    const DType type = n.args[arg].dtype();
    return type.is_float() ? value.real : from_bits(lathe::kBF16, bits_of(type, value)).real;
  }
  Number dot2(const lathe::CallNode& n, int l) {
    double sum = lane(n.args[0], l).real;
    for (int k : {2 * l + 1, 2 * l}) sum = dot2_step(sum, bf16_lane(n, 1, k), bf16_lane(n, 2, k));
    return real_number(sum);
  }
  Number odd_dot(const lathe::CallNode& n, int l, int a, int b, int terms) {
    double sum = lane(n.args[0], l).real;
    for (int k = 0; k < terms; k += 2)
      sum = odd_dot2(sum, bf16_lane(n, 1, a + k), bf16_lane(n, 2, b + k),
                     bf16_lane(n, 1, a + k + 1), bf16_lane(n, 2, b + k + 1));
    return real_number(sum);
  }

  Number ramp(const lathe::RampNode& n, int l) {
    const DType t = n.dtype.scalar();
    const int inner = n.base.dtype().lanes;
    const Number step = spread(n.stride, l % inner);
    const Number count = cast(t, lathe::kIndex, whole_number(l / inner));
    return binary(BinaryOp::add, t, lane(n.base, l % inner), binary(BinaryOp::mul, t, count, step));
  }

  Number shuffle(const lathe::ShuffleNode& n, int l) {
    int at = n.lanes[static_cast<std::size_t>(l)];
    for (const auto& vector : n.vectors) {
      if (at < vector.dtype().lanes) return lane(vector, at);
      at -= vector.dtype().lanes;
    }
    no_meaning("a lane past the vectors");
  }

  State& state_;
  std::unordered_map<const lathe::VarNode*, lathe::AnyExpr> promises_;  ///< lets of vectors
};

}  // namespace oracle
