// How tests build programs at Stage::machine by hand, compile them with each LLVM and call them.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <lathe/codegen/llvm/llvm_ir.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/runtime/orc.hpp>
#include <string>
#include <utility>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/jit/impl/layer.ipp>
#endif

namespace test {

namespace lt = lathe;

/// A program of buffers and scalars, at Stage::machine.
struct Build {
  lt::ProgramNode node;

  explicit Build(std::string name = "k") {
    node.name = std::move(name), node.stage = lt::Stage::machine;
  }

  lt::Buffer buffer(std::string name, lt::DType t, lt::Access access = lt::Access::in,
                    lt::AnyExpr size = 1 << 20, int alignment = 0) {
    lt::BufferNode b(std::move(name), t, {std::move(size)}, {}, lt::Scope::global, alignment);
    node.params.push_back({access, lt::Buffer(new lt::BufferNode(std::move(b))), {}});
    return node.params.back().buffer;
  }
  lt::Buffer output(std::string name, lt::DType t) {
    return buffer(std::move(name), t, lt::Access::out);
  }
  lt::VarRef dim(std::string name, std::int64_t multiple_of = 1) {
    lt::VarRef var = lt::make_var(std::move(name));
    node.dims.push_back(lt::make_ref<lt::DimNode>(var, std::int64_t{0}, INT64_MAX, multiple_of));
    return var;
  }
  lt::VarRef scalar(std::string name, lt::DType t) {
    lt::VarRef var = lt::make_var(std::move(name), t);
    node.params.push_back({lt::Access::in, {}, var});
    return var;
  }
  lt::Program done(lt::Stmt body) {
    node.body = std::move(body);
    return lt::Program(node);
  }
};

inline lt::AnyExpr ramp(lt::AnyExpr base, std::int64_t stride, int lanes) {
  return make_ramp(std::move(base), lt::AnyExpr(stride), lanes);
}
/// The lanes before `end`.
inline lt::AnyExpr first_lanes_below(const lt::AnyExpr& end, int lanes) {
  return make_binary(lt::BinaryOp::lt, ramp(0, 1, lanes), make_broadcast(end, lanes));
}

inline lt::Buffer temporary(std::string name, lt::DType t, lt::AnyExpr size,
                            lt::Scope scope = lt::Scope::global) {
  return lt::make_buffer(std::move(name), t, {std::move(size)}, scope);
}
inline lt::Buffer in_register(std::string name, lt::DType t) {
  return lt::make_buffer(std::move(name), t, {}, lt::Scope::reg);
}

/// What the last passes make of it, for programs that are written as the IR means them.
inline lt::Program legal(const lt::Program& program, const lt::Target& target = lt::host()) {
  const lt::Program split = lt::piecewise_loads(lt::wrapped_loads(program), target);
  const lt::Program counted = lt::zip_stores(lt::count_lanes(split, target), target);
  const lt::Program shuffled = lt::deinterleave_loads(lt::near_loads(counted, target), target);
  return lt::guard_operators(lt::mask_arms(shuffled), target);
}

/// A kernel in memory. Calls take one 8-byte slot per buffer, dim, stride and scalar.
class Kernel {
 public:
  Kernel(const lt::Program& program, const lt::Llvm& llvm, const lt::Target& target = lt::host()) {
    static int serial = 0;
    kernel_ = lt::emit_llvm(legal(program, target), target, llvm.major(),
                            "test_" + std::to_string(serial++));
    INFO(kernel_.text);
    std::vector<char> object = lt::compile_to_object(llvm, kernel_.text, target);
    static std::vector<std::pair<const lt::Llvm*, lt::Ref<lt::Jit>>> jits;
    for (const auto& [key, jit] : jits)
      if (key == &llvm) jit_ = jit;
    if (!jit_) jits.emplace_back(&llvm, jit_ = lt::Jit::make(llvm));
    loaded_ = jit_->load(object, kernel_.symbol);
  }

  const lt::LlvmKernel& artefact() const { return kernel_; }

  /// Runs it and gives the status; exceptions of finish() are not wanted here.
  std::int32_t operator()(const std::vector<std::uint64_t>& slots) const {
    lt::CallFrame frame(lt::Context::default_context());
    REQUIRE(slots.size() == kernel_.slots.size());
    return loaded_->entry()(slots.data(), frame.rt());
  }
  template <class... Args>
  std::int32_t call(Args... args) const {
    return (*this)({lt::to_slot(args)...});
  }

 private:
  lt::LlvmKernel kernel_;
  lt::Ref<lt::Jit> jit_;
  std::shared_ptr<const lt::LoadedKernel> loaded_;
};

/// A writable page with no memory before it, and none after it.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* all = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED);
    base_ = static_cast<char*>(all) + size_;
    REQUIRE(mprotect(base_, size_, PROT_READ | PROT_WRITE) == 0);
  }
  ~GuardedPage() { munmap(base_ - size_, 3 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  template <class T>
  T* begin() const {
    return reinterpret_cast<T*>(base_);
  }
  /// One past its last T.
  template <class T>
  T* end() const {
    return reinterpret_cast<T*>(base_ + size_);
  }

 private:
  std::size_t size_;
  char* base_;
};

/// The LLVMs that codegen is tested with and that this machine has.
inline std::vector<const lt::Llvm*> llvms() {
  std::vector<const lt::Llvm*> found;
  for (const char* major : {"16", "19", "22"}) {
    std::string reason;
    if (const auto* llvm = lt::Llvm::find(major, &reason))
      found.push_back(llvm);
    else
      MESSAGE("skipped: ", reason);
  }
  return found;
}

}  // namespace test
