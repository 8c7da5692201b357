// The factors of a split, and whether they cover the loop as its tail says.
#pragma once

#include <lathe/analysis/access.hpp>
#include <lathe/analysis/shift.hpp>
#include <lathe/arith/poly.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

struct SplitPlan {
  LoopSite site;
  Facts facts;           ///< around the loop
  Vec<AnyExpr> factors;  ///< extents of the new loops, outer first
  AnyExpr product;
  bool guarded = false;  ///< the product may exceed the extent
  Tail tail = Tail::guard;
};

inline std::string divisors_text(std::int64_t n) {
  std::string out;
  for (std::int64_t d = 1; d <= n && d <= 4096; ++d)
    if (n % d == 0) out += (out.empty() ? "" : " ") + std::to_string(d);
  return out;
}

inline std::string factors_text(const Vec<Arg>& factors) {
  return "{" +
         join(factors, ", ",
              [](const Arg& f) -> std::string {
                if (f.kind == ArgKind::inferred) return "infer";
                return f.kind == ArgKind::expr ? extent_text(f.expr) : std::to_string(f.number);
              }) +
         "}";
}

inline std::string loop_of_block(const SplitPlan& plan) {
  BlockTag block = first_block_below(plan.site.path.back());
  std::string out = "loop " + in_quotes(plan.site.loop->var->name);
  return block ? out + " of block " + in_quotes(block->name) : out;
}

inline std::string divide_help(const AnyExpr& extent) {
  const std::int64_t* n = as_const_int(extent);
  std::string out = "write lt::infer for one factor (the tail is guarded)";
  if (n && *n > 0 && *n <= 4096)
    return out + ", or use divisors of " + std::to_string(*n) + ": " + divisors_text(*n);
  return n ? out : out + ", or declare its Dim with multiple_of";
}

// One factor as an extent, or why it is none. infer stays empty.
inline Verdict read_factor(const SplitPlan& plan, const Arg& arg, AnyExpr& out) {
  const VarRef& loop = plan.site.loop->var;
  if (arg.kind == ArgKind::inferred) return {};
  if (arg.kind == ArgKind::number) {
    out = AnyExpr(arg.number);
    if (arg.number >= 1) return {};
    return refusal_at(loop, "L0203", "factor " + std::to_string(arg.number) + " is less than 1",
                      "factors are at least 1");
  }
  out = arg.expr;
  for (const auto& used : free_vars(out))
    if (plan.facts.range(used) == ConstInterval{} || below(plan.site.loops, used))
      return refusal_at(
          loop, "L0203",
          "factor " + extent_text(out) + " names " + in_quotes(used->name) + ", which is no Dim",
          "use numbers and Dims");
  if (prove_le(AnyExpr(1), out, plan.facts)) return {};
  return refusal_at(loop, "L0203", "factor " + extent_text(out) + " may be less than 1",
                    "declare its Dim with .min = 1");
}

inline Refusal no_tail(const SplitPlan& plan, const std::string& why,
                       const char* help = "use Tail::guard") {
  return refusal_at(plan.site.loop->var, "L0224",
                    "tail " + in_quotes(to_text(plan.tail)) + " is not available for " +
                        loop_of_block(plan) + why,
                    help);
}

// Iterations that a loop may run through for nothing, and how many times its own number; of loops
// of unknown extent.
inline constexpr std::int64_t kMostIdle = 1 << 16, kIdleShare = 64, kUnknownIdle = 1 << 24;

// Factors that are far larger than the loop, whose new loops would run through nothing but guards.
inline Verdict check_idle(const SplitPlan& plan, const Vec<Arg>& args, std::int64_t known) {
  const ForNode& loop = *plan.site.loop;
  const ConstInterval extent = const_bounds(loop.extent, plan.facts);
  const bool far = extent.has_max() ? known / kIdleShare > extent.max : known > kUnknownIdle;
  if (known <= kMostIdle || !far) return {};
  const std::string runs =
      extent.has_max()
          ? " runs at most " + std::to_string(std::max<std::int64_t>(extent.max, 0)) + " iterations"
          : " may run few iterations";
  return refusal_at(loop.var, "L0203",
                    "factors " + factors_text(args) + " multiply to " + std::to_string(known) +
                        ", but " + loop_of_block(plan) + runs +
                        ": the rest would be run through for nothing",
                    "take factors near the extent");
}

inline Verdict read_factors(SplitPlan& plan, const Vec<Arg>& args) {
  const VarRef& loop = plan.site.loop->var;
  if (args.empty() || args.size() > 16)
    return refusal_at(loop, "L0203", "takes 1 to 16 factors, not " + std::to_string(args.size()));
  std::size_t inferred = args.size();
  std::int64_t known = 1;
  plan.product = AnyExpr(1);
  for (std::size_t k = 0; k < args.size(); ++k) {
    AnyExpr factor;
    if (auto no = read_factor(plan, args[k], factor)) return no;
    plan.factors.push_back(factor);
    if (factor) {
      const std::int64_t* value = as_const_int(factor);
      if (value && (__builtin_mul_overflow(known, *value, &known) || known > INT64_MAX / 4))
        return refusal_at(loop, "L0203", "factors " + factors_text(args) + " multiply beyond 2^61");
      plan.product = fold_mul(plan.product, factor);
    } else if (inferred < args.size()) {
      return refusal_at(loop, "L0203", "factors " + factors_text(args) + " hold infer twice",
                        "only one factor can be inferred");
    } else {
      inferred = k;
    }
  }
  if (auto no = check_idle(plan, args, known)) return no;
  if (inferred == args.size()) return {};
  const AnyExpr& extent = plan.site.loop->extent;
  AnyExpr up = fold_floordiv(fold_add(extent, fold_sub(plan.product, AnyExpr(1))), plan.product);
  // The loop's own end stays too, as a guard or a domain.
  plan.factors[inferred] = fresh_lets(simplify(up, plan.facts));
  plan.guarded = !prove_divides(plan.product, extent, plan.facts);
  plan.product = plan.guarded ? fold_mul(plan.product, plan.factors[inferred]) : extent;
  return {};
}

// Whether the factors cover the loop as the tail says.
inline Verdict check_tail(SplitPlan& plan, const Vec<Arg>& factors, const std::string& tail) {
  const ForNode& loop = *plan.site.loop;
  bool inferred = false;
  for (const auto& f : factors) inferred |= f.kind == ArgKind::inferred;
  plan.tail = inferred ? Tail::guard : Tail::exact;
  if (tail != "auto" && !parse_tail(tail, plan.tail))
    return refusal_at(loop.var, "L0224", "no tail is called " + in_quotes(tail));
  std::string product = extent_text(simplify(plan.product, plan.facts));
  if (!inferred) plan.guarded = !prove_eq(plan.product, loop.extent, plan.facts);
  if (!plan.guarded) return {};
  if (plan.tail == Tail::exact) {
    std::string why = inferred
                          ? "factors " + factors_text(factors) + " do not divide the extent " +
                                extent_text(loop.extent) + " of " + loop_of_block(plan)
                          : "factors " + factors_text(factors) + " give " + product + ", but " +
                                loop_of_block(plan) + " has extent " + extent_text(loop.extent);
    return refusal_at(loop.var, "L0203", why,
                      inferred ? "let the tail be Tail::guard" : divide_help(loop.extent));
  }
  if (inferred || prove_le(loop.extent, plan.product, plan.facts)) return {};
  return refusal_at(loop.var, "L0203",
                    "factors " + factors_text(factors) + " give " + product +
                        ", which does not cover the extent " + extent_text(loop.extent) + " of " +
                        loop_of_block(plan),
                    divide_help(loop.extent));
}

inline Verdict plan_split(const Program& program, const Arg& loop, const Vec<Arg>& factors,
                          const std::string& tail, SplitPlan& plan) {
  plan.site = find_loop(program->body, loop.loop);
  if (auto no = check_serial_change(*plan.site.loop, Change::replace)) return no;
  if (auto no = check_fixed_bounds(*plan.site.loop)) return no;
  plan.facts = facts_on(plan.site.path, program_facts(program));
  if (auto no = read_factors(plan, factors)) return no;
  return check_tail(plan, factors, tail);
}

}  // namespace lathe::detail
