#pragma once

#include <lathe/analysis/buffering.hpp>
#include <lathe/analysis/cover.hpp>
#include <lathe/analysis/find.hpp>
#include <lathe/analysis/found.hpp>
#include <lathe/analysis/impl/doubled.ipp>
#include <lathe/analysis/marks.hpp>
#include <lathe/analysis/shift.hpp>
#include <lathe/analysis/uses.hpp>
#include <lathe/ir/describe.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

/// By the struct of the attribute. One that asks for nothing but of its own loop, whose kind verify
/// holds it to, can always be honoured.
class WhyNotHonoured {
 public:
  WhyNotHonoured(const Program& program, const LoopSite& site) : program_(program), site_(site) {}

  template <class A>
  std::string operator()(const A&) const {
    return {};
  }
  std::string operator()(const TailAttr& a) const {
    return a.tail == Tail::shift ? plan_shift(program_, loop().var).why : std::string();
  }
  std::string operator()(const PartitionAttr& a) const {
    if (a.policy != Partition::always || loop().loop_kind == ForKind::serial ||
        loop().loop_kind == ForKind::parallel)
      return {};
    return "iterations of loop " + describe(loop()) + " can't run apart";
  }
  std::string operator()(const PrefetchAttr& a) const {
    bool read = false;
    any_use(loop().body, [&](const BufferUse& use) {
      if (use.reads() && use.buffer->name == a.buffer) read = true;
      return read;
    });
    if (read) return {};
    return "nothing inside loop " + describe(loop()) + " reads " + in_quotes(a.buffer);
  }
  std::string operator()(const HoistAttr& a) const {
    return of_buffer(a.buffer, [&](const Buffer& buffer) { return not_hoisted(buffer); });
  }
  std::string operator()(const DoubleBufferAttr& a) const {
    return of_buffer(
        a.buffer, [&](const Buffer& buffer) { return why_not_doubled(program_, buffer, site_); });
  }
  std::string operator()(const RollingAttr& a) const {
    const BlockTag block = block_named(program_->body, a.block);
    return block ? plan_roll(program_, block, loop().var).why
                 : "there is no block " + in_quotes(a.block);
  }
  std::string operator()(const PipelineAttr& a) const {
    return plan_pipeline(program_, loop().var, a).why;
  }
  std::string operator()(const PipelineBufferAttr& a) const { return of_lowering(a); }
  std::string operator()(const PipelineStatementAttr& a) const { return of_lowering(a); }

 private:
  template <class A>
  std::string of_lowering(const A&) const {
    return "loop " + describe(loop()) + " carries the annotation " + in_quotes(A::kRow.key) +
           ", which programs have while they are lowered";
  }
  const ForNode& loop() const { return *site_.loop; }

  template <class F>
  std::string of_buffer(const std::string& name, F&& why_not) const {
    const Buffer buffer = find_buffer(program_, name);
    if (!buffer) return "there is no buffer " + in_quotes(name);
    const std::string why = why_not(buffer);
    return why.empty() ? why : "buffer " + in_quotes(name) + " " + why;
  }

  std::string not_hoisted(const Buffer& buffer) const {
    if (!is_private(program_->body, buffer)) return "is a parameter: the caller allocates it";
    const UsePlaces uses(program_, buffer, loop().var);
    if (!uses.inside) return "is not used in loop " + describe(loop());
    if (uses.outside)
      return "is used outside of loop " + describe(loop()) + " too, so it is allocated above it";
    if (const ForNode* inner = shared_by_iterations(loop(), buffer))
      return "belongs to one iteration of the " + std::string(to_text(inner->loop_kind)) +
             " loop " + in_quotes(inner->var->name) + ", which lies inside loop " +
             describe(loop());
    if (!filled_each_iteration(program_, buffer, loop(), program_facts(program_)))
      return "keeps what earlier iterations of loop " + describe(loop()) +
             " wrote, as far as is proven, so it is allocated above it";
    return why_not_sized_above(program_, site_, buffer);
  }

  const Program& program_;
  const LoopSite& site_;
};

LATHE_DECL std::string why_not_honoured(const Program& program, const LoopSite& site,
                                        const Attribute& a) {
  const WhyNotHonoured why(program, site);
  std::string out;
  a.visit([&](const auto& of) { out = why(of); });
  return out;
}

}  // namespace lathe::detail
