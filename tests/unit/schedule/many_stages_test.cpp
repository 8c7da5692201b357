#include <ctime>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/schedule/core/edit.hpp>

#include "kernels.hpp"

using namespace test;

namespace {

using Stage = lt::Tensor<float, 1>;

/// N blocks that know nothing of each other.
lt::Program apart(int n) {
  lt::Input<float, 1> X("X", {1000});
  lt::OutputList outputs;
  for (int k = 0; k < n; ++k)
    outputs.tensors.push_back(lt::compute("T" + std::to_string(k), {1000},
                                          [&](lt::Var i) { return X(i) * static_cast<float>(k); }));
  return lt::program_of(outputs);
}

/// Each stage is read by the two that follow it.
lt::Program chain(int n) {
  lt::Input<float, 1> X("X", {1000});
  std::vector<Stage> all;
  for (int k = 0; k < n; ++k)
    all.push_back(lt::compute("T" + std::to_string(k), {1000}, [&](lt::Var i) -> lt::Expr<float> {
      if (k < 2) return X(i) + static_cast<float>(k);
      return all[static_cast<std::size_t>(k - 1)](i) + all[static_cast<std::size_t>(k - 2)](i);
    }));
  return lt::program_of(lt::outputs(all.back()));
}

double seconds_to_schedule(const lt::Program& program) {
  double best = 1e9;
  for (int k = 0; k < 2; ++k) {
    const std::clock_t start = std::clock();
    lt::default_schedule(program, lt::Target("x86-64-v3"));
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

lt::Vec<lt::Stmt> nests_of(const lt::Program& program) {
  lt::Vec<lt::Stmt> nests;
  lt::detail::each_nest(program->body, [&](const lt::Stmt& nest) { nests.push_back(nest); });
  return nests;
}

}  // namespace

TEST_CASE("a step makes the nest that it is about, and shares the others") {
  const lt::Schedule start(apart(100));
  lt::Schedule s = start;
  const auto [io, ii] = s.split(s.loops("T50")[0], {lt::infer, 8});
  const auto changed = lt::detail::changed_nests(start.program(), s.program());
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].same_as(nests_of(s.program())[50]));
  s.vectorize(ii);
  CHECK(lt::detail::changed_nests(start.program(), s.program()).size() == 1);
  CHECK(lt::detail::changed_nests(s.program(), s.program()).empty());
}

TEST_CASE("a search enters the nests that hold what it looks for, and few others") {
  const lt::Program program = apart(100);
  const auto nests = nests_of(program);
  std::size_t blocks = 0, loops = 0, buffers = 0;
  for (const auto& nest : nests) {
    const auto* loop = nest.as<lt::ForNode>();
    const auto* block = loop->body.as<lt::BlockNode>();
    const auto tag_bit = lt::detail::Contents::bit(block->name());
    const auto loop_bit = lt::detail::Contents::bit(loop->var.get());
    REQUIRE(lt::detail::may_hold_block(nest, tag_bit));
    REQUIRE(lt::detail::may_hold_loop(nest, loop_bit));
    REQUIRE(lt::detail::may_touch(nest, tag_bit));
    for (const auto& other : nests) {
      blocks += lt::detail::may_hold_block(other, tag_bit);
      loops += lt::detail::may_hold_loop(other, loop_bit);
      buffers += lt::detail::may_touch(other, tag_bit);
    }
  }
  // Of 10,000 pairs 100 hold what they are asked for.
  CHECK(blocks < 600);
  CHECK(loops < 600);
  CHECK(buffers < 1000);
}

TEST_CASE("a copy of a node tells of what it holds itself") {
  const lt::Program program = apart(2);
  const auto nests = nests_of(program);
  const auto* block = nests[0].as<lt::ForNode>()->body.as<lt::BlockNode>();
  const lt::Stmt before{lt::BlockRefNode(block)};
  CHECK_FALSE(lt::detail::contents_of(before).inits);
  lt::BlockNode node = *block;
  node.init = true;
  node.tag = lt::make_ref<lt::BlockTagNode>("another");
  const lt::Stmt copy = lt::make_block(node);
  CHECK(lt::detail::contents_of(copy).inits);
  CHECK(lt::detail::may_hold_block(copy, lt::detail::Contents::bit(std::string("another"))));
  CHECK_FALSE(lt::detail::contents_of(before).inits);
}

TEST_CASE("what one nest does to a buffer of another is seen") {
  lt::Input<float, 1> X("X", {64});
  auto T = lt::compute("T", {64}, [&](lt::Var i) { return X(i) + 1.0f; });
  auto Y = lt::compute("Y", {64}, [&](lt::Var i) { return T(i) * 2.0f; });
  auto Z = lt::compute("Z", {64}, [&](lt::Var i) { return X(i) * 3.0f; });
  lt::Schedule s(lt::outputs(Y, Z));
  s.set_scope(T, lt::Scope::local);
  const lt::Schedule before = s;
  for (const auto& name : {"T", "Y"}) {
    const std::string why = refused(s, [&](lt::Schedule& t) { t.parallel(t.loops(name)[0]); });
    CHECK(why.find("error[L0220]") == 0);
    CHECK(why.find("buffer 'T' in scope local is used both inside and outside") !=
          std::string::npos);
  }
  CHECK(s.program() == before.program());
  s.parallel(s.loops("Z")[0]);
}

TEST_CASE("the time of a default schedule does not grow faster than stages and steps") {
  // Debug builds verify all of the program after each step: 16 times for 4 times the stages.
  for (const auto make : {apart, chain}) {
    const double few = seconds_to_schedule(make(20)), many = seconds_to_schedule(make(80));
    CAPTURE(few);
    CHECK(many < 40 * few);
  }
}

TEST_CASE("hundreds of stages are scheduled and lowered") {
  const lt::Program program = chain(200);
  const lt::Schedule s = lt::default_schedule(program, lt::Target("x86-64-v3"));
  CHECK(lt::lower(s.program(), lt::Target("x86-64-v3"))->stage == lt::Stage::machine);
}
