// Comparisons of ramps of numbers, of any type of integers.
#include <doctest/doctest.h>

#include <lathe/arith/simplify.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/arith/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

AnyExpr below(DType t, std::int64_t first, std::int64_t step, std::int64_t end) {
  return make_binary(BinaryOp::lt, make_ramp(make_int(t, first), make_int(t, step), 8),
                     make_broadcast(make_int(t, end), 8));
}
bool is(const AnyExpr& e, bool value) {
  const AnyExpr simple = simplify(e);
  const auto* decided = as_const_int(simple);
  return decided && (*decided != 0) == value;
}

}  // namespace

TEST_CASE("lanes that all compare alike are decided") {
  for (DType t : {kI8, kU8, kI16, kI32, kI64}) {
    CHECK(is(below(t, 0, 1, 8), true));
    CHECK(is(below(t, 0, 1, 0), false));
    CHECK(is(below(t, 5, 2, 5), false));
    CHECK_FALSE(as_const_int(simplify(below(t, 0, 1, 7))));
  }
  CHECK_FALSE(as_const_int(simplify(below(kI8, 124, 1, 127))));
  CHECK_FALSE(as_const_int(simplify(below(kI8, 121, 1, 100))));  // the last ones wrap
}
