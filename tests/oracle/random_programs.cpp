// Random programs under random schedules, run by the oracle and by the evaluator: element by
// element they agree. Ends with exit status 1 at the first that does not, and prints the program.
//
//   oracle_random [--cases N] [--seed S] [--case K] [--family NAME] [--verbose]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <lathe/lathe.hpp>

#include "../fuzz/random_schedule.hpp"
#include "../fuzz/work.hpp"
#include "../support/random_expr.hpp"
#include "evaluator.hpp"

namespace oracle {

struct Options {
  long cases = 2000, only = -1;
  std::uint64_t seed = 1;
  std::string family;
  bool verbose = false;
};

inline Options parse_options(int count, char** words) {
  Options o;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    auto value = [&] { return k + 1 < count ? words[++k] : "0"; };
    if (word == "--cases")
      o.cases = std::atol(value());
    else if (word == "--seed")
      o.seed = std::strtoull(value(), nullptr, 10);
    else if (word == "--case")
      o.only = std::atol(value());
    else if (word == "--family")
      o.family = value();
    else if (word == "--verbose")
      o.verbose = true;
    else
      std::fprintf(stderr, "unknown option %s\n", words[k]), std::exit(2);
  }
  return o;
}

struct Totals {
  long compared = 0, expressions = 0, without_result = 0, too_much_work = 0, no_program = 0,
       open = 0, steps = 0;
};

/// Small numbers, any numbers, or numbers with the odd ones among them.
enum class Content { small, any, odd };

inline Number random_number(fuzz::Random& random, DType t, Content content) {
  if (!t.is_float()) {
    const auto bits = static_cast<Whole>(static_cast<std::int64_t>(random.bits()));
    return whole_number(
        wrapped(t, content == Content::small || random.chance(60) ? bits % 9 : bits));
  }
  static const std::vector<double> odd = {0.0,   -0.0, HUGE_VAL, -HUGE_VAL, NAN,   1e-310,
                                          1e-42, 3e38, -65504.0, 1e19,      -300.5};
  double value = random.below(7) - 3;
  if (content != Content::small)
    value = std::ldexp(static_cast<double>(random.bits() >> 11), -51) - 2;
  if (content == Content::odd && random.chance(15)) value = random.pick(odd);
  return real_number(rounded(t, value));
}

/// One random program, as it is and under a random schedule.
class Case {
 public:
  Case(std::uint64_t seed, const Options& options, Totals& totals)
      : random_(seed), options_(options), totals_(totals) {}

  /// Throws a runtime_error that tells where the two disagree.
  void run() {
    make_program();
    if (!computed_.program || !dims_are_given(computed_.program)) return void(++totals_.no_program);
    try {
      make_content();
    } catch (const NoResult&) {  // mutated texts have extents of any size
      return void(++totals_.no_program);
    }
    // One that reads what nothing stored promises nothing under a schedule: where its buffers have
    // moved, the evaluator may find a value there.
    const long without_result = totals_.without_result;
    compare(computed_.program, "the program");
    if (totals_.without_result != without_result) return;
    const lathe::Program scheduled = scheduled_program();
    if (!scheduled) return void(++totals_.no_program);
    compare(scheduled, "the scheduled program");
  }

 private:
  static constexpr double kMostWork = 2e6;  ///< seconds of the oracle

  void make_program() {
    for (;;) {
      try {
        computed_ = fuzz::random_program(random_, options_.family);
        return;
      } catch (const lathe::UserError& error) {
        // A Dim that no argument has; a value of more operations than one may have.
        if (error.id() != "L0114" && error.id() != "L0124") throw;
      }
    }
  }

  void make_content() {
    const auto content = static_cast<Content>(random_.below(3));
    args_ = make_arguments(computed_.program, computed_.dims,
                           [&](DType t) { return random_number(random_, t, content); });
  }

  /// None where the program cannot be scheduled. What steps promise is for the fuzzer to test.
  lathe::Program scheduled_program() {
    lathe::Program last;
    try {
      lathe::Schedule s(computed_.program);
      fuzz::Counts counts;
      fuzz::ScheduleMaker maker(random_, counts, computed_.dims, computed_.focus);
      for (int k = random_.below(14); k >= 0; --k) {
        last = s.program();
        if (k > 0) maker.step(s);
      }
      totals_.steps += static_cast<long>(s.trace().entries.size());
    } catch (const std::exception&) {
    }
    return last;
  }

  void compare(const lathe::Program& program, const char* what) {
    const std::string text = program.str();
    fuzz::current_case = "# " + fuzz::case_name + ", " + what + "\n" + text;
    if (options_.verbose) std::printf("%s\n", fuzz::current_case.c_str()), std::fflush(stdout);
    if (fuzz::Work(program, computed_.dims).nodes() > kMostWork) {
      ++totals_.too_much_work;
      return;
    }
    const Outcome want = oracle_outcome(program, computed_.dims, args_);
    if (want.open) return void(++totals_.open);
    const std::string wrong = disagreement(want, args_, evaluator_outcome(program, args_));
    if (!wrong.empty()) throw std::runtime_error(std::string(what) + ": " + wrong + "\n" + text);
    ++totals_.compared;
    totals_.without_result += want.failed;
  }

  fuzz::Random random_;
  const Options& options_;
  Totals& totals_;
  fuzz::ComputedProgram computed_;
  Arguments args_;
};

/// A program that stores the lanes of an expression without variables.
inline lathe::Program program_of(const lathe::AnyExpr& e) {
  const int lanes = e.dtype().lanes;
  const lathe::Buffer out = lathe::make_buffer("Y", e.dtype().scalar(), {lanes});
  lathe::ProgramNode node;
  node.name = "lanes";
  node.params.push_back({lathe::Access::out, out, {}});
  const lathe::AnyExpr at = lanes == 1 ? lathe::AnyExpr(0) : lathe::make_ramp(0, 1, lanes);
  node.body = lathe::make_store(out, {at}, e);
  return lathe::Program(std::move(node));
}

/// Random expressions of every type and node.
inline void compare_expressions(std::uint64_t seed, Totals& totals) {
  static constexpr int kExpressions = 20;
  test::RandomExpr random(seed);
  for (int k = 0; k < kExpressions; ++k, ++totals.expressions) {
    const lathe::Program program = program_of(random.closed_expr());
    fuzz::current_case =
        "# " + fuzz::case_name + ", expression " + std::to_string(k) + "\n" + program.str();
    const Arguments args = make_arguments(program, {}, [](DType) { return Number{}; });
    const Outcome want = oracle_outcome(program, {}, args);
    const std::string wrong = disagreement(want, args, evaluator_outcome(program, args));
    if (!wrong.empty()) throw std::runtime_error(wrong + "\n" + program.str());
  }
}

inline bool agrees(long k, const Options& options, Totals& totals) {
  fuzz::case_name = "case " + std::to_string(k) + " of seed " + std::to_string(options.seed);
  fuzz::start_clock(120);
  try {
    const std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(k);
    compare_expressions(seed, totals);
    Case(seed, options, totals).run();
    return true;
  } catch (const std::exception& error) {
    std::printf("FAIL %s: %s\n", fuzz::case_name.c_str(), error.what());
    return false;
  }
}

}  // namespace oracle

int main(int count, char** words) {
  const oracle::Options options = oracle::parse_options(count, words);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPROF})
    signal(number, fuzz::on_crash);
  oracle::Totals totals;
  long failed = 0, done = 0;
  for (long k = std::max(options.only, 0L); done < options.cases && failed == 0; ++k, ++done) {
    failed += !oracle::agrees(k, options, totals);
    if (options.only >= 0) break;
  }
  std::printf("oracle: %ld programs and %ld expressions, seed %llu, %ld failed\n", done,
              totals.expressions, static_cast<unsigned long long>(options.seed), failed);
  std::printf("%ld runs compared with %ld steps, %ld without a result in both\n", totals.compared,
              totals.steps, totals.without_result);
  std::printf("not compared: %ld too much work, %ld no program, %ld without meaning or end\n",
              totals.too_much_work, totals.no_program, totals.open);
  return failed ? 1 : 0;
}
