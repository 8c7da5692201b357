// Programs of texts: those that steps have changed keep their loops.
#include <doctest/doctest.h>

#include <lathe/jit/to_c.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/skip.hpp>

namespace lt = lathe;

namespace {

lt::Tensor<float, 2> product() {
  lt::Input<float, 2> A("A", {40, 24}), B("B", {24, 33});
  lt::Reduce r("r", 24);
  return lt::compute("C", {40, 33},
                     [&](lt::Var i, lt::Var j) { return lt::sum(A(i, r) * B(r, j), r); });
}

lt::Schedule tiled() {
  const auto C = product();
  lt::Schedule s(C);
  auto [i, j, r] = s.loops<3>(C);
  s.tile(i, j, 4, 16);
  return s;
}

}  // namespace

TEST_CASE("a text says that steps have changed a program") {
  CHECK(tiled().str().find(" scheduled:\n") != std::string::npos);
  lt::Schedule none(product());
  none.loops(none.blocks()[0]);
  CHECK(none.str().find("scheduled") == std::string::npos);
  const lt::Program read = lt::parse(tiled().str());
  CHECK(lt::structurally_equal(read, tiled().program()));
  CHECK(lt::Schedule(read).str() == tiled().str());
}

TEST_CASE("the default schedule leaves alone what steps have changed") {
  const std::string text = tiled().str();
  CHECK(lt::default_schedule(lt::parse(text)).str() == text);
  CHECK(lt::default_schedule(tiled().program()).trace().entries.empty());
  std::string plain = text;
  plain.erase(plain.find(" scheduled"), 10);
  CHECK(lt::default_schedule(lt::parse(plain)).str() != text);
}

TEST_CASE("to_c of a scheduled text is that of its schedule") {
  CHECK(lt::to_c(lt::parse(tiled().str())) == lt::to_c(tiled()));
}

TEST_CASE("jit keeps the loops of a scheduled text, and schedules another") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM");
  const std::string text = tiled().str(), plain = lt::program_of(product()).str();
  CHECK(lt::jit_any(lt::parse(text), {}).scheduled().str() == text);
  CHECK(lt::jit_any(lt::parse(plain), {}).scheduled().str() ==
        lt::default_schedule(product()).str());
}

TEST_CASE("a trace is of the program that it began with, scheduled or not") {
  const lt::Trace trace = tiled().trace();
  CHECK(trace.program_hash == lt::structural_hash(lt::program_of(product())));
  CHECK(lt::Schedule(tiled().program()).trace().program_hash != trace.program_hash);
}
