#pragma once

#include <lathe/schedule/primitives/placement/compute_at.ipp>
#include <lathe/schedule/primitives/placement/compute_inline.ipp>

namespace lathe::detail {

struct FusePlan {
  BlockSite consumer, producer;
  Buffer between;
  const LoadNode* load = nullptr;  ///< the consumer's load of it, the same wherever it stands
};

class SameLoads : public Visitor {
 public:
  explicit SameLoads(const Buffer& buffer) : buffer_(buffer) {}
  const LoadNode* load = nullptr;
  bool same = true;
  void expr(const AnyExpr& e) override {
    const auto* l = e.as<LoadNode>();
    if (l && l->buffer == buffer_) {
      if (!load)
        load = l;
      else
        same &= same_expr(AnyExpr(Ref<LoadNode>(load)), e);
      same &= !l->mask && !l->dtype.is_vector();
    }
    descend(e);
  }

 private:
  const Buffer& buffer_;
};

inline Verdict check_inlined_consumer(const Program& program, const BlockTag& tag, FusePlan& plan) {
  plan.consumer = find_block(program->body, tag);
  const BlockNode& block = *plan.consumer.block;
  std::string name = "block " + in_quotes(block.name());
  BlockInfo info = info_of(program, tag);
  if (!info.is_complete() || !only_store(block))
    return refusal_at(
        tag, "L0215",
        name + " is not a complete block of one store" + (info.why.empty() ? "" : ": " + info.why));
  // What it reads might be written between the producer and here.
  if (block.predicate.get() && !is_load_free(block.predicate))
    return refusal_at(tag, "L0215", name + " has a predicate that reads memory");
  if (!info.sole_writer)
    return refusal_at(
        tag, "L0215",
        name + " is not the only writer of " + in_quotes(only_store(block)->buffer->name));
  if (auto no = check_bare_touches(program, block, "L0215")) return no;
  Vec<BlockSite> makers = producers(program->body, tag);
  if (makers.size() != 1)
    return refusal_at(tag, "L0215",
                      name + " has " + std::to_string(makers.size()) + " producers, not one" +
                          (makers.empty() ? "" : ": " + names_of(makers)));
  plan.producer = makers[0];
  if (!is_open_path(plan.producer.path) || !is_open_path(plan.consumer.path))
    return refusal_at(tag, "L0215",
                      name + " or its producer stands under a condition or inside another block");
  return {};
}

inline Verdict check_inlined_producer(const Program& program, FusePlan& plan) {
  const BlockNode &block = *plan.consumer.block, &from = *plan.producer.block;
  BlockInfo maker = info_of(program, from.tag);
  std::string name = "producer " + in_quotes(from.name());
  if (from.reducer)
    return refusal_at(from.tag, "L0215",
                      name + " is a reduction: its intermediate values would pass through block " +
                          in_quotes(block.name()),
                      "use reverse_compute_at");
  if (!maker.is_complete() || !only_store(from) || !maker.sole_writer)
    return refusal_at(from.tag, "L0215",
                      name + " is not a complete block of one store" +
                          (maker.why.empty() ? "" : ": " + maker.why));
  if (auto no = check_bare_touches(program, from, "L0215")) return no;
  plan.between = only_store(from)->buffer;
  if (!is_private(program->body, plan.between))
    return refusal_at(from.tag, "L0215", in_quotes(plan.between->name) + " is a parameter");
  for (const auto& user : readers(program->body, plan.between))
    if (user.block->tag != block.tag)
      return refusal_at(user.block->tag, "L0215",
                        "block " + in_quotes(user.block->name()) + " reads " +
                            in_quotes(plan.between->name) + " too");
  if (reads_buffer(from, only_store(block)->buffer))
    return refusal_at(from.tag, "L0215",
                      name + " reads what block " + in_quotes(block.name()) + " writes");
  return {};
}

inline Verdict plan_reverse_inline(const Program& program, const BlockTag& tag, FusePlan& plan) {
  if (auto no = check_inlined_consumer(program, tag, plan)) return no;
  if (auto no = check_inlined_producer(program, plan)) return no;
  SameLoads loads(plan.between);
  loads.stmt(plan.consumer.block->body);
  plan.load = loads.load;
  if (!loads.load || !loads.same)
    return refusal_at(tag, "L0215",
                      "block " + in_quotes(tag->name) + " does not read " +
                          in_quotes(plan.between->name) + " at one place only");
  // An instance that reads no element would have no place to store from.
  Facts facts = program_facts(program);
  for (const auto& it : plan.consumer.block->iters) facts.bind(it);
  if (plan.consumer.block->predicate) facts.assume(plan.consumer.block->predicate);
  if (surely_inside(*plan.between, loads.load->indices, facts)) return {};
  return refusal_at(tag, "L0215",
                    "not every instance of block " + in_quotes(tag->name) + " surely reads " +
                        in_quotes(plan.between->name));
}

// The program with a consumer that reads the producer's element in each instance, also in those
// that choose another value: they too are stored where the producer runs.
inline Program always_reading(const Program& program, const FusePlan& plan) {
  BlockNode block = *plan.consumer.block;
  const StoreNode& store = *only_store(block);
  const AnyExpr element(Ref<LoadNode>(plan.load));
  block.body = make_store(store.buffer, store.indices, make_cast(store.buffer->dtype, element));
  return program.with(replace_at(plan.consumer.path, make_block(std::move(block))));
}

// The output moves earlier, to the producer's place.
inline Verdict check_reverse_inline_place(const Program& program, const FusePlan& plan) {
  int own = block_position(program->body, plan.producer.block->tag),
      end = block_position(program->body, plan.consumer.block->tag);
  const Buffer& out = only_store(*plan.consumer.block)->buffer;
  for (const auto& list : {writers(program->body, out), readers(program->body, out)})
    for (const auto& s : list) {
      int at = block_position(program->body, s.block->tag);
      if (at > own && at < end)
        return refusal_at(s.block->tag, "L0215",
                          "block " + in_quotes(s.block->name()) + ", which lies between, touches " +
                              in_quotes(out->name));
    }
  for (const auto& input : buffers_read(*plan.consumer.block))
    for (const auto& w : writers(program->body, input)) {
      int at = block_position(program->body, w.block->tag);
      if (input != plan.between && at > own && w.block->tag != plan.consumer.block->tag)
        return refusal_at(w.block->tag, "L0215",
                          "block " + in_quotes(w.block->name()) + " writes " +
                              in_quotes(input->name) + " after the producer");
    }
  std::string why =
      why_not_found(always_reading(program, plan)->body, {plan.producer.block->tag},
                    plan.consumer.block->tag, plan.between, {}, program_facts(program));
  if (why.empty()) return {};
  return refusal_at(plan.consumer.block->tag, "L0215",
                    "not every instance of " + in_quotes(plan.consumer.block->name()) +
                        " surely has its producer's: " + why);
}

// The producer with the consumer's store in the place of its own. Instances whose element no
// consumer instance reads get a predicate.
inline BlockNode fused_producer(const Program& program, const FusePlan& plan, const BlockNode& core,
                                const Vec<AnyExpr>& iters, const AnyExpr& valid) {
  BlockNode producer = *plan.producer.block;
  const StoreNode &store = *only_store(producer), &out = *only_store(core);
  Facts facts = program_facts(program);
  for (const auto& it : producer.iters) facts.bind(it);
  Substitution at;
  AnyExpr predicate = producer.predicate;
  auto require = [&](const AnyExpr& c) {
    if (!prove(c, facts)) predicate = fold_and(predicate, simplify(c, facts));
  };
  if (valid) require(valid);
  for (std::size_t k = 0; k < iters.size(); ++k) {
    at.emplace_back(core.iters[k].var, iters[k]);
    require(iters[k] >= substitute(core.iters[k].min, at));
    require(iters[k] < substitute(fold_add(core.iters[k].min, core.iters[k].extent), at));
  }
  if (core.predicate) require(substitute(core.predicate, at));
  // The inverse is one for elements that are read; the producer makes others too.
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    require(eq(substitute(plan.load->indices[d], at), store.indices[d]));
  Vec<AnyExpr> indices;
  for (const auto& index : out.indices) indices.push_back(simplify(substitute(index, at), facts));
  // The load itself is what the producer stores, so that its value takes the load's place as it is.
  AnyExpr value = InlineLoads(plan.between, {}, store.value).expr(out.value);
  producer.body = make_store(out.buffer, indices, substitute(value, at));
  producer.predicate = predicate;
  producer.attributes = after(Change::divert, producer.attributes);
  for (const auto& a : after(Change::hand_over, core.attributes)) producer.attributes.set(a);
  return producer;
}

// Its loops are replaced by the producer's.
inline Verdict check_inlined_reach(const Program& program, const BlockSite& consumer) {
  MovePlan plan;
  plan.block = consumer;
  plan.core = BlockRefNode(new BlockNode(without_guards(*consumer.block)));
  return check_reach(program, plan, "L0215");
}

inline Verdict run_reverse_compute_inline(const Program& program, const Args& args, Edit* edit) {
  FusePlan plan;
  if (auto no = plan_reverse_inline(program, args[0].block, plan)) return no;
  if (auto no = check_reverse_inline_place(program, plan)) return no;
  if (auto no = check_inlined_reach(program, plan.consumer)) return no;
  if (auto no = check_settled_inputs(program, *plan.consumer.block, "L0215")) return no;
  const BlockNode core = without_guards(*plan.consumer.block);
  AnyExpr valid;
  Vec<AnyExpr> iters =
      iterators_of_element(core, plan.load->indices, only_store(*plan.producer.block)->indices,
                           valid, program_facts(program));
  if (iters.empty())
    return refusal_at(core.tag, "L0215",
                      "which instance of " + in_quotes(core.name()) + " reads an element of " +
                          in_quotes(plan.between->name) + " can't be told from its indices");
  if (!edit) return {};
  Stmt root =
      replace_at(plan.producer.path, make_block(fused_producer(program, plan, core, iters, valid)));
  root = remove_alloc(replace_at(find_block(root, core.tag).path, {}), plan.between);
  edit->program = program.with(root);
  edit->consumed.push_back(
      {core.tag, "was inlined into " + in_quotes(plan.producer.block->name())});
  consume_lost_loops(root, plan.consumer.loops, *edit,
                     "was removed when " + in_quotes(core.name()) + " was inlined");
  return {};
}

LATHE_DECL const Primitive& primitive_reverse_compute_inline() {
  static const Primitive record{"reverse_compute_inline",
                                1,
                                {{"block", ArgKind::block}},
                                "a block's expression moves into its producer",
                                run_reverse_compute_inline};
  return record;
}

}  // namespace lathe::detail
