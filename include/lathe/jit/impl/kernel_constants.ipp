#pragma once

#include <algorithm>
#include <cstring>
#include <lathe/analysis/uses.hpp>
#include <lathe/jit/kernel_constants.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

/// A dense view of a buffer of known shape.
class WholeView {
 public:
  WholeView(const BufferNode& b, const void* data) : data_(const_cast<void*>(data)) {
    const std::size_t rank = b.shape.size();
    numbers_.resize(2 * rank);
    std::int64_t stride = 1;
    for (std::size_t d = rank; d-- > 0;) {
      numbers_[d] = *as_const_int(b.shape[d]), numbers_[rank + d] = stride;
      stride *= numbers_[d];
    }
  }
  CallArg call() const { return {data_, numbers_.data(), numbers_.data() + numbers_.size() / 2}; }

 private:
  void* data_;
  Vec<std::int64_t> numbers_;  ///< extents, then strides
};

inline int index_in(const Vec<int>& list, int value) {
  const auto at = std::find(list.begin(), list.end(), value);
  return at == list.end() ? -1 : static_cast<int>(at - list.begin());
}

/// The same for inputs however they lie in memory: results are those of their elements.
inline Program with_packed_inputs(const Program& program) {
  ProgramNode node = *program;
  for (Param& p : node.params) {
    if (p.access != Access::in) continue;
    const Buffer packed = constant_buffer(p.buffer->name, p.buffer->dtype, p.buffer->shape);
    node.body = replace_buffer(node.body, p.buffer, packed);
    p.buffer = packed;
  }
  return Program(std::move(node));
}

inline ContentHash hash_of(const BufferNode& b, const CallArg& elements) {
  return hash_elements(elements.data, static_cast<std::size_t>(b.dtype.element_bytes()), b.rank(),
                       elements.extents, elements.strides);
}

inline std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

/// Those that read an argument, or what such a one computes.
inline Vec<const OnceRun*> waiting_parts(const Program& program, const Vec<OnceRun>& once) {
  Vec<const OnceRun*> late;
  const auto comes_late = [&](int input) {
    const auto k = static_cast<std::size_t>(input);
    if (k < program->params.size()) return program->params[k].is_argument();
    return std::any_of(late.begin(), late.end(), [&](const OnceRun* what) {
      return index_in(what->part.outputs, input) >= 0;
    });
  };
  for (const OnceRun& what : once)
    if (std::any_of(what.part.inputs.begin(), what.part.inputs.end(), comes_late))
      late.push_back(&what);
  return late;
}

LATHE_DECL Vec<int> unread_constants(const Program& program, const Vec<Program>& versions,
                                     const Vec<OnceRun>& once) {
  const auto late = waiting_parts(program, once);
  Vec<int> out;
  for (std::size_t k = 0; k < program->params.size(); ++k) {
    if (program->params[k].is_argument()) continue;
    const Vec<Buffer> buffer{program->params[k].buffer};
    bool read = false;
    for (const Program& version : versions)
      read = read || any_use_of(buffer, version->body, [](const BufferUse&) { return true; });
    for (const OnceRun* what : late)
      read = read || index_in(what->part.inputs, static_cast<int>(k)) >= 0;
    if (!read) out.push_back(static_cast<int>(k));
  }
  return out;
}

}  // namespace detail

LATHE_DECL KernelConstants::KernelConstants(const Program& program, Vec<int> order, bool checked,
                                            Location where)
    : program_(program), order_(std::move(order)) {
  for (std::size_t k = 0; k < program->params.size(); ++k) {
    const Param& p = program->params[k];
    if (checked && p.constancy == Constancy::promised) promised_.push_back(static_cast<int>(k));
    if (p.is_argument()) continue;
    if (!p.content || !p.content->data())
      throw UserError("L0317",
                      cat("the elements of constant '", p.name(), "' of program '", program->name,
                          "' are not here"),
                      where, {},
                      "give parse a function that has them; a kernel that has computed what it "
                      "needs of a constant forgets it, and so does its program()");
    owned_.push_back(static_cast<int>(k));
    contents_.push_back(p.content);
    addresses_.push_back(detail::address_of(p.content->data()));
  }
  if (!promised_.empty()) ready_ = false;
}

LATHE_DECL void KernelConstants::add(OnceRun what, Location where) {
  once_.push_back(what.part.program);
  for (const int output : what.part.outputs)
    if (slot_of(output) >= addresses_.size()) addresses_.resize(slot_of(output) + 1);
  const bool waits = std::any_of(what.part.inputs.begin(), what.part.inputs.end(), [&](int input) {
    return is_argument(input) || (is_result(input) && addresses_[slot_of(input)] == 0);
  });
  if (!waits) return run(what, nullptr, where);
  late_.push_back(std::move(what));
  ready_ = false;
}

LATHE_DECL void KernelConstants::forget(const Vec<int>& unread) {
  if (unread.empty()) return;
  ProgramNode node = *program_;
  for (const int k : unread) {
    Param& p = node.params[static_cast<std::size_t>(k)];
    p.content = make_ref<ConstantData>(p.content->hash());
    contents_[slot_of(k)] = {}, addresses_[slot_of(k)] = 0;
  }
  program_ = Program(std::move(node));
}

LATHE_DECL std::size_t KernelConstants::slot_of(int k) const {
  return is_result(k) ? owned_.size() + static_cast<std::size_t>(k) - program_->params.size()
                      : static_cast<std::size_t>(detail::index_in(owned_, k));
}

LATHE_DECL ContentHash KernelConstants::hash_argument(int k, const CallArg* args) const {
  return detail::hash_of(*param(k).buffer, args[detail::index_in(order_, k)]);
}

LATHE_DECL void KernelConstants::run(const OnceRun& what, const CallArg* args,
                                     Location where) const {
  const Program& program = what.part.program;
  ResultKey key{detail::with_packed_inputs(program), {}, what.target, what.kind};
  Vec<detail::WholeView> views;  // of all parameters; unused for arguments
  for (std::size_t k = 0; k < what.part.inputs.size(); ++k) {
    const int input = what.part.inputs[k];
    const BufferNode& buffer = *program->params[k].buffer;
    const std::uint64_t address = is_argument(input) ? 0 : addresses_[slot_of(input)];
    views.emplace_back(buffer, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));
    key.inputs.push_back(is_argument(input) ? hash_argument(input, args)
                         : is_result(input) ? detail::hash_of(buffer, views.back().call())
                                            : contents_[slot_of(input)]->hash());
  }
  const auto compute = [&](void* const* blocks) {
    const std::size_t inputs = what.part.inputs.size();
    for (std::size_t k = 0; k < what.part.outputs.size(); ++k)
      views.emplace_back(*program->params[inputs + k].buffer, blocks[k]);
    Vec<CallArg> all;
    for (std::size_t k = 0; k < views.size(); ++k)
      all.push_back(k < inputs && is_argument(what.part.inputs[k])
                        ? args[detail::index_in(order_, what.part.inputs[k])]
                        : views[k].call());
    what.kernel.call(all.data(), where);
  };
  held_.push_back(ConstantShelf::of(*what.context).get(std::move(key), compute, where));
  for (std::size_t k = 0; k < what.part.outputs.size(); ++k)
    addresses_[slot_of(what.part.outputs[k])] = detail::address_of(held_.back()->block(k));
}

LATHE_DECL void KernelConstants::bind(const CallArg* args, std::uint64_t* slots,
                                      Location where) const {
  if (!ready_.load(std::memory_order_acquire))
    detail::within_memory("call", where, [&] { prepare(args, where); });
  else if (!promised_.empty())
    check_promises(args, where);
  if (!addresses_.empty()) std::memcpy(slots, addresses_.data(), addresses_.size() * sizeof *slots);
}

/// The first call; others wait for it. One that fails leaves the work to the next.
LATHE_DECL void KernelConstants::prepare(const CallArg* args, Location where) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ready_.load(std::memory_order_relaxed)) return check_promises(args, where);
  first_.clear();
  held_.resize(once_.size() - late_.size());
  for (const int k : promised_) first_.push_back(hash_argument(k, args));
  for (const OnceRun& what : late_) run(what, args, where);
  ready_.store(true, std::memory_order_release);
}

LATHE_DECL void KernelConstants::check_promises(const CallArg* args, Location where) const {
  for (std::size_t k = 0; k < promised_.size(); ++k)
    if (!(hash_argument(promised_[k], args) == first_[k]))
      throw UserError("L0318",
                      cat("kernel '", program_->name, "': '", param(promised_[k]).name(),
                          "' is constant, but its elements are not those of the first call"),
                      where, {},
                      "give the same elements in each call, or leave the option constant out");
}

}  // namespace lathe
