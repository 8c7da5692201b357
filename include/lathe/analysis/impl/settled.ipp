#pragma once

#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/support/dense_map.hpp>

namespace lathe::detail {

/// The blocks of one nest, and what each reads and writes. It follows from the nest alone, and is
/// kept with it: a program of many nests is asked often, and few of them change between.
struct NestUses : RefCounted, UseWalker {
  struct Place {
    const BlockNode* node = nullptr;
    Vec<const ForNode*> loops;
    Vec<Buffer> read, written;
  };
  Vec<Place> places;
  Vec<Buffer> bare;  ///< written by statements in no block

  explicit NestUses(const Stmt& nest) { stmt(nest); }

 private:
  bool wanted(const BufferUse& use) override {
    if (!use.block) {
      if (use.is_write) add_once(bare, use.buffer);
      return false;
    }
    Place& place = place_of(use);
    if (use.reads() && use.kind != AccessKind::update) add_once(place.read, use.buffer);
    if (use.is_write) add_once(place.written, use.buffer);
    return false;
  }
  Place& place_of(const BufferUse& use) {
    for (std::size_t k = places.size(); k-- > 0;)
      if (places[k].node == use.block) return places[k];
    places.emplace_back();
    places.back().node = use.block;
    places.back().loops = use.loops;
    return places.back();
  }
};

inline const NestUses& uses_of(const Stmt& nest) {
  const RefCounted* known = nest->uses.get();
  if (!known) known = nest->uses.set(make_ref<NestUses>(nest).get());
  return static_cast<const NestUses&>(*known);
}

/// Which buffers hold one value per element for whoever reads them: what a block stores there
/// follows from the element alone, so it may be read, or computed again, in any iteration. Programs
/// of tensors are like that throughout; a loop that carries state fills its buffers anew each time.
class SettledBuffers {
 public:
  explicit SettledBuffers(const Program& program) : root_(program->body) {
    each_nest(program->body, [&](const Stmt& nest) { add(uses_of(nest)); });
  }

  /// A buffer that the block reads and that is not settled when it runs; empty if there is none.
  Buffer unsettled_for(const BlockTag& tag) {
    for (std::size_t k = 0; k < blocks_.size(); ++k)
      if (blocks_[k]->node->tag == tag) return unsettled_input(k);
    return {};
  }

 private:
  using Place = NestUses::Place;
  enum class State : std::uint8_t { open, settled, unsettled };
  struct Entry {
    Vec<std::size_t> writers;
    bool bare = false;  ///< written by a statement in no block
    bool known = false;
    State state = State::open;
  };

  void add(const NestUses& nest) {
    for (const auto& b : nest.bare) entries_[b.get()].bare = true;
    for (const auto& place : nest.places) {
      for (const auto& b : place.written) entries_[b.get()].writers.push_back(blocks_.size());
      blocks_.push_back(&place);
    }
  }

  Buffer unsettled_input(std::size_t reader) {
    for (const auto& b : blocks_[reader]->read)
      if (!settled_before(b, reader)) return b;
    return {};
  }
  bool settled_before(const Buffer& b, std::size_t reader) {
    const Entry* entry = entries_.find(b.get());
    if (!entry) return true;
    for (std::size_t w : entry->writers)
      if (goes_on_after(w, reader)) return false;
    return settled(b);
  }
  /// A later iteration of a loop around both stores to what the reader has seen.
  bool goes_on_after(std::size_t writer, std::size_t reader) const {
    const Place& place = *blocks_[writer];
    const ForNode* common = nullptr;
    for (const auto* loop : place.loops)
      if (contains(blocks_[reader]->loops, loop)) common = loop;
    if (!common) return false;
    return writer > reader ||
           (place.node->reducer && !final_at(root_, place.node->tag, common->var));
  }
  bool settled(const Buffer& b) {
    if (Entry& entry = entries_[b.get()]; entry.known) {
      return entry.state == State::settled;
    } else {
      entry.known = true;  // while it is open, a cycle finds it unsettled
      if (entry.bare) return false;
    }
    const Vec<std::size_t> writers = entries_[b.get()].writers;
    for (std::size_t w : writers) {
      if (!follows_from_element(w, b)) return false;
      for (const auto& input : blocks_[w]->read)
        if (input != b && !settled_before(input, w)) return false;
    }
    entries_[b.get()].state = State::settled;
    return true;
  }

  /// The element tells the instance that stores it, and so what is stored.
  bool follows_from_element(std::size_t writer, const Buffer& b) const {
    const Place& place = *blocks_[writer];
    const BlockNode& block = *place.node;
    if (contains(place.read, b) && !runs_once(place)) return false;
    return stores_by_iterators(block, b) || is_injective(block) || is_one_instance(block);
  }
  static bool is_one_instance(const BlockNode& block) {
    for (const auto& it : block.iters)
      if (!is_const(it.extent, 1) || !as_const_int(it.min)) return false;
    return !block.reducer;
  }
  static bool runs_once(const Place& place) {
    for (const auto* loop : place.loops) {
      bool feeds_one = false;
      for (const auto& it : place.node->iters)
        feeds_one = feeds_one || uses_var(it.binding, loop->var);
      if (!feeds_one && !runs_at_most_once(*loop)) return false;
    }
    return true;
  }
  /// The usual case: one store, at the iterators themselves.
  static bool stores_by_iterators(const BlockNode& block, const Buffer& b) {
    const auto stores = stores_of(block);
    const StoreNode* found = nullptr;
    for (const auto* store : stores)
      if (store->buffer == b) {
        if (found) return false;
        found = store;
      }
    if (!found || !block.reads.empty() || !block.writes.empty()) return false;
    for (const auto& it : block.iters) {
      bool named =
          it.kind == IterKind::reduce ? block.reducer.get() != nullptr : is_const(it.extent, 1);
      for (const auto& index : found->indices) named = named || index.get() == it.var.get();
      if (!named) return false;
    }
    return true;
  }
  static bool is_injective(const BlockNode& block) {
    const BlockInfo info = classify(without_guards(block));
    return info.injective && (block.reducer || info.is_complete() || info.in_place);
  }

  const Stmt& root_;
  Vec<const Place*> blocks_;
  NodeMap<Entry> entries_;
};

LATHE_DECL std::string why_unsettled(const Program& program, const BlockNode& block) {
  const Buffer found = SettledBuffers(program).unsettled_for(block.tag);
  if (!found) return {};
  return "block " + in_quotes(block.name()) + " reads " + in_quotes(found->name) +
         ", which holds other values in other iterations";
}

}  // namespace lathe::detail
