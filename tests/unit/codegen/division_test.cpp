// Vectors of integers are divided as floats: the same quotients to the last one.
#include <random>

#include "against.hpp"

using namespace lathe;
using namespace test;

namespace {

constexpr int kCount = 1 << 16, kLanes = 16;

/// Numerators and divisors; the quotients are integers, or one off an integer by the least there
/// is, where they are not edge values or random.
struct Pairs {
  Bytes over, by;
};

void put(Bytes& b, DType t, int k, std::int64_t value) {
  const auto size = static_cast<std::size_t>(t.element_bytes());
  std::memcpy(b.data.data() + static_cast<std::size_t>(k) * size, &value, size);
}

Pairs all_bytes(DType t) {
  Pairs p;
  for (Bytes* b : {&p.over, &p.by}) b->data.resize(kCount);
  for (int k = 0; k < kCount; ++k) put(p.over, t, k, k % 256), put(p.by, t, k, k / 256);
  return p;
}

Pairs beside_integers(DType t) {
  Pairs p;
  for (Bytes* b : {&p.over, &p.by})
    b->data.resize(static_cast<std::size_t>(kCount * t.element_bytes()));
  std::mt19937_64 random(1);
  const std::uint64_t low = (std::uint64_t{1} << t.bits) - 1;
  const std::int64_t edges[] = {0,         1,         -1,        2,         -2,        3,
                                INT16_MIN, INT16_MAX, INT32_MIN, INT32_MAX, UINT16_MAX};
  for (int k = 0; k < kCount; ++k) {
    std::uint64_t by = (random() & low) >> (random() % static_cast<unsigned>(t.bits));
    std::uint64_t over = random() & low;
    if (k % 8 < 6 && by != 0) over = over / by * by + static_cast<std::uint64_t>(k % 3) - 1;
    if (t.is_signed() && k % 2) over = ~over + 1;
    if (t.is_signed() && k % 4 / 2) by = ~by + 1;
    if (k % 64 == 7) by = static_cast<std::uint64_t>(edges[random() % std::size(edges)]);
    if (k % 32 == 7) over = static_cast<std::uint64_t>(edges[random() % std::size(edges)]);
    put(p.over, t, k, static_cast<std::int64_t>(over));
    put(p.by, t, k, static_cast<std::int64_t>(by));
  }
  return p;
}

constexpr BinaryOp kOps[] = {BinaryOp::div, BinaryOp::mod, BinaryOp::floordiv, BinaryOp::floormod};

/// r[k] = x[k] op y[k], in vectors.
Program divisions(DType t, BinaryOp op) {
  Build b;
  auto x = b.buffer("x", t), y = b.buffer("y", t), r = b.output("r", t);
  auto i = make_var("i");
  AnyExpr at = make_ramp(AnyExpr(i) * kLanes, AnyExpr(1), kLanes);
  AnyExpr value = make_binary(op, make_load(x, {at}), make_load(y, {at}));
  return b.done(make_for(i, 0, kCount / kLanes, make_store(r, {at}, value)));
}

}  // namespace

TEST_CASE("vectors of integers divide as single ones do") {
  for (DType t : {kI8, kU8, kI16, kU16, kI32, kU32}) {
    CAPTURE(t.str());
    const Pairs p = t.bits == 8 ? all_bytes(t) : beside_integers(t);
    for (BinaryOp op : kOps) {
      CAPTURE(op_text(op));
      const Bytes zero{std::vector<unsigned char>(p.over.data.size())};
      const auto got = check_against_evaluator(divisions(t, op), {p.over, p.by, zero});
      CHECK(got[2].data != zero.data);
    }
  }
}

TEST_CASE("no integer division is left of a vector of at most 32 bits") {
  for (DType t : {kI8, kU16, kI32, kU32})
    for (BinaryOp op : kOps) {
      const std::string text = emit_llvm(legal(divisions(t, op)), host(), 19).text;
      CAPTURE(text);
      CHECK(text.find("fdiv <16 x") != std::string::npos);
      CHECK(text.find("div <16 x i") == std::string::npos);
      CHECK(text.find("rem <16 x i") == std::string::npos);
    }
}
