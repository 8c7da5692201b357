// The arguments of a call: their checks, and the slots that a kernel reads.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/jit/call_check.hpp>
#include <lathe/lower/gaps.hpp>
#include <lathe/runtime/view.hpp>
#include <lathe/support/error.hpp>
#include <lathe/support/kernel.hpp>
#include <lathe/support/slot_layout.hpp>
#include <lathe/support/vec.hpp>
#include <span>

namespace lathe {

/// What every call of a program checks, and where its arguments go; made once per kernel.
/// A call costs a few compares per axis and allocates nothing.
class Binding : public RefCounted {
 public:
  static constexpr int kStackSlots = 64;
  /// Arguments of which the overlap is looked for one by one.
  static constexpr int kFewArgs = 8;

  /// `order[k]` is the parameter that the k-th argument of a call is for. Parameters without
  /// declared strides are row-major with the strides of the view.
  Binding(const Program& program, Vec<int> order);

  /// slot_layout(program).
  const SlotLayout& layout() const { return layout_; }
  /// Slots that a call needs.
  int slots() const { return static_cast<int>(layout_.size()); }
  /// Those that arguments fill: all but the last ones, which are of constants.
  int arg_slots() const { return arg_slots_; }
  int args() const { return static_cast<int>(args_.size()); }
  /// Checks the arguments, one after the other, and fills the slots of layout().
  /// L0302 extent · L0303 two extents that must agree · L0304 bounds of a Dim · L0305 stride ·
  /// L0306 null pointer · L0307 alignment · L0308 overlap · L0309 an output whose elements share
  /// memory · L0314 more bytes than there can be
  void bind(const CallArg* args, std::uint64_t* slots, Location where) const {
    Failure failure;
    if (!check(args, slots, failure)) fail(failure, args, slots, where);
  }
  /// Both bind() and dense() of the usual call, in half the time: views without gaps or, if
  /// declared, of numbers; none is empty. False: another call, or none that is legal.
  bool bind_dense(const CallArg* args, std::uint64_t* slots) const;
  /// Whether calls choose a stride that their extents do not: then code for dense arguments can't
  /// take every call.
  bool opens_strides() const { return !open_args_.empty(); }
  /// Whether such arguments are row-major without gaps, after they were bound. The stride of an
  /// axis with at most one element means nothing.
  bool dense(const CallArg* args) const {
    for (const int a : open_args_)
      if (sparse_axis(a, args[a]) >= 0) return false;
    return true;
  }
  /// The gaps of arguments that are not dense, after they were bound: the narrowest kind.
  Gaps gaps(const CallArg* args) const;
  /// All that arguments can have.
  std::span<const Gaps> gaps_of_views() const;
  /// "'A' has stride 40 on axis 0, where 32 is dense", of the first that is not.
  std::string describe_sparse(const CallArg* args) const;
  /// Views that are known to pass, as a list of numbers (dense_call.hpp): for each argument the
  /// bits that its address must not have, its bytes, and for each axis extent and stride. Null
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
  using CallError = detail::CallError;
  using ArgBytes = detail::ArgBytes;
  struct Arg {
    int param = 0;
    int slot = 0;
    int rank = 0;  ///< -1: a scalar
    int element_bytes = 1;
    std::uintptr_t alignment_mask = 0;
    bool written = false;
    int first_axis = 0;  ///< in axes_
  };
  /// A rule whose mode is `later`.
  struct General {
    int arg = 0, axis = 0;
    bool of_stride = false;
    AnyExpr value;
  };
  struct Failure {
    CallError error = CallError::none;
    int arg = 0;    ///< temporary: which of sizes_
    int other = 0;  ///< extent, stride: the axis · overlap: the other argument
  };
  /// A buffer whose size follows from dims.
  struct Sized {
    const std::string* name;
    Vec<AnyExpr> shape;
  };

  struct VarSlot {
    const VarNode* var;
    int slot;
  };
  /// Null: no slot has it. Programs have a few Dims and strides.
  const int* slot_of(const VarNode& var) const;

  bool has_pixels() const;
  /// The innermost axis whose stride leaves a gap or is not row-major; -1: none.
  int sparse_axis(int arg, const CallArg& given) const {
    std::uint64_t pitch = 1;
    int found = -1;
    for (int d = arg_at(arg).rank; d-- > 0;) {
      const std::int64_t extent = given.extents[d];
      if (extent == 0) return -1;
      if (found < 0 && extent != 1 && static_cast<std::uint64_t>(given.strides[d]) != pitch)
        found = d;
      pitch *= static_cast<std::uint64_t>(extent);
    }
    return found;
  }
  void add_slots();
  void add_arg(int param);
  void add_extent_rules(int arg);
  void add_stride_rules(int arg);
  static AnyExpr declared_stride(const BufferNode& b, int axis);
  detail::NumberRule rule_of(const AnyExpr& e, General place);
  void bound_dim(detail::NumberRule& rule) const;
  void add_dense_plan();
  bool add_dense(int arg, std::uint64_t* slots);
  /// No product of extents may wrap: what is then allocated would be smaller than what is written.
  void add_sizes();

  // These say what is wrong where they give false.
  bool check(const CallArg* given, std::uint64_t* slots, Failure& failure) const;
  bool check_arg(int arg, const CallArg& given, std::uint64_t* slots, ArgBytes& bytes,
                 Failure& failure) const;
  /// The first axis whose extent is none that passes; -1: all do, and are in their slots.
  int wrong_extent(const Arg& arg, const CallArg& given, std::uint64_t* slots) const;
  bool check_later(const CallArg* given, const std::uint64_t* slots, Failure& failure) const;
  bool check_overlap(const CallArg* given, const ArgBytes* bytes, Failure& failure) const;
  bool interleaved(int a, const CallArg& x, int b, const CallArg& y) const;
  std::int64_t value_of(const AnyExpr& e, const std::uint64_t* slots) const;
  bool fits_memory(const Sized& s, const std::uint64_t* slots) const;
  bool dims_are_small(const std::uint64_t* slots) const {
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < program_->dims.size(); ++k) all |= slots[first_dim_ + k];
    return small_bits_ >= 0 && all >> small_bits_ == 0;
  }

  [[noreturn]] void fail(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                         Location where) const;
  [[noreturn]] void fail_extent(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                                Location where) const;
  [[noreturn]] void fail_stride(const Failure& f, const CallArg* args, const std::uint64_t* slots,
                                Location where) const;
  [[noreturn]] void fail_memory(const Failure& f, Location where) const;
  const Arg& arg_at(int arg) const { return args_[static_cast<std::size_t>(arg)]; }
  detail::AxisRule& axis_at(int arg, int axis) {
    return axes_[static_cast<std::size_t>(arg_at(arg).first_axis + axis)];
  }
  const detail::AxisRule& axis_at(int arg, int axis) const {
    return axes_[static_cast<std::size_t>(arg_at(arg).first_axis + axis)];
  }
  const std::string& arg_name(int arg) const { return param_of(arg).name(); }

  Program program_;
  SlotLayout layout_;
  Vec<Arg> args_;
  Vec<detail::AxisRule> axes_;
  Vec<General> later_;
  Vec<Sized> sizes_;
  Vec<std::int64_t> dense_plan_;
  Vec<int> param_slots_;    ///< of addresses and scalars
  Vec<int> open_args_;      ///< whose outer strides calls choose
  Vec<int> open_strides_;   ///< by parameter: the slot of its first stride, where it declares none
  Vec<VarSlot> var_slots_;  ///< dims, strides
  Vec<int> set_by_;         ///< per slot: the argument that sets it, or -1
  std::size_t first_dim_ = 0;
  int arg_slots_ = 0;
  bool simple_ = false;  ///< bind_dense() can do
  /// With dims of at most so many bits no size overflows; -1: look each time.
  int small_bits_ = 63;
};

}  // namespace lathe
