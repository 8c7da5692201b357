// Runs a program on given data: interpreted at any stage, or compiled, with memory that ends, or
// begins, at a page that faults.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/scalar.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/orc.hpp>
#include <lathe/runtime/tile_permission.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "crash.hpp"
#include "memory.hpp"
#include "random_program.hpp"

namespace fuzz {

/// One argument: its view, its bytes as they are at the start, and where a run puts them.
struct Argument {
  DType dtype;
  bool written = false, is_scalar = false;
  std::vector<std::int64_t> extents, strides;
  std::size_t elements = 0;  ///< that the view spans, gaps included
  std::vector<char> bytes;   ///< at the start, all elements of the span
  std::uint64_t scalar = 0;
  std::string name;

  std::size_t byte_count() const {
    return elements * static_cast<std::size_t>(dtype.element_bytes());
  }
};

/// How the elements of floats are chosen.
enum class Data { small_integers, real, special };

/// What a shape is where the Dims have their values; nothing if a text wrote what no generator
/// does.
inline std::optional<std::int64_t> shape_value(const AnyExpr& e, const ComputedProgram& p) {
  if (const auto* c = lathe::as_const_int(e)) return *c;
  if (const auto* v = e.as<lathe::VarNode>())
    for (const auto& [name, value] : p.dims)
      if (name == v->name) return value;
  if (const auto* u = e.as<lathe::UnaryNode>(); u && u->op == lathe::UnaryOp::neg) {
    const auto x = shape_value(u->a, p);
    return x ? std::optional(-*x) : x;
  }
  const auto* b = e.as<lathe::BinaryNode>();
  if (!b) return {};
  const auto x = shape_value(b->a, p), y = shape_value(b->b, p);
  if (!x || !y) return {};
  if (b->op == BinaryOp::mul) return *x * *y;
  if (b->op == BinaryOp::add) return *x + *y;
  if (b->op == BinaryOp::sub) return *x - *y;
  if (b->op == BinaryOp::min) return std::min(*x, *y);
  return {};
}

/// The ends of its range, or a number next to one: what masks and guards are compared with.
inline lathe::detail::Scalar extreme_integer(Random& random, DType t) {
  const int bits = std::min(static_cast<int>(t.bits), 64);
  const std::int64_t low = t.is_unsigned() ? 0 : INT64_MIN >> (64 - bits);
  const std::int64_t high = t.is_unsigned() ? -1 : ~low, near = random.below(3);
  const std::int64_t value = random.chance(50) ? low + near : high - near;
  return lathe::detail::scalar_of(t, lathe::detail::wrap_int(t, value), 0);
}

/// A text may ask for arrays that there are none of, or whose shape nothing here computes.
inline bool has_odd_shape(const ComputedProgram& p) {
  for (const auto& param : p.program->params)
    for (std::size_t d = 0; param.buffer && d < param.buffer->shape.size(); ++d)
      if (shape_value(param.buffer->shape[d], p).value_or(-1) < 0) return true;
  return false;
}

inline lathe::detail::Scalar random_element(Random& random, DType t, Data data) {
  if (t.is_bool()) return lathe::detail::scalar_of(t, random.below(2), 0);
  if (t.is_int()) {
    auto bits = static_cast<std::int64_t>(random.bits());
    if (random.chance(6)) return extreme_integer(random, t);
    bool small = data == Data::small_integers || random.chance(60);
    return lathe::detail::scalar_of(t, lathe::detail::wrap_int(t, small ? bits % 9 : bits), 0);
  }
  double f = 0;
  if (data == Data::small_integers)
    f = random.below(7) - 3;
  else
    f = std::ldexp(static_cast<double>(random.bits() >> 11), -52) * 2 - 2;
  if (data == Data::special && random.chance(15)) {
    static const std::vector<double> odd = {0.0,   -0.0, HUGE_VAL, -HUGE_VAL, NAN,   1e-310,
                                            1e-42, 3e38, -65504.0, 1e19,      -300.5};
    f = random.pick(odd);
  }
  return lathe::detail::scalar_of(t, 0, f);
}

/// The arguments of a program's parameters: random values, sometimes with gaps between rows.
inline std::vector<Argument> make_arguments(Random& random, const ComputedProgram& p, Data data) {
  std::vector<Argument> all;
  for (const auto& param : p.program->params) {
    Argument a;
    a.dtype = param.dtype(), a.written = param.access != lathe::Access::in, a.name = param.name();
    a.is_scalar = !param.buffer;
    if (a.is_scalar) {
      lathe::detail::write_element(a.dtype, reinterpret_cast<char*>(&a.scalar),
                                   random_element(random, a.dtype, data));
      all.push_back(std::move(a));
      continue;
    }
    for (const auto& e : param.buffer->shape) a.extents.push_back(shape_value(e, p).value());
    bool gaps = random.chance(25), empty = false;
    std::int64_t stride = 1, last = 0;
    a.strides.resize(a.extents.size());
    for (std::size_t k = a.extents.size(); k-- > 0;) {
      a.strides[k] = stride;
      empty = empty || a.extents[k] == 0;
      last += (a.extents[k] - 1) * stride;
      stride = stride * std::max<std::int64_t>(1, a.extents[k]) + (gaps ? random.below(4) : 0);
    }
    a.elements = empty ? 0 : static_cast<std::size_t>(last) + 1;
    a.bytes.resize(a.byte_count());
    for (std::size_t k = 0; k < a.elements; ++k)
      lathe::detail::write_element(
          a.dtype, a.bytes.data() + k * static_cast<std::size_t>(a.dtype.element_bytes()),
          random_element(random, a.dtype, data));
    all.push_back(std::move(a));
  }
  return all;
}

/// Whether all are row-major without gaps.
inline bool without_gaps(const std::vector<Argument>& args) {
  for (const Argument& a : args) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : a.extents) elements *= extent;
    if (!a.is_scalar && static_cast<std::int64_t>(a.elements) != elements) return false;
  }
  return true;
}

/// Whether the last two axes of all that have three lie behind each other.
inline bool has_dense_pixels(const std::vector<Argument>& args) {
  return std::all_of(args.begin(), args.end(), [](const Argument& a) {
    const std::size_t rank = a.extents.size();
    return rank < 3 || a.extents[rank - 2] <= 1 || a.strides[rank - 2] == a.extents[rank - 1];
  });
}

inline bool is_parallel(const lathe::Program& lowered) {
  return lathe::any_statement(lowered->body, [](const lathe::Stmt& s) {
    const auto* f = s.as<lathe::ForNode>();
    return f && f->loop_kind == lathe::ForKind::parallel;
  });
}

/// The target without tile registers where the system refuses them: `jit` would ask, but code is
/// made here without it.
inline lathe::Target permitted(const lathe::Target& target) {
  std::string reason;
  return !target.has("amx-tile") || lathe::permit_tiles(reason) ? target
                                                                : target.without("amx-tile");
}

/// The bytes of each written argument after a run; empty for the others.
using Results = std::vector<std::vector<char>>;

/// The slots of calls, one for each Place of the arrays.
struct Slots {
  std::vector<std::uint64_t> end, front;
  const std::uint64_t* at(Place place) const {
    return place == Place::end ? end.data() : front.data();
  }
};

/// Memory for the arguments of a call, used again by every run.
class Machine {
 public:
  /// Uses each LLVM that this machine has.
  Machine() {
    for (const char* major : {"16", "19", "22"})
      if (const auto* llvm = lathe::Llvm::find(major))
        backs_.push_back({llvm, lathe::Jit::make(*llvm)});
    if (backs_.empty())
      backs_.push_back({&lathe::Llvm::get(), lathe::Jit::make(lathe::Llvm::get())});
  }
  int backs() const { return static_cast<int>(backs_.size()); }
  const lathe::Llvm& llvm(int back) const { return *backs_[static_cast<std::size_t>(back)].llvm; }

  Results interpret(const lathe::Program& program, const Slots& slots,
                    const std::vector<Argument>& args, bool find_uninitialized,
                    Place at = Place::end) {
    place(args, at);
    lathe::EvaluatorOptions options;
    options.find_uninitialized = find_uninitialized;
    survive("the evaluator",
            [&] { lathe::Evaluator(program, options).run(slots.at(at), context_); });
    return collect(args, at);
  }

  /// What the code gives with its arrays at each place, and if it has parallel loops, with their
  /// iterations in the other order.
  std::vector<Results> compiled(const lathe::Program& program, const lathe::Target& target,
                                int back, const Slots& slots, const std::vector<Argument>& args,
                                bool parallel) {
    const Back& with = backs_[static_cast<std::size_t>(back)];
    std::string symbol = "fuzz_" + std::to_string(serial_++);
    lathe::LlvmKernel kernel = lathe::emit_llvm(program, target, with.llvm->major(), symbol);
    if (kernel.slots.size() != slots.end.size())
      throw Failure("slots", "code and binding disagree on the number of slots");
    std::vector<char> object = lathe::compile_to_object(*with.llvm, kernel.text, target);
    auto loaded = with.jit->load(object, kernel.symbol);
    return results_of(loaded->entry(), slots, args, parallel);
  }
  std::vector<Results> results_of(lathe::KernelEntry entry, const Slots& slots,
                                  const std::vector<Argument>& args, bool parallel) {
    auto run = [&](const lathe::Context& host, Place at) {
      place(args, at);
      lathe::CallFrame frame(host);
      std::int32_t status = 0;
      survive("the code", [&] { status = entry(slots.at(at), frame.rt()); });
      if (status != 0) throw Failure("status", "the kernel returned " + std::to_string(status));
      return collect(args, at);
    };
    std::vector<Results> all{run(context_, Place::end), run(context_, Place::front)};
    if (parallel) all.push_back(run(backwards_, Place::end));
    return all;
  }

  Results called(const lathe::AnyKernel& kernel, const std::vector<Argument>& args) {
    place(args, Place::end);
    const std::vector<lathe::CallArg> call = call_of(args, Place::end);
    survive("the kernel", [&] { kernel.call(call.data()); });
    return collect(args, Place::end);
  }

  /// The slots of a call; what they point to is filled by each run.
  Slots slots_for(const lathe::Program& program, const std::vector<Argument>& args) {
    if (blocks_.size() < args.size()) blocks_.resize(args.size());
    for (std::size_t k = 0; k < args.size(); ++k)
      if (std::size_t size = GuardedBlock::size_for(args[k].byte_count());
          !blocks_[k] || blocks_[k]->size() != size)
        blocks_[k] = std::make_unique<GuardedBlock>(size);
    return {slots_at(program, args, Place::end), slots_at(program, args, Place::front)};
  }

 private:
  std::vector<std::uint64_t> slots_at(const lathe::Program& program,
                                      const std::vector<Argument>& args, Place at) {
    std::vector<int> order;
    for (std::size_t k = 0; k < args.size(); ++k) order.push_back(static_cast<int>(k));
    const std::vector<lathe::CallArg> call = call_of(args, at);
    lathe::Binding binding(program, order);
    std::vector<std::uint64_t> slots(static_cast<std::size_t>(binding.slots()));
    binding.bind(call.data(), slots.data(), lathe::Location::here());
    return slots;
  }
  std::vector<lathe::CallArg> call_of(const std::vector<Argument>& args, Place at) {
    std::vector<lathe::CallArg> call;
    for (std::size_t k = 0; k < args.size(); ++k)
      call.push_back(
          {start(args, k, at), args[k].extents.data(), args[k].strides.data(), args[k].scalar});
    return call;
  }
  char* start(const std::vector<Argument>& args, std::size_t k, Place at) {
    return blocks_[k]->room() + (at == Place::end ? blocks_[k]->size() - args[k].byte_count() : 0);
  }
  void place(const std::vector<Argument>& args, Place at) {
    for (std::size_t k = 0; k < args.size(); ++k) {
      std::memset(blocks_[k]->room(), 0x5a, blocks_[k]->size());
      if (!args[k].bytes.empty())
        std::memcpy(start(args, k, at), args[k].bytes.data(), args[k].bytes.size());
    }
  }
  Results collect(const std::vector<Argument>& args, Place at) {
    Results out(args.size());
    for (std::size_t k = 0; k < args.size(); ++k) {
      const char *begin = start(args, k, at), *room = blocks_[k]->room();
      std::size_t size = args[k].byte_count();
      if (!untouched(room, begin) || !untouched(begin + size, room + blocks_[k]->size()))
        throw Failure("stray write", "memory beside '" + args[k].name + "' was written");
      if (args[k].written)
        out[k].assign(begin, begin + size);
      else if (size > 0 && std::memcmp(begin, args[k].bytes.data(), size) != 0)
        throw Failure("stray write", "input '" + args[k].name + "' was written");
    }
    return out;
  }

  static bool untouched(const char* from, const char* to) {
    return from == to ||
           (*from == 0x5a &&
            std::memcmp(from, from + 1, static_cast<std::size_t>(to - from) - 1) == 0);
  }

  struct Back {
    const lathe::Llvm* llvm;
    lathe::Ref<lathe::Jit> jit;
  };

  lathe::Context context_{host_options(false)}, backwards_{host_options(true)};
  std::vector<Back> backs_;
  int serial_ = 0;
  std::vector<std::unique_ptr<GuardedBlock>> blocks_;
};

inline double as_double(DType t, lathe::detail::Scalar s) {
  return t == lathe::kF64 ? s.f
         : t.is_float()   ? static_cast<double>(s.s)
                          : static_cast<double>(s.i);
}

inline double largest_finite(DType t) {
  if (t == lathe::kE4M3) return 448;
  if (t == lathe::kE5M2) return 57344;
  return t == lathe::kF16 ? 65504 : t == lathe::kF64 ? DBL_MAX : FLT_MAX;
}

/// Throws a Failure unless the results agree: to the bit (NaNs are alike), or within a bound per
/// element.
inline void compare(const std::vector<Argument>& args, const Results& want, const Results& got,
                    const std::string& what, const Results* magnitude = nullptr,
                    double relative = 0) {
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (!args[k].written) continue;
    DType t = args[k].dtype;
    auto size = static_cast<std::size_t>(t.element_bytes());
    for (std::size_t e = 0; e < args[k].elements; ++e) {
      auto x = lathe::detail::read_element(t, want[k].data() + e * size),
           y = lathe::detail::read_element(t, got[k].data() + e * size);
      if (std::memcmp(want[k].data() + e * size, got[k].data() + e * size, size) == 0) continue;
      double a = as_double(t, x), b = as_double(t, y);
      if (t.is_float()) {
        if (std::isnan(a) && std::isnan(b)) continue;
        if (magnitude) {
          double m =
              as_double(t, lathe::detail::read_element(t, (*magnitude)[k].data() + e * size));
          if (!std::isfinite(m) || std::fabs(a - b) <= relative * m + 1e-30) continue;
          // A bound that reaches past the largest number allows one of the two to overflow.
          const bool overflow = std::isfinite(a) != std::isfinite(b);
          if (overflow && (1 + relative) * m > largest_finite(t)) continue;
        }
      }
      throw Failure(what, what + ": element " + std::to_string(e) + " of '" + args[k].name + "' (" +
                              t.str() + ") is " + std::to_string(b) + ", should be " +
                              std::to_string(a));
    }
  }
}

}  // namespace fuzz
