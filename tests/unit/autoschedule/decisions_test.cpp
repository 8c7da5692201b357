// Plans as data: what the default schedule decides, printed, read, changed and applied again.
#include <lathe/autoschedule/default_schedule.hpp>
#include <set>
#include <support/errors.hpp>
#include <support/random.hpp>
#include <support/text.hpp>

#include "../schedule/run.hpp"
#include "one_core.hpp"

using namespace test;
namespace {

lt::Program product(std::int64_t m, std::int64_t n, std::int64_t k, bool turned = false) {
  lt::Input<std::int32_t, 2> A("A", {m, k}), B("B", {turned ? n : k, turned ? k : n});
  lt::Reduce r("k", k);
  return lt::program_of(lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(A(i, r) * (turned ? B(j, r) : B(r, j)), r);
  }));
}

// Terms of which one is the same for all of a column.
lt::Program with_vector(std::int64_t m, std::int64_t n, std::int64_t k) {
  lt::Input<std::int32_t, 2> A("A", {m, k});
  lt::Input<std::int32_t, 1> b("b", {n});
  lt::Reduce r("k", k);
  return lt::program_of(lt::compute(
      "C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(lt::min(A(i, r), b(j)), r); }));
}

lt::Program bytes_product() {
  lt::Input<std::uint8_t, 2> A("A", {24, 64});
  lt::Input<std::int8_t, 2> B("B", {64, 48});
  lt::Reduce r("k", 64);
  return lt::program_of(lt::compute("C", {24, 48}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<std::int32_t>(A(i, r)) * lt::cast<std::int32_t>(B(r, j)), r);
  }));
}

lt::Program windows() {
  lt::Input<std::int32_t, 3> I("I", {14, 15, 40});
  lt::Reduce a("a", 3), b("b", 3);
  return lt::program_of(lt::compute("P", {12, 13, 40}, [&](lt::Var y, lt::Var x, lt::Var c) {
    return lt::sum(I(y + a, x + b, c), {a, b});
  }));
}

// Channels first; windows are compared, and something else is taken.
lt::Program convolution() {
  lt::Input<std::int32_t, 4> I("I", {1, 4, 10, 18});
  lt::Input<std::int32_t, 4> W("W", {16, 4, 3, 3});
  lt::Reduce c("c", 4), a("a", 3), b("b", 3);
  return lt::program_of(
      lt::compute("P", {1, 16, 8, 16}, [&](lt::Var n, lt::Var f, lt::Var y, lt::Var x) {
        return lt::sum(I(n, c, y + a, x + b) * W(f, c, a, b), {c, a, b});
      }));
}

// Places of a window lie 4 KB apart, on one set of the first cache.
lt::Program crowded_windows() {
  lt::Input<std::int32_t, 3> I("I", {9, 9, 1024});
  lt::Input<std::int32_t, 3> W("W", {3, 3, 1024});
  lt::Reduce a("a", 3), b("b", 3);
  return lt::program_of(lt::compute("P", {7, 7, 1024}, [&](lt::Var y, lt::Var x, lt::Var c) {
    return lt::sum(I(y + a, x + b, c) * W(a, b, c), {a, b});
  }));
}

lt::Program row_sums() {
  lt::Input<std::int32_t, 2> X("X", {9, 300});
  lt::Reduce r("r", 300);
  return lt::program_of(lt::compute("S", {9}, [&](lt::Var i) { return lt::sum(X(i, r), r); }));
}

lt::Program elements() {
  lt::Input<std::int32_t, 2> X("X", {5, 300});
  return lt::program_of(
      lt::compute("Y", {5, 300}, [&](lt::Var i, lt::Var j) { return X(i, j) * X(i, j) + 7; }));
}

// The programs that all options of all decisions make, each equal to the evaluator's result.
std::set<std::string> all_programs(const lt::Program& program) {
  const lt::Plan plan = lt::default_plan(program, one_core());
  const auto want = test::run(program);
  std::set<std::string> out;
  for (std::size_t d = 0; d < plan.decisions.size(); ++d)
    for (const auto& option : plan.decisions[d].others) {
      lt::Plan other = plan;
      other.decisions[d].taken = option;
      const lt::Schedule s = lt::apply_plan(other, program, one_core());
      const std::string asked =
          plan.decisions[d].block + " " + plan.decisions[d].what + " " + option.str();
      INFO(asked);
      if (out.insert(s.str()).second) CHECK(test::run(s.program()) == want);
    }
  return out;
}

std::string first_line_with(const std::vector<std::string>& lines, const std::string& part) {
  for (const auto& line : lines)
    if (has(line, part)) return line;
  return {};
}

}  // namespace

TEST_CASE("a plan says how a product is computed, and what was compared") {
  const lt::Plan plan = lt::default_plan(product(64, 96, 80), one_core());
  const lt::Decision* shape = plan.find("C", "shape");
  REQUIRE(shape);
  CHECK(&plan.decisions[0] == shape);
  CHECK(shape->taken.name == "register_tile");
  CHECK(shape->taken.cycles > 0);
  const lt::Decision* tile = plan.find("C", "register_tile");
  REQUIRE(tile);
  CHECK(tile->taken.name == "i");
  REQUIRE(tile->taken.numbers.size() == 2);
  CHECK(tile->others.size() > 20);
  for (std::size_t k = 1; k < tile->others.size(); ++k)
    CHECK(tile->others[k - 1].cycles <= tile->others[k].cycles);
  CHECK(tile->str().starts_with("C register_tile i "));
  CHECK(has(tile->str(), " cycles; next "));
  CHECK(!plan.find("C", "window_tile"));
  CHECK(!plan.find("D", "shape"));
}

TEST_CASE("of windows in place and apart a plan has the tiles that are taken") {
  const lt::Program program = crowded_windows();
  const lt::Plan plan = lt::default_plan(program, one_core());
  CHECK(plan.find("P", "shape")->taken.name == "window_tile");
  const bool apart = has(lt::default_schedule(program, one_core()).trace().cpp(), "cache_read");
  CHECK((plan.find("P", "window_apart") != nullptr) == apart);
  CHECK((plan.find("P", "window_tile") != nullptr) != apart);
}

TEST_CASE("a plan that was printed and read gives the default schedule again") {
  for (const lt::Program& program :
       {product(64, 96, 80), product(16, 96, 256, true), bytes_product(), windows(), row_sums(),
        convolution(), crowded_windows(), elements()}) {
    const lt::Plan plan = lt::default_plan(program, one_core());
    REQUIRE(!plan.decisions.empty());
    const lt::Plan read = lt::Plan::parse(plan.str());
    CHECK(read.decisions.size() == plan.decisions.size());
    std::vector<std::string> repairs;
    const lt::Schedule s = lt::apply_plan(read, program, one_core(), {}, &repairs);
    CHECK(repairs.empty());
    CHECK(s.trace().cpp() == lt::default_schedule(program, one_core()).trace().cpp());
  }
}

TEST_CASE("each option of each decision computes what the program says") {
  CHECK(all_programs(product(21, 50, 37)).size() > 20);
  CHECK(all_programs(product(16, 48, 256, true)).size() > 20);
  CHECK(all_programs(with_vector(21, 50, 37)).size() > 20);
  CHECK(all_programs(bytes_product()).size() > 10);
  CHECK(all_programs(windows()).size() > 10);
  CHECK(all_programs(row_sums()).size() >= 2);
  CHECK(all_programs(elements()).size() >= 4);
}

TEST_CASE("a long vector that all terms share stays as it lies") {
  const lt::Program program = with_vector(64, 200000, 40);
  const std::string text = lt::default_schedule(program, one_core()).str();
  CHECK(has(text, "sum= min(A[vi, vk], b[vj])"));
  CHECK(lt::default_plan(program, one_core()).find("C", "panels(b)")->taken.numbers[0] == 0);
}

TEST_CASE("a plan decides the shape of a reduction and its tile") {
  const lt::Program program = product(64, 96, 80);
  const auto planned = [&](const std::string& text) {
    return lt::apply_plan(lt::Plan::parse("plan 1\n" + text), program, one_core()).trace().cpp();
  };
  CHECK(has(planned("C shape partial_lanes"), "fold_lanes"));
  const std::string tile = planned("  C   register_tile i 4 2   # half\n\n# nothing\n");
  CHECK(has(tile, "{lathe::infer, 4}"));
  CHECK(has(tile, "{lathe::infer, 32}"));
}

TEST_CASE("of what a shape does not allow the nearest is taken, and said") {
  std::vector<std::string> repairs;
  const lt::Plan plan = lt::Plan::parse(
      "plan 1\nC register_tile i 8 3\nC register_tiles i 8 3\nC shape window_tile\n");
  const lt::Schedule s = lt::apply_plan(plan, product(3, 96, 80), one_core(), {}, &repairs);
  CHECK(first_line_with(repairs, "C register_tile'") ==
        "plan: 'C register_tile' is 'i 3 3', as 'i 8 3' is not possible");
  CHECK(first_line_with(repairs, "register_tiles") ==
        "plan: 'C register_tiles' is not decided here");
  CHECK(first_line_with(repairs, "shape") ==
        "plan: 'C shape' is 'register_tile', as 'window_tile' is not possible");
  CHECK(has(s.trace().cpp(), "{lathe::infer, 48}"));
}

TEST_CASE("where a shape is not possible, or not known, the rules say what is taken") {
  for (const char* shape : {"fold_columns", "intrinsic", "none"}) {
    std::vector<std::string> repairs;
    const lt::Plan plan = lt::Plan::parse(std::string("plan 1\nS shape ") + shape + "\n");
    const lt::Schedule s = lt::apply_plan(plan, row_sums(), one_core(), {}, &repairs);
    CHECK(s.trace().cpp() == lt::default_schedule(row_sums(), one_core()).trace().cpp());
    CHECK(has(first_line_with(repairs, "S shape"), "is not possible"));
  }
}

TEST_CASE("no option is listed twice") {
  for (const lt::Program& program : {product(16, 48, 256, true), product(64, 96, 80), windows()})
    for (const auto& d : lt::default_plan(program, one_core()).decisions) {
      std::set<std::string> all{d.taken.str()};
      for (const auto& option : d.others) CHECK(all.insert(option.str()).second);
    }
}

TEST_CASE("a plan of another program is refused, and an empty one decides nothing") {
  const lt::Program program = product(64, 96, 80);
  CHECK(error_of([&] {
          lt::apply_plan(lt::Plan::parse("plan 1\nD shape intrinsic\n"), program, one_core());
        }) == "L0267 plan: nothing that it decides, as 'D shape', is decided in program 'C'");
  CHECK(lt::apply_plan({}, program, one_core()).str() ==
        lt::default_schedule(program, one_core()).str());
}

TEST_CASE("a program that is scheduled already keeps its schedule") {
  lt::Schedule s(product(64, 96, 80));
  s.vectorize(s.split<2>(s.loops<3>("C")[1], {lt::infer, 16})[1]);
  CHECK(lt::default_plan(s.program(), one_core()).decisions.empty());
  const lt::Plan plan =
      lt::Plan::parse("plan 1 # of what was there before\nC register_tile i 8 3\n");
  CHECK(lt::apply_plan(plan, s.program(), one_core()).str() == s.str());
}

TEST_CASE("texts that are no plan are refused with their line") {
  CHECK(error_of([&] { lt::Plan::parse(""); }) == "L0266 plan: the text starts with 'plan 1'");
  CHECK(error_of([&] { lt::Plan::parse("plan 2\nC shape intrinsic\n"); }) ==
        "L0266 plan: the text starts with 'plan 1'");
  CHECK(error_of([&] { lt::Plan::parse("plan 1\n\nC shape\n"); }) ==
        "L0266 plan: line 3 is not a block, a decision and what it takes");
  CHECK(error_of([&] { lt::Plan::parse("plan 1\nC register_tile i 8 3.5\n"); }) ==
        "L0266 plan: line 2: '3.5' is no number");
  CHECK(error_of([&] { lt::Plan::parse("plan 1\nC register_tile i 99999999999999999999\n"); }) ==
        "L0266 plan: line 2: '99999999999999999999' is no number");
  CHECK(error_of([&] { lt::Plan::parse("plan 1\nC shape a\nD shape a\nC shape b\n"); }) ==
        "L0266 plan: 'C shape' is decided twice");
}

TEST_CASE("any bytes are a plan or L0266, and any plan gives a schedule or L0267") {
  const lt::Program program = product(21, 50, 37);
  const std::string text = lt::default_plan(program, one_core()).str();
  test::Random random(25);
  int read = 0;
  for (int k = 0; k < 400; ++k) {
    std::string other = text;
    for (int n = random.below(4); n >= 0; --n)
      other[static_cast<std::size_t>(random.below(static_cast<int>(other.size())))] =
          "0123456789- #\nCx\t\x80"[random.below(18)];
    try {
      const lt::Plan plan = lt::Plan::parse(other);
      ++read;
      lt::apply_plan(plan, program, one_core());
    } catch (const lt::UserError& e) {
      CHECK((e.id() == "L0266" || e.id() == "L0267"));
    }
  }
  CHECK(read > 50);
}
