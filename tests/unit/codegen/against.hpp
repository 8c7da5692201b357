// Runs a program as machine code and in the evaluator on the same data, and compares every byte.
#pragma once

#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/narrow.hpp>
#include <limits>
#include <support/capture.hpp>

#include "../../support/sanitized.hpp"
#include "kernels.hpp"

namespace test {

/// Memory of one buffer parameter.
struct Bytes {
  std::vector<unsigned char> data;

  template <class T>
  static Bytes of(const std::vector<T>& values) {
    Bytes b;
    b.data.resize(values.size() * sizeof(T));
    std::memcpy(b.data.data(), values.data(), b.data.size());
    return b;
  }
  template <class T>
  std::vector<T> as() const {
    std::vector<T> values(data.size() / sizeof(T));
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
};

inline std::vector<std::uint64_t> slots_of(std::vector<Bytes>& buffers,
                                           const std::vector<std::uint64_t>& rest) {
  std::vector<std::uint64_t> slots;
  for (auto& b : buffers) slots.push_back(lt::to_slot(b.data.data()));
  slots.insert(slots.end(), rest.begin(), rest.end());
  return slots;
}

/// A NaN's bits are nobody's promise: all become one.
inline void unify_nans(const lt::Program& program, std::vector<Bytes>& buffers) {
  auto unify = [](Bytes& b, auto nan) {
    auto value = nan;
    for (std::size_t at = 0; at + sizeof value <= b.data.size(); at += sizeof value) {
      std::memcpy(&value, b.data.data() + at, sizeof value);
      if (static_cast<double>(value) != static_cast<double>(value))
        std::memcpy(b.data.data() + at, &nan, sizeof nan);
    }
  };
  std::size_t next = 0;
  for (const auto& param : program->params) {
    if (!param.buffer) continue;
    Bytes& b = buffers[next++];
    if (param.dtype() == lt::kF32) unify(b, std::numeric_limits<float>::quiet_NaN());
    if (param.dtype() == lt::kF64) unify(b, std::numeric_limits<double>::quiet_NaN());
    if (param.dtype() == lt::kF16) unify(b, lt::f16(std::numeric_limits<float>::quiet_NaN()));
    if (param.dtype() == lt::kBF16) unify(b, lt::bf16(std::numeric_limits<float>::quiet_NaN()));
    if (param.dtype() == lt::kE4M3) unify(b, lt::f8e4m3(std::numeric_limits<float>::quiet_NaN()));
    if (param.dtype() == lt::kE5M2) unify(b, lt::f8e5m2(std::numeric_limits<float>::quiet_NaN()));
  }
}

/// What the evaluator leaves in the buffers.
inline std::vector<Bytes> evaluated(const lt::Program& program, std::vector<Bytes> buffers,
                                    const std::vector<std::uint64_t>& rest = {}) {
  lt::Evaluator(program).run(slots_of(buffers, rest).data());
  unify_nans(program, buffers);
  return buffers;
}

/// Each LLVM; but one if a sanitizer looks on: none looks into them, and most of the time is
/// theirs.
inline std::vector<const lt::Llvm*> compared_llvms() {
  std::vector<const lt::Llvm*> found = llvms();
  if (is_brief() && found.size() > 1) found.resize(1);
  return found;
}

/// A program as machine code of each LLVM, to be called with several data.
class Compared {
 public:
  explicit Compared(lt::Program program, const lt::Target& target = lt::host())
      : program_(std::move(program)) {
    for (const auto* llvm : compared_llvms())
      kernels_.emplace_back(llvm->major(), Kernel(program_, *llvm, target));
  }

  /// What the code leaves in the buffers, which must be what the evaluator does. Gives it back.
  std::vector<Bytes> check(const std::vector<Bytes>& buffers,
                           const std::vector<std::uint64_t>& rest = {}) const {
    std::vector<Bytes> wanted = evaluated(program_, buffers, rest);
    for (const auto& [llvm, kernel] : kernels_) {
      LATHE_CAPTURE(llvm);
      std::vector<Bytes> got = buffers;
      CHECK(kernel(slots_of(got, rest)) == 0);
      unify_nans(program_, got);
      for (std::size_t b = 0; b < got.size(); ++b) {
        CAPTURE(b);
        bool equal = got[b].data == wanted[b].data;
        const std::string& text = kernel.artefact().text;
        INFO(text);
        CHECK(equal);
      }
    }
    return wanted;
  }

 private:
  lt::Program program_;
  std::vector<std::pair<int, Kernel>> kernels_;
};

inline std::vector<Bytes> check_against_evaluator(const lt::Program& program,
                                                  const std::vector<Bytes>& buffers,
                                                  const std::vector<std::uint64_t>& rest = {},
                                                  const lt::Target& target = lt::host()) {
  return Compared(program, target).check(buffers, rest);
}

}  // namespace test
