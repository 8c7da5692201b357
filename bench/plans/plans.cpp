#include "plans/plans.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "core/draw.hpp"
#include "operators/ansor_sizes.hpp"
#include "operators/programs.hpp"
#include "plain/memory.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

constexpr std::size_t predicted_best = 16, drawn = 24;
/// What norms of millions of terms may differ by in another order.
constexpr double sums_bound = 1e-4;

/// One decision of a plan, taken otherwise.
struct Neighbour {
  std::size_t decision, option;
  double ratio;  ///< of the cycles of what the plan takes; 0: no rule counts them
};

std::vector<Neighbour> all_neighbours(const lt::Plan& plan) {
  std::vector<Neighbour> out;
  for (std::size_t d = 0; d < plan.decisions.size(); ++d)
    for (std::size_t k = 0; k < plan.decisions[d].others.size(); ++k) {
      const double other = plan.decisions[d].others[k].cycles, own = plan.decisions[d].taken.cycles;
      out.push_back({d, k, own > 0 && other > 0 ? other / own : 0});
    }
  return out;
}

/// In the order in which they are tried.
std::vector<Neighbour> neighbours(const lt::Plan& plan, Draw& draw) {
  std::vector<Neighbour> rest = all_neighbours(plan), out;
  const auto counted = std::stable_partition(rest.begin(), rest.end(),
                                             [](const Neighbour& n) { return n.ratio > 0; });
  std::stable_sort(rest.begin(), counted,
                   [](const Neighbour& a, const Neighbour& b) { return a.ratio < b.ratio; });
  const std::size_t best =
      std::min(predicted_best, static_cast<std::size_t>(counted - rest.begin()));
  out.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(best));
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(best));
  for (std::size_t n = 0; n < drawn && !rest.empty(); ++n) {
    const auto at = rest.begin() + draw.from(0, static_cast<int>(rest.size()) - 1);
    out.push_back(*at);
    rest.erase(at);
  }
  return out;
}

/// As decisions are told apart.
std::string name_of(const lt::Decision& d) { return d.block + ' ' + d.what; }

class PlansOfProgram {
 public:
  PlansOfProgram(lt::Program program, std::shared_ptr<PlainMemory> memory)
      : program_(std::move(program)), memory_(std::move(memory)) {
    target_.cores = 1;
  }

  /// `bound`: what results may differ by, as Numbers has it.
  PlannedProgram run(Draw& draw, double bound) {
    const lt::Plan plan = lt::default_plan(program_, target_);
    add(plan, {}, {}, 0);
    out_.all.front().kernel.run();
    memory_->keep();
    for (const lt::Decision& d : plan.decisions)
      out_.decided.push_back({name_of(d), d.taken.str(), d.taken.cycles, {}});
    for (const Neighbour& n : neighbours(plan, draw)) {
      lt::Plan other = plan;
      const lt::PlanOption& option = plan.decisions[n.decision].others[n.option];
      other.decisions[n.decision].taken = option;
      add(other, name_of(plan.decisions[n.decision]), option.str(), option.cycles);
    }
    out_.difference = [memory = memory_, bound](const Competitor& kernel) {
      memory->spoil();
      kernel.run();
      return memory->difference(bound);
    };
    return std::move(out_);
  }

 private:
  void add(const lt::Plan& plan, const std::string& decision, const std::string& taken,
           double cycles) {
    std::vector<std::string> repairs;
    const lt::Schedule schedule = lt::apply_plan(plan, program_, target_, {}, &repairs);
    const bool as_asked =
        decision.empty() || std::none_of(repairs.begin(), repairs.end(), [&](const auto& repair) {
          return repair.find("plan: '" + decision + "'") == 0;
        });
    if (!as_asked || !seen_.insert(schedule.trace().cpp()).second) return;
    const lt::AnyKernel kernel =
        lt::jit_any({schedule, {.context = &context_for(1), .require_compiled = true}}, {});
    const auto run = [kernel, memory = memory_] { kernel.call(memory->lathe().data()); };
    out_.all.push_back({decision, taken, cycles, {decision + ' ' + taken, run}});
  }

  lt::Program program_;
  lt::Target target_ = lt::host();
  std::shared_ptr<PlainMemory> memory_;
  PlannedProgram out_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<PlanCase> plan_cases(unsigned seed) {
  std::vector<PlanCase> out;
  for (const PlainSubject& subject : plain_subjects(seed))
    out.push_back({subject.family, subject.name, [=] {
                     const lt::Program program = subject.program.describe(subject.sizes);
                     Draw draw(seed, subject.name);
                     return PlansOfProgram(program,
                                           std::make_shared<PlainMemory>(program, subject.sizes,
                                                                         subject.positions()))
                         .run(draw, subject.program.numbers.bound);
                   }});
  for (const Operator& what : ansor_operators(seed))
    if (what.batch == 1)
      out.push_back({"ansor", what.name, [=] {
                       const lt::Program program = program_of(what);
                       Draw draw(seed, what.name);
                       return PlansOfProgram(program,
                                             std::make_shared<PlainMemory>(program, Sizes(), 1))
                           .run(draw, sums_bound);
                     }});
  return out;
}

}  // namespace bench
#else
namespace bench {

std::vector<PlanCase> plan_cases(unsigned) { return {}; }

}  // namespace bench
#endif
