// Random programs that keep verify()'s rules and use every node, for tests that only look at the
// structure.
#pragma once

#include <cstdint>
#include <lathe/ir/reducer.hpp>
#include <lathe/ir/stmt.hpp>
#include <lathe/ir/verify.hpp>
#include <string>
#include <utility>
#include <vector>

#include "random_expr.hpp"

namespace test {

/// One program per call of program().
class RandomIr : public RandomExpr {
 public:
  using RandomExpr::RandomExpr;

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

 private:
  using Stmt = lathe::Stmt;

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
    return lathe::make_ref<lathe::StoreNode>(b, at, expr(t, 3), mask,
                                             random_.chance(10)   ? lathe::Streaming::any
                                             : random_.chance(10) ? lathe::Streaming::lines
                                                                  : lathe::Streaming::none);
  }

  lathe::Attributes attributes() {
    lathe::Attributes all;
    if (random_.chance(15))
      all.set(lathe::UserHint{"user.n" + name(), static_cast<int>(random_.bits())});
    if (random_.chance(10)) all.set(lathe::UserHint{"user.note", "x \"y\""});
    return all;
  }
  lathe::Attributes loop_attributes(lathe::ForKind kind) {
    lathe::Attributes all = attributes();
    if (kind == lathe::ForKind::parallel && random_.chance(10)) all.set(lathe::MaxThreadsAttr{3});
    if (stage_ > lathe::Stage::loops) return all;
    if (random_.chance(10)) all.set(lathe::TailAttr{static_cast<lathe::Tail>(random_.below(6))});
    if (random_.chance(10)) all.set(lathe::PrefetchAttr{name(), 1 + random_.below(9), 2});
    if (kind != lathe::ForKind::serial) return all;
    if (random_.chance(10)) all.set(lathe::UnrollAttr{1 + random_.below(9)});
    if (random_.chance(10)) all.set(lathe::HoistAttr{name()});
    if (random_.chance(10)) all.set(lathe::PipelineAttr{{0, random_.below(9)}, {1, 0}});
    return all;
  }

  Stmt loop(int depth) {
    auto kind = static_cast<lathe::ForKind>(random_.below(stage_ >= lathe::Stage::vector ? 2 : 4));
    lathe::VarRef v = lathe::make_var(name());
    AnyExpr min = random_.chance(50) ? AnyExpr(0) : expr(lathe::kI64, 1),
            extent = kind == lathe::ForKind::unrolled ? AnyExpr(4) : expr(lathe::kI64, 1);
    locals_.push_back(v);
    Stmt inner = body(depth);
    locals_.pop_back();
    return lathe::make_for(v, min, extent, inner, kind, loop_attributes(kind));
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
    node.attributes = attributes();
    if (random_.chance(20) && !buffers_.empty()) node.reads.push_back(region());
    if (random_.chance(20) && !buffers_.empty()) node.writes.push_back(region());
    if (writable_.empty() || random_.chance(60))
      node.body = body(depth);
    else
      reduction(node);
    if (!lathe::init_problem(node).empty()) node.init = false;
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
      // Parsing tries the laws that a reducer claims.
      const bool lawful = !t.is_bool() && random_.chance(60);
      auto most = [](const lathe::VarRef& x, const lathe::VarRef& y) {
        return lathe::make_binary(lathe::BinaryOp::max, x, y);
      };
      const AnyExpr start = lawful ? lathe::builtin_reducer("max", {t})->identity[0] : constant(t);
      node.reducer = lathe::make_ref<lathe::ReducerNode>(
          random_.chance(50) ? "sum" : "mine", std::vector<AnyExpr>{start, start},
          std::vector<lathe::VarRef>{a, c}, std::vector<lathe::VarRef>{d, e},
          std::vector<AnyExpr>{lawful ? most(a, d) : most(a, e), lawful ? most(c, e) : AnyExpr(d)},
          lawful && random_.chance(70), lawful && random_.chance(70));
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
    auto shape = indices(rank, 1);
    for (auto& extent : shape) extent = AnyExpr(random_.below(5));
    lathe::Buffer b =
        lathe::make_ref<lathe::BufferNode>(name(), t, shape, std::vector<AnyExpr>{}, scope);
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

  std::vector<lathe::Buffer> writable_;
  int blocks_ = 0;
};

}  // namespace test
