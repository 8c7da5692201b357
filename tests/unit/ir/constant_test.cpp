// Constants of programs: text, equality, slots, rules.
#include <doctest/doctest.h>

#include <cstring>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/ir/verify.hpp>
#include <support/errors.hpp>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/ir/impl/layer.ipp>
#endif

using namespace lathe;
using test::error_of;

namespace {

ConstantRef content(std::vector<float> values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  return copy_constant(values.data(), sizeof(float), 1, &count, nullptr);
}

// Y = W, with these elements of W, if any.
Program copy_of(const ConstantRef& elements) {
  ProgramNode node = *parse(
      "program p(in constant V: f32[2, 2], out Y: f32[2, 2], constant W: f32[2, 2] align 64):\n"
      "  for i in 0..2:\n"
      "    for j in 0..2:\n"
      "      block Y(vi in 0..2 = i, vj in 0..2 = j):\n"
      "        Y[vi, vj] = W[vi, vj] + V[vi, vj]\n");
  node.params[2].content = elements;
  return Program(std::move(node));
}

}  // namespace

TEST_CASE("in text a constant is a name and a hash, and parse asks for its elements") {
  const ConstantRef elements = content({1, 2, 3, 4});
  const Program p = copy_of(elements);
  const std::string text = p.str();
  CHECK(text.find("constant W: f32[2, 2] align 64 hash \"" + elements->hash().str() + "\"") !=
        std::string::npos);
  CHECK(text.find("in constant V: f32[2, 2]") != std::string::npos);
  std::string asked;
  const Program again = parse(text, [&](std::string_view name, const ContentHash& hash) {
    asked = name;
    return hash == elements->hash() ? elements : ConstantRef();
  });
  CHECK(asked == "W");
  CHECK(again.str() == text);
  CHECK(structurally_equal(p, again));
  CHECK(again->params[2].content == elements);
  // Nobody was asked: it has the hash alone, and is the same program.
  const Program hash_alone = parse(text);
  CHECK(hash_alone.str() == text);
  CHECK(structurally_equal(p, hash_alone));
  CHECK(hash_alone->params[2].content->data() == nullptr);
}

TEST_CASE("parse refuses no elements, and others than the text names") {
  const std::string text = copy_of(content({1, 2, 3, 4})).str();
  CHECK(error_of([&] {
          parse(text, [](std::string_view, const ContentHash&) { return ConstantRef(); });
        }) == "L0508 parse: line 4, column 14: no elements are given for constant 'W'");
  CHECK(
      error_of([&] {
        parse(text, [](std::string_view, const ContentHash&) { return content({1, 2, 3, 5}); });
      })
          .find("L0508 parse: line 4, column 14: the elements that are given for constant 'W' are "
                "others: their hash is ") == 0);
  CHECK(error_of([] { parse("program p(constant W: f32[2] hash \"12\"):\n  pass\n"); }) ==
        "L0504 parse: line 1, column 35: a hash has 32 digits of 0 to 9 and a to f");
}

TEST_CASE("elements decide about equality, not about the hash that code and traces have") {
  const Program a = copy_of(content({1, 2, 3, 4})), b = copy_of(content({1, 2, 3, 4})),
                c = copy_of(content({1, 2, 3, 5})), any = copy_of({});
  CHECK(structurally_equal(a, b));
  CHECK_FALSE(structurally_equal(a, c));
  CHECK_FALSE(structurally_equal(a, any));
  CHECK(structurally_equal(without_contents(a), without_contents(c)));
  CHECK(structurally_equal(without_contents(a), any));
  CHECK(structural_hash(a) == structural_hash(c));
  ProgramNode argument = *a;
  argument.params[2].constancy = Constancy::none, argument.params[2].content = {};
  CHECK(structural_hash(a) != structural_hash(Program(argument)));
  CHECK_FALSE(structurally_equal(any, Program(argument)));
}

TEST_CASE("an owned constant has the last slot of a call, and no strides that calls choose") {
  const SlotLayout slots = slot_layout(parse(
      "program p<n>(constant W: f32[2, 2], in V: f32[n, 2], in s: f32, out Y: f32[2]):\n  pass\n"));
  std::vector<std::string> names;
  for (const CallSlot& s : slots) names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"V", "Y", "n", "V.s0", "s", "W"});
  CHECK(slots.back().kind == CallSlot::Kind::buffer);
}

TEST_CASE("rules of constants") {
  const auto reason = [](const std::string& params) {
    return error_of([&] { parse("program p<n>(out Y: f32[n], " + params + "):\n  pass\n"); });
  };
  CHECK(reason("constant W: f32[2, 3]") == "none");
  CHECK(reason("in constant: f32") == "none");
  CHECK(reason("constant: f32[3]") == "none");  // a name, as any other word
  CHECK(reason("constant W: f32[n]") ==
        "L0506 program 'p': a constant whose extents are no numbers");
  CHECK(reason("constant W: f32[2, 3] strides [4, 1]") ==
        "L0506 program 'p': a constant that is not row-major without gaps");
  CHECK(reason("constant W: f32[]") == "L0506 program 'p': a constant without axes");
  CHECK(reason("constant s: f32") == "L0506 program 'p': a constant without axes");
  CHECK(reason("constant W: f64[4611686018427387904, 2]") ==
        "L0506 program 'p': a constant that no memory can hold");
  CHECK(verify_reason(copy_of(content({1, 2, 3})), Stage::blocks) ==
        "a constant with elements of another size than its type says");
  ProgramNode written = *copy_of({});
  written.params[0].access = Access::inout;
  CHECK(verify_reason(Program(written), Stage::blocks) == "a constant that is written");
}

TEST_CASE("a copy takes the elements of a view in row-major order") {
  const std::vector<std::int32_t> from{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto copied = [&](std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
                          std::size_t first = 0) {
    const int rank = static_cast<int>(extents.size());
    const ConstantRef c =
        copy_constant(from.data() + first, 4, rank, extents.data(), strides.data());
    CHECK(c->hash() == hash_elements(from.data() + first, 4, rank, extents.data(), strides.data()));
    std::vector<std::int32_t> out(c->bytes() / 4);
    if (!out.empty()) std::memcpy(out.data(), c->data(), c->bytes());
    return out;
  };
  using Values = std::vector<std::int32_t>;
  CHECK(copied({3, 4}, {4, 1}) == from);
  CHECK(copied({2, 3}, {4, 1}) == Values{0, 1, 2, 4, 5, 6});
  CHECK(copied({4, 3}, {1, 4}) == Values{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(copied({3}, {-4}, 11) == Values{11, 7, 3});
  CHECK(copied({2, 0, 3}, {6, 3, 1}).empty());
  CHECK(copied({2, 1, 2}, {4, 77, 1}) == Values{0, 1, 4, 5});
}
