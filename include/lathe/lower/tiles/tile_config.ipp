#pragma once

#include <lathe/lower/tiles/tile_config.hpp>

namespace lathe::detail {

LATHE_DECL TileConfig::TileConfig(const CallNode& call) {
  std::uint64_t words[3];
  for (std::size_t k = 0; k < 3; ++k)
    words[k] = static_cast<std::uint64_t>(*as_const_int(call.args[k]));
  for (int k = 0; k < kTileRegisters; ++k)
    sizes_[k] = {static_cast<int>(words[0] >> (8 * k) & 0xFF),
                 static_cast<int>(words[1 + k / 4] >> (16 * (k % 4)) & 0xFFFF)};
}

LATHE_DECL std::optional<int> TileConfig::take(int rows, int row_bytes) {
  const Size wanted{rows, row_bytes};
  for (const Size& size : {wanted, Size{}})
    for (int k = 0; k < kTileRegisters; ++k)
      if (!used_[k] && sizes_[k] == size) return used_[k] = true, sizes_[k] = wanted, k;
  return {};
}

LATHE_DECL Stmt TileConfig::configure() const {
  std::uint64_t words[3] = {0, 0, 0};
  for (int k = 0; k < kTileRegisters; ++k) {
    words[0] |= static_cast<std::uint64_t>(sizes_[k].rows) << (8 * k);
    words[1 + k / 4] |= static_cast<std::uint64_t>(sizes_[k].bytes) << (16 * (k % 4));
  }
  Vec<AnyExpr> args;
  for (std::uint64_t word : words) args.push_back(make_int(kU64, static_cast<std::int64_t>(word)));
  return make_ref<EvaluateNode>(make_call(CallOp::tile_configure, std::move(args)));
}

LATHE_DECL bool TileConfig::agrees(const TileConfig& other) const {
  for (int k = 0; k < kTileRegisters; ++k)
    if (!(sizes_[k] == other.sizes_[k]) && sizes_[k].rows > 0 && other.sizes_[k].rows > 0)
      return false;
  return true;
}

LATHE_DECL void TileConfig::add(const TileConfig& other) {
  for (int k = 0; k < kTileRegisters; ++k)
    if (sizes_[k].rows == 0) sizes_[k] = other.sizes_[k];
}

LATHE_DECL const CallNode* tile_configuration(const Stmt& s) {
  const auto* e = s.as<EvaluateNode>();
  const auto* call = e ? e->call.as<CallNode>() : nullptr;
  return call && call->op == CallOp::tile_configure ? call : nullptr;
}

}  // namespace lathe::detail
