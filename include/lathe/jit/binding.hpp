// The arguments of a call: their checks, and the slots that a kernel reads.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/runtime/view.hpp>
#include <lathe/support/dense_map.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/vec.hpp>
#include <span>

namespace lathe {

/// One argument: a view's pointer, extents and strides (in elements), or a scalar's bits.
struct CallArg {
  void* data = nullptr;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;
  std::uint64_t scalar = 0;
};

/// What every call of a program checks, and where its arguments go; made once per kernel.
/// A call costs a few compares per axis and allocates nothing.
class Binding : public RefCounted {
 public:
  static constexpr int kStackSlots = 64;
  /// What simplification takes a Dim to be at most (Facts).
  static constexpr std::int64_t kLargestDim = std::int64_t{1} << 40;

  /// `order[k]` is the parameter that the k-th argument of a call is for. Parameters without
  /// declared strides are row-major with the strides of the view.
  Binding(const Program& program, Vec<int> order);

  /// Slots that a call needs.
  int slots() const { return slot_count_; }
  int args() const { return static_cast<int>(args_.size()); }
  /// Checks the arguments and fills the slots as kernel_slots(open_strides(program)) lays them out.
  /// L0302 extent · L0303 two extents that must agree · L0304 bounds of a Dim · L0305 stride ·
  /// L0306 null pointer · L0307 alignment · L0308 overlap · L0309 an output whose elements share
  /// memory · L0314 more bytes than there can be
  void bind(const CallArg* args, std::uint64_t* slots, Location where) const {
    if (!fill_fast(args, slots)) diagnose(args, slots, where);
  }
  /// What the usual call is compared with, as a list of numbers (dense_call.hpp): for each argument
  /// the bits that its address must not have, its bytes, and for each axis extent and stride. Null
  /// unless arguments are the parameters in order, every extent is a number and no stride is
  /// declared.
  const std::int64_t* dense_plan() const {
    return dense_plan_.empty() ? nullptr : dense_plan_.data();
  }
  const Program& program() const { return program_; }
  const Param& param_of(int arg) const {
    return program_->params[static_cast<std::size_t>(args_[static_cast<std::size_t>(arg)].param)];
  }

 private:
  enum class Check : std::uint8_t {
    none,
    extent,
    extent_same,
    extent_expr,
    dim,
    stride,
    stride_same,
    stride_expr,
    temporary,
    null,
    alignment,
    too_large,
    self_overlap,
    overlap
  };
  /// One comparison: of an extent or stride with a number, or with what a slot has received before.
  struct Rule {
    Check kind = Check::none;
    std::uint8_t axis = 0;
    std::uint16_t arg = 0;
    std::uint16_t slot = 0;  ///< that is compared with, or set
    bool sets = false;
    std::int64_t value = 0;    ///< constant · dim: smallest
    std::int64_t largest = 0;  ///< dim
    std::int64_t multiple = 1;
    AnyExpr expr;
    int first_arg = 0;  ///< who set the slot, for messages
  };
  struct Arg {
    int param = 0;
    int slot = 0;
    int rank = 0;  ///< -1: a scalar
    int element_bytes = 1;
    std::uintptr_t alignment_mask = 0;
    bool written = false;
    int first_axis = 0;  ///< in axes_
  };
  /// The rules of one axis as the fast path wants them; `later` stands for a general expression.
  struct Axis {
    enum Mode : std::uint8_t { number, sets, same, later };
    Mode extent = later, stride = later;
    std::uint16_t extent_slot = 0, stride_slot = 0;
    std::int64_t extent_value = 0, stride_value = 0;
  };
  struct Failure {
    Check kind = Check::none;
    int rule = 0;   ///< or the argument, from null on
    int other = 0;  ///< overlap: the other argument
  };
  /// The bytes that a view may touch, and whether two of its indices may name one element.
  struct Bytes {
    std::uintptr_t begin = 0, end = 0;
    bool self_overlap = false;
    bool too_large = false;
  };
  /// A buffer whose size follows from dims.
  struct Sized {
    const std::string* name;
    Vec<AnyExpr> shape;
  };

  void lay_out_slots(Vec<Rule>& open);
  void add_arg(int index);
  void add_extent_rules(int arg, const BufferNode& b);
  void add_stride_rules(int arg, const BufferNode& b);
  void add_value_rule(Rule rule, const AnyExpr& e, Check constant, Check same, Check general);
  int var_slot(const VarNode& var) const;
  std::int64_t value_of(const AnyExpr& e, const std::uint64_t* slots) const;

  void add_axis(int rule);
  void add_dense_plan();
  bool add_dense(const Arg& arg);
  /// No product of extents may wrap: what is then allocated would be smaller than what is written.
  void add_sizes();
  bool fits_memory(const Sized& s, const std::uint64_t* slots) const;
  bool dims_are_small(const std::uint64_t* slots) const {
    std::uint64_t all = 0;
    for (int k = 0; k < dim_count_; ++k) all |= slots[first_dim_ + k];
    return small_bits_ >= 0 && all >> small_bits_ == 0;
  }
  /// Everything in one pass over the axes; false where something is wrong or takes a closer look.
  bool fill_fast(const CallArg* args, std::uint64_t* slots) const;
  bool take(const Arg& arg, const CallArg& given, std::uint64_t* slots, std::uintptr_t& begin,
            std::uintptr_t& end) const;
  /// Checks one rule, or sets its slot.
  bool holds(const Rule& r, const CallArg* args, std::uint64_t* slots) const;
  /// The same rule by rule, and says which one does not hold, if any.
  void diagnose(const CallArg* args, std::uint64_t* slots, Location where) const;
  Failure fill(const CallArg* args, std::uint64_t* slots) const;
  Failure check_memory(const CallArg* args) const;
  Bytes bytes_of(const Arg& arg, const CallArg& given) const;
  static bool interleaved(const Arg& a, const CallArg& x, const Arg& b, const CallArg& y);
  [[noreturn]] void fail(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                         Location where) const;
  [[noreturn]] void fail_extent(const Rule& r, const CallArg* args, const std::uint64_t* slots,
                                Location where) const;
  [[noreturn]] void fail_stride(const Rule& r, const CallArg* args, const std::uint64_t* slots,
                                Location where) const;
  [[noreturn]] void fail_memory(const Failure& f, const CallArg* args, Location where) const;
  const std::string& arg_name(int arg) const { return param_of(arg).name(); }

  Program program_;
  Vec<Arg> args_;
  Vec<Rule> rules_;
  Vec<Axis> axes_;
  Vec<int> later_;  ///< rules that need more than a compare: bounds of dims, general expressions
  Vec<std::int64_t> dense_plan_;
  Vec<int> param_slots_;
  static constexpr std::size_t kFewVars = 16;
  Vec<std::pair<const VarNode*, int>> var_slots_;  ///< dims, strides
  NodeMap<int> many_slots_;                        ///< the same, for more than a few
  Vec<int> set_by_;                                ///< per slot: the argument that sets it, or -1
  int slot_count_ = 0;
  Vec<Sized> sizes_;
  int first_dim_ = 0, dim_count_ = 0;
  /// With dims of at most so many bits each is legal and no size overflows; -1: look each time.
  int small_bits_ = 40;
};

}  // namespace lathe
