#pragma once

#include <algorithm>
#include <lathe/lower/shuffles/deinterleave.hpp>
#include <lathe/lower/shuffles/lane_orders.hpp>

namespace lathe::detail {

LATHE_DECL Vec<LaneOrder> orders_within_pieces(int lanes, int element_bytes) {
  Vec<LaneOrder> out;
  const int piece = kPieceBytes / element_bytes;
  if (lanes <= piece || lanes % piece != 0) return out;
  for (int s = 2; s <= piece; s *= 2) {
    LaneOrder order;
    for (int l = 0; l < lanes; ++l) {
      const int first = l - l % piece, vector = l % piece / (piece / s);
      order.push_back((vector * lanes + first) / s + l % (piece / s));
    }
    out.push_back(std::move(order));
  }
  return out;
}

LATHE_DECL LaneOrder inverse(const LaneOrder& order) {
  LaneOrder out(order.size(), 0);
  for (std::size_t l = 0; l < order.size(); ++l)
    out[static_cast<std::size_t>(order[l])] = static_cast<int>(l);
  return out;
}

/// A shuffle in the widest elements that it moves as a whole.
class ShuffleShape {
 public:
  ShuffleShape(DType type, int lanes, const Vec<int>& map)
      : bytes_(type.element_bytes()), lanes_(lanes), map_(map) {
    while (bytes_ < kPieceBytes && halves_together()) join_halves();
    piece_ = kPieceBytes / bytes_;
  }

  int element_bytes() const { return bytes_; }
  bool moves_nothing() const {
    for (std::size_t l = 0; l < map_.size(); ++l)
      if (map_[l] != static_cast<int>(l)) return false;
    return static_cast<int>(map_.size()) == lanes_;
  }
  /// Whether a run of lanes is taken out, or vectors are put side by side.
  bool is_run() const {
    for (std::size_t l = 1; l < map_.size(); ++l)
      if (map_[l] != map_[0] + static_cast<int>(l)) return false;
    return map_[0] % piece_ == 0;
  }
  bool is_of_one() const {
    return std::all_of(map_.begin(), map_.end(),
                       [&](int m) { return m / lanes_ == map_[0] / lanes_; });
  }
  /// Whether elements stay in their 16 bytes, and move alike in all of them.
  bool is_within_pieces() const {
    if (static_cast<int>(map_.size()) != lanes_ || lanes_ % piece_ != 0) return false;
    for (int l = 0; l < lanes_; ++l)
      if (at(l) != at(l % piece_) + l - l % piece_ || at(l % piece_) % lanes_ >= piece_)
        return false;
    return true;
  }
  /// Of one within pieces: whether it is an unpack, a blend, or takes half of its lanes from each.
  bool is_one_instruction() const {
    if (bytes_ == kPieceBytes || is_of_one() || is_blend()) return true;
    return is_unpack(0) || is_unpack(piece_ / 2) || (bytes_ >= 4 && is_of_halves());
  }

 private:
  int at(int l) const { return map_[static_cast<std::size_t>(l)]; }
  bool halves_together() const {
    if (map_.size() % 2 != 0 || lanes_ % 2 != 0) return false;
    for (std::size_t l = 0; l < map_.size(); l += 2)
      if (map_[l] % 2 != 0 || map_[l + 1] != map_[l] + 1) return false;
    return true;
  }
  void join_halves() {
    Vec<int> wide;
    for (std::size_t l = 0; l < map_.size(); l += 2) wide.push_back(map_[l] / 2);
    map_ = std::move(wide);
    lanes_ /= 2, bytes_ *= 2;
  }
  bool is_blend() const {
    for (int l = 0; l < piece_; ++l)
      if (at(l) % lanes_ != l) return false;
    return true;
  }
  bool is_unpack(int first) const {
    for (int l = 0; l < piece_; ++l)
      if (at(l) % lanes_ != first + l / 2 || at(l) / lanes_ != at(l % 2) / lanes_) return false;
    return at(0) / lanes_ != at(1) / lanes_;
  }
  bool is_of_halves() const {
    for (int l = 0; l < piece_; ++l)
      if (at(l) / lanes_ != at(l < piece_ / 2 ? 0 : piece_ - 1) / lanes_) return false;
    return true;
  }

  int bytes_, lanes_, piece_ = 1;
  Vec<int> map_;
};

LATHE_DECL int shuffle_cost(DType type, int lanes, const Vec<int>& map, const TargetCaps& caps) {
  const ShuffleShape shape(type, lanes, map);
  if (shape.moves_nothing()) return 0;
  const int registers = (type.bytes() + caps.register_bytes - 1) / caps.register_bytes;
  const int across = merge_cost(type, shape.element_bytes(), caps);
  if (shape.is_run() || shape.element_bytes() == kPieceBytes) return registers;
  // Of one register, wide elements take any order by one instruction with indices.
  if (shape.is_of_one() && shape.element_bytes() >= 4 && registers == 1) return 1;
  if (!shape.is_within_pieces()) return across;
  return std::min(across, registers * (shape.is_one_instruction()   ? 1
                                       : shape.element_bytes() >= 4 ? 2
                                                                    : 3));
}

}  // namespace lathe::detail
