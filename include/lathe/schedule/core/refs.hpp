// What names a loop or a block of a schedule, and what a split is told.
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

/// What happens where the factors of a split do not divide the extent. The tail is a mark on the
/// inner loop; lowering realises it.
///   exact: they do divide it · guard: a test per instance · mask: vector lanes are masked · peel:
///   a main loop and a remainder · shift: the last tile moves inward and recomputes, where
///   its blocks may run twice · round_up: computes past the end into temporaries, which become
///   longer; nothing is left of it to realise
enum class Tail : std::uint8_t { exact, guard, mask, peel, shift, round_up };
std::string_view to_text(Tail tail);
bool parse_tail(std::string_view text, Tail& out);

/// Whether iterations in which a condition holds that differs between them run apart from the
/// others. The policy is a mark on the loop; lowering realises it.
///   automatic: where border tiles of a nest are worth a second version · never: conditions that
///   depend on the loop stay where they are · always: the loop becomes up to three, one after the
///   other
enum class Partition : std::uint8_t { automatic, never, always };
std::string_view to_text(Partition policy);
bool parse_partition(std::string_view text, Partition& out);

}  // namespace lathe
