#include <doctest/doctest.h>

#include <lathe/ir/parse.hpp>
#include <lathe/ir/slot_layout.hpp>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

/// "X Y | n | X.s0 Y.s0 | s"
std::string text(const lt::SlotLayout& slots) {
  std::string out;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (k > 0) out += slots[k].kind == slots[k - 1].kind ? " " : " | ";
    out += slots[k].name;
  }
  return out;
}
std::string text(const char* params) {
  return text(lt::slot_layout(lt::parse(std::string("program P") + params + ":\n  pass\n")));
}

}  // namespace

TEST_CASE("slots are addresses, dims, strides, scalars") {
  CHECK(text("<n, m>(in X: f32[n, m], in s: f32, out Y: f32[n, m])") ==
        "X Y | n m | X.s0 Y.s0 | s");
  CHECK(text("(in X: f32[4], inout Y: f32[2, 3, 4], in Z: f32[])") == "X Y Z | Y.s0 Y.s1");
  CHECK(text("(in a: f32, in b: i64, out Y: f32[])") == "Y | a b");
}

TEST_CASE("declared strides have a slot where a call chooses them") {
  CHECK(text("<n>(in X: f32[n, 4] strides [s, t], out Y: f32[n, 4] strides [s, 1])") ==
        "X Y | n | s t");
  CHECK(text("<n>(in X: f32[4, n] strides [1, 4], out Y: f32[4, n] strides [n, 1])") == "X Y | n");
  CHECK(text("<n>(in X: f32[4, n] strides [n * 2, 1], out Y: f32[4, n])") == "X Y | n | Y.s0");
}

TEST_CASE("a slot says which bytes it holds and whose variable they are") {
  const lt::Program p = lt::parse(
      "program P<n>(in X: f32[n, 4], in s: i16, out Y: f32[n, 4] strides [t, 1]):\n  pass\n");
  const lt::SlotLayout slots = lt::slot_layout(p);
  REQUIRE(slots.size() == 6);
  CHECK(slots[2].bytes == 8);
  CHECK(slots[5].bytes == 2);
  CHECK(lt::slot_variable(p, slots[0]) == nullptr);
  CHECK(lt::slot_variable(p, slots[2]) == p->dims[0]->var.get());
  CHECK(lt::slot_variable(p, slots[3]) == nullptr);
  CHECK(lt::slot_variable(p, slots[4])->name == "t");
  CHECK(lt::slot_variable(p, slots[5]) == p->params[1].var.get());
}
