// Names of loops and blocks of a schedule, and the factors of a split.
#pragma once

#include <lathe/ir/stmt.hpp>

namespace lathe {

/// A loop, by identity: it stays valid while the loop exists, also on copies of the schedule.
struct LoopRef {
  VarRef var;

  LoopRef() = default;
  explicit LoopRef(VarRef its_var) : var(std::move(its_var)) {}
  const std::string& name() const { return var->name; }
  bool operator==(const LoopRef& other) const { return var == other.var; }
};

/// A block, by identity: it stays valid while the block exists, also on copies of the schedule.
struct BlockRef {
  BlockTag tag;

  BlockRef() = default;
  explicit BlockRef(BlockTag its_tag) : tag(std::move(its_tag)) {}
  const std::string& name() const { return tag->name; }
  bool operator==(const BlockRef& other) const { return tag == other.tag; }
};

/// A number that a step sampled, by identity. In the factors of later steps it stays a symbol, also
/// in expressions (t * 4), so that a replay with another decision changes them.
struct Sample {
  VarRef var;

  Sample() = default;
  explicit Sample(VarRef its_var) : var(std::move(its_var)) {}
  operator AnyExpr() const { return AnyExpr(var); }
  bool operator==(const Sample& other) const { return var == other.var; }
};

struct Infer {};
/// The factor that makes a split cover its loop.
inline constexpr Infer infer{};

/// One factor of a split, or point of a loop_partition: a number, an expression over dims and
/// sampled numbers, or infer.
class Factor {
 public:
  Factor(Infer) {}
  Factor(int value) : value_(value) {}
  Factor(long value) : value_(static_cast<std::int64_t>(value)) {}
  Factor(long long value) : value_(static_cast<std::int64_t>(value)) {}
  Factor(unsigned value) : value_(static_cast<std::int64_t>(value)) {}
  Factor(unsigned long value) : value_(static_cast<std::int64_t>(value)) {}
  Factor(AnyExpr value) : value_(std::move(value)) {}
  Factor(const Sample& sample) : value_(sample) {}
  /// Of an expression of the tensor language: a Dim, or what is computed from Dims.
  template <class E>
  requires std::is_same_v<typename E::element_type, std::int64_t> Factor(const E& value)
      : value_(value.any()) {}

  bool is_infer() const { return !value_; }
  const AnyExpr& value() const { return value_; }  ///< none for infer

 private:
  AnyExpr value_;
};

}  // namespace lathe
