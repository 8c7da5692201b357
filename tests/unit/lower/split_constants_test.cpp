// What of a program runs once, and what stays.
#include <doctest/doctest.h>

#include <lathe/ir/parse.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/lower/split_constants.hpp>
#include <string>
#include <vector>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/lower/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

// A program of these statements over constants W, a promised V, inputs X and s, temporaries T and
// U.
lt::SplitProgram split(const std::string& statements, const std::string& allocs = "") {
  const std::string own = allocs.empty() ? "  alloc T: f32[8]\n  alloc U: f32[8]\n" : allocs;
  const lt::SplitProgram parts = lt::split_constants(lt::parse(
      "program p<n>(in X: f32[n], in s: f32, in constant V: f32[8], out Y: f32[8], constant W: "
      "f32[8]):\n" +
      own + statements));
  lt::verify(parts.rest, lt::Stage::blocks);
  for (const lt::OncePart& part : parts.once) lt::verify(part.program, lt::Stage::blocks);
  return parts;
}

// A nest that stores `value`, over vi, to a buffer.
std::string nest(const std::string& to, const std::string& value, const std::string& name) {
  return "  for i in 0..8:\n    block " + name + "(vi in 0..8 = i):\n      " + to +
         "[vi] = " + value + "\n";
}
std::string names(const lt::Program& program) {
  std::string out;
  for (const lt::Param& p : program->params)
    out += (out.empty() ? "" : " ") + p.name() + (p.access == lt::Access::out ? "!" : "");
  return out;
}

}  // namespace

TEST_CASE("what reads constants alone, also by way of temporaries, is one part") {
  const lt::SplitProgram parts = split(nest("T", "W[vi] * 2.0", "a") + nest("U", "T[7 - vi]", "b") +
                                       nest("Y", "U[vi] + X[vi]", "c"));
  REQUIRE(parts.once.size() == 1);
  CHECK(parts.once[0].program.str() ==
        "program p_once(in W: f32[8], out U: f32[8] align 64):\n"
        "  alloc T: f32[8]\n"
        "  for i in 0..8:\n    block a(vi in 0..8 = i):\n      T[vi] = W[vi] * 2.0\n"
        "  for i in 0..8:\n    block b(vi in 0..8 = i):\n      U[vi] = T[7 - vi]\n");
  CHECK(names(parts.rest) == "X s V Y! W U");
  CHECK(parts.rest->params[5].constancy == lt::Constancy::owned);
  CHECK(parts.once[0].inputs == lt::Vec<int>{4});
  CHECK(parts.once[0].outputs == lt::Vec<int>{5});
  CHECK(parts.rest.str().find("alloc") == std::string::npos);
}

TEST_CASE("parts that share nothing are apart, so that kernels can share each") {
  const lt::SplitProgram parts =
      split(nest("T", "W[vi]", "a") + nest("U", "V[vi]", "b") + nest("Y", "T[vi] + U[vi]", "c"));
  REQUIRE(parts.once.size() == 2);
  CHECK(names(parts.once[0].program) == "W T!");
  CHECK(names(parts.once[1].program) == "V U!");
  CHECK(names(parts.rest) == "X s V Y! W T U");
  CHECK(parts.once[1].inputs == lt::Vec<int>{2});
}

TEST_CASE("a temporary that is used outside of its part and inside is an output") {
  const lt::SplitProgram parts =
      split(nest("T", "W[vi]", "a") + nest("U", "T[vi]", "b") + nest("Y", "T[vi] + U[vi]", "c"));
  REQUIRE(parts.once.size() == 1);
  CHECK(names(parts.once[0].program) == "W T! U!");
}

TEST_CASE("what a part stores on the way may be memory of any kind") {
  const lt::SplitProgram parts = split(
      nest("T", "W[vi] * 2.0", "a") + nest("U", "T[7 - vi]", "b") + nest("Y", "U[vi] + X[vi]", "c"),
      "  alloc T: f32[8] scope local\n  alloc U: f32[8]\n");
  REQUIRE(parts.once.size() == 1);
  CHECK(names(parts.once[0].program) == "W U!");
  CHECK(parts.once[0].program.str().find("alloc T: f32[8] scope local") != std::string::npos);
}

TEST_CASE("an assertion is tested in every call") {
  const lt::SplitProgram parts =
      split(nest("T", "W[vi]", "a") + "  assert T[0] > 0.0, \"no weight\"\n" +
            nest("Y", "T[vi] + X[vi]", "c"));
  REQUIRE(parts.once.size() == 1);
  CHECK(parts.once[0].program.str().find("assert") == std::string::npos);
  CHECK(parts.rest.str().find("assert T[0] > 0.0") != std::string::npos);
}

TEST_CASE("memory of a statement's own goes with it") {
  const lt::SplitProgram parts = split(
      "  for i in 0..8:\n    alloc L: f32[1]:\n      block l(vi in 0..8 = i):\n"
      "        L[0] = W[vi]\n      block a(vi in 0..8 = i):\n        T[vi] = L[0] * 2.0\n" +
      nest("Y", "T[vi] + X[vi]", "c"));
  REQUIRE(parts.once.size() == 1);
  CHECK(names(parts.once[0].program) == "W T!");
}

TEST_CASE("nobody has asked for results that are larger than what they are made of") {
  const auto kept = [](const char* type) {
    const lt::Program p = lt::parse(
        std::string("program p(in X: f32[8], out Y: f32[8], constant W: f32[8]):\n  alloc T: ") +
        type + "[8]\n" + nest("T", std::string(type) + "(W[vi])", "a") +
        nest("Y", "f32(T[vi]) + X[vi]", "c"));
    CHECK(lt::split_constants(p).once.size() == 1);
    return lt::split_constants(p, lt::Keep::no_larger).once.size();
  };
  CHECK(kept("i8") == 1);
  CHECK(kept("i32") == 1);
  CHECK(kept("f64") == 0);
}

TEST_CASE("what stays in every call") {
  const auto stays = [](const std::string& statements, const std::string& allocs = "") {
    const lt::SplitProgram parts = split(statements, allocs);
    return parts.once.empty() && names(parts.rest) == "X s V Y! W";
  };
  const std::string last = nest("Y", "T[vi] + U[vi] + X[vi]", "c"), u = nest("U", "X[vi]", "u");
  CHECK_FALSE(stays(nest("T", "W[vi]", "a") + u + last));
  // It reads an argument, a scalar, a Dim, or what is computed of them.
  CHECK(stays(nest("T", "W[vi] * X[vi]", "a") + u + last));
  CHECK(stays(nest("T", "W[vi] * s", "a") + u + last));
  CHECK(stays(nest("T", "W[vi] * f32(n)", "a") + u + last));
  CHECK(stays(u + nest("T", "W[vi] * U[vi]", "a") + last));
  // It stores to an output.
  CHECK(stays(nest("Y", "W[vi]", "a")));
  // Others store to it too, or read it in between.
  CHECK(stays(nest("T", "W[vi]", "a") + nest("T", "X[vi]", "b") + u + last));
  CHECK(stays(nest("T", "W[vi]", "a") + nest("U", "T[vi] + X[vi]", "b") +
              nest("T", "W[7 - vi]", "d") + last));
  // No constant is read, or nothing reads it.
  CHECK(stays(nest("T", "1.0", "a") + u + last));
  CHECK(stays(nest("T", "W[vi]", "a") + nest("Y", "X[vi]", "c")));
  // Memory of another kind.
  const std::string stores = nest("T", "W[vi]", "a") + nest("Y", "T[vi] + X[vi]", "c");
  CHECK(stays(stores, "  alloc T: f32[8] scope local\n"));
  CHECK(stays(stores, "  alloc T: f32[8] align 128\n"));
  CHECK(stays(stores, "  alloc T: f32[8] strides [2]\n"));
  CHECK(stays(stores, "  alloc T: f32[n]\n"));
  const auto at = [](const std::string& place) {
    return "  for i in 0..8:\n    block a(vi in 0..8 = i):\n      T[" + place +
           "] = W[vi]\n  for i in 0..8:\n    block c(vi in 0..8 = i):\n      Y[vi] = T[" + place +
           "]\n";
  };
  CHECK_FALSE(stays(at("vi, 0"), "  alloc T: f32[8, 2]\n"));
  CHECK(stays(at("vi, 0"), "  alloc T: f32[8, 2] aligned [0, 3, 0]\n"));
  CHECK(stays(at(""), "  alloc T: f32[]\n"));
  // Nothing has stored what it reads.
  CHECK(stays(nest("U", "W[vi] * T[vi]", "a") + nest("Y", "U[vi] + X[vi]", "c")));
  // It stands in a loop of others.
  CHECK(
      stays("  for k in 0..2:\n    for i in 0..8:\n      block a(vi in 0..8 = i):\n"
            "        T[vi] = W[vi]\n    for i in 0..8:\n      block c(vi in 0..8 = i):\n"
            "        Y[vi] = T[vi]\n"));
}

TEST_CASE("a promised input whose extent calls choose is no constant here, and flat code stays") {
  const std::string text =
      "program p<n>(in constant V: f32[n], out Y: f32[8]):\n  alloc T: f32[8]\n" +
      nest("T", "V[vi]", "a") + nest("Y", "T[vi]", "c");
  CHECK(lt::split_constants(lt::parse(text)).once.empty());
  const lt::Program loops = lt::parse(
      "program p(constant W: f32[8], out Y: f32[8]) stage loops:\n  alloc T: f32[8]\n"
      "  for i in 0..8:\n    T[i] = W[i]\n  for i in 0..8:\n    Y[i] = T[i]\n");
  CHECK(lt::split_constants(loops).rest == loops);
}
