#pragma once

#include <lathe/arith/simplify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>

namespace lathe::detail {

// Choices that all instances of a block decide alike, such as those of padding that no read
// reaches.
class ResolveSelects : public Mutator {
 public:
  explicit ResolveSelects(const Facts& facts) : facts_(facts) {}

  AnyExpr expr(const AnyExpr& e) override {
    const auto* n = e.as<SelectNode>();
    if (n && prove(n->condition, facts_)) return expr(n->yes);
    if (n && prove(logical_not(n->condition), facts_)) return expr(n->no);
    return descend(e);
  }

 private:
  Facts facts_;
};

inline Verdict run_resolve_selects(const Program& program, const Args& args, Edit* edit) {
  const BlockSite site = find_block(program->body, args[0].block);
  Facts facts = program_facts(program);
  for (const auto& it : site.block->iters) facts.bind(it);
  BlockNode block = *site.block;
  block.body = ResolveSelects(facts).stmt(block.body);
  if (block.body.same_as(site.block->body))
    return refusal_at(block.tag, "L0263",
                      "block " + in_quotes(block.name()) +
                          " has no choice that all of its instances are proved to decide alike");
  if (!edit) return {};
  edit->program = program.with(replace_at(site.path, make_block(std::move(block))));
  return {};
}

LATHE_DECL const Primitive& primitive_resolve_selects() {
  static const Primitive record{"resolve_selects",
                                1,
                                {{"block", ArgKind::block}},
                                "choices that all instances decide alike become what they choose",
                                run_resolve_selects};
  return record;
}

}  // namespace lathe::detail
