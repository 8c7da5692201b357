#pragma once

#include <lathe/dsl/any.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// What the outputs need: computations in an order that runs, and inputs in order of first use.
/// Goes from compute to compute with a stack of its own: pipelines may be long.
class TensorGraph : Visitor {
 public:
  /// The allocs of temporaries lie in each other, and walks enter them on the host's stack.
  static constexpr std::size_t kMostComputes = 1000;
  Vec<Ref<TensorSource>> computes;
  Vec<AnyTensor> inputs;  ///< tensors and scalars
  Vec<VarRef> scalars;    ///< the same scalars, as they were met
  Vec<VarRef> dims;
  bool too_many = false;  ///< computes: the walk ended early

  void add(const AnyTensor& tensor) {
    found_.push_back(tensor);
    add_found();
  }
  void add_dims(const Vec<AnyExpr>& extents) {
    for (const auto& e : extents) expr(e);
    add_found();
  }

 private:
  /// A compute whose reads are being followed.
  struct Open {
    Ref<TensorSource> source;
    Vec<AnyTensor> reads;  ///< and variables, in order of first use
    std::size_t next = 0;
  };

  bool is_known(const Ref<TensorSource>& source) const {
    for (const auto& known : computes)
      if (known == source) return true;
    return false;
  }
  void add_input(const AnyTensor& tensor) {
    for (const auto& known : inputs)
      if (known.buffer() && &known.source() == &tensor.source()) return;
    inputs.push_back(tensor);
  }
  /// What the expressions just walked read, and all below.
  void add_found() {
    Vec<Open> open(1);
    open[0].reads = std::move(found_);
    found_.clear();
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.reads.size()) {
        if (top.source) computes.push_back(top.source);
        open.pop_back();
        continue;
      }
      const AnyTensor tensor = top.reads[top.next++];
      if (tensor.is_scalar()) {
        add_var(*tensor.scalar());
        continue;
      }
      const Ref<TensorSource>& source = origin_of(tensor.buffer())->source;
      for (const auto& e : source->extents) expr(e);
      for (const auto& var : found_) add_var(*var.scalar());
      found_.clear();
      if (source->is_input)
        add_input(tensor);
      else if (!is_known(source))
        open.push_back(enter(source));
      if (open.size() + computes.size() > kMostComputes + 1) too_many = true;
      if (too_many) return;
    }
  }
  Open enter(const Ref<TensorSource>& source) {
    Open out{source, {}, 0};
    for (const auto& it : source->iters) expr(it.min), expr(it.extent);
    if (source->predicate) expr(source->predicate);
    for (const auto& v : source->values) expr(v);
    std::swap(out.reads, found_);
    return out;
  }
  /// What an expression may read besides tensors.
  static bool is_read(const VarNode& var) {
    const auto* origin = origin_of(var);
    return origin && (origin->kind == VarOrigin::dim || origin->kind == VarOrigin::scalar);
  }
  void add_var(const VarNode& var) {
    auto& list = origin_of(var)->kind == VarOrigin::dim ? dims : scalars;
    for (const auto& known : list)
      if (known.get() == &var) return;
    list.push_back(VarRef(&var));
  }
  void expr(const AnyExpr& e) override {
    if (const auto* var = e.as<VarNode>(); var && is_read(*var)) find(AnyTensor(VarRef(var)));
    descend(e);
  }
  void buffer(const Buffer& b) override {
    if (b->origin) find(AnyTensor(b));
  }
  void find(AnyTensor tensor) {
    for (const auto& known : found_)
      if (known.same_as(tensor)) return;
    found_.push_back(std::move(tensor));
  }

  Vec<AnyTensor> found_;
};

}  // namespace detail
}  // namespace lathe
