#pragma once

#include <lathe/analysis/find.hpp>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

// The outermost loops of a program, in its order.
inline void add_top_loops(const Stmt& s, Vec<ForRef>& out) {
  if (const auto* f = s.as<ForNode>())
    out.push_back(ForRef(f));
  else if (const auto* a = s.as<AllocNode>())
    add_top_loops(a->body, out);
  else if (s.as<SeqNode>())
    for (const auto& child : seq_of(s)) add_top_loops(child, out);
}
inline Vec<ForRef> top_loops(const Program& program) {
  Vec<ForRef> out;
  add_top_loops(program->body, out);
  return out;
}

// Blocks and loops that the default schedule leaves as they are: those of nests of which a step of
// the trace names a loop or a block, or has made one.
class KeptNests {
 public:
  KeptNests() = default;
  explicit KeptNests(const Schedule& s) {
    for (const auto& entry : s.trace().entries) {
      add(entry.inputs);
      add(entry.results);
    }
    for (const auto& top : top_loops(s.program()))
      if (holds_part_of(*top)) keep(*top);
  }

  bool holds(const BlockTag& block) const { return contains(blocks_, block); }
  bool holds(const ForNode& loop) const { return contains(loops_, loop.var); }

  // All nests but the one with this block.
  void keep_others(const Program& program, const BlockTag& block) {
    for (const auto& top : top_loops(program))
      if (!contains(block_tags(top->body), block)) keep(*top);
  }

 private:
  void add(const Args& args) {
    for (const auto& arg : args) {
      if (arg.block.get()) blocks_.push_back(arg.block);
      if (arg.loop.get()) loops_.push_back(arg.loop);
      add(arg.list);
    }
  }

  bool holds_part_of(const ForNode& top) const {
    return holds(top) || any_statement(top.body, [&](const Stmt& s) {
             const auto* loop = s.as<ForNode>();
             const auto* block = s.as<BlockNode>();
             return (loop && holds(*loop)) || (block && holds(block->tag));
           });
  }

  void keep(const ForNode& top) {
    loops_.push_back(top.var);
    each_statement(top.body, [&](const Stmt& s) {
      if (const auto* loop = s.as<ForNode>()) loops_.push_back(loop->var);
      if (const auto* block = s.as<BlockNode>()) blocks_.push_back(block->tag);
    });
  }

  Vec<BlockTag> blocks_;
  Vec<VarRef> loops_;
};

}  // namespace detail
}  // namespace lathe
