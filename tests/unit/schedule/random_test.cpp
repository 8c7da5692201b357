#include <fuzz/random_intrinsic.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/schedule/edit.hpp>

#include "kernels.hpp"

using namespace test;

// Random steps on small programs: whatever a schedule accepts keeps the outputs, bit for bit (the
// data are small integers, so that sums are exact in any order); whatever it refuses leaves it as
// it was.
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::size_t below(std::size_t n) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ % n);
  }
  std::int64_t one_of(std::initializer_list<std::int64_t> all) {
    return all.begin()[below(all.size())];
  }

 private:
  std::uint64_t state_;
};

struct Names : lt::Visitor {
  std::vector<lt::LoopRef> loops;
  std::vector<std::array<lt::LoopRef, 2>> following;  // loops right after each other
  std::vector<std::string> buffers;
  void stmt(const lt::Stmt& s) override {
    if (const auto* f = s.as<lt::ForNode>()) loops.emplace_back(f->var);
    if (const auto* a = s.as<lt::AllocNode>()) buffers.push_back(a->buffer->name);
    const auto* seq = s.as<lt::SeqNode>();
    for (std::size_t k = 1; seq && k < seq->stmts.size(); ++k) {
      const auto *first = seq->stmts[k - 1].as<lt::ForNode>(),
                 *second = seq->stmts[k].as<lt::ForNode>();
      if (first && second) following.push_back({lt::LoopRef(first->var), lt::LoopRef(second->var)});
    }
    descend(s);
  }
};

lt::LayoutMap random_map(Random& random, int rank) {
  std::vector<lt::VarRef> from;
  std::vector<lt::AnyExpr> to;
  for (int d = 0; d < rank; ++d) from.push_back(lt::make_var("d"));
  for (int d = 0; d < rank; ++d) {
    std::int64_t f = random.one_of({1, 2, 3, 4});
    lt::AnyExpr v = from[static_cast<std::size_t>(d)];
    if (f == 1)
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(random.below(to.size() + 1)), v);
    else
      to.push_back(lt::floordiv(v, f)), to.insert(to.begin(), lt::floormod(v, f));
  }
  return lt::make_ref<lt::LayoutMapNode>(from, to);
}

/// One random step, mostly with arguments that could be legal.
void random_step(lt::Schedule& s, Random& random) {
  Names names;
  names.stmt(s.program()->body);
  auto blocks = s.blocks();
  for (const auto& p : s.program()->params)
    if (p.buffer) names.buffers.push_back(p.name());
  if (names.loops.empty() || blocks.empty()) return;
  auto block = blocks[random.below(blocks.size())];
  auto own = s.loops(block);
  auto any_loop = [&] { return names.loops[random.below(names.loops.size())]; };
  auto own_loop = [&] { return own.empty() ? any_loop() : own[random.below(own.size())]; };
  auto other_loop = [&] {
    auto loops = s.loops(blocks[random.below(blocks.size())]);
    return loops.empty() ? any_loop() : loops[random.below(loops.size())];
  };
  auto buffer = names.buffers[random.below(names.buffers.size())];
  lt::Scope scope = random.below(2) ? lt::Scope::global : lt::Scope::local;
  std::int64_t factor = random.one_of({1, 2, 3, 4, 5, 8});
  switch (random.below(37)) {
    case 0:
      s.split(own_loop(), {lt::infer, factor},
              random.below(3) == 0 ? lt::Tail::shift : lt::Tail::guard);
      break;
    case 1:
      s.split(own_loop(), {factor, lt::infer});
      break;
    case 2: {
      if (own.size() < 2) return;
      std::size_t k = random.below(own.size() - 1);
      s.fuse(own[k], own[k + 1]);
      break;
    }
    case 3:
    case 4: {
      for (std::size_t k = own.size(); k > 1; --k) std::swap(own[k - 1], own[random.below(k)]);
      if (own.size() > 2) own.resize(2 + random.below(own.size() - 1));
      s.reorder(own);
      break;
    }
    case 5:
      s.tile(own_loop(), own_loop(), factor, random.one_of({2, 3, 4}));
      break;
    case 6:
      s.parallel(own_loop());
      break;
    case 7:
      s.vectorize(own_loop());
      break;
    case 8:
      s.unroll(own_loop());
      break;
    case 9:
    case 10:
      s.compute_at(block, other_loop());
      break;
    case 11:
    case 12:
      s.reverse_compute_at(block, other_loop());
      break;
    case 13:
      s.compute_inline(block);
      break;
    case 14:
      s.reverse_compute_inline(block);
      break;
    case 15:
      if (random.below(2))
        s.cache_read(block, buffer, scope);
      else
        s.cache_write(block, scope);
      break;
    case 16:
      s.decompose_reduction(block, own_loop());
      break;
    case 17:
      s.rfactor(own_loop(), static_cast<int>(random.one_of({0, 1, -1})));
      break;
    case 18:
      s.reindex(block, buffer);
      break;
    case 19:
      s.add_unit_loop(own_loop());
      break;
    case 20: {
      auto found = lt::detail::find_buffer(s.program(), buffer);
      if (random.below(3) == 0)
        s.set_scope(buffer, scope);
      else if (random.below(2))
        s.storage_align(buffer, 0, factor, random.one_of({0, 1}));
      else
        s.transform_layout(buffer, random_map(random, found->rank()));
      break;
    }
    case 21: {
      auto loop = own_loop();
      auto extent = lt::find_loop(s.program()->body, loop.var).loop->extent;
      if (random.below(2))
        s.loop_partition(loop, {factor});
      else
        s.loop_partition(loop, {lt::floordiv(extent, factor), extent - random.one_of({0, 1})});
      break;
    }
    case 22: {
      if (names.following.empty()) return;
      auto [first, second] = names.following[random.below(names.following.size())];
      s.merge(first, second);
      break;
    }
    case 26: {
      std::vector<lt::BlockName> readers;
      for (const auto& reader : lt::consumers(s.program()->body, block.tag))
        if (readers.empty() || random.below(2))
          readers.emplace_back(lt::BlockRef(reader.block->tag));
      s.clone(block, readers);
      break;
    }
    case 27:
      s.decompose_padding(block, own_loop());
      break;
    case 28: {
      std::vector<lt::Factor> multiples;
      for (std::size_t k = lt::find_block(s.program()->body, block.tag).block->iters.size(); k > 0;
           --k)
        multiples.push_back(random.one_of({1, 2, 4, 3}));
      s.pad(block, multiples);
      break;
    }
    case 24:
      s.hoist_storage(buffer, other_loop());
      break;
    case 23: {
      auto iters = lt::find_block(s.program()->body, block.tag).block->iters;
      s.transform_block_layout(block, random_map(random, static_cast<int>(iters.size())));
      break;
    }
    case 29: {
      case 33:
      case 35:
        s.unannotate(own_loop(), random.below(2) ? "hoist_storage" : "tail");
        break;
      case 36:
        s.atomic(block);
        break;
      case 34: {
        constexpr const char* kAxes[] = {"blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y"};
        s.bind(own_loop(), kAxes[random.below(4)]);
        break;
      }
      case 30:
      case 31:
        s.rolling_buffer(block, own_loop());
        break;
      case 32:
        s.double_buffer(buffer, other_loop());
        break;
      case 25: {
        if (own.empty()) return;
        const std::size_t first =
            own.size() - 1 - random.below(std::min<std::size_t>(own.size(), 2));
        auto row = fuzz::IntrinsicMaker::row(lt::find_block(s.program()->body, block.tag), first,
                                             random.below(2) == 0);
        if (row) s.tensorize(own[first], *row);
        break;
      }
    }
  }

  /// Stages of lowering that have to agree as well. Once loops are vectors, a load may fetch lanes
  /// that nothing uses and nothing stored.
  struct LoweredStage {
    const char* pass;
    bool find_uninitialized;
  };
  constexpr LoweredStage kLowered[] = {{"lower_blocks", true},
                                       {"compact_buffers", true},
                                       {"hoist_guards", true},
                                       {"unroll", false},
                                       {"simplify_flat", false}};

  /// Runs random steps, each of which must keep the results; gives how many were accepted.
  int random_schedule(const lt::Schedule& start, std::uint64_t seed, const Dims& dims = {}) {
    int accepted = 0;
    Random random(seed);
    lt::Schedule s = start;
    auto expected = run(start.program(), dims);
    std::size_t steps = 1 + random.below(12);
    for (std::size_t k = 0; k < steps; ++k) {
      lt::Program before = s.program();
      try {
        random_step(s, random);
        ++accepted;
      } catch (const lt::UserError& e) {
        REQUIRE(s.program() == before);
        check_documented(e.what());
        continue;
      }
      INFO("seed " << seed << "\nbefore:\n"
                   << before.str() << "\nafter:\n"
                   << s.str() << "\n"
                   << s.trace().str());
      REQUIRE(lt::verify_reason(s.program(), lt::Stage::blocks) == "");
      REQUIRE(run(s.program(), dims) == expected);
      REQUIRE(run(backwards(s.program()), dims) == expected);
    }
    lt::Trace trace = lt::parse_trace(s.trace().str());
    INFO("seed " << seed << "\n" << s.trace().str() << s.str());
    for (const LoweredStage& stage : kLowered) {
      INFO(stage.pass);
      lt::Program lowered = lt::lower_until(stage.pass, s.program(), lt::host());
      REQUIRE(run(lowered, dims, stage.find_uninitialized) == expected);
    }
    REQUIRE(lt::structurally_equal(lt::replay(trace, start).program(), s.program()));
    // Drawing the page asks for the footprint of each loop.
    const std::string page = s.html();
    REQUIRE(page.substr(page.size() - 8) == "</html>\n");
    return accepted;
  }

  // Most steps are refused; with fewer accepted ones the generator would test nothing.
  constexpr int kRounds = 150, kLeastAccepted = 2 * kRounds;

}  // namespace

TEST_CASE("random schedules: matrix product with an epilogue") {
  int accepted = 0;
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 1000);
    Gemm k(random.one_of({1, 5, 8, 9}), random.one_of({1, 4, 7}), random.one_of({0, 1, 3, 6}));
    accepted += random_schedule(lt::Schedule(k.D), static_cast<std::uint64_t>(seed));
  }
  CHECK(accepted >= kLeastAccepted);
}

TEST_CASE("random schedules: symbolic matrix product") {
  lt::Dim m("m"), n("n");
  Gemm k(m, n, 4);
  lt::Schedule start(k.D);
  int accepted = 0;
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed) + 2000);
    accepted +=
        random_schedule(start, static_cast<std::uint64_t>(seed),
                        {{"m", random.one_of({0, 1, 5, 8})}, {"n", random.one_of({1, 3, 6})}});
  }
  CHECK(accepted >= kLeastAccepted);
}

TEST_CASE("random schedules: stencils") {
  lt::Input<float, 2> A("A", {9, 13});
  auto P = lt::compute("P", {9, 13}, [&](lt::Var i, lt::Var j) { return A(i, j) * 2.0f; });
  auto Q =
      lt::compute("Q", {8, 11}, [&](lt::Var i, lt::Var j) { return P(i, j) + P(i + 1, j + 2); });
  auto R = lt::compute("R", {4, 11},
                       [&](lt::Var i, lt::Var j) { return Q(2 * i, 10 - j) + Q(2 * i + 1, j); });
  auto S = lt::compute("S", {4, 11}, [&](lt::Var i, lt::Var j) {
    return lt::select(i > 0, R(lt::max(i - 1, 0), j), 0.0f) + Q(i, j / 2);
  });
  lt::Schedule start(S);
  int accepted = 0;
  for (int seed = 0; seed < kRounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= kLeastAccepted);
}

TEST_CASE("random schedules: normalisation of rows") {
  lt::Input<float, 2> X("X", {5, 7});
  lt::Reduce r("r", 7), q("q", 7);
  auto top = lt::compute("top", {5}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto T = lt::compute("T", {5, 7}, [&](lt::Var i, lt::Var j) { return X(i, j) - top(i); });
  auto sum = lt::compute("sum", {5}, [&](lt::Var i) { return lt::sum(T(i, q), q); });
  auto Y = lt::compute("Y", {5, 7}, [&](lt::Var i, lt::Var j) { return T(i, j) + sum(i); });
  lt::Schedule start(Y);
  int accepted = 0;
  for (int seed = 0; seed < kRounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= kLeastAccepted);
}

TEST_CASE("random schedules: positions of the largest, and two outputs that share a producer") {
  lt::Input<float, 2> X("X", {6, 9});
  lt::Reduce r("r", 9);
  auto P = lt::compute("P", {6, 9}, [&](lt::Var i, lt::Var j) { return X(i, j) + 1.0f; });
  auto best = lt::compute("best", {6}, [&](lt::Var i) { return lt::argmax(P(i, r), r); });
  auto Z = lt::compute("Z", {9, 6}, [&](lt::Var i, lt::Var j) { return P(j, i) * 2.0f; });
  lt::Schedule start(lt::outputs(Z, best.get<0>(), best.get<1>()));
  int accepted = 0;
  for (int seed = 0; seed < kRounds; ++seed)
    accepted += random_schedule(start, static_cast<std::uint64_t>(seed));
  CHECK(accepted >= kLeastAccepted);
}
