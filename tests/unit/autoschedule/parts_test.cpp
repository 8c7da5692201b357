// Terms that an index divides: bytes that hold two, scales that hold for a group.
#include <lathe/autoschedule/default_schedule.hpp>

#include "../../support/text.hpp"
#include "../schedule/kernels.hpp"
#include "one_core.hpp"

namespace lt = lathe;

namespace {

/// A matrix of four bits an element, two in a byte, each `group` of a row with a scale, by a
/// vector.
lt::Program nibbles(std::int64_t rows, std::int64_t terms, std::int64_t group) {
  lt::Input<std::uint8_t, 2> W("W", {rows, (terms + 1) / 2});
  lt::Input<float, 2> S("S", {rows, (terms + group - 1) / group});
  lt::Input<float, 1> X("X", {terms});
  lt::Reduce r("r", terms);
  return lt::program_of(lt::compute("Y", {rows}, [&](lt::Var i) {
    auto byte = lt::cast<int>(W(i, lt::floordiv(r, 2)));
    auto weight = lt::select(lt::floormod(r, 2) == 0, byte & 15, byte >> 4) - 8;
    return lt::sum(lt::cast<float>(weight) * S(i, lt::floordiv(r, group)) * X(r), r);
  }));
}

lt::Schedule planned(const lt::Program& program, const char* target = "x86-64-v3") {
  return lt::default_schedule(program, test::one_core(target));
}

}  // namespace

TEST_CASE(
    "terms of bytes that hold two run along the bytes, the first of each and then the second") {
  const std::string text = planned(nibbles(8, 4096, 32)).str();
  INFO(text);
  CHECK(test::has(text, "unrolled for r2 in 0..2"));
  CHECK(test::has(text, "vectorized for r1i in 0..16"));
  // Groups of 24 bytes are 8 lanes three times.
  CHECK(test::has(planned(nibbles(8, 4800, 48)).str(), "vectorized for r1i in 0..8"));
}

TEST_CASE("terms in parts of parts are folded to what the program says") {
  for (const char* target : {"x86-64-v3", "x86-64-v4"})
    for (const auto& sizes :
         {std::pair{256, 32}, {96, 48}, {70, 2}, {71, 10}, {66, 3}, {130, 64}, {64, 64}, {20, 4}}) {
      const int terms = sizes.first, group = sizes.second;
      const lt::Program program = nibbles(5, terms, group);
      CAPTURE(terms);
      CAPTURE(group);
      CHECK(test::run(planned(program, target).program()) == test::run(program));
    }
}

TEST_CASE("places that an index halves are two loops where an extent is surely even") {
  const auto of = [](const lt::Dim& w, const lt::Expr<std::int64_t>& wide) {
    lt::Input<float, 1> X("X", {w});
    return planned(lt::program_of(lt::compute("Y", {wide},
                                              [&](lt::Var i) { return X(lt::min(i / 2, w - 1)); })))
        .str();
  };
  const lt::Dim w("w");
  CHECK(test::has(of(w, 2 * w), "unrolled for ii in 0..2"));
  CHECK_FALSE(test::has(of(w, 2 * w + 1), "unrolled for ii in 0..2"));
}

TEST_CASE("a quotient that only a condition has splits no loop") {
  lt::Input<std::uint8_t, 2> X("X", {64, 96});
  const auto Y = lt::compute("Y", {64, 96}, [&](lt::Var i, lt::Var j) {
    return lt::select((i / 8 + j / 8) % 2 == 0, X(i, j), lt::Expr<std::uint8_t>(255) - X(i, j));
  });
  const std::string text = planned(lt::program_of(Y)).str();
  INFO(text);
  CHECK_FALSE(test::has(text, "in 0..8"));
  CHECK(test::has(text, "vectorized"));
}
