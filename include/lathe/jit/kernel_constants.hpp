// What a kernel keeps of constants: the addresses that its calls bind, and what it computes once.
#pragma once

#include <atomic>
#include <lathe/jit/constant_shelf.hpp>
#include <lathe/jit/kernel.hpp>
#include <lathe/lower/split_constants.hpp>
#include <mutex>

namespace lathe {

/// A part of a program that runs once for all calls of a kernel.
struct OnceRun {
  OncePart part;
  AnyKernel kernel;  ///< of part.program
  CodeKind kind;
  Target target;
  const Context* context = nullptr;
};

/// The constants that a kernel's program owns, in the order of their slots, and the inputs that are
/// promised to be constant. Made by one thread; from its first call on thread-safe.
class KernelConstants : public RefCounted {
 public:
  /// Of the program, before it is split, whose k-th argument is parameter `order[k]`. `checked`:
  /// calls compare promised inputs with the first ones. L0317 a constant without elements
  KernelConstants(const Program& program, Vec<int> order, bool checked, Location where);

  /// Has this computed: now or, if it reads promised inputs, when the first call brings them.
  void add(OnceRun run, Location where);
  /// Forgets these constants, named by parameter: nothing reads them any more.
  void forget(const Vec<int>& unread);
  /// With hashes in place of what was forgotten.
  const Program& program() const { return program_; }

  bool any() const { return !addresses_.empty() || !promised_.empty(); }
  int count() const { return static_cast<int>(addresses_.size()); }
  /// Null: a call has to bring something, or to be checked.
  const std::uint64_t* addresses() const {
    return late_.empty() && promised_.empty() ? addresses_.data() : nullptr;
  }
  /// Writes the addresses, for arguments that have passed Binding::bind. L0318 a promised input
  /// that is not what it was · L0406 · errors of what runs once
  void bind(const CallArg* args, std::uint64_t* slots, Location where) const;
  /// The programs that run once.
  const std::vector<Program>& once() const { return once_; }

 private:
  const Param& param(int k) const { return program_->params[static_cast<std::size_t>(k)]; }
  bool is_result(int k) const { return k >= static_cast<int>(program_->params.size()); }
  bool is_argument(int k) const { return !is_result(k) && param(k).is_argument(); }
  /// Among addresses: constants that the program owns, and behind them what parts compute.
  std::size_t slot_of(int k) const;
  ContentHash hash_argument(int param, const CallArg* args) const;
  void run(const OnceRun& what, const CallArg* args, Location where) const;
  void prepare(const CallArg* args, Location where) const;
  void check_promises(const CallArg* args, Location where) const;

  Program program_;
  Vec<int> order_;
  Vec<int> owned_, promised_;  ///< parameters; the latter only if calls are checked
  Vec<ConstantRef> contents_;  ///< of owned_; none once forgotten
  Vec<OnceRun> late_;
  std::vector<Program> once_;
  mutable Vec<std::uint64_t> addresses_;
  mutable Vec<Ref<HeldResults>> held_;
  mutable Vec<ContentHash> first_;  ///< of promised_
  mutable std::mutex mutex_;
  mutable std::atomic<bool> ready_{true};  ///< what is mutable above was written before
};

namespace detail {

/// Constants, by parameter, that neither `versions` of the program read nor what of `once` waits
/// for the first call.
Vec<int> unread_constants(const Program& program, const Vec<Program>& versions,
                          const Vec<OnceRun>& once);

}  // namespace detail
}  // namespace lathe
