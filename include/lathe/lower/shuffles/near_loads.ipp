#pragma once

#include <lathe/lower/machine/sharing_mutator.hpp>
#include <lathe/lower/passes_machine.hpp>
#include <lathe/lower/shuffles/near_lanes.hpp>

namespace lathe {
namespace detail {

class NearLoads : public SharingMutator {
 public:
  explicit NearLoads(const TargetCaps& caps) : caps_(caps) {}

 private:
  AnyExpr rewritten(const AnyExpr& e) override {
    const auto* n = e.as<LoadNode>();
    NearLanes lanes;
    if (!n || !lanes.set(*n) || !lanes.group()) return descend(e);
    AnyExpr value = lanes.loaded(caps_);
    return value ? value : descend(e);
  }

  const TargetCaps& caps_;
};

}  // namespace detail

LATHE_DECL Program near_loads(const Program& program, const TargetCaps& caps) {
  return program.with(detail::NearLoads(caps).stmt(program->body));
}

}  // namespace lathe
