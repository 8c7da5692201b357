// A program means the same after every pass: the evaluator runs each of them.
#include <doctest/doctest.h>

#include <cstring>
#include <lathe/autoschedule/default_schedule.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/jit/binding.hpp>
#include <lathe/lathe.hpp>
#include <map>
#include <random>
#include <support/lowering.hpp>

namespace lt = lathe;

namespace {

/// Float arguments of a program whose dims all have one value.
struct Memory {
  std::vector<std::vector<float>> buffers;
  std::vector<std::vector<std::int64_t>> extents, strides;
  std::vector<lt::CallArg> args;

  Memory(const lt::Program& p, std::int64_t dim) {
    std::mt19937 random(7);
    for (const auto& param : p->params) {
      std::vector<std::int64_t> shape, steps(param.buffer->shape.size());
      for (const auto& e : param.buffer->shape)
        shape.push_back(lt::as_const_int(e) ? *lt::as_const_int(e) : dim);
      // Rows are longer than they need to be.
      std::int64_t size = 1;
      for (std::size_t d = shape.size(); d-- > 0;) {
        steps[d] = size;
        size *= shape[d];
        if (d + 1 == shape.size()) size += 3;
      }
      buffers.emplace_back(static_cast<std::size_t>(size) + 1, -7.0f);
      if (param.access == lt::Access::in)
        for (auto& x : buffers.back()) x = static_cast<float>(random() % 9) - 4;
      extents.push_back(shape);
      strides.push_back(steps);
    }
    for (std::size_t k = 0; k < buffers.size(); ++k)
      args.push_back({buffers[k].data(), extents[k].data(), strides[k].data(), 0});
  }
};

std::vector<std::vector<float>> run(const lt::Program& original, const lt::Program& staged,
                                    std::int64_t dim) {
  Memory m(original, dim);
  std::vector<int> order;
  for (std::size_t k = 0; k < original->params.size(); ++k) order.push_back(static_cast<int>(k));
  lt::Binding binding(original, order);
  std::vector<std::uint64_t> slots(static_cast<std::size_t>(binding.slots()));
  binding.bind(m.args.data(), slots.data(), lt::Location::here());
  lt::Evaluator(staged, {.find_uninitialized = true}).run(slots.data());
  return m.buffers;
}

void check_all_stages(const lt::Schedule& s, std::initializer_list<std::int64_t> dims) {
  const lt::Program& p = s.program();
  test::Lowering lowering(p, lt::host(), {.strict = true});
  lt::Program last = lowering.until("open_strides");
  std::map<std::int64_t, std::vector<std::vector<float>>> expected;
  for (std::int64_t dim : dims) expected[dim] = run(p, last, dim);
  for (const lt::Pass& pass : lt::cpu_pipeline().subspan(1)) {
    const lt::Program staged = lowering.until(pass.name);
    if (structurally_equal(staged, std::exchange(last, staged))) continue;
    const std::string text = lt::str(staged);
    INFO("after ", std::string(pass.name), ":\n", text);
    for (std::int64_t dim : dims) {
      INFO("dims are ", dim);
      REQUIRE(run(p, staged, dim) == expected[dim]);
    }
  }
}

}  // namespace

TEST_CASE("a product, as written and by default") {
  lt::Dim m("m"), n("n"), k("k");
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<float, 1> bias("bias", {n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n},
                       [&](lt::Var i, lt::Var j) { return lt::max(C(i, j) + bias(j), 0.0f); });
  check_all_stages(lt::Schedule(D), {0, 1, 5});
  check_all_stages(lt::default_schedule(lt::program_of(D), lt::host(), {.strict = true}),
                   {0, 1, 5, 19, 33});
}

TEST_CASE("a product, tiled by hand") {
  lt::Dim m("m"), n("n"), k("k");
  lt::Input<float, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  auto C =
      lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
  auto D = lt::compute("D", {m, n}, [&](lt::Var i, lt::Var j) { return lt::max(C(i, j), 0.0f); });
  lt::Schedule s(D);
  auto [i, j, q] = s.loops<3>(C);
  auto [io, ii] = s.split<2>(i, {lt::infer, 4});
  auto [jo, ji] = s.split<2>(j, {lt::infer, 32});
  s.reorder({io, jo, q, ii, ji});
  s.vectorize(ji);
  s.unroll(ii);
  s.parallel(io);
  s.reverse_compute_at(D, jo);
  check_all_stages(s, {0, 1, 4, 33, 37});
}

TEST_CASE("a stencil over a producer, with borders and constants") {
  lt::Input<float, 2> X("X", {37, 21});
  auto P = lt::compute("P", {37, 21}, [&](lt::Var i, lt::Var j) { return X(i, j) * 2; });
  auto Q = lt::compute("Q", {37, 21}, [&](lt::Var i, lt::Var j) {
    auto at = lt::pad(P, 1);
    return at(i - 1, j) + at(i, j) + at(i + 1, j - 1);
  });
  check_all_stages(lt::Schedule(Q), {0});
  check_all_stages(lt::default_schedule(lt::program_of(Q), lt::host(), {.strict = true}), {0});
}

TEST_CASE("softmax by rows") {
  lt::Dim m("m"), n("n");
  lt::Input<float, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  auto top = lt::compute("top", {m}, [&](lt::Var i) { return lt::reduce_max(X(i, r), r); });
  auto E =
      lt::compute("E", {m, n}, [&](lt::Var i, lt::Var j) { return lt::fma(X(i, j), 2, top(i)); });
  auto total = lt::compute("total", {m}, [&](lt::Var i) { return lt::sum(E(i, r), r); });
  auto Y = lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return E(i, j) - total(i); });
  check_all_stages(lt::Schedule(Y), {0, 1, 7});
  check_all_stages(lt::default_schedule(lt::program_of(Y), lt::host(), {.strict = true}),
                   {0, 1, 7, 40});
}
