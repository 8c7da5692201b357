#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/blocks/marked_loops.ipp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// Takes the Allocs of some buffers out of a loop's body; not of one whose iterations each need
// their own, nor one whose shape is known only there.
class TakeAllocs : public Mutator {
 public:
  TakeAllocs(const Program& program, const VarRef& loop, const Vec<std::string>& names)
      : program_(program), path_(find_loop(program->body, loop).path), names_(names) {}
  Vec<Buffer> taken;

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>();
        f && (f->loop_kind == ForKind::parallel || f->loop_kind == ForKind::vectorized))
      return s;
    const auto* a = s.as<AllocNode>();
    if (!a || !wanted(a->buffer)) return descend(s);
    taken.push_back(a->buffer);
    return stmt(a->body);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  bool wanted(const Buffer& b) const {
    return contains(names_, b->name) && !size_unknown_above(program_, path_, b);
  }

  const Program& program_;
  const Vec<Stmt> path_;
  const Vec<std::string>& names_;
};

class HoistStorage : public Mutator {
 public:
  explicit HoistStorage(const Program& program) : program_(program) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    const Vec<std::string> names = f ? names_above(f->attributes) : Vec<std::string>();
    if (names.empty()) return descend(s);
    TakeAllocs allocs(program_, f->var, names);
    Stmt body = allocs.stmt(stmt(f->body));
    check_taken(*f, body);
    Attributes rest = f->attributes;
    rest.erase<HoistAttr>();
    Stmt out = make_for(f->var, f->min, f->extent, body, f->loop_kind, rest);
    for (const auto& buffer : allocs.taken) out = make_alloc(buffer, out);
    return out;
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  // The buffer that an attribute wants above its loop; nullptr: none.
  static const std::string* name_above(const Attribute& a) {
    if (const auto* hoist = a.as<HoistAttr>()) return &hoist->buffer;
    if (const auto* twice = a.as<DoubleBufferAttr>()) return &twice->buffer;
    if (const auto* own = a.as<PipelineBufferAttr>()) return &own->buffer;
    return nullptr;
  }
  static Vec<std::string> names_above(const Attributes& attributes) {
    Vec<std::string> names;
    for (const auto& a : attributes)
      if (const std::string* name = name_above(a)) names.push_back(*name);
    return names;
  }

  static void check_taken(const ForNode& loop, const Stmt& body) {
    each_statement(body, [&](const Stmt& s) {
      const auto* left = s.as<AllocNode>();
      if (!left) return;
      for (const auto& a : loop.attributes)
        if (const std::string* name = name_above(a); name && *name == left->buffer->name)
          refuse_mark(
              loop, a,
              "buffer " + in_quotes(*name) +
                  " belongs to iterations of a loop inside, or has a size that is known only "
                  "there");
    });
  }

  const Program& program_;
};

}  // namespace detail

LATHE_DECL Program hoist_storage(const Program& program) {
  return program.with(detail::HoistStorage(program).stmt(program->body));
}

}  // namespace lathe
