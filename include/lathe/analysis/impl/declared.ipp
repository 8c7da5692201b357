// Regions that blocks declare, as accesses of their elements.
#pragma once

#include <lathe/analysis/dependence.hpp>

namespace lathe {
namespace detail {

/// What a block declares of one buffer, as one access of every element of the region, below a loop
/// for each of its dimensions. `steps`: the variables of these loops.
inline bool access_elements(const AccessSite& site, AccessSite& out, Vec<VarRef>* steps = nullptr) {
  if (site.kind != AccessKind::opaque || site.declared.ranges.size() != site.buffer->shape.size())
    return false;
  out = site;
  out.kind = site.is_write ? AccessKind::write : AccessKind::read;
  out.indices.clear();
  for (const auto& range : site.declared.ranges) {
    const VarRef step = make_var("d");
    out.loops.push_back(make_ref<ForNode>(step, AnyExpr(0), range.extent, ForKind::serial,
                                          Attributes(), make_seq({})));
    out.indices.push_back(fold_add(range.min, AnyExpr(step)));
    if (steps) steps->push_back(step);
  }
  out.inner_indices = out.indices, out.inner_condition = out.condition;
  out.outer_condition = {};
  return true;
}

/// Several elements at once, as intrinsics touch them, in a block that declares nothing: any.
inline bool access_any(const AccessSite& site, AccessSite& out) {
  bool lanes = false;
  for (const auto& index : site.indices) lanes = lanes || index.dtype().is_vector();
  if (!lanes) return false;
  out = site;
  out.kind = AccessKind::opaque;
  out.declared = {site.buffer, {}};
  out.indices.clear(), out.inner_indices.clear();
  return true;
}

/// Both accesses element by element, also where only a region is declared.
class ElementPair {
 public:
  ElementPair(const AccessSite& a, const AccessSite& b) : a_(&a), b_(&b) {
    if (a.buffer != b.buffer) return;
    if (access_elements(a, of_a_) || access_any(a, of_a_)) a_ = &of_a_;
    if (access_elements(b, of_b_) || access_any(b, of_b_)) b_ = &of_b_;
  }
  const AccessSite& a() const { return *a_; }
  const AccessSite& b() const { return *b_; }
  /// Not every element of a region that is declared has to be touched.
  DependenceVectors answer(DependenceVectors found) const {
    const bool exact = a_ != &of_a_ && b_ != &of_b_;
    if (!exact && found.answer == Answer::yes) found.answer = Answer::unknown;
    return found;
  }

 private:
  AccessSite of_a_, of_b_;
  const AccessSite *a_, *b_;
};

}  // namespace detail
}  // namespace lathe
