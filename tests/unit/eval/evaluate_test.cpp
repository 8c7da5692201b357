#include <doctest/doctest.h>

#include <cmath>
#include <lathe/lathe.hpp>
#include <limits>
#include <support/errors.hpp>
#include <support/slots.hpp>

namespace lt = lathe;
using test::error_of;

namespace {

/// A program text on arrays: one pointer per buffer parameter, in order, and the slots after those,
/// which are those of dense arrays if none are given.
void run_text(const std::string& text, std::vector<void*> buffers,
              lt::EvaluatorOptions options = {}, std::vector<std::uint64_t> rest = {}) {
  const lt::Program program = lt::parse(text);
  std::vector<std::uint64_t> slots;
  for (void* b : buffers) slots.push_back(reinterpret_cast<std::uintptr_t>(b));
  slots.insert(slots.end(), rest.begin(), rest.end());
  test::DenseCall dense;
  dense.buffers = std::move(buffers);
  if (rest.empty()) slots = test::slots_of(program, dense);
  REQUIRE(slots.size() == lt::slot_layout(program).size());
  lt::Evaluator(program, options).run(slots.data());
}
std::string internal_error_of(const std::string& text, std::vector<void*> buffers,
                              lt::EvaluatorOptions options = {}) {
  try {
    run_text(text, buffers, options);
  } catch (const lt::InternalError& e) {
    std::string what = e.what();
    return what.substr(0, what.find('\n'));
  }
  return "none";
}

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a block runs only where its bindings lie in their domains") {
  Ints y(10, -1);
  run_text(
      "program P(out Y: i64[10]):\n"
      "  for io in 0..4:\n"
      "    for ii in 0..3:\n"
      "      block Y(vi in 0..10 = io * 3 + ii) where vi != 5:\n"
      "        Y[vi] = vi\n",
      {y.data()});
  CHECK(y == Ints{0, 1, 2, 3, 4, -1, 6, 7, 8, 9});
}

TEST_CASE(
    "an init runs once per spatial point, before the outermost loop that feeds the reduction") {
  Ints x(12, 1), y(3, 50);
  run_text(
      "program P(in X: i64[12], out Y: i64[3]):\n"
      "  for ro in 0..2:\n"
      "    for i in 0..3:\n"
      "      for ri in 0..2:\n"
      "        block Y(vi in 0..3 = i, reduce vr in 0..4 = ro * 2 + ri) reduce sum init:\n"
      "          Y[vi] sum= X[vi * 4 + vr]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{4, 4, 4});
}

TEST_CASE("an empty reduction stores the identity") {
  Ints x(1), y(3, 50);
  run_text(
      "program P(in X: i64[1], out Y: i64[3]):\n"
      "  for i in 0..3:\n"
      "    for r in 0..0:\n"
      "      block Y(vi in 0..3 = i, reduce vr in 0..0 = r) reduce prod init:\n"
      "        Y[vi] prod= X[vr]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{1, 1, 1});
}

TEST_CASE("a fused loop feeds both kinds of iterators") {
  Ints x(12), y(3, 50);
  for (int i = 0; i < 12; ++i) x[static_cast<std::size_t>(i)] = i;
  run_text(
      "program P(in X: i64[12], out Y: i64[3]):\n"
      "  for f in 0..12:\n"
      "    block Y(vi in 0..3 = floordiv(f, 4), reduce vr in 0..4 = floormod(f, 4)) reduce sum "
      "init:\n"
      "      Y[vi] sum= X[vi * 4 + vr]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{6, 22, 38});
}

TEST_CASE("an init under lets and outer blocks needs only what its spatial iterators come from") {
  Ints x(16, 1), y(4, 50);
  run_text(
      "program P(in X: i64[16], out Y: i64[4]):\n"
      "  for ro in 0..2:\n"
      "    for io in 0..2:\n"
      "      block outer(a in 0..2 = io, reduce b in 0..2 = ro):\n"
      "        for ii in 0..2:\n"
      "          let at = a * 2 + ii\n"
      "          for ri in 0..2:\n"
      "            block Y(vi in 0..4 = at, reduce vr in 0..4 = b * 2 + ri) reduce sum init:\n"
      "              Y[vi] sum= X[vi * 4 + vr]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{4, 4, 4, 4});
}

TEST_CASE("an init is under the conditions around it on what its spatial iterators come from") {
  auto folded = [](const std::string& inner) {
    Ints x{1, 2}, y(3, 50);
    run_text(
        "program P(in X: i64[2], out Y: i64[3]):\n"
        "  for r in 0..2:\n"
        "    for i in 0..3:\n" +
            inner +
            "          block Y(v in 0..3 = i, reduce w in 0..2 = r) reduce sum init:\n"
            "            Y[v] sum= X[w]\n",
        {x.data(), y.data()});
    return y;
  };
  CHECK(folded("      if i < 2:\n        if i > 0:\n") == Ints{50, 3, 50});
  CHECK(folded("      let late = r + i\n      if late > 3:\n") == Ints{0, 0, 0});
  CHECK(folded("      for t in 0..4:\n        if i + t > 4:\n") == Ints{0, 0, 3});
  CHECK(folded("      for t in 0..0:\n        if i > 0:\n") == Ints{50, 0, 0});
}

TEST_CASE("an init in a block does not look at conditions on where in the reduction that is") {
  Ints x(8, 1), y(2, 50);
  run_text(
      "program P(in X: i64[8], out Y: i64[2]):\n"
      "  for i in 0..2:\n"
      "    for r in 0..2:\n"
      "      block outer(a in 0..2 = i, reduce b in 0..2 = r):\n"
      "        if b > 0:\n"
      "          for k in 0..2:\n"
      "            block Y(v in 0..2 = a, reduce w in 0..4 = b * 2 + k) reduce sum init:\n"
      "              Y[v] sum= X[v * 4 + w]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{2, 2});
}

TEST_CASE("extents may follow from data by way of a let, whatever they are") {
  const char* text =
      "program P(in X: i64[4], out Y: i64[4]):\n"
      "  for i in 0..4:\n"
      "    let n = X[i]\n"
      "    alloc T: i64[n, 2]\n"
      "    Y[i] = n\n"
      "    if n > 0:\n"
      "      T[n - 1, 1] = 7\n"
      "      Y[i] = T[n - 1, 1]\n";
  Ints x{3, 0, -5, INT64_MIN}, y(4, 50);
  run_text(text, {x.data(), y.data()}, {.find_uninitialized = true});
  CHECK(y == Ints{7, 0, -5, INT64_MIN});
  for (std::int64_t huge : {INT64_MAX, std::int64_t{1} << 61, (std::int64_t{1} << 56) + 1}) {
    x[0] = huge;
    CHECK(error_of([&] {
            run_text(text, {x.data(), y.data()});
          }) == "L0406 kernel 'P': no memory for its temporaries");
  }
}

TEST_CASE("an extent that reads memory is refused, by a program that nobody verified too") {
  lt::Buffer x = lt::make_buffer("X", lt::kI64, {4});
  lt::Buffer t = lt::make_buffer("T", lt::kI64, {lt::make_load(x, {0})});
  lt::ProgramNode node;
  node.name = "P";
  node.params.push_back({lt::Access::inout, x, {}});
  node.body = lt::make_alloc(t, lt::make_store(x, {0}, 1));
  lt::Program program{std::move(node)};
  CHECK(error_of([&] { lt::Evaluator evaluator(program); }) ==
        "L0506 program 'P': an extent or stride of 'T' reads memory");
}

TEST_CASE("without an init a reduction continues what is stored") {
  Ints x{1, 2, 3}, y{10};
  run_text(
      "program P(in X: i64[3], inout Y: i64[1]):\n"
      "  for r in 0..3:\n"
      "    block Y(vi in 0..1 = 0, reduce vr in 0..3 = r) reduce sum:\n"
      "      Y[vi] sum= X[vr]\n",
      {x.data(), y.data()});
  CHECK(y == Ints{16});
}

TEST_CASE("combines of several outputs all see the old elements") {
  Ints x{3, 1, 2}, a(1), b(1);
  run_text(
      "program P(in X: i64[3], out A: i64[1], out B: i64[1]):\n"
      "  reducer nonassociative noncommutative swap(a: i64 = 0, b: i64 = 100; c, d) = b + c, a + "
      "d\n"
      "  for r in 0..3:\n"
      "    block Y(vi in 0..1 = 0, reduce vr in 0..3 = r) reduce swap init:\n"
      "      A[vi] swap= X[vr]\n"
      "      B[vi] swap= 1\n",
      {x.data(), a.data(), b.data()});
  // (0, 100) → (103, 1) → (2, 104) → (106, 3)
  CHECK(a[0] == 106);
  CHECK(b[0] == 3);
}

TEST_CASE("vectors: ramps, broadcasts, shuffles, masks") {
  Floats x{0, 1, 2, 3, 4, 5, 6, 7}, y(8, -1);
  run_text(
      "program P(in X: f32[8], inout Y: f32[8]) stage flat:\n"
      "  Y[ramp(0, 2, 4) where ramp(0, 1, 4) < broadcast(3, 4)] = X[ramp(7, -1, 4)] + "
      "broadcast(10.0, 4)\n"
      "  Y[ramp(1, 1, 2)] = shuffle(X[ramp(0, 1, 4)]; 3, 0)\n",
      {x.data(), y.data()});
  CHECK(y == Floats{17, 3, 0, -1, 15, -1, -1, -1});
}

TEST_CASE("a vector store evaluates all lanes before it stores any") {
  Ints x{0, 1, 2, 3, 4};
  run_text("program P(inout X: i64[5]) stage flat:\n  X[ramp(1, 1, 4)] = X[ramp(0, 1, 4)]\n",
           {x.data()});
  CHECK(x == Ints{0, 0, 1, 2, 3});
}

TEST_CASE("a vector let holds all its lanes") {
  Ints y(4);
  run_text(
      "program P(out Y: i64[4]) stage flat:\n"
      "  let v = ramp(10, 1, 4)\n"
      "  Y[ramp(0, 1, 4)] = (let w = v * v in shuffle(w, v; 3, 2, 1, 4))\n",
      {y.data()});
  CHECK(y == Ints{169, 144, 121, 10});
}

TEST_CASE("a vector let in an arm has the lanes that the arm takes, whatever else moves lanes") {
  Ints x{5, 6}, y(4);
  run_text(
      "program P(in X: i64[2], out Y: i64[4]) stage flat:\n"
      "  Y[ramp(0, 1, 4)] = select(ramp(0, 1, 4) < broadcast(2, 4), "
      "(let v = X[ramp(0, 1, 4)] in select(reinterpret<boolx4>(u4(5i64)), v, broadcast(9, 4))), "
      "broadcast(7, 4))\n",
      {x.data(), y.data()});
  CHECK(y == Ints{5, 9, 7, 7});
}

TEST_CASE("select and masked loads do not touch what they do not need") {
  Floats x{5}, y(4);
  run_text(
      "program P(in X: f32[1], out Y: f32[4]) stage flat:\n"
      "  Y[0] = select(false, X[100], 1.0)\n"
      "  Y[ramp(0, 1, 4) where ramp(0, 1, 4) > broadcast(0, 4)] = X[ramp(0, 1, 4) where ramp(0, 1, "
      "4) < broadcast(1, 4)]\n",
      {x.data(), y.data()});
  CHECK(y == Floats{1, 0, 0, 0});
}

TEST_CASE("loops, branches, while, atomics, allocations") {
  Ints y(3);
  run_text(
      "program P(out Y: i64[3]) stage loops:\n"
      "  alloc t: i64[2]\n"
      "  t[0] = 0\n"
      "  while t[0] < 10:\n"
      "    t[0] = t[0] + 3\n"
      "  if t[0] == 12:\n"
      "    Y[0] = t[0]\n"
      "  else:\n"
      "    Y[0] = -1\n"
      "  Y[1] = 5\n"
      "  atomic Y[1] max = 7\n"
      "  for i in 4..2:\n"
      "    Y[2] = 1\n"
      "  Y[2] = 2\n",
      {y.data()});
  CHECK(y == Ints{12, 7, 2});
}

TEST_CASE("parameters have strides, dims and scalars") {
  Floats x{1, 2, 3, 4, 5, 6}, y(6, 0);
  float scale = 10;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &scale, 4);
  run_text(
      "program P<n>(in X: f32[n, 2] strides [s, t], in a: f32, out Y: f32[n, 2]):\n"
      "  for i in 0..n:\n"
      "    for j in 0..2:\n"
      "      block Y(vi in 0..n = i, vj in 0..2 = j):\n"
      "        Y[vi, vj] = X[vi, vj] * a\n",
      {x.data(), y.data()}, {}, {3, 1, 3, 2, bits});
  CHECK(y == Floats{10, 40, 20, 50, 30, 60});
}

TEST_CASE("an access outside of a buffer is reported with buffer and indices") {
  Ints x(4), y(4);
  CHECK(internal_error_of("program P(in X: i64[2, 2], out Y: i64[4]) stage loops:\n  for i in "
                          "0..4:\n    Y[i] = X[1, i]\n",
                          {x.data(), y.data()}) ==
        "internal error: evaluator: X[1, 2] is outside of the buffer, its shape is [2, 2]");
  CHECK(internal_error_of(
            "program P(out Y: i64[4]) stage flat:\n  Y[ramp(2, 1, 4)] = broadcast(0, 4)\n",
            {y.data()}) ==
        "internal error: evaluator: Y[4] is outside of the buffer, its shape is [4]");
  const char* text =
      "program P(in X: i64[2, 2], out Y: i64[4]):\n  for i in 0..4:\n    Y[i] = X[1, i]\n";
  CHECK(error_of([&] {
          run_text(text, {x.data(), y.data()});
        }) == "L0409 evaluate: 'X' has no element [1, 2], its shape is [2, 2]");
}

TEST_CASE("elements that nobody stored are found when asked for") {
  Ints y(1);
  const std::string text =
      "program P(out Y: i64[1]) stage loops:\n"
      "  alloc t: i64[4]\n"
      "  for i in 0..3:\n"
      "    t[i] = 1\n"
      "  Y[0] = t[3]\n";
  CHECK(internal_error_of(text, {y.data()}) == "none");
  CHECK(internal_error_of(text, {y.data()}, {.find_uninitialized = true}) ==
        "internal error: evaluator: t[3] is read before anything was stored, its shape is [4]");
  CHECK(internal_error_of("program P(out Y: i64[1]) stage loops:\n  Y[0] = Y[0] + 1\n", {y.data()},
                          {.find_uninitialized = true}) ==
        "internal error: evaluator: Y[0] is read before anything was stored, its shape is [1]");
}

TEST_CASE("an atomic update reads the element, which somebody must have stored") {
  Ints y(1, 3);
  std::string text = "program P(out Y: i64[1]):\n  atomic Y[0] += 1\n";
  CHECK(internal_error_of(text, {y.data()}, {.find_uninitialized = true}) ==
        "internal error: evaluator: Y[0] is read before anything was stored, its shape is [1]");
  run_text("program P(out Y: i64[1]):\n  Y[0] = 4\n  atomic Y[0] += 1\n", {y.data()},
           {.find_uninitialized = true});
  CHECK(y == Ints{5});
}

TEST_CASE("an assertion ends the run with its message") {
  Ints y(1);
  CHECK(error_of([&] {
          run_text("program P(out Y: i64[1]) stage loops:\n  assert Y[0] > 3, \"too small\"\n",
                   {y.data()});
        }) == "L0407 kernel 'P': too small");
}

TEST_CASE("bits are cut anew by reinterpret") {
  std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::uint32_t> words(2);
  run_text(
      "program P(in X: u8[8], out Y: u32[2]) stage flat:\n  Y[ramp(0, 1, 2)] = "
      "reinterpret<u32x2>(X[ramp(0, 1, 8)])\n",
      {bytes.data(), words.data()});
  CHECK(words == std::vector<std::uint32_t>{0x04030201, 0x08070605});
  std::vector<std::uint8_t> back(8);
  run_text(
      "program P(in X: u32[2], out Y: u8[8]) stage flat:\n  Y[ramp(0, 1, 8)] = "
      "reinterpret<u8x8>(X[ramp(0, 1, 2)])\n",
      {words.data(), back.data()});
  CHECK(back == bytes);
}
