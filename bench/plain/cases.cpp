// Sizes are drawn, programs compiled.
#include "plain/cases.hpp"

#include <memory>
#include <span>
#include <stdexcept>

#include "compile_times.hpp"
#include "core/draw.hpp"
#include "core/measure.hpp"
#include "images/images.hpp"
#include "plain/memory.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

namespace {

struct Family {
  const char* name;
  PlainPrograms (*programs)();
};
constexpr Family families[] = {
    {"dots", dot_programs},
    {"row folds", row_fold_programs},
    {"column folds", column_fold_programs},
    {"matrix by vector", matrix_vector_programs},
    {"products", product_programs},
    {"convolutions", convolution_programs},
    {"row chains", row_chain_programs},
    {"attention", attention_programs},
    {"windows", window_programs},
    {"searches", search_programs},
    {"layouts", layout_programs},
    {"channels", channel_programs},
    {"invariants", invariant_programs},
    {"narrow types", narrow_programs},
    {"gathers", gather_programs},
    {"recurrences", recurrence_programs},
    {"elementwise", elementwise_programs},
};
constexpr Family move_families[] = {{"moves", move_programs}};
constexpr Family image_families[] = {
    {"filters", filter_programs},
    {"colours", colour_programs},
    {"geometry", geometry_programs},
};

std::string with_sizes(std::string name, const Sizes& sizes) {
  for (const int& n : sizes) {
    name += &n == sizes.data() ? ' ' : 'x';
    name += std::to_string(n);
  }
  return name;
}

bool carries(lt::DType loops, lt::DType program) {
  return loops == program || (loops == lt::kU16 && program == lt::kBF16);
}

void check_loops(const PlainProgram& program, const PlainMemory& memory) {
  if (program.types.size() != memory.loops().size())
    throw std::runtime_error("the loops have another number of parameters");
  for (std::size_t k = 0; k < program.types.size(); ++k)
    if (!carries(program.types[k], memory.dtype(k)))
      throw std::runtime_error("the loops have another type for parameter " + std::to_string(k));
}

std::vector<PlainSubject> subjects_of(std::span<const Family> some, unsigned seed) {
  std::vector<PlainSubject> out;
  for (const Family& family : some)
    for (const PlainProgram& program : family.programs()) {
      Draw draw(seed, program.name);
      for (const Shape& shape : program.shapes) {
        Sizes sizes;
        for (const Size& size : shape) sizes.push_back(draw.from(size.low, size.high, size.step));
        out.push_back({family.name, with_sizes(program.name, sizes), program, sizes});
      }
    }
  return out;
}

std::vector<PlainCase> cases_of(const std::vector<PlainSubject>& subjects,
                                const Companions& companions) {
  std::vector<PlainCase> out;
  for (const PlainSubject& subject : subjects) {
    out.push_back({subject.family, subject.name, [=] { return make_run(subject, companions); }});
    if (subject.program.exact)
      out.push_back({subject.family, subject.name + ", math = fast",
                     [=] { return make_run(subject, companions, lt::Math::fast); }});
  }
  return out;
}

/// What a peer rounds otherwise: two of 255.
constexpr double peer_bound = 0.01;

Competitor with_memory(const Peer& peer, const ImageFunction& function, const PlainSubject& subject,
                       const std::shared_ptr<PlainMemory>& memory) {
  const auto run = [=, sizes = subject.sizes] { function(memory->loops(), sizes); };
  memory->spoil_loops();
  run();
  if (const std::string wrong = memory->difference(peer_bound); !wrong.empty())
    throw std::runtime_error(peer.name + " computes something else: " + wrong);
  return {peer.name, run};
}

}  // namespace

PlainRun make_run(const PlainSubject& subject, const Companions& companions, lt::Math math) {
  const PlainProgram& program = subject.program;
  const Sizes& sizes = subject.sizes;
  PlainRun out;
  CompileLog log;
  const double start = seconds_now();
  const lt::Program described = program.describe(sizes);
  const lt::AnyKernel kernel = lt::jit_any(
      {described, {.context = &context_for(1), .math = math, .require_compiled = true}}, {});
  out.jit_ms = 1e3 * (seconds_now() - start);
  out.plan_ms = log.taken().default_schedule;
  const auto memory =
      std::make_shared<PlainMemory>(described, sizes, subject.positions(), program.numbers.gap);
  check_loops(program, *memory);

  Comparison& c = out.comparison;
  const auto lathe = [=] { kernel.call(memory->lathe().data()); };
  const bool exact = program.exact && math != lt::Math::fast;
  const auto plain = [=, loops = exact ? program.exact : program.loops] {
    loops(memory->loops(), sizes);
  };
  c.dtype = memory->dtype(0).str();
  c.bytes = static_cast<double>(memory->bytes());
  c.difference = [=, bound = program.numbers.bound] {
    return lathe(), plain(), memory->difference(bound);
  };
  c.all = {{"lathe", lathe}, {"plain", plain}};
  for (const Peer& peer : companions.peers)
    if (const ImageFunction function = peer.image(program.name))
      lathe(), c.all.push_back(with_memory(peer, function, subject, memory));
  if (companions.copies)
    c.copies = memory->copies(), c.copied_bytes = static_cast<double>(memory->copied_bytes());
  return out;
}

std::vector<PlainSubject> plain_subjects(unsigned seed) { return subjects_of(families, seed); }

std::vector<PlainCase> plain_cases(unsigned seed) { return cases_of(plain_subjects(seed), {}); }
std::vector<PlainCase> move_cases(unsigned seed) {
  return cases_of(subjects_of(move_families, seed), {.copies = true});
}
std::vector<PlainCase> image_cases(unsigned seed, const std::vector<Peer>& peers) {
  return cases_of(subjects_of(image_families, seed), {.peers = peers});
}

}  // namespace bench
#else
namespace bench {

std::vector<PlainCase> plain_cases(unsigned) { return {}; }
std::vector<PlainCase> move_cases(unsigned) { return {}; }
std::vector<PlainCase> image_cases(unsigned, const std::vector<Peer>&) { return {}; }

}  // namespace bench
#endif
