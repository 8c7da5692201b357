// What schedules do with programs written as loops: a step on statements in no block is taken only
// where it is proven, blocks that take part in a recurrence stay in order, and refusals say why.
#include <lathe/lathe.hpp>
#include <random>
#include <support/capture.hpp>
#include <support/sanitized.hpp>
#include <support/scripts.hpp>

#include "run.hpp"

namespace lt = lathe;

namespace {

lt::LoopRef loop_named(const lt::Schedule& s, const std::string& name) {
  std::int64_t at = 0, found = -1;
  lt::each_statement(s.program()->body, [&](const lt::Stmt& stmt) {
    const auto* f = stmt.as<lt::ForNode>();
    if (f && found < 0 && f->var->name == name) found = at;
    at += f != nullptr;
  });
  REQUIRE(found >= 0);
  return s.loop_at(found);
}

/// The first line of the refusal of one step; "" if it is taken, and then kept its meaning.
template <class Step>
std::string why_not(const lt::Program& p, Step&& step) {
  lt::Schedule s(p);
  try {
    step(s);
  } catch (const lt::UserError&) {
    const std::string text = test::refused(s, step);
    return text.substr(0, text.find('\n'));
  }
  test::check_kept(lt::Schedule(p), s);
  return "";
}
std::string parallel(const lt::Program& p, const std::string& loop) {
  return why_not(p, [&](lt::Schedule& s) { s.parallel(loop_named(s, loop)); });
}
std::string vectorize(const lt::Program& p, const std::string& loop) {
  return why_not(p, [&](lt::Schedule& s) { s.vectorize(loop_named(s, loop)); });
}

/// Without the loops that are vectors: running their lanes in another order may change what lanes
/// in step do not.
lt::Program threads_only(const lt::Program& p) {
  struct Serial : lt::Mutator {
    lt::Stmt stmt(const lt::Stmt& s) override {
      const auto* f = s.as<lt::ForNode>();
      if (!f || f->loop_kind != lt::ForKind::vectorized) return descend(s);
      return lt::make_for(f->var, f->min, f->extent, stmt(f->body));
    }
  };
  return p.with(Serial().stmt(p->body));
}

}  // namespace

TEST_CASE("a scan: split and unrolled, neither parallel nor vectors") {
  const lt::Program p = test::scan(10);
  lt::Schedule s(p);
  CHECK(
      test::refused(s, [](lt::Schedule& t) { t.parallel(t.loop_at(0)); }) ==
      R"(error[L0207] parallel: iterations of loop 'i'(10) depend on each other: a statement reads acc and a statement writes acc: different iterations of 'i' touch one element
  at script_test.cpp:#
    for i in 0..10:
        ^
      acc[] = acc[] + x[i]
      y[i] = acc[]
  help: make another loop parallel, or move the producer inside with compute_at)");
  CHECK(vectorize(p, "i") ==
        "error[L0207] vectorize: two lanes of loop 'i'(10) store to one element of 'acc'");
  auto [io, ii] = s.split<2>(s.loop_at(0), {lt::infer, 4});
  s.unroll(ii);
  CHECK(s.str() == R"(program scan(in x: f32[10], out y: f32[10]) scheduled:
  alloc acc: f32[]
  acc[] = 0.0
  for io in 0..3:
    unrolled for ii in 0..4 @tail="guard":
      if io * 4 + ii < 10:
        acc[] = acc[] + x[io * 4 + ii]
        y[io * 4 + ii] = acc[]
)");
  test::check_kept(lt::Schedule(p), s);
}

TEST_CASE("loops of statements in no block run in parallel where nothing is carried") {
  CHECK(parallel(test::filter(5, 7), "c") == "");
  CHECK(parallel(test::filter(5, 7), "t") ==
        "error[L0207] parallel: iterations of loop 't'(7) depend on each other: a statement reads "
        "last and a statement writes last: different iterations of 't' touch one element");
  CHECK(parallel(test::trmm(6, 5), "j") == "");
  CHECK(
      parallel(test::trmm(6, 5), "i") ==
      "error[L0207] parallel: iterations of loop 'i'(6) may depend on each other, which could not "
      "be excluded: a statement reads B[k, j] and a statement writes B[i, j]: different iterations "
      "of 'i' may touch one element");
  CHECK(vectorize(test::trmm(6, 5), "i") ==
        "error[L0209] vectorize: the bound of loop 'k' differs between the lanes of 'i'");
  CHECK(vectorize(test::trmm(6, 5), "j") == "");
  CHECK(parallel(test::seidel(2, 7), "i").substr(0, 60) ==
        "error[L0207] parallel: iterations of loop 'i'(5) depend on e");
  CHECK(parallel(test::cholesky(6), "j").substr(0, 60) ==
        "error[L0207] parallel: iterations of loop 'j'(i) may depend ");
  CHECK(parallel(test::shortest(5), "i").substr(0, 60) ==
        "error[L0207] parallel: iterations of loop 'i'(5) may depend ");
  CHECK(parallel(test::sort_pairs(10), "i") == "");
  CHECK(vectorize(test::sort_pairs(10), "i") == "");
}

TEST_CASE("atomic updates run in parallel where their order leaves no trace") {
  auto updates = [](lt::BinaryOp op, auto zero) {
    using T = decltype(zero);
    return lt::script("updates", [&](lt::Script& p) {
      auto x = p.input<int>("x", {40});
      auto h = p.inout<T>("h", {4});
      p.for_("i", 40, [&](lt::Var i) {
        p.atomic(op, h(lt::cast<std::int64_t>(x(i)) & 3), lt::cast<T>(x(i)));
      });
    });
  };
  for (auto op : {lt::BinaryOp::add, lt::BinaryOp::sub, lt::BinaryOp::mul, lt::BinaryOp::max,
                  lt::BinaryOp::bit_xor}) {
    lt::Schedule s(updates(op, 0));
    s.parallel(s.loop_at(0));
  }
  lt::Schedule largest(updates(lt::BinaryOp::max, 0.0f));
  largest.parallel(largest.loop_at(0));
  CHECK(parallel(updates(lt::BinaryOp::add, 0.0f), "i") ==
        "error[L0207] parallel: iterations of loop 'i'(40) may depend on each other, which could "
        "not be excluded: a statement atomically updates h[i64(x[i]) & 3]: different iterations of "
        "'i' may touch one element, and the order of '+' of f32 shows in the result");
  CHECK(vectorize(updates(lt::BinaryOp::add, 0), "i") ==
        "error[L0209] vectorize: loop 'i'(40) holds an atomic update, which has no vector form");
  auto read = lt::script("read", [](lt::Script& p) {
    auto h = p.inout<int>("h", {4});
    auto y = p.output<int>("y", {40});
    p.for_("i", 40, [&](lt::Var i) {
      p.atomic(lt::BinaryOp::add, h(i & 3), 1);
      p.store(y(i), h(i & 3));
    });
  });
  CHECK(parallel(read, "i") ==
        "error[L0207] parallel: iterations of loop 'i'(40) depend on each other: a statement "
        "atomically updates h[i & 3] and a statement reads h[i & 3]: different iterations of 'i' "
        "touch one element");
}

TEST_CASE("a bound that its loop changes is read once") {
  auto p = lt::script("grow", [](lt::Script& p) {
    auto c = p.inout<std::int64_t>("c", {1});
    auto y = p.inout<int>("y", {100});
    p.for_("i", 3, [&](lt::Var) {
      p.for_("j", c(0), [&](lt::Var j) {
        p.store(y(j), y(j) + 1);
        p.store(c(0), c(0) + 1);
      });
    });
  });
  const std::string why =
      ": the bound of loop 'j'(c[0]) is read from 'c', which is written inside the loop";
  CHECK(why_not(p, [](lt::Schedule& s) { s.fuse(s.loop_at(0), s.loop_at(1)); }) ==
        "error[L0206] fuse" + why);
  CHECK(why_not(p, [](lt::Schedule& s) {
          s.split<2>(s.loop_at(1), {lt::infer, 2});
        }) == "error[L0206] split" + why);
  CHECK(why_not(p, [](lt::Schedule& s) { s.loop_partition(s.loop_at(1), {1}); }) ==
        "error[L0206] loop_partition" + why);
}

TEST_CASE("blocks beside statements in no block that touch their buffers stay") {
  const lt::Program p = test::mixed(3, 6);
  CHECK(why_not(p, [](lt::Schedule& s) { s.compute_at("g", loop_named(s, "j")); }) ==
        "error[L0212] compute_at: block 'g' is not the only writer of its output");
  CHECK(why_not(p, [](lt::Schedule& s) { s.compute_at("c", loop_named(s, "l")); }) ==
        "error[L0212] compute_at: a statement in no block writes 'g', which block 'c' reads");
  CHECK(why_not(p, [](lt::Schedule& s) { s.compute_inline("g"); }) ==
        "error[L0214] compute_inline: block 'g' is not the only writer of 'g'");
  CHECK(why_not(p, [](lt::Schedule& s) { s.reverse_compute_inline("c"); }) ==
        "error[L0215] reverse_compute_inline: a statement in no block writes 'g', which block 'c' "
        "reads");
  CHECK(why_not(p, [](lt::Schedule& s) { s.cache_read("y", "h", lt::Scope::global); }) ==
        "error[L0216] cache_read: a statement in no block writes 'h', which block 'y' reads");
  CHECK(why_not(p, [](lt::Schedule& s) { s.cache_write("c", lt::Scope::global); }) ==
        "error[L0217] cache_write: a statement in no block reads 'c', which block 'c' writes");
  CHECK(parallel(p, "j") == "");
  CHECK(parallel(p, "t").substr(0, 60) ==
        "error[L0207] parallel: iterations of loop 't'(3) depend on e");
}

TEST_CASE("blocks of a recurrence stay in order") {
  const lt::Program p = test::rounds(2, 6);
  CHECK(
      why_not(p, [](lt::Schedule& s) { s.compute_at("a", loop_named(s, "j")); }) ==
      "error[L0212] compute_at: block 'a' reads 'u', which holds other values in other iterations");
  CHECK(why_not(p, [](lt::Schedule& s) { s.compute_inline("b"); }) ==
        "error[L0214] compute_inline: block 'u' overwrites what 'b' reads before its readers run");
  CHECK(why_not(p, [](lt::Schedule& s) { s.reverse_compute_inline("u"); }) != "");
  CHECK(parallel(p, "k") == "");
  CHECK(vectorize(p, "i") == "");
  // What one iteration of the loop has for itself does not leave it.
  CHECK(why_not(test::rows(3, 5),
                [](lt::Schedule& s) { s.reverse_compute_at("y", loop_named(s, "k")); }) ==
        "error[L0212] reverse_compute_at: block 'y' reads 'c', which holds other values in "
        "other iterations");
  CHECK(why_not(test::rows(3, 5),
                [](lt::Schedule& s) { s.reverse_compute_at("b", loop_named(s, "h")); }) ==
        "error[L0212] reverse_compute_at: block 'b' can't be moved: different instances may "
        "store to one element of 'b': the indices don't determine every iterator");
}

TEST_CASE("a script of blocks is scheduled like a compute") {
  const lt::Program p = test::matmul(12, 16, 8);
  lt::Schedule s(p);
  auto [i, j, r] = s.loops<3>("C");
  auto [io, ii] = s.split<2>(i, {lt::infer, 4});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 8});
  s.reorder({io, jo, r, ii, ji});
  lt::BlockRef store = s.cache_write("C", lt::Scope::local);
  s.reverse_compute_at(store, jo);
  s.decompose_reduction("C", r);
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);
  test::check_kept(lt::Schedule(p), s);
}

TEST_CASE("a loop over a triangle is split: the domain of its block leaves out the tail") {
  auto p = lt::script("triangle", [](lt::Script& s) {
    auto A = s.input<float>("A", {11, 5});
    auto C = s.output<float>("C", {11, 11});
    s.for_("i", 11, [&](lt::Var i) {
      s.for_("z", 11, [&](lt::Var j) { s.store(C(i, j), 0.0f); });
      s.for_("j", i + 1, [&](lt::Var j) {
        s.for_("k", 5, [&](lt::Var k) {
          s.block("C", {i, j, k}, [&](lt::Var vi, lt::Var vj, lt::Var vk) {
            s.update(lt::Fold::sum, C(vi, vj), A(vi, vk) * A(vj, vk));
          });
        });
      });
    });
  });
  lt::Schedule s(p);
  auto [jo, ji] = s.split<2>(s.loop("j"), {lt::infer, 4});
  CHECK(s.str().substr(s.str().find("    for jo")) == R"(    for jo in 0..floordiv(i, 4) + 1:
      for ji in 0..4 @tail="guard":
        for k in 0..5:
          block C(vi in 0..11 = i, vj in 0..vi + 1 = jo * 4 + ji, reduce vk in 0..5 = k) reduce sum:
            C[vi, vj] sum= A[vi, vk] * A[vj, vk]
)");
  s.reorder({jo, s.loop("k"), ji});
  s.vectorize(ji);
  s.parallel(s.loop("i"));
  test::check_kept(lt::Schedule(p), s);
}

TEST_CASE(
    "what an index tells holds for accesses at other depths, and for one dimension of several") {
  lt::Dim n("n");
  for (const lt::Program& p : {test::trmm(5, 70), test::trmm(5, n)}) {
    lt::Schedule s(p);
    auto [strip, jo, ji] = s.split<3>(s.loop("j"), {lt::infer, 2, 8});
    s.reorder({strip, s.loop("i"), jo});
    s.parallel(strip);
    if (p->dims.empty())
      test::check_kept(lt::Schedule(p), s);
    else
      for (std::int64_t size : {1, 16, 37}) test::check_kept(lt::Schedule(p), s, {{"n", size}});
  }
  // Only one of the dimensions is told, and another one goes from row to row.
  auto rows = lt::script("rows", [](lt::Script& s) {
    auto A = s.inout<float>("A", {8, 70});
    s.for_("i", 1, 8, [&](lt::Var i) {
      s.for_("j", 1, 69, [&](lt::Var j) { s.store(A(i, j), A(i - 1, j) + A(i - 1, j + 1)); });
    });
  });
  CHECK(why_not(rows,
                [](lt::Schedule& s) {
                  s.reorder({s.loop("j"), s.loop("i")});
                }) ==
        "error[L0207] reorder: a statement reads A[i - 1, j + 1] and a statement writes A[i, j]: "
        "different iterations of 'i', 'j' may touch one element");
}

TEST_CASE("steps drawn at random keep what scripts compute") {
  const int all_rounds = test::rounds(25);
  int accepted = 0, refused = 0;
  for (const auto& [name, program] : test::small_scripts()) {
    const auto expected = test::run(program);
    for (int seed = 0; seed < all_rounds; ++seed) {
      std::mt19937 random(static_cast<unsigned>(seed) * 77 + 5);
      lt::Schedule s(program);
      auto number = [&](int below) {
        return static_cast<int>(random() % static_cast<unsigned>(below));
      };
      auto loop = [&] {
        int count = 0;
        lt::each_statement(s.program()->body,
                           [&](const lt::Stmt& x) { count += x.as<lt::ForNode>() != nullptr; });
        return s.loop_at(number(count));
      };
      auto block = [&] {
        auto all = s.blocks();
        return all.empty()
                   ? lt::BlockName("none")
                   : lt::BlockName(
                         all[static_cast<std::size_t>(number(static_cast<int>(all.size())))]);
      };
      auto buffer = [&] {
        static const char* names[] = {"g", "h", "c", "A", "B", "C", "W", "x", "a", "b", "u", "y"};
        return std::string(names[number(12)]);
      };
      for (int step = 0; step < 8; ++step) {
        const lt::Schedule before = s;
        const int kind = number(15);
        try {
          if (kind == 0) s.parallel(loop());
          if (kind == 1) s.vectorize(loop());
          if (kind == 2) s.unroll(loop());
          if (kind == 3) s.split_any(loop(), {lt::infer, number(4) + 1});
          if (kind == 4) s.fuse(loop(), loop());
          if (kind == 5) s.reorder({loop(), loop()});
          if (kind == 6) s.merge(loop(), loop());
          if (kind == 7) s.loop_partition(loop(), {number(4) + 1});
          if (kind == 8) s.compute_at(block(), loop());
          if (kind == 9) s.reverse_compute_at(block(), loop());
          if (kind == 10) s.compute_inline(block());
          if (kind == 11) s.reverse_compute_inline(block());
          if (kind == 12) s.cache_read(block(), buffer(), lt::Scope::global);
          if (kind == 13) s.cache_write(block(), lt::Scope::local);
          if (kind == 14) s.decompose_reduction(block(), loop());
        } catch (const lt::UserError&) {
          ++refused;
          continue;
        }
        ++accepted;
        LATHE_CAPTURE(name);
        INFO("seed " << seed << ", kind " << kind << ", before:\n"
                     << before.str() << "\nafter:\n"
                     << s.str());
        REQUIRE(lt::verify_reason(s.program(), lt::Stage::blocks) == "");
        REQUIRE(test::run(s.program()) == expected);
        REQUIRE(test::run(test::backwards(threads_only(s.program()))) == expected);
      }
      const lt::LowerOptions strict{.strict = true};
      LATHE_CAPTURE(name);
      INFO("seed " << seed << ":\n" << s.str());
      REQUIRE(test::run(lt::lower(s.program(), lt::host(), strict), {}, false) ==
              test::run(lt::lower(program, lt::host(), strict), {}, false));
    }
  }
  CHECK(accepted > 12 * all_rounds);
  CHECK(refused > 12 * all_rounds);
}
