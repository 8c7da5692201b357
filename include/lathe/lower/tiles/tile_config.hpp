// Which tile registers are in use, and how large each is.
#pragma once

#include <cstdint>
#include <lathe/ir/stmt.hpp>
#include <lathe/ir/tile.hpp>
#include <lathe/support/vec.hpp>
#include <optional>

namespace lathe::detail {

/// Sizes of tile registers, as code sets them: what a register holds is lost then.
class TileConfig {
 public:
  TileConfig() = default;
  /// Of a call of tile_configure.
  explicit TileConfig(const CallNode& call);

  /// A register of that size that is free; none if there is none left.
  std::optional<int> take(int rows, int row_bytes);
  void release(int number) { used_[number] = false; }

  /// Sets them up; of an empty one: gives all registers back.
  Stmt configure() const;

  /// Whether code for one runs under the other too.
  bool agrees(const TileConfig& other) const;
  /// Sizes that only the other has.
  void add(const TileConfig& other);

 private:
  struct Size {
    int rows = 0, bytes = 0;
    bool operator==(const Size&) const = default;
  };
  Size sizes_[kTileRegisters];
  bool used_[kTileRegisters] = {};
};

/// The call of a statement that sets tile registers up or gives them back; null for any other.
const CallNode* tile_configuration(const Stmt& s);

}  // namespace lathe::detail
