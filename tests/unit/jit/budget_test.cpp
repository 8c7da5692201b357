// What the options of a context limit: time, memory, names of passes.
#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/support/deadline.hpp>
#include <string>
#include <support/skip.hpp>

namespace lt = lathe;

namespace {

// The whole text of an error, or "none".
template <class F>
std::string text_of(F&& f) {
  try {
    f();
  } catch (const lt::UserError& e) {
    CHECK(std::string(e.where().file).find("budget_test.cpp") != std::string::npos);
    return e.what();
  }
  return "none";
}
std::string at(unsigned line) { return "\n  at budget_test.cpp:" + std::to_string(line); }

// Y needs all of P before its first element.
struct Mirrored {
  lt::Input<float, 1> X{"X", {1 << 16}};
  lt::Tensor<float, 1> P = lt::compute("P", {1 << 16}, [&](lt::Var i) { return X(i) * 2; });
  lt::Tensor<float, 1> Y =
      lt::compute("Y", {1 << 16}, [&](lt::Var i) { return P(i) + P((1 << 16) - 1 - i); });
};

}  // namespace

TEST_CASE("the time budget ends a compilation between its passes") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Mirrored p;
  lt::Context hurried({.time_budget = 1e-9}), patient({.time_budget = 1000}),
      endless({.time_budget = 1e300});
  const unsigned line = __LINE__ + 1;
  auto compile = [&] { lt::jit({p.Y, {.context = &hurried}}, p.X, p.Y); };
  CHECK(text_of(compile) ==
        "error[L0412] the time budget of 1e-09 s is over before pass open_strides" + at(line) +
            "\n  help: raise the context's time_budget, or make the program smaller");
  CHECK(lt::jit({p.Y, {.context = &patient}}, p.X, p.Y).compiled());
  CHECK(lt::jit({p.Y, {.context = &endless}}, p.X, p.Y).compiled());
  CHECK_FALSE(lt::Deadline(patient).over());
  CHECK_FALSE(lt::Deadline(lt::Context::default_context()).over());
}

TEST_CASE("whoever wants all messages hears what each part of a compilation took") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Mirrored p;
  std::string all;
  lt::Context context({.log = [&](lt::LogLevel, std::string_view line) { (all += line) += '\n'; },
                       .log_level = lt::LogLevel::debug});
  lt::jit({p.Y, {.context = &context}}, p.X, p.Y);
  for (const char* part : {"default schedule: ", "pass vectorize: ", "emission: ", "LLVM parse: ",
                           " us, passes: ", " us, machine code: ", "link: "}) {
    CAPTURE(part);
    CHECK(all.find(part) != std::string::npos);
  }
}

TEST_CASE("a dump of a pass that there is not") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  Mirrored p;
  lt::Context context({.dump = "vectorise"});
  const unsigned line = __LINE__ + 1;
  std::string text = text_of([&] { lt::jit({p.Y, {.context = &context}}, p.X, p.Y); });
  const std::string start =
      "error[L0602] the context's dump (or LATHE_DUMP) is 'vectorise', which is no pass" +
      at(line) + "\n  help: \"all\" dumps each; passes are open_strides, open_blocks, ";
  CHECK(text.substr(0, start.size()) == start);
}

TEST_CASE("who had no memory for temporaries") {
  Mirrored p;
  std::vector<float> x(1 << 16), y(1 << 16);
  auto call = [&](const lt::Context& context) {
    auto f = lt::evaluate({p.Y, {.context = &context}}, p.X, p.Y);
    std::string text = text_of([&] { f(x, y); });
    return text.substr(text.find('\n', text.find("\n  at ") + 1));
  };
  CHECK(call(lt::Context({.memory_budget = 1000})) ==
        "\n  the context's memory_budget is 1000 bytes"
        "\n  help: raise memory_budget, or use a schedule with smaller temporaries");
  CHECK(call(lt::Context({.allocate = [](std::size_t, std::size_t) -> void* { return nullptr; },
                          .deallocate = [](void*, std::size_t) {}})) ==
        "\n  help: the context's own allocator gave none; a schedule with smaller temporaries asks "
        "for less");
}
