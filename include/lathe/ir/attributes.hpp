// Attributes of loops and blocks: what steps ask of them and lowering realises. Each is a struct
// that says where it may stand and which values its fields have; text form, hash, comparison and
// verifier follow from that, by the list `Attribute`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <lathe/ir/kinds.hpp>
#include <lathe/support/one_of.hpp>
#include <lathe/support/vec.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace lathe {

/// An annotation's value: an integer or a text.
struct AttrValue {
  std::int64_t number = 0;
  std::string text;
  bool is_text = false;

  AttrValue() = default;
  AttrValue(std::int64_t its_number) : number(its_number) {}
  AttrValue(int its_number) : number(its_number) {}
  AttrValue(std::string its_text) : text(std::move(its_text)), is_text(true) {}
  AttrValue(const char* its_text) : text(its_text), is_text(true) {}
  bool operator==(const AttrValue&) const = default;
};

// What a field holds, and what it is called in the text form.

/// A number, or an enumerator as one.
struct NumberField {
  std::string_view name;
  std::int64_t min, max;
};
/// An enumerator, by its word.
struct WordField {
  std::string_view name;
  std::span<const std::string_view> words;
};
/// The name of a buffer or a block.
struct NameField {
  std::string_view name;
};
/// A list of numbers.
struct NumbersField {
  std::string_view name;
  std::int64_t min, max;
};
/// A number or a text.
struct ValueField {
  std::string_view name;
};

/// How an attribute comes to its loop or block: by `annotate`, which knows it by key; by a step of
/// its own, after which `unannotate` takes it back; or as part of what a step or a pass made.
enum class SetBy : std::uint8_t { key, step, part };

/// What holds for all attributes of one struct.
struct AttributeRow {
  std::string_view key;   ///< in the text form, behind '@'
  std::string_view says;  ///< what it asks for, in a few words
  bool loops = true;      ///< they are of loops
  bool blocks = false;    ///< they are of blocks
  bool many = false;      ///< one loop may carry several that differ
  SetBy set_by = SetBy::part;
  std::uint32_t kinds = ~0u;  ///< loops that may carry it, a bit for each kind
  Stage last = Stage::loops;  ///< the last stage at which it may stand: then it is realised
};
constexpr std::uint32_t kind_bit(ForKind kind) { return 1u << static_cast<unsigned>(kind); }

namespace detail {
inline constexpr std::int64_t kMostInField = 1 << 20;
inline constexpr std::int64_t kMostUnroll = 4096;
}  // namespace detail

// --- of loops

struct UnrollAttr {
  static constexpr AttributeRow kRow{.key = "unroll_explicit",
                                     .says = "copies of a serial loop's body",
                                     .set_by = SetBy::key,
                                     .kinds = kind_bit(ForKind::serial)};
  std::int64_t factor = 1;

  bool operator==(const UnrollAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumberField{"factor", 1, detail::kMostUnroll}, self.factor);
  }
};

struct MaxThreadsAttr {
  static constexpr AttributeRow kRow{.key = "max_threads",
                                     .says = "threads of a parallel loop",
                                     .set_by = SetBy::key,
                                     .kinds = kind_bit(ForKind::parallel),
                                     .last = Stage::machine};
  std::int64_t count = 1;

  bool operator==(const MaxThreadsAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumberField{"count", 1, detail::kMostInField}, self.count);
  }
};

/// Of the inner loop of a split.
struct TailAttr {
  static constexpr AttributeRow kRow{.key = "tail", .says = "what runs past the end of a split"};
  Tail tail = Tail::guard;

  bool operator==(const TailAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(WordField{"tail", kTailWords}, self.tail);
  }
};

struct PartitionAttr {
  static constexpr AttributeRow kRow{
      .key = "partition", .says = "whether border iterations run apart", .set_by = SetBy::step};
  Partition policy = Partition::automatic;

  bool operator==(const PartitionAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(WordField{"policy", kPartitionWords}, self.policy);
  }
};

/// At the start of an iteration the lines that the one `distance` later reads first. Locality: from
/// 0, read once, to 3, keep.
struct PrefetchAttr {
  static constexpr AttributeRow kRow{.key = "prefetch",
                                     .says = "what is fetched ahead of time",
                                     .many = true,
                                     .set_by = SetBy::step};
  std::string buffer;
  std::int64_t distance = 1, locality = 3;

  bool operator==(const PrefetchAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NameField{"buffer"}, self.buffer);
    f(NumberField{"distance", 1, detail::kMostInField}, self.distance);
    f(NumberField{"locality", 0, 3}, self.locality);
  }
};

/// A buffer of one iteration is allocated right above the loop.
struct HoistAttr {
  static constexpr AttributeRow kRow{.key = "hoist_storage",
                                     .says = "a buffer that is allocated above the loop",
                                     .many = true,
                                     .set_by = SetBy::step,
                                     .kinds = kind_bit(ForKind::serial)};
  std::string buffer;

  bool operator==(const HoistAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NameField{"buffer"}, self.buffer);
  }
};

/// Iterations take turns with two versions of a buffer.
struct DoubleBufferAttr {
  static constexpr AttributeRow kRow{.key = "double_buffer",
                                     .says = "a buffer of which there are two versions",
                                     .many = true,
                                     .set_by = SetBy::step,
                                     .kinds = kind_bit(ForKind::serial)};
  std::string buffer;

  bool operator==(const DoubleBufferAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NameField{"buffer"}, self.buffer);
  }
};

/// Iterations keep the rows of a block that they share.
struct RollingAttr {
  static constexpr AttributeRow kRow{.key = "rolling_buffer",
                                     .says = "a block whose rows iterations keep",
                                     .many = true,
                                     .set_by = SetBy::step,
                                     .kinds = kind_bit(ForKind::serial),
                                     .last = Stage::blocks};
  std::string block;

  bool operator==(const RollingAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NameField{"block"}, self.block);
  }
};

/// When each statement of the loop runs: in step t for iteration t - stage; those of one step in
/// ascending order. One of each list for each statement.
struct PipelineAttr {
  static constexpr AttributeRow kRow{.key = "software_pipeline",
                                     .says = "the stage and the order of each statement",
                                     .set_by = SetBy::step,
                                     .kinds = kind_bit(ForKind::serial)};
  Vec<std::int64_t> stages, orders;

  bool operator==(const PipelineAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumbersField{"stages", 0, detail::kMostInField}, self.stages);
    f(NumbersField{"orders", 0, detail::kMostInField}, self.orders);
  }
};

/// Of a pipelined loop while it is lowered: a buffer of one iteration, and how many of them are in
/// use at a time.
struct PipelineBufferAttr {
  static constexpr AttributeRow kRow{.key = "pipeline_buffer",
                                     .says = "a buffer of a pipelined iteration",
                                     .many = true,
                                     .kinds = kind_bit(ForKind::serial)};
  std::string buffer;
  std::int64_t versions = 1;

  bool operator==(const PipelineBufferAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NameField{"buffer"}, self.buffer);
    f(NumberField{"versions", 1, detail::kMostInField}, self.versions);
  }
};

/// The place of a statement in a pipelined loop while that is lowered.
struct PipelineStatementAttr {
  static constexpr AttributeRow kRow{.key = "pipeline_statement",
                                     .says = "the place of a pipelined statement",
                                     .kinds = kind_bit(ForKind::serial)};
  std::int64_t position = 0;

  bool operator==(const PipelineStatementAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumberField{"position", 0, detail::kMostInField}, self.position);
  }
};

// --- of blocks

/// How many iterators, the last ones, stand for nothing but the end of a loop.
struct GuardsAttr {
  static constexpr AttributeRow kRow{.key = "guards",
                                     .says = "iterators that stand for the ends of loops",
                                     .loops = false,
                                     .blocks = true};
  std::int64_t count = 0;

  bool operator==(const GuardsAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumberField{"count", 0, detail::kMostInField}, self.count);
  }
};

struct StreamAttr {
  static constexpr AttributeRow kRow{
      .key = "stream",
      .says = "1: the block's stores go past the caches, 2: those that fill whole cache lines do",
      .loops = false,
      .blocks = true,
      .set_by = SetBy::key};
  Streaming how = Streaming::none;

  bool operator==(const StreamAttr&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(NumberField{"how", 0, 2}, self.how);
  }
};

/// A user has agreed that the block's atomic updates come in any order, though it shows.
struct AnyOrderAttr {
  static constexpr AttributeRow kRow{.key = "any_order",
                                     .says = "atomic updates may come in any order",
                                     .loops = false,
                                     .blocks = true};
  bool operator==(const AnyOrderAttr&) const = default;
  template <class Self, class F>
  static void fields(Self&, F&&) {}
};

// --- of both

/// What the library does not read. The whole key begins with "user.".
struct UserHint {
  static constexpr AttributeRow kRow{.key = "user.",
                                     .says = "what a user notes",
                                     .blocks = true,
                                     .set_by = SetBy::key,
                                     .last = Stage::machine};
  std::string key;
  AttrValue value;

  bool operator==(const UserHint&) const = default;
  template <class Self, class F>
  static void fields(Self& self, F&& f) {
    f(ValueField{"value"}, self.value);
  }
};

/// All of them.
using Attribute = OneOf<UnrollAttr, MaxThreadsAttr, TailAttr, PartitionAttr, PrefetchAttr,
                        HoistAttr, DoubleBufferAttr, RollingAttr, PipelineAttr, PipelineBufferAttr,
                        PipelineStatementAttr, GuardsAttr, StreamAttr, AnyOrderAttr, UserHint>;

const AttributeRow& row_of(const Attribute& a);
inline bool may_carry(ForKind kind, const Attribute& a) {
  return (row_of(a).kinds & kind_bit(kind)) != 0;
}
/// Its row's, or a hint's own.
std::string_view key_of(const Attribute& a);
/// As in the text form: @tail="guard", @prefetch(buffer="A", distance=4, locality=3).
std::string to_text(const Attribute& a);

/// What one loop or block carries, in the order in which it came.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> all) : all_(all) {}

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const Attribute* begin() const { return all_.begin(); }
  const Attribute* end() const { return all_.end(); }

  /// The first of a struct; nullptr: there is none.
  template <class A>
  const A* find() const {
    for (const auto& a : all_)
      if (const A* found = a.as<A>()) return found;
    return nullptr;
  }
  template <class A>
  bool has() const {
    return find<A>() != nullptr;
  }
  bool has(const Attribute& a) const { return contains(all_, a); }

  /// In place of what can't stand beside it.
  void set(Attribute a);
  template <class A>
  void erase() {
    erase_if([](const Attribute& a) { return a.as<A>() != nullptr; });
  }
  template <class Condition>
  void erase_if(Condition condition) {
    all_.erase_if(condition);
  }
  bool operator==(const Attributes&) const = default;

 private:
  Vec<Attribute> all_;
};

namespace detail {

/// Whether a loop or block can't carry both.
bool exclude_each_other(const Attribute& a, const Attribute& b);
/// The attribute with this key, its fields unset. False: there is none for a loop, or a block.
bool attribute_with_key(std::string_view key, bool on_loop, Attribute& out);
/// What may be behind an attribute's key: "a number from 1 to 4096".
std::string form_of(const Attribute& a);
/// Why no attribute of a loop, or of a block, has such a key.
std::string unknown_key(std::string_view key, bool on_loop);
/// Why an attribute of a loop, or of a block, says nothing; empty if it says something.
std::string attribute_problem(const Attribute& a, bool on_loop);
/// Sets the only field from an annotation's value; false: it is of another type, or no such value.
bool set_value(Attribute& a, const AttrValue& value);
/// Those that `annotate` sets, and what they ask for.
std::string annotation_keys();

}  // namespace detail
}  // namespace lathe
