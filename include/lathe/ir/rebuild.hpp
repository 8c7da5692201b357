// A program rebuilt around a statement that changes: paths, allocations, loops without their
// bodies, fresh names.
#pragma once

#include <lathe/ir/fates.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe::detail {

/// The root of a path after its last statement was replaced; an empty statement removes it, and the
/// loops that held nothing else with it.
Stmt replace_at(const Vec<Stmt>& path, Stmt with);
/// The root after a statement was put right before, or right after, the last one of a path.
Stmt insert_before(const Vec<Stmt>& path, Stmt what);
Stmt insert_after(const Vec<Stmt>& path, Stmt what);
/// Allocates a buffer around the whole program.
Stmt add_alloc(const Stmt& root, const Buffer& buffer);
Stmt remove_alloc(const Stmt& root, const Buffer& buffer);

/// A loop without its body.
struct LoopHead {
  VarRef var;
  AnyExpr min, extent;
  ForKind kind = ForKind::serial;
  Attributes attributes = {};
};
LoopHead head_of(const ForNode& loop);
Stmt wrap_loops(const Vec<LoopHead>& heads, Stmt body);
/// The same loops over fresh variables, with the attributes that the change leaves to copies; `map`
/// then also takes each old variable to its new one.
Vec<LoopHead> fresh_loops(const Vec<ForRef>& loops, Change change, Substitution& map);

/// The statement with other attributes of each loop in it: attributes_of(const ForNode&).
template <class F>
Stmt with_loop_attributes(const Stmt& s, const F& attributes_of) {
  class ChangeLoops : public Mutator {
   public:
    explicit ChangeLoops(const F& attributes_of) : attributes_of_(attributes_of) {}
    AnyExpr expr(const AnyExpr& e) override { return e; }
    Stmt stmt(const Stmt& s) override {
      const Stmt out = descend(s);
      const auto* f = out.as<ForNode>();
      if (!f || f->attributes.empty()) return out;
      return make_for(f->var, f->min, f->extent, f->body, f->loop_kind, attributes_of_(*f));
    }

   private:
    const F& attributes_of_;
  };
  return ChangeLoops(attributes_of).stmt(s);
}

/// The statement with all stores in it past the caches, or none.
Stmt with_streaming(const Stmt& s, Streaming how);

/// Names that a program uses, for choosing new ones.
class NamePool {
 public:
  explicit NamePool(const Program& program) : program_(program) {}
  /// `base` if it is free, else base_1, base_2 …; taken from then on.
  std::string fresh(const std::string& base);
  bool taken(const std::string& name) const;

 private:
  Program program_;
  Vec<std::string> given_;
};
/// Names for loops: those of the loops around a place, not of the whole program.
std::string loop_name(const std::string& base, Vec<std::string>& used);

}  // namespace lathe::detail
