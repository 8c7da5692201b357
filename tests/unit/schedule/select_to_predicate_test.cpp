// select_to_predicate: terms that a choice makes neutral are left out.
#include <support/errors.hpp>

#include "kernels.hpp"

namespace lt = lathe;
using test::check_kept;
using test::error_of;

namespace {

std::string line_of(const lt::Schedule& s, const char* part) {
  const std::string text = s.str();
  const std::size_t at = text.find(part);
  return at == std::string::npos ? "none" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("select_to_predicate: every second term of a transposed convolution") {
  lt::Input<float, 1> X("X", {7}), W("W", {4});
  lt::Reduce r("r", 4);
  auto Y = lt::compute("Y", {14}, [&](lt::Var i) {
    const auto at = lt::floordiv(i + 1 - r, 2);
    const auto reaches = lt::floormod(i + 1 - r, 2) == 0;
    return lt::sum(lt::select(reaches && lt::in_bounds(X, at), X(at) * W(r), 0.0f), r);
  });
  lt::Schedule start(Y), s = start;
  s.select_to_predicate(Y);
  CHECK(line_of(s, "where ").starts_with("where floormod("));
  CHECK(line_of(s, "Y[vi] sum= ").find("select") == std::string::npos);
  check_kept(start, s);
  const auto loops = s.loops(Y);
  const auto [io, ii] = s.split(loops[0], {lt::infer, 4});
  s.vectorize(ii);
  check_kept(start, s);
}

TEST_CASE("select_to_predicate: conditions that an init shares or that load stay") {
  lt::Input<float, 2> X("X", {6, 9});
  lt::Input<std::int32_t, 1> keep("keep", {9});
  lt::Reduce r("r", 9);
  auto Y = lt::compute("Y", {6}, [&](lt::Var i) {
    return lt::sum(lt::select(i > 1 && r < i && keep(r) > 0, X(i, r), 0.0f), r);
  });
  lt::Schedule start(Y), s = start;
  s.select_to_predicate(Y);
  CHECK(line_of(s, "where ") == "where vr < vi reduce sum init:");
  CHECK(line_of(s, "Y[vi] sum= ") ==
        "Y[vi] sum= select(vi > 1 && keep[vr] > 0i32, X[vi, vr], 0.0)");
  check_kept(start, s);
}

TEST_CASE("select_to_predicate: a band by a distance has two sides") {
  lt::Input<float, 2> X("X", {6, 9});
  lt::Reduce r("r", 9);
  auto Y = lt::compute("Y", {6}, [&](lt::Var i) {
    return lt::sum(lt::select(lt::abs(r - i) <= 2, X(i, r), 0.0f), r);
  });
  lt::Schedule start(Y), s = start;
  s.select_to_predicate(Y);
  CHECK(line_of(s, "where ") == "where vr < vi + 3 && vi < vr + 3 reduce sum init:");
  check_kept(start, s);
}

TEST_CASE("select_to_predicate: the neutral value in the other arm, maxima, and integers") {
  lt::Input<std::int32_t, 2> X("X", {5, 8});
  lt::Reduce r("r", 8);
  const std::int32_t low = std::numeric_limits<std::int32_t>::min();
  auto M = lt::compute(
      "M", {5}, [&](lt::Var i) { return lt::reduce_max(lt::select(r > i, low, X(i, r)), r); });
  lt::Schedule start(M), s = start;
  s.select_to_predicate(M);
  CHECK(line_of(s, "where ") == "where vr <= vi reduce max init:");
  check_kept(start, s);
}

TEST_CASE("select_to_predicate: refusals") {
  lt::Input<float, 2> X("X", {5, 8});
  lt::Reduce r("r", 8);
  const auto error = [&](const auto& term) {
    auto Y = lt::compute("Y", {5}, [&](lt::Var i) { return lt::sum(term(i), r); });
    lt::Schedule s(Y);
    const lt::Program before = s.program();
    const std::string said = error_of([&] { s.select_to_predicate(Y); });
    CHECK(s.program() == before);
    return said;
  };
  CHECK(error([&](lt::Var i) { return X(i, r); }) ==
        "L0262 select_to_predicate: block 'Y' combines no choice, but X[vi, vr]");
  CHECK(error([&](lt::Var i) { return lt::select(r < i, X(i, r), 1.0f); }) ==
        "L0262 select_to_predicate: block 'Y' chooses between two values, none of which is neutral "
        "to 'sum'");
  CHECK(error([&](lt::Var i) { return lt::select(i > 2, X(i, r), 0.0f); }) ==
        "L0262 select_to_predicate: block 'Y' has no condition that names a reduce iterator and "
        "reads no memory: vi > 2");
  // A sum that goes on with what is there may hold -0, which adding 0 changes.
  lt::Schedule goes_on(
      lt::parse("program P(in X: f32[8], inout Y: f32[1]):\n"
                "  for r in 0..8:\n"
                "    block Y(v in 0..1 = 0, reduce vr in 0..8 = r) reduce sum:\n"
                "      Y[v] sum= select(vr < 3, X[vr], 0.0)\n"));
  CHECK(test::refused_id(goes_on, [](lt::Schedule& s) { s.select_to_predicate("Y"); }) == "L0262");
  test::Add k(4);
  CHECK(error_of([&] { lt::Schedule(k.Y).select_to_predicate(k.Y); }) ==
        "L0262 select_to_predicate: block 'Y' is not a reduction of one value");
}
