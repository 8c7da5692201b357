#pragma once

#include <algorithm>
#include <lathe/arith/interval.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/passes.hpp>

namespace lathe {
namespace detail {

// How vectors that run along the rows of a temporary pass their end: the last of a row is a masked
// one where lanes of the target have masks.
class RowsOf : public Visitor {
 public:
  RowsOf(const Buffer& buffer, const Facts& facts)
      : buffer_(buffer), facts_(facts), length_(*as_const_int(buffer->shape.back())) {}

  // Elements from one row to the next that keep the vectors of rows apart; 0: as many as there are.
  std::int64_t pitch() const { return row_by_row_ ? pitch_ : 0; }

  void expr(const AnyExpr& e) override {
    if (const auto* n = e.as<LoadNode>(); n && n->buffer == buffer_) note(n->indices);
    descend(e);
  }
  void stmt(const Stmt& s) override {
    if (!row_by_row_ || !may_touch(s, Contents::bit(buffer_->name))) return;
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      descend(s);
      facts_ = outer;
      return;
    }
    if (const auto* n = s.as<StoreNode>(); n && n->buffer == buffer_) note(n->indices);
    descend(s);
  }

 private:
  // A vector over several rows may be one run of elements, as long as nothing lies in between.
  void note(const Vec<AnyExpr>& indices) {
    for (std::size_t axis = 0; axis + 1 < indices.size(); ++axis)
      row_by_row_ = row_by_row_ && !indices[axis].dtype().is_vector();
    const int lanes = indices.back().dtype().lanes;
    const ConstInterval at = const_bounds(indices.back(), facts_);
    if (lanes == 1 || !at.has_max() || at.max < length_ || at.max >= length_ + lanes - 1) return;
    pitch_ = std::max(pitch_, (at.max / lanes + 1) * lanes);
  }

  const Buffer& buffer_;
  Facts facts_;
  const std::int64_t length_;
  std::int64_t pitch_ = 0;
  bool row_by_row_ = true;
};

class AlignRows : public Mutator {
 public:
  explicit AlignRows(const Program& program) : facts_(program) {}

  AnyExpr expr(const AnyExpr& e) override { return e; }
  Stmt stmt(const Stmt& s) override {
    if (const auto* f = s.as<ForNode>()) {
      Facts outer = facts_;
      facts_.bind(*f);
      Stmt out = descend(s);
      facts_ = outer;
      return out;
    }
    const auto* a = s.as<AllocNode>();
    if (!a || !is_tile(*a->buffer)) return descend(s);
    RowsOf rows(a->buffer, facts_);
    rows.stmt(a->body);
    if (rows.pitch() == 0) return descend(s);
    BufferNode node = *a->buffer;
    node.aligned.push_back({node.rank() - 2, rows.pitch(), 0});
    const Buffer apart(new BufferNode(std::move(node)));
    return make_alloc(apart, stmt(replace_buffer(a->body, a->buffer, apart)));
  }

 private:
  // Rows that may become registers, and whose distance nobody has chosen.
  static bool is_tile(const BufferNode& b) {
    if (b.rank() < 2 || (b.scope != Scope::reg && b.scope != Scope::local)) return false;
    for (const auto& rule : b.aligned)
      if (rule.dim == b.rank() - 2) return false;
    std::int64_t rows = 1;
    for (std::size_t axis = b.shape.size(); axis-- > 0;) {
      const auto* extent = as_const_int(b.shape[axis]);
      if (!extent || *extent < 1) return false;
      if (axis + 1 < b.shape.size()) rows *= std::min(*extent, kMostRows + 1);
      if (rows > kMostRows) return false;
    }
    return true;
  }

  // More registers no target has.
  static constexpr std::int64_t kMostRows = 256;
  Facts facts_;
};

}  // namespace detail

LATHE_DECL Program align_rows(const Program& program) {
  return program.with(detail::AlignRows(program).stmt(program->body));
}

}  // namespace lathe
