// A direct evaluator of integer and boolean expressions, lane by lane, and a source of random ones.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <lathe/arith/simplify.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <string>
#include <unordered_map>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif

namespace index_test {

using lathe::AnyExpr;
using lathe::BinaryOp;
using lathe::DType;
using lathe::VarRef;
using Env = std::unordered_map<const lathe::VarNode*, std::int64_t>;
using Values = std::vector<std::int64_t>;

inline std::int64_t wrap(DType t, std::int64_t v) {
  return *lathe::as_const_int(lathe::make_int(t.scalar(), v));
}

inline std::int64_t apply(BinaryOp op, DType t, std::int64_t a, std::int64_t b) {
  using U = std::uint64_t;
  auto floor_quotient = [](std::int64_t x, std::int64_t y) {
    return x / y - (x % y != 0 && (x % y < 0) != (y < 0));
  };
  switch (op) {
    case BinaryOp::add:
      return wrap(t, static_cast<std::int64_t>(U(a) + U(b)));
    case BinaryOp::sub:
      return wrap(t, static_cast<std::int64_t>(U(a) - U(b)));
    case BinaryOp::mul:
      return wrap(t, static_cast<std::int64_t>(U(a) * U(b)));
    case BinaryOp::div:
      return b == 0 ? 0 : b == -1 ? wrap(t, static_cast<std::int64_t>(0 - U(a))) : a / b;
    case BinaryOp::mod:
      return b == 0 || b == -1 ? 0 : a % b;
    case BinaryOp::floordiv:
      return b == 0    ? 0
             : b == -1 ? wrap(t, static_cast<std::int64_t>(0 - U(a)))
                       : floor_quotient(a, b);
    case BinaryOp::floormod: {
      if (b == 0 || b == -1) return 0;
      const std::int64_t r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case BinaryOp::min:
    case BinaryOp::fast_min:
      return a < b ? a : b;
    case BinaryOp::max:
    case BinaryOp::fast_max:
      return a > b ? a : b;
    case BinaryOp::and_:
      return a && b;
    case BinaryOp::or_:
      return a || b;
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_xor:
      return a ^ b;
    case BinaryOp::shl:
      return wrap(t, static_cast<std::int64_t>(U(a) << (U(b) % t.bits)));
    case BinaryOp::shr:
      return a >> (U(b) % t.bits);
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::ge:
      return a >= b;
  }
  return 0;
}

/// The lanes of e. A load gives a fixed function of its buffer and indices that covers all of its
/// type.
inline Values eval(const AnyExpr& e, const Env& env) {
  using namespace lathe;
  const auto lanes = static_cast<std::size_t>(e.dtype().lanes);
  Values out(lanes);
  auto at = [](const Values& v, std::size_t l) { return v[l % v.size()]; };
  if (const auto* c = e.as<ConstNode>()) return {c->i};
  if (const auto* v = e.as<VarNode>()) return {env.at(v)};
  if (const auto* n = e.as<BinaryNode>()) {
    Values a = eval(n->a, env), b = eval(n->b, env);
    for (std::size_t l = 0; l < lanes; ++l)
      out[l] = apply(n->op, n->a.dtype().scalar(), a[l], b[l]);
  } else if (const auto* u = e.as<UnaryNode>()) {
    Values a = eval(u->a, env);
    for (std::size_t l = 0; l < lanes; ++l)
      out[l] = u->op == UnaryOp::not_  ? !a[l]
               : u->op == UnaryOp::neg ? apply(BinaryOp::sub, e.dtype().scalar(), 0, a[l])
                                       : wrap(e.dtype(), ~a[l]);
  } else if (const auto* s = e.as<SelectNode>()) {
    Values c = eval(s->condition, env), yes = eval(s->yes, env), no = eval(s->no, env);
    for (std::size_t l = 0; l < lanes; ++l) out[l] = at(c, l) ? yes[l] : no[l];
  } else if (const auto* k = e.as<CastNode>()) {
    Values a = eval(k->value, env);
    for (std::size_t l = 0; l < lanes; ++l) out[l] = wrap(e.dtype(), a[l]);
  } else if (const auto* r = e.as<RampNode>()) {
    Values base = eval(r->base, env), stride = eval(r->stride, env);
    for (std::size_t l = 0; l < lanes; ++l) {
      std::size_t inner = l % base.size(), step = l / base.size();
      out[l] = apply(BinaryOp::add, e.dtype().scalar(), base[inner],
                     apply(BinaryOp::mul, e.dtype().scalar(), static_cast<std::int64_t>(step),
                           at(stride, inner)));
    }
  } else if (const auto* b = e.as<BroadcastNode>()) {
    Values v = eval(b->value, env);
    for (std::size_t l = 0; l < lanes; ++l) out[l] = v[l % v.size()];
  } else if (const auto* let = e.as<LetNode>()) {
    Env inner = env;
    for (const auto& b : let->bindings) inner[b.var.get()] = eval(b.value, inner)[0];
    return eval(let->body, inner);
  } else if (const auto* load = e.as<LoadNode>()) {
    for (std::size_t l = 0; l < lanes; ++l) {
      std::uint64_t h = load->buffer->name.size() * 77 + 5;
      for (const auto& i : load->indices)
        h = (h ^ static_cast<std::uint64_t>(at(eval(i, env), l))) * 0x9E3779B97F4A7C15ull;
      static const std::int64_t edge[] = {INT64_MAX, INT64_MIN, 0, -1, INT64_MAX - 2, 3};
      bool on = !load->mask.get() || at(eval(load->mask, env), l) != 0;
      out[l] = !on          ? 0
               : h % 3 == 0 ? wrap(e.dtype(), edge[(h >> 8) % 6])
                            : wrap(e.dtype(), static_cast<std::int64_t>(h >> 7));
    }
  } else {
    throw std::runtime_error("eval: node");
  }
  return out;
}

/// splitmix64
struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + below(static_cast<int>(hi - lo + 1));
  }
};

}  // namespace index_test
