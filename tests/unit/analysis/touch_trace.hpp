// Runs a small program over integers and writes down every element that it touches, in order.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../arith/index_eval.hpp"

namespace touch_test {

using namespace lathe;
using index_test::Env;
using Point = std::vector<std::int64_t>;

struct Touch {
  const BufferNode* buffer = nullptr;
  Point element;
  bool write = false;
  const BlockTagNode* block = nullptr;
  std::map<const VarNode*, std::int64_t> loops;
  std::size_t statement = 0;  ///< number of the block or store in program order
};

class Runner {
 public:
  explicit Runner(Env env = {}) : env_(std::move(env)) {}
  std::vector<Touch> touches;

  void run(const Stmt& s) {
    if (const auto* f = s.as<ForNode>()) {
      std::int64_t lo = value(f->min), n = value(f->extent);
      for (std::int64_t i = lo; i < lo + n; ++i) {
        env_[f->var.get()] = loops_[f->var.get()] = i;
        run(f->body);
      }
      loops_.erase(f->var.get());
    } else if (const auto* q = s.as<SeqNode>()) {
      for (const auto& x : q->stmts) run(x);
    } else if (const auto* a = s.as<AllocNode>()) {
      run(a->body);
    } else if (const auto* i = s.as<IfNode>()) {
      if (read(i->condition))
        run(i->then_body);
      else if (i->else_body)
        run(i->else_body);
    } else if (const auto* b = s.as<BlockNode>()) {
      block(*b);
    } else if (const auto* st = s.as<StoreNode>()) {
      store(*st);
    }
  }

 private:
  std::int64_t value(const AnyExpr& e) { return index_test::eval(e, env_)[0]; }
  void block(const BlockNode& b) {
    for (const auto& it : b.iters) {
      std::int64_t v = value(it.binding), lo = value(it.min);
      if (v < lo || v >= lo + value(it.extent)) return;
      env_[it.var.get()] = v;
    }
    const BlockNode* outer = block_;
    block_ = &b;
    if (!b.predicate || read(b.predicate)) run(b.body);
    block_ = outer;
  }
  void store(const StoreNode& s) {
    read(s.value);
    Point at;
    for (const auto& i : s.indices) at.push_back(value(i));
    if (block_ && block_->reducer) note(s.buffer, at, false);
    note(s.buffer, at, true);
  }
  void note(const Buffer& b, Point at, bool write) {
    touches.push_back({b.get(), std::move(at), write, block_ ? block_->tag.get() : nullptr, loops_,
                       touches.size()});
  }
  /// The value where it doesn't depend on what was computed; notes the loads on the way, lazily
  /// under selects.
  std::int64_t read(const AnyExpr& e) {
    if (const auto* l = e.as<LoadNode>()) {
      Point at;
      for (const auto& i : l->indices) at.push_back(value(i));
      note(l->buffer, at, false);
      return 0;
    }
    if (const auto* s = e.as<SelectNode>()) return read(s->condition) ? read(s->yes) : read(s->no);
    if (const auto* n = e.as<BinaryNode>()) {
      read(n->a), read(n->b);
      return n->a.dtype().is_float() ? 0 : value(e);
    }
    if (const auto* c = e.as<CastNode>()) return read(c->value);
    if (const auto* u = e.as<UnaryNode>()) return read(u->a), e.dtype().is_float() ? 0 : value(e);
    if (e.kind() == ExprKind::Const || e.kind() == ExprKind::Var)
      return e.dtype().is_float() ? 0 : value(e);
    return 0;
  }

  Env env_;
  std::map<const VarNode*, std::int64_t> loops_;
  const BlockNode* block_ = nullptr;
};

inline std::vector<Touch> run(const Stmt& s, Env env = {}) {
  Runner r(std::move(env));
  r.run(s);
  return std::move(r.touches);
}

/// The buffer of a program's parameter or alloc by name.
inline Buffer buffer_named(const Program& p, const std::string& name) {
  for (const auto& param : p->params)
    if (param.buffer && param.buffer->name == name) return param.buffer;
  struct Find : Visitor {
    explicit Find(const std::string& name) : name(name) {}
    void buffer(const Buffer& b) override {
      if (b->name == name) found = b;
    }
    const std::string& name;
    Buffer found;
  } find(name);
  find.stmt(p->body);
  return find.found;
}
inline BlockTag tag_named(const Program& p, const std::string& name) {
  for (const auto& b : blocks_below(p->body))
    if (b.block->name() == name) return b.block->tag;
  return {};
}
inline VarRef loop_named(const Program& p, const std::string& name) {
  struct Find : Visitor {
    explicit Find(const std::string& name) : name(name) {}
    void stmt(const Stmt& s) override {
      const auto* f = s.as<ForNode>();
      if (f && f->var->name == name && !found) found = f->var;
      descend(s);
    }
    const std::string& name;
    VarRef found;
  } find(name);
  find.stmt(p->body);
  return find.found;
}
inline std::string text(const Region& r) {
  std::string out = r.buffer->name + "[";
  for (std::size_t d = 0; d < r.ranges.size(); ++d)
    out += (d ? ", " : "") + str(r.ranges[d].min) + " +" + str(r.ranges[d].extent);
  return out + "]";
}

}  // namespace touch_test
