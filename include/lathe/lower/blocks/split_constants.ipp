#pragma once

#include <algorithm>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/lower/split_constants.hpp>

namespace lathe {
namespace detail {

/// A statement outside of all loops, and the memory that it shares with others.
struct RootStatement {
  Stmt stmt;
  Vec<Buffer> reads, writes;
  bool once = false;
};

inline bool share_memory(const RootStatement& a, const RootStatement& b) {
  return std::any_of(a.writes.begin(), a.writes.end(), [&](const Buffer& buffer) {
    return contains(b.reads, buffer) || contains(b.writes, buffer);
  });
}

inline void add_buffer(Vec<Buffer>& list, const Buffer& b) {
  if (!contains(list, b)) list.push_back(b);
}

inline bool has_known_shape(const BufferNode& b) {
  return std::all_of(b.shape.begin(), b.shape.end(),
                     [](const AnyExpr& e) { return as_const_int(e) != nullptr; });
}

class ConstantSplit {
 public:
  ConstantSplit(const Program& program, Keep keep) : program_(program), keep_(keep) {
    for (const Param& p : program->params)
      if (p.constancy != Constancy::none && has_known_shape(*p.buffer))
        constants_.push_back(p.buffer);
    if (!constants_.empty()) gather(program->body);
  }
  SplitProgram run();

 private:
  using Part = Vec<RootStatement*>;

  void gather(const Stmt& s);
  void find_once();
  bool runs_once(const RootStatement& s) const;
  bool is_computed_once(const Buffer& b) const;
  Vec<Part> find_parts();
  bool is_worth_keeping(const Part& part) const;
  OncePart take(const Part& part, ProgramNode& rest) const;
  Stmt without_once(const Stmt& s) const;
  bool is_read_elsewhere(const Buffer& b) const {
    return std::any_of(statements_.begin(), statements_.end(),
                       [&](const RootStatement& s) { return !s.once && contains(s.reads, b); });
  }

  Program program_;
  Keep keep_;
  Vec<Buffer> constants_, temporaries_;
  Vec<RootStatement> statements_;
};

inline void ConstantSplit::gather(const Stmt& s) {
  if (const auto* n = s.as<AllocNode>()) {
    if (has_known_shape(*n->buffer)) temporaries_.push_back(n->buffer);
    return gather(n->body);
  }
  if (const auto* n = s.as<SeqNode>()) {
    for (const Stmt& child : n->stmts) gather(child);
    return;
  }
  RootStatement out{s, {}, {}};
  Vec<Buffer> own;
  each_statement(s, [&](const Stmt& below) {
    if (const auto* n = below.as<AllocNode>()) own.push_back(n->buffer);
  });
  any_use(s, [&](const BufferUse& use) {
    if (contains(own, use.buffer)) return false;
    if (use.reads()) add_buffer(out.reads, use.buffer);
    if (use.is_write) add_buffer(out.writes, use.buffer);
    return false;
  });
  out.once = free_vars(s).empty() && !out.writes.empty();
  statements_.push_back(std::move(out));
}

/// Whether it can be a constant as it is.
inline bool can_be_constant(const BufferNode& b) {
  return b.scope == Scope::global && b.strides.empty() && b.aligned.empty() && b.rank() > 0 &&
         b.alignment <= static_cast<int>(ConstantData::kAlignment);
}

/// What others read of it they read when all of it has been stored.
inline bool ConstantSplit::is_computed_once(const Buffer& b) const {
  if (!contains(temporaries_, b)) return false;
  bool stored = false, read = false;
  for (const RootStatement& s : statements_) {
    const bool writes = contains(s.writes, b);
    if (writes && (!s.once || read)) return false;
    stored = stored || writes;
    read = read || (!s.once && contains(s.reads, b));
  }
  return stored && (!read || can_be_constant(*b));
}

inline bool ConstantSplit::runs_once(const RootStatement& s) const {
  const auto known = [&](const Buffer& b) {
    return contains(constants_, b) || is_computed_once(b);
  };
  return std::all_of(s.reads.begin(), s.reads.end(), known) &&
         std::all_of(s.writes.begin(), s.writes.end(), known);
}

/// From all that could, takes away what can't, and what follows from that.
inline void ConstantSplit::find_once() {
  for (bool changed = true; changed;) {
    changed = false;
    for (RootStatement& s : statements_)
      if (s.once && !runs_once(s)) s.once = false, changed = true;
  }
}

/// Statements with a temporary in common, each list in program order.
inline Vec<ConstantSplit::Part> ConstantSplit::find_parts() {
  Vec<Part> parts;
  for (RootStatement& s : statements_) {
    if (!s.once) continue;
    Part joined;
    for (std::size_t k = parts.size(); k-- > 0;) {
      const bool linked =
          std::any_of(parts[k].begin(), parts[k].end(), [&](const RootStatement* other) {
            return share_memory(s, *other) || share_memory(*other, s);
          });
      if (!linked) continue;
      for (RootStatement* member : parts[k]) joined.push_back(member);
      parts.erase_at(k);
    }
    joined.push_back(&s);
    std::sort(joined.begin(), joined.end());  // by place in statements_
    parts.push_back(std::move(joined));
  }
  return parts;
}

/// Made of constants, and read by something that stays.
inline bool ConstantSplit::is_worth_keeping(const Part& part) const {
  Vec<Buffer> made_of, kept;
  for (const RootStatement* s : part) {
    for (const Buffer& b : s->reads)
      if (contains(constants_, b)) add_buffer(made_of, b);
    for (const Buffer& b : s->writes)
      if (is_read_elsewhere(b)) add_buffer(kept, b);
  }
  if (made_of.empty() || kept.empty()) return false;
  const auto bytes = [](const Vec<Buffer>& all) {
    std::size_t sum = 0;
    for (const Buffer& b : all) sum += known_bytes(*b);
    return sum;
  };
  return keep_ == Keep::all || bytes(kept) <= bytes(made_of);
}

inline OncePart ConstantSplit::take(const Part& part, ProgramNode& rest) const {
  OncePart out;
  ProgramNode once;
  once.name = program_->name + "_once";
  once.scheduled = program_->scheduled;
  Vec<Stmt> stmts;
  Vec<Buffer> reads, writes;
  for (const RootStatement* s : part) {
    stmts.push_back(s->stmt);
    for (const Buffer& b : s->reads) add_buffer(reads, b);
    for (const Buffer& b : s->writes) add_buffer(writes, b);
  }
  once.body = make_seq(std::move(stmts));
  for (std::size_t k = 0; k < program_->params.size(); ++k)
    if (contains(reads, program_->params[k].buffer)) {
      once.params.push_back({Access::in, program_->params[k].buffer, {}});
      out.inputs.push_back(static_cast<int>(k));
    }
  for (const Buffer& b : writes) {
    if (!is_read_elsewhere(b)) {
      once.body = make_alloc(b, once.body);
      continue;
    }
    const Buffer kept = constant_buffer(b->name, b->dtype, b->shape);
    once.body = replace_buffer(once.body, b, kept);
    once.params.push_back({Access::out, kept, {}});
    out.outputs.push_back(static_cast<int>(rest.params.size()));
    rest.params.push_back({Access::in, kept, {}, Constancy::owned});
    rest.body = replace_buffer(rest.body, b, kept);
  }
  out.program = Program(std::move(once));
  return out;
}

inline Stmt ConstantSplit::without_once(const Stmt& s) const {
  if (const auto* n = s.as<AllocNode>()) {
    const Stmt body = without_once(n->body);
    return is_computed_once(n->buffer) ? body : make_alloc(n->buffer, body);
  }
  if (const auto* n = s.as<SeqNode>()) {
    Vec<Stmt> stmts;
    for (const Stmt& child : n->stmts) stmts.push_back(without_once(child));
    return make_seq(std::move(stmts));
  }
  const bool once = std::any_of(statements_.begin(), statements_.end(), [&](const auto& known) {
    return known.once && known.stmt.same_as(s);
  });
  return once ? make_seq({}) : s;
}

inline SplitProgram ConstantSplit::run() {
  find_once();
  Vec<Part> parts = find_parts();
  for (std::size_t k = parts.size(); k-- > 0;)
    if (!is_worth_keeping(parts[k])) {
      for (RootStatement* s : parts[k]) s->once = false;
      parts.erase_at(k);
    }
  SplitProgram out{program_, {}};
  if (parts.empty()) return out;
  ProgramNode rest = *program_;
  rest.body = without_once(rest.body);
  for (const Part& part : parts) out.once.push_back(take(part, rest));
  out.rest = Program(std::move(rest));
  return out;
}

}  // namespace detail

LATHE_DECL std::size_t known_bytes(const BufferNode& b) {
  auto bytes = static_cast<std::size_t>(b.dtype.element_bytes());
  for (const AnyExpr& extent : b.shape) bytes *= static_cast<std::size_t>(*as_const_int(extent));
  return bytes;
}

LATHE_DECL SplitProgram split_constants(const Program& program, Keep keep) {
  if (program->stage != Stage::blocks) return {program, {}};
  return detail::ConstantSplit(program, keep).run();
}

}  // namespace lathe
