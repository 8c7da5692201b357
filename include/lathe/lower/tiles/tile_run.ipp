#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/lower/tiles/fragment_tiles.ipp>

namespace lathe::detail {

/// Stores of tiles that follow each other. Operands in memory are loaded into the registers that
/// fragments leave, and stay there as long as they can.
class TileRun {
 public:
  TileRun(const Vec<Stmt>& stmts, TileConfig& config, Location where)
      : stmts_(stmts), config_(config), where_(where) {}

  Stmt run() {
    for (at_ = 0; at_ < stmts_.size(); ++at_) statement(*stmts_[at_].as<StoreNode>());
    Stmt out = make_seq(std::move(out_));
    for (const auto& reg : allocated_) out = make_alloc(reg, std::move(out));
    for (int number : taken_) config_.release(number);
    return out;
  }

 private:
  // A tile of memory in a register; no load once the memory may have changed.
  struct Held {
    AnyExpr load;
    Buffer reg;
    int rows;
  };

  static bool is_fragment(const Buffer& b) { return b->scope == Scope::fragment; }

  void statement(const StoreNode& n) {
    const auto& call = *n.value.as<CallNode>();
    if (call.op == CallOp::tile) return copy(n, call);
    AnyExpr args[3];
    for (std::size_t k = 0; k < 3; ++k) args[k] = operand(call.args[k], rows_of_operand(call, k));
    const Buffer sum = args[0].as<LoadNode>()->buffer;
    out_.push_back(make_store(sum, {}, make_call(call.op, {args[0], args[1], args[2]})));
    if (!is_fragment(n.buffer)) write(n, make_load(sum, {}), rows_of_operand(call, 0));
  }

  void copy(const StoreNode& n, const CallNode& call) {
    const int rows = rows_of_operand(call, 0);
    const auto* from = call.args[0].as<LoadNode>();
    if (!is_fragment(n.buffer))
      return write(n, from ? operand(call.args[0], rows) : zeros(call.dtype, rows), rows);
    if (from && is_fragment(from->buffer))
      refuse_fragment(cat("a tile of '", from->buffer->name, "' is copied to another register"),
                      where_);
    load_to(n.buffer, from ? lined_up(*from, rows) : call.args[0], rows);
  }

  void load_to(const Buffer& reg, const AnyExpr& value, int rows) {
    out_.push_back(make_store(reg, {}, make_call(CallOp::tile, {value, AnyExpr(rows)})));
  }
  void write(const StoreNode& n, const AnyExpr& value, int rows) {
    for (auto& held : held_)
      if (held.load.get() && held.load.as<LoadNode>()->buffer == n.buffer) held.load = {};
    out_.push_back(make_store(n.buffer, {index_of(known_place(n.buffer, n.indices, rows, where_))},
                              make_call(CallOp::tile, {value, AnyExpr(rows)})));
  }
  AnyExpr zeros(DType type, int rows) {
    const Buffer reg = fresh(type, rows);
    load_to(reg, zeros_of(type), rows);
    held_.push_back({{}, reg, rows});
    return make_load(reg, {});
  }

  AnyExpr lined_up(const LoadNode& load, int rows) const {
    return make_load(load.buffer, {index_of(known_place(load.buffer, load.indices, rows, where_))});
  }

  // A load of the register that holds the tile.
  AnyExpr operand(const AnyExpr& load, int rows) {
    const auto& n = *load.as<LoadNode>();
    if (is_fragment(n.buffer)) return load;
    for (const auto& held : held_)
      if (held.load.get() && structurally_equal(held.load, load)) return make_load(held.reg, {});
    const Buffer reg = fresh(n.dtype, rows);
    load_to(reg, lined_up(n, rows), rows);
    held_.push_back({load, reg, rows});
    return make_load(reg, {});
  }

  Buffer fresh(DType type, int rows) {
    const auto taken = config_.take(rows, type.bytes() / rows);
    if (taken) taken_.push_back(*taken);
    const int number = taken ? *taken : evicted(type.bytes(), rows);
    for (const auto& reg : allocated_)
      if (reg->tile == number && reg->dtype == type) return reg;
    allocated_.push_back(
        tile_register(cat("tile", number, '_', type.scalar().str()), type, number));
    return allocated_.back();
  }

  // Of the registers of that size that the statement does not read, the one that is read last
  // again.
  int evicted(int bytes, int rows) {
    std::size_t best = held_.size(), latest = at_;
    for (std::size_t k = 0; k < held_.size(); ++k) {
      if (held_[k].reg->dtype.bytes() != bytes || held_[k].rows != rows) continue;
      const std::size_t next = next_use(held_[k].load);
      if (next > latest) best = k, latest = next;
    }
    if (best == held_.size()) too_many_tiles(where_);
    const int number = held_[best].reg->tile;
    held_.erase_at(best, 1);
    return number;
  }
  std::size_t next_use(const AnyExpr& load) const {
    for (std::size_t k = at_; load.get() && k < stmts_.size(); ++k)
      for (const auto& arg : stmts_[k].as<StoreNode>()->value.as<CallNode>()->args)
        if (structurally_equal(arg, load)) return k;
    return stmts_.size() + 1;
  }

  const Vec<Stmt>& stmts_;
  TileConfig& config_;
  Location where_;
  std::size_t at_ = 0;
  Vec<Stmt> out_;
  Vec<Held> held_;
  Vec<Buffer> allocated_;
  Vec<int> taken_;
};

}  // namespace lathe::detail
