#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/ir/loop_marks.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// Takes the Allocs of some buffers out of a loop's body; not of one whose iterations each need
// their own, nor one whose shape is known only there.
class TakeAllocs : public Mutator {
 public:
  TakeAllocs(const Program& program, const Vec<std::string>& names)
      : program_(program), names_(names) {}
  Vec<Buffer> taken;

  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>();
        f && (f->loop_kind == ForKind::parallel || f->loop_kind == ForKind::vectorized))
      return s;
    const auto* a = s.as<AllocNode>();
    if (!a || !wanted(*a->buffer)) return descend(s);
    taken.push_back(a->buffer);
    return stmt(a->body);
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  bool wanted(const BufferNode& b) const {
    bool named = false;
    for (const auto& name : names_) named = named || name == b.name;
    for (const auto& extent : b.shape)
      for (const auto& var : free_vars(extent)) {
        bool dim = false;
        for (const auto& d : program_->dims) dim = dim || d->var == var;
        named = named && dim;
      }
    return named;
  }

  const Program& program_;
  const Vec<std::string>& names_;
};

class HoistStorage : public Mutator {
 public:
  explicit HoistStorage(const Program& program) : program_(program) {}

  Stmt stmt(const Stmt& s) override {
    const auto* f = s.as<ForNode>();
    Vec<std::string> names = f ? marked_names(*f, kHoistStorage) : Vec<std::string>();
    if (f) names.append(marked_names(*f, kDoubleBuffer));
    if (f)
      for (const auto& own : pipeline_buffers(*f)) names.push_back(own.name);
    if (names.empty()) return descend(s);
    TakeAllocs allocs(program_, names);
    Stmt body = allocs.stmt(stmt(f->body));
    Annotations annotations = f->annotations;
    annotations.erase_if([](const Annotation& a) { return a.key == kHoistStorage; });
    Stmt out = make_for(f->var, f->min, f->extent, body, f->loop_kind, annotations);
    for (const auto& buffer : allocs.taken) out = make_alloc(buffer, out);
    return out;
  }
  AnyExpr expr(const AnyExpr& e) override { return e; }

 private:
  const Program& program_;
};

}  // namespace detail

LATHE_DECL Program hoist_storage(const Program& program) {
  return program.with(detail::HoistStorage(program).stmt(program->body));
}

}  // namespace lathe
