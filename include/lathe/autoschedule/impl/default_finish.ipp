#pragma once

#include <lathe/analysis/block.hpp>
#include <lathe/autoschedule/default_schedule.hpp>

namespace lathe {
namespace detail {

// What takes a finished tile out of the registers.
class FinishTiles : NestSteps {
 public:
  using NestSteps::NestSteps;

  /// The only reader of a block's result, if it reads element by element and nobody else may.
  BlockRef only_user(const BlockRef& ref) const {
    const auto users = consumers(s_.program()->body, ref.tag);
    const bool one = users.size() == 1 && classify(*users[0].block).is_complete() &&
                     is_private(s_.program()->body, writes_of(*site(ref).block)[0].buffer);
    return one ? BlockRef(users[0].block->tag) : BlockRef();
  }

  /// A reader computes, in vectors, what it needs of a tile that lies in memory.
  void move_reader(const BlockRef& user, const LoopRef& tile) {
    const int bytes = body_cost(*site(user).block).widest;
    attempt([&] {
      s_.reverse_compute_at(user, tile);
      vectorize_last(user, target_.lanes(bytes));
    });
  }

  /// The only consumer, if it reads element by element and is cheap; else a copy to the output. A
  /// consumer with math in it reads a tile in memory, row by row: unrolled over all registers its
  /// code would take LLVM longer than the whole product.
  BlockRef run(const BlockRef& ref, const LoopRef& tile) {
    const BlockRef out = taken_out(ref, tile);
    narrow_positions(ref);
    return out;
  }

 private:
  BlockRef taken_out(const BlockRef& ref, const LoopRef& tile) {
    const BlockRef user = only_user(ref);
    const bool one = user.tag.get() != nullptr;
    const bool cheap = one && body_cost(*site(user).block).math == 0;
    const bool fused = cheap && attempt([&] {
                         s_.reverse_compute_at(user, tile);
                         s_.set_scope(ref, Scope::reg);
                       });
    if (fused) return user;
    const BlockRef out = private_copy(ref);
    s_.reverse_compute_at(out, tile);
    if (one && !cheap)
      attempt([&] {
        s_.reverse_compute_at(user, tile);
        s_.vectorize(s_.loops(user).back());
      });
    return out;
  }

  void narrow_positions(const BlockRef& ref) {
    const BlockNode& block = *site(ref).block;
    if (!block.reducer || !is_arg_reducer(*block.reducer)) return;
    const Buffer position = writes_of(block)[1].buffer;
    const DType type = position_type(block);
    if (type != position->dtype) attempt([&] { s_.change_type(position->name, type); });
  }

  // What is stored at every second place is a box by the block's own iterators.
  BlockRef private_copy(const BlockRef& ref) {
    const AccessSite write = writes_of(*site(ref).block)[0];
    const bool plain = std::all_of(write.indices.begin(), write.indices.end(), [](const auto& e) {
      return e.kind() == ExprKind::Var || as_const_int(e);
    });
    if (plain) return s_.cache_write(ref, Scope::reg);
    const BlockRef out = s_.reindex(ref, write.buffer->name);
    s_.set_scope(writes_of(*site(ref).block)[0].buffer->name, Scope::reg);
    return out;
  }
};

}  // namespace detail
}  // namespace lathe
