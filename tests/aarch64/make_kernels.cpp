// Kernels for AArch64, with what calls of them are given and what they have to give: into FOLDER go
// an object for each, calls.h, which names them, and data.bin. call_kernels.c runs them.
//
//   aarch64_kernels FOLDER [--cases N] [--seed S]
#include <cstdio>
#include <fstream>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lathe.hpp>
#include <lathe/lower/pipeline.hpp>

#include "../fuzz/execution.hpp"
#include "../fuzz/random_schedule.hpp"
#include "../fuzz/work.hpp"

namespace aarch64 {

using fuzz::Argument;
using fuzz::Random;

/// The text of calls.h grows with each call, data.bin by the bytes that it reads.
class Calls {
 public:
  explicit Calls(std::string folder)
      : folder_(std::move(folder)),
        header_(folder_ + "/calls.h"),
        data_(folder_ + "/data.bin", std::ios::binary) {}

  /// A program at Stage::machine for the target, called with these arguments: it has to give what
  /// `meant` does.
  void add(const lathe::Program& machine, const lathe::Program& meant, const lathe::Target& target,
           const std::string& name, const std::vector<Argument>& args,
           const std::vector<std::pair<std::string, std::int64_t>>& dims) {
    const lathe::Llvm& llvm = lathe::Llvm::get();
    const std::string symbol = "kernel_" + std::to_string(count_);
    const lathe::LlvmKernel kernel = lathe::emit_llvm(machine, target, llvm.major(), symbol);
    std::vector<std::vector<char>> memory;
    for (const Argument& a : args) memory.push_back(a.bytes);
    std::vector<std::uint64_t> slots;
    std::string text;
    for (const lathe::CallSlot& slot : kernel.slots) {
      const auto param = static_cast<std::size_t>(slot.param);
      std::uint64_t value = 0;
      if (slot.kind == lathe::CallSlot::Kind::buffer) value = lathe::to_slot(memory[param].data());
      if (slot.kind == lathe::CallSlot::Kind::stride)
        value = lathe::to_slot(args[param].strides[static_cast<std::size_t>(slot.index)]);
      if (slot.kind == lathe::CallSlot::Kind::scalar) value = args[param].scalar;
      for (const auto& [dim, size] : dims)
        if (slot.kind == lathe::CallSlot::Kind::dim && dim == slot.name)
          value = lathe::to_slot(size);
      slots.push_back(value);
    }
    lathe::Evaluator(meant).run(slots.data());
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const lathe::CallSlot& slot = kernel.slots[k];
      if (slot.kind != lathe::CallSlot::Kind::buffer) {
        text += "{0, 0, " + std::to_string(slots[k]) + "u, 0, 0}, ";
        continue;
      }
      const Argument& a = args[static_cast<std::size_t>(slot.param)];
      const std::size_t before = put(a.bytes);
      const std::size_t after =
          a.written ? put(memory[static_cast<std::size_t>(slot.param)]) : before;
      text += "{" + std::to_string(1 + a.written) + ", " + nan_of(a.dtype) + ", " +
              std::to_string(a.byte_count()) + "u, " + std::to_string(before) + "u, " +
              std::to_string(after) + "u}, ";
    }
    const std::vector<char> object = lathe::compile_to_object(llvm, kernel.text, target);
    std::ofstream(folder_ + "/" + symbol + ".o", std::ios::binary)
        .write(object.data(), static_cast<std::streamsize>(object.size()));
    header_ << "extern int32_t " << symbol << "(const uint64_t*, struct Runtime*);\n"
            << "static const struct Slot slots_" << count_ << "[] = {" << text << "{0}};\n";
    table_ += "  {\"" + name + "\", " + symbol + ", slots_" + std::to_string(count_) + ", " +
              std::to_string(slots.size()) + "},\n";
    ++count_;
  }

  void finish() { header_ << "static const struct Call calls[] = {\n" << table_ << "};\n"; }
  int count() const { return count_; }

 private:
  std::size_t put(const std::vector<char>& bytes) {
    const std::size_t at = size_;
    data_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    size_ += bytes.size();
    return at;
  }
  /// How call_kernels.c knows a NaN, whose bits nobody promises.
  static std::string nan_of(lathe::DType t) {
    if (!t.is_float()) return "any_bits";
    return t == lathe::kF64    ? "f64"
           : t == lathe::kF32  ? "f32"
           : t == lathe::kF16  ? "f16"
           : t == lathe::kBF16 ? "bf16"
           : t == lathe::kE4M3 ? "e4m3"
                               : "e5m2";
  }

  std::string folder_, table_;
  std::ofstream header_, data_;
  std::size_t size_ = 0;
  int count_ = 0;
};

inline const std::vector<lathe::Target>& targets() {
  static const std::vector<lathe::Target> all = {
      lathe::Target("aarch64"), lathe::Target("neoverse-n1"),
      lathe::Target("neoverse-n1").with("i8mm").with("bf16"), lathe::Target("neoverse-v1")};
  return all;
}

/// A program without Dims for each target, with arguments of all kinds.
inline void add_everywhere(Calls& calls, const std::string& text, const std::string& name,
                           std::uint64_t seed) {
  fuzz::ComputedProgram computed;
  computed.program = lathe::parse(text);
  const lathe::Program open = lathe::open_strides(computed.program);
  for (const lathe::Target& target : targets())
    for (int draw = 0; draw < 6; ++draw) {
      Random random(seed + static_cast<std::uint64_t>(draw));
      const auto data = draw % 2 == 0 ? fuzz::Data::special : fuzz::Data::real;
      calls.add(lathe::lower(computed.program, target), open, target, name + " for " + target.str(),
                fuzz::make_arguments(random, computed, data), {});
    }
}

/// Rows of tensor_intrins() but those of tiles, which need their place, with the instruction and
/// without: each by itself, its operands as they are in the row. And several at once, with signs
/// in the other order.
inline void add_rows(Calls& calls, std::uint64_t seed) {
  for (const lathe::TensorIntrin& row : lathe::tensor_intrins())
    if (row.features[0].find("amx") != 0) add_everywhere(calls, row.implementation, row.name, seed);
  for (const char* call : {"dot4", "mat_dot8"}) {
    const std::string of =
        std::string(call) + "(S[ramp(0, 1, 12)], A[ramp(0, 1, 48)], B[ramp(0, 1, 48)])";
    add_everywhere(calls,
                   "program k(in S: i32[12], in A: i8[48], in B: u8[48], out R: i32[12]):\n"
                   "  R[ramp(0, 1, 12)] = " +
                       of + "\n",
                   of, seed);
  }
}

/// A program under the default schedule, or a random one; none where it cannot be scheduled.
inline lathe::Program scheduled(Random& random, const fuzz::ComputedProgram& computed,
                                const lathe::Target& target) {
  lathe::Schedule s(computed.program);
  try {
    if (random.chance(50)) return lathe::default_schedule(computed.program, target).program();
    fuzz::Counts counts;
    fuzz::ScheduleMaker maker(random, counts, computed.dims, computed.focus);
    for (int k = random.below(14); k > 0; --k) maker.step(s);
  } catch (const lathe::UserError&) {
  }
  return s.program();
}

/// A program of the fuzzer, lowered: its own tests have what lowering may make of it. False where
/// there is none.
inline bool add_random(Calls& calls, std::uint64_t seed, const std::string& name) {
  Random random(seed);
  fuzz::case_name = name;
  fuzz::ComputedProgram computed;
  lathe::Program machine;
  const auto& target = random.pick(targets());
  try {
    computed = fuzz::random_program(random, "");
    if (!computed.program || computed.loose || computed.untrue || fuzz::has_odd_shape(computed) ||
        fuzz::Work(computed.program, computed.dims).nodes() > 2e6)
      return false;
    machine = lathe::lower(scheduled(random, computed, target), target);
  } catch (const lathe::UserError& error) {
    // A Dim that no argument has, too large a value; too large, or tiles out of sight.
    for (const char* id : {"L0114", "L0124", "L0601", "L0606"})
      if (error.id() == id) return false;
    throw;
  }
  const auto data = static_cast<fuzz::Data>(random.below(3));
  calls.add(machine, machine, target, name, fuzz::make_arguments(random, computed, data),
            computed.dims);
  return true;
}

}  // namespace aarch64

int main(int count, char** words) {
  int cases = 100;
  std::uint64_t seed = 1;
  for (int k = 2; k + 1 < count; k += 2) {
    if (std::string(words[k]) == "--cases") cases = std::atoi(words[k + 1]);
    if (std::string(words[k]) == "--seed") seed = std::strtoull(words[k + 1], nullptr, 10);
  }
  if (count < 2) return std::fputs("aarch64_kernels FOLDER [--cases N] [--seed S]\n", stderr), 2;
  aarch64::Calls calls(words[1]);
  aarch64::add_rows(calls, seed);
  for (std::uint64_t k = 0; cases > 0; ++k)
    cases -= aarch64::add_random(calls, seed * 1000003 + k,
                                 "case " + std::to_string(k) + " of seed " + std::to_string(seed));
  calls.finish();
  std::printf("%d kernels, seed %llu\n", calls.count(), static_cast<unsigned long long>(seed));
}
