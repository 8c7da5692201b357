// Random programs that keep verify()'s rules and use every node, for tests that only look at the
// structure.
#pragma once

#include <cmath>
#include <cstdint>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/stmt.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A counter-based generator (splitmix64): the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From 0 to count - 1.
  int below(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

/// One program per call of program(). Names repeat on purpose and some need quoting.
class RandomIr {
 public:
  explicit RandomIr(std::uint64_t seed) : random_(seed) {}

  lathe::Program program() {
    *this = RandomIr(random_.bits());
    stage_ = static_cast<lathe::Stage>(random_.below(5));
    lathe::ProgramNode node;
    node.name = name();
    node.stage = stage_;
    for (int k = random_.below(3); k > 0; --k) {
      lathe::VarRef v = lathe::make_var(name());
      node.dims.push_back(lathe::make_ref<lathe::DimNode>(
          v, random_.below(3), random_.chance(50) ? INT64_MAX : 64, 1 + random_.below(8)));
      fixed_.push_back(v);
    }
    for (int k = 1 + random_.below(4); k > 0; --k) node.params.push_back(param());
    node.body = body(3);
    return lathe::Program(std::move(node));
  }

  /// An expression over constants only.
  lathe::AnyExpr closed_expr() { return expr(dtype(), 4); }

 private:
  using AnyExpr = lathe::AnyExpr;
  using DType = lathe::DType;
  using Stmt = lathe::Stmt;

  static const std::vector<DType>& dtypes() {
    static const std::vector<DType> all = {
        lathe::kBool, lathe::kI4,  lathe::kU4,   lathe::kI8,   lathe::kU8,  lathe::kI16,
        lathe::kU16,  lathe::kI32, lathe::kU32,  lathe::kI64,  lathe::kU64, lathe::kF16,
        lathe::kF32,  lathe::kF64, lathe::kBF16, lathe::kE4M3, lathe::kE5M2};
    return all;
  }
  DType dtype() {
    return random_.chance(40) ? (random_.chance(50) ? lathe::kF32 : lathe::kI64)
                              : random_.pick(dtypes());
  }
  std::string name() {
    static const std::vector<std::string> names = {
        "i",   "i",        "j", "A",  "A",  "i_1",      "x.s0", "for",     "max", "f32", "",
        "a b", "conv/1:0", "`", "\\", "\n", "\xc3\xa4", "inf",  "f64.nan", "_",   "9a"};
    return random_.pick(names);
  }

  lathe::Param param() {
    lathe::Param p;
    p.access = static_cast<lathe::Access>(random_.below(3));
    if (random_.chance(20)) {
      p.access = lathe::Access::in;
      p.var = lathe::make_var(name(), dtype());
      fixed_.push_back(p.var);
      return p;
    }
    std::vector<AnyExpr> shape, strides;
    for (int k = random_.below(3); k > 0; --k)
      shape.push_back(leaf(lathe::kI64) * leaf(lathe::kI64));
    if (!shape.empty() && random_.chance(30)) {
      for (std::size_t k = 0; k < shape.size(); ++k) {
        strides.push_back(random_.chance(50) ? AnyExpr(1) : AnyExpr(lathe::make_var(name())));
        if (const auto* v = strides.back().as<lathe::VarNode>()) fixed_.push_back(lathe::VarRef(v));
      }
    }
    p.buffer = lathe::make_ref<lathe::BufferNode>(
        name(), dtype(), shape, strides, lathe::Scope::global, random_.chance(20) ? 64 : 0);
    buffers_.push_back(p.buffer);
    if (p.access != lathe::Access::in) writable_.push_back(p.buffer);
    return p;
  }

  std::vector<AnyExpr> indices(int count, int depth) {
    std::vector<AnyExpr> list;
    for (int k = 0; k < count; ++k) list.push_back(expr(lathe::kI64, depth));
    return list;
  }
  std::vector<AnyExpr> indices_of(const lathe::Buffer& b, int depth) {
    int count =
        stage_ >= lathe::Stage::flat && (b->rank() > 0 || random_.chance(30)) ? 1 : b->rank();
    return indices(count, depth);
  }

  AnyExpr constant(DType t) {
    if (t.is_vector()) return lathe::make_broadcast(constant(t.scalar()), t.lanes);
    if (!t.is_float()) {
      auto value = static_cast<std::int64_t>(random_.bits());
      return lathe::make_int(t, random_.chance(60) ? value % 10 : value);
    }
    static const std::vector<double> special = {0.0,  -0.0,  1.0,    -1.5,    0.1,     1e-7,
                                                3e38, 1e300, 5e-324, 65504.0, 1.0 / 3, 1e22};
    double inf = std::numeric_limits<double>::infinity();
    switch (random_.below(8)) {
      case 0:
        return t == lathe::kE4M3 ? lathe::make_float(t, 448)
                                 : lathe::make_float(t, random_.chance(50) ? inf : -inf);
      case 1:
        return lathe::make_float(t, std::copysign(std::numeric_limits<double>::quiet_NaN(),
                                                  random_.chance(50) ? 1 : -1));
      case 2:
        return lathe::make_float(
            t, std::ldexp(static_cast<double>(random_.bits() >> 11), random_.below(60) - 80));
      default:
        return lathe::make_float(t, random_.pick(special));
    }
  }

  AnyExpr leaf(DType t) {
    std::vector<lathe::VarRef> fits;
    for (const auto* list : {&fixed_, &iters_, &locals_})
      for (const auto& v : *list)
        if (v->dtype == t) fits.push_back(v);
    if (!fits.empty() && random_.chance(60)) return random_.pick(fits);
    return constant(t);
  }

  AnyExpr load(DType t, int depth) {
    std::vector<lathe::Buffer> fits;
    for (const auto& b : buffers_)
      if (b->dtype == t.scalar() &&
          (!t.is_vector() || stage_ >= lathe::Stage::flat || b->rank() > 0))
        fits.push_back(b);
    if (fits.empty()) return leaf(t);
    lathe::Buffer b = random_.pick(fits);
    std::vector<AnyExpr> at = indices_of(b, depth);
    if (t.is_vector()) {
      if (at.empty()) return leaf(t);
      at[0] = vector_index(t.lanes, depth);
    }
    return lathe::make_load(
        b, at, random_.chance(20) ? expr(lathe::kBool.with_lanes(t.lanes), depth) : AnyExpr());
  }
  AnyExpr vector_index(int lanes, int depth) {
    return lathe::make_ramp(expr(lathe::kI64, depth), expr(lathe::kI64, 0), lanes);
  }

  AnyExpr binary(DType t, int depth) {
    using lathe::BinaryOp;
    static const std::vector<BinaryOp> bools = {BinaryOp::and_, BinaryOp::or_, BinaryOp::bit_xor,
                                                BinaryOp::max};
    static const std::vector<BinaryOp> ints = {
        BinaryOp::add,     BinaryOp::sub,    BinaryOp::mul,     BinaryOp::div,
        BinaryOp::mod,     BinaryOp::shl,    BinaryOp::shr,     BinaryOp::floordiv,
        BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::floormod,
        BinaryOp::min};
    static const std::vector<BinaryOp> floats = {
        BinaryOp::add, BinaryOp::sub, BinaryOp::mul,      BinaryOp::div,
        BinaryOp::min, BinaryOp::max, BinaryOp::fast_min, BinaryOp::fast_max};
    if (t.is_bool() && random_.chance(60)) {
      DType operand = dtype().with_lanes(t.lanes);
      auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + random_.below(6));
      return lathe::make_binary(op, expr(operand, depth), expr(operand, depth));
    }
    return lathe::make_binary(random_.pick(t.is_bool()    ? bools
                                           : t.is_float() ? floats
                                                          : ints),
                              expr(t, depth), expr(t, depth));
  }

  AnyExpr unary(DType t, int depth) {
    lathe::UnaryOp op = t.is_bool() ? lathe::UnaryOp::not_ : lathe::UnaryOp::neg;
    if (t.is_int() && random_.chance(40)) op = lathe::UnaryOp::bit_not;
    return lathe::make_unary(op, expr(t, depth));
  }

  AnyExpr call(DType t, int depth) {
    using lathe::CallOp;
    if (t.is_bool())
      return lathe::make_call(CallOp::is_nan, {expr(lathe::kF32.with_lanes(t.lanes), depth)});
    if (t.is_int() && random_.chance(30))
      return lathe::make_call(CallOp::popcount, {expr(t, depth)});
    if (t.is_int()) return lathe::make_call(CallOp::abs, {expr(t, depth)});
    if (t == lathe::kF32 && random_.chance(20))
      return lathe::make_reinterpret(t, expr(lathe::kU32, depth));
    static const std::vector<CallOp> machine = {CallOp::sqrt, CallOp::floor, CallOp::round,
                                                CallOp::fma, CallOp::copysign};
    static const std::vector<CallOp> any = {CallOp::exp,    CallOp::tanh, CallOp::pow,
                                            CallOp::scale2, CallOp::fma,  CallOp::erf};
    CallOp op = random_.pick(stage_ == lathe::Stage::machine ? machine : any);
    if (op == CallOp::scale2)
      return lathe::make_call(op, {expr(t, depth), expr(lathe::kI32.with_lanes(t.lanes), depth)});
    std::vector<AnyExpr> args;
    for (int k = lathe::op_arity(op); k > 0; --k) args.push_back(expr(t, depth));
    return lathe::make_call(op, args);
  }

  AnyExpr let(DType t, int depth) {
    lathe::VarRef v = lathe::make_var(name(), dtype());
    AnyExpr value = expr(v->dtype, depth);
    locals_.push_back(v);
    AnyExpr body = expr(t, depth);
    locals_.pop_back();
    return lathe::make_let(v, value, body);
  }

  AnyExpr vector(DType t, int depth) {
    int inner = t.lanes % 2 == 0 && t.lanes > 2 && random_.chance(30) ? 2 : 1;
    if (random_.chance(40))
      return lathe::make_broadcast(expr(t.with_lanes(inner), depth), t.lanes / inner);
    if (t.is_int() && random_.chance(40))
      return lathe::make_ramp(expr(t.with_lanes(inner), depth), expr(t.scalar(), depth),
                              t.lanes / inner);
    std::vector<int> lanes;
    for (int k = 0; k < t.lanes; ++k) lanes.push_back(random_.below(5));
    return lathe::make_shuffle({expr(t.with_lanes(4), depth), expr(t.scalar(), depth)}, lanes);
  }

  AnyExpr expr(DType t, int depth) {
    if (depth <= 0) return leaf(t);
    --depth;
    switch (random_.below(t.is_vector() ? 11 : 9)) {
      case 0:
        return leaf(t);
      case 1:
        return load(t, depth);
      case 2:
        return call(t, depth);
      case 3:
        return unary(t, depth);
      case 4:
        return lathe::make_cast(t, expr(dtype().with_lanes(t.lanes), depth));
      case 5:
        return lathe::make_select(expr(lathe::kBool, depth), expr(t, depth), expr(t, depth));
      case 6:
        return let(t, depth);
      case 7:
      case 8:
        return binary(t, depth);
      default:
        return vector(t, depth);
    }
  }

  Stmt store() {
    if (writable_.empty())
      return lathe::make_ref<lathe::AssertNode>(expr(lathe::kBool, 2), "a \"message\"\n\x01");
    lathe::Buffer b = random_.pick(writable_);
    std::vector<AnyExpr> at = indices_of(b, 1);
    int lanes = 1;
    if (!at.empty() && random_.chance(30)) lanes = 4, at.back() = vector_index(lanes, 1);
    DType t = b->dtype.with_lanes(lanes);
    AnyExpr mask = random_.chance(20) ? expr(lathe::kBool.with_lanes(lanes), 1) : AnyExpr();
    if (lanes == 1 && b->dtype.is_int() && random_.chance(20))
      return lathe::make_ref<lathe::AtomicNode>(
          random_.chance(50) ? lathe::BinaryOp::add : lathe::BinaryOp::max, b, at, expr(t, 2));
    return lathe::make_ref<lathe::StoreNode>(b, at, expr(t, 3), mask, random_.chance(10));
  }

  lathe::Annotations annotations() {
    lathe::Annotations all;
    if (random_.chance(15)) all.push_back({name(), static_cast<int>(random_.bits())});
    if (random_.chance(10)) all.push_back({"user.note", "x \"y\""});
    return all;
  }

  Stmt loop(int depth) {
    auto kind = static_cast<lathe::ForKind>(random_.below(stage_ >= lathe::Stage::vector ? 2 : 4));
    lathe::VarRef v = lathe::make_var(name());
    AnyExpr min = random_.chance(50) ? AnyExpr(0) : expr(lathe::kI64, 1),
            extent = expr(lathe::kI64, 1);
    locals_.push_back(v);
    Stmt inner = body(depth);
    locals_.pop_back();
    return lathe::make_for(v, min, extent, inner, kind, annotations());
  }

  // What is bound around the block is hidden in it.
  Stmt block(int depth) {
    std::vector<lathe::IterVar> iters;
    std::size_t outer_iters = iters_.size();
    auto locals = locals_;
    for (int k = random_.below(4); k > 0; --k) {
      lathe::IterVar it{
          lathe::make_var(name()), {}, {}, static_cast<lathe::IterKind>(random_.below(3)), {}};
      locals_.clear();
      it.min = random_.chance(60) ? AnyExpr(0) : expr(lathe::kI64, 1),
      it.extent = expr(lathe::kI64, 1);
      std::vector<lathe::VarRef> inside(iters_.begin() + static_cast<std::ptrdiff_t>(outer_iters),
                                        iters_.end());
      iters_.resize(outer_iters);
      locals_ = locals;
      it.binding = expr(lathe::kI64, 2);
      iters_.insert(iters_.end(), inside.begin(), inside.end());
      iters_.push_back(it.var);
      iters.push_back(it);
    }
    locals_.clear();
    lathe::BlockNode node(lathe::make_ref<lathe::BlockTagNode>("B" + std::to_string(++blocks_)),
                          iters, {});
    if (random_.chance(30)) node.predicate = expr(lathe::kBool, 2);
    node.annotations = annotations();
    if (random_.chance(20) && !buffers_.empty()) node.reads.push_back(region());
    if (random_.chance(20) && !buffers_.empty()) node.writes.push_back(region());
    if (writable_.empty() || random_.chance(60))
      node.body = body(depth);
    else
      reduction(node);
    iters_.resize(outer_iters);
    locals_ = locals;
    return lathe::make_block(std::move(node));
  }

  lathe::Region region() {
    lathe::Region r{random_.pick(buffers_), {}};
    for (int k = 0; k < r.buffer->rank(); ++k)
      r.ranges.push_back({expr(lathe::kI64, 1), expr(lathe::kI64, 1)});
    return r;
  }

  void reduction(lathe::BlockNode& node) {
    lathe::Buffer b = random_.pick(writable_);
    DType t = b->dtype;
    node.init = random_.chance(70);
    node.reducer = lathe::builtin_reducer(t.is_bool()          ? "any"
                                          : random_.chance(50) ? "sum"
                                                               : "max",
                                          {t});
    int count = 1;
    if (random_.chance(40)) {
      count = 2;
      lathe::VarRef a = lathe::make_var("a", t), c = lathe::make_var("i", t),
                    d = lathe::make_var("a", t), e = lathe::make_var("e", t);
      node.reducer = lathe::make_ref<lathe::ReducerNode>(
          random_.chance(50) ? "sum" : "mine", std::vector<AnyExpr>{constant(t), constant(t)},
          std::vector<lathe::VarRef>{a, c}, std::vector<lathe::VarRef>{d, e},
          std::vector<AnyExpr>{lathe::make_binary(lathe::BinaryOp::max, a, e), AnyExpr(d)},
          random_.chance(50), random_.chance(50));
    }
    std::vector<Stmt> stores;
    for (int k = 0; k < count; ++k)
      stores.push_back(lathe::make_store(b, indices_of(b, 1), expr(t, 2)));
    node.body = lathe::make_seq(stores);
  }

  Stmt alloc(int depth) {
    bool reg = random_.chance(30);
    DType t = reg && random_.chance(50) ? lathe::kF32.with_lanes(8) : dtype();
    auto scope = reg ? lathe::Scope::reg : static_cast<lathe::Scope>(random_.below(3));
    int rank = reg ? 0 : random_.below(stage_ >= lathe::Stage::flat ? 2 : 3);
    lathe::Buffer b = lathe::make_ref<lathe::BufferNode>(name(), t, indices(rank, 1),
                                                         std::vector<AnyExpr>{}, scope);
    if (!t.is_vector()) buffers_.push_back(b), writable_.push_back(b);
    Stmt inner = body(depth);
    if (!t.is_vector())
      buffers_.pop_back(), writable_.pop_back();
    else
      inner = lathe::make_seq({lathe::make_store(b, {}, expr(t, 2)), inner});
    return lathe::make_alloc(b, inner);
  }

  Stmt statement(int depth) {
    if (depth <= 0) return store();
    --depth;
    switch (random_.below(10)) {
      case 0:
      case 1:
        return loop(depth);
      case 2:
      case 3:
        return stage_ == lathe::Stage::blocks ? block(depth) : loop(depth);
      case 4:
        return alloc(depth);
      case 5: {
        lathe::VarRef v = lathe::make_var(name(), dtype().with_lanes(random_.chance(20) ? 4 : 1));
        AnyExpr value = expr(v->dtype, 2);
        locals_.push_back(v);
        Stmt inner = body(depth);
        locals_.pop_back();
        return lathe::make_let_stmt(v, value, inner);
      }
      case 6:
        return lathe::make_if(expr(lathe::kBool, 2), body(depth),
                              random_.chance(50) ? body(depth) : Stmt());
      case 7:
        return lathe::make_ref<lathe::WhileNode>(expr(lathe::kBool, 2), body(depth));
      case 8: {
        if (buffers_.empty()) return store();
        lathe::Buffer b = random_.pick(buffers_);
        AnyExpr touched = lathe::make_load(b, indices_of(b, 1));
        return lathe::make_ref<lathe::EvaluateNode>(
            lathe::make_call(lathe::CallOp::prefetch, {touched, 3}));
      }
      default:
        return store();
    }
  }

  Stmt body(int depth) {
    std::vector<Stmt> stmts;
    for (int k = random_.below(3) + (random_.chance(90) ? 1 : 0); k > 0; --k)
      stmts.push_back(statement(depth));
    return lathe::make_seq(stmts);
  }

  Random random_;
  lathe::Stage stage_ = lathe::Stage::blocks;
  std::vector<lathe::VarRef> fixed_, iters_, locals_;
  std::vector<lathe::Buffer> buffers_, writable_;
  int blocks_ = 0;
};

}  // namespace test
