// Recipes in a cache folder: a later process plans nothing, whatever it finds there.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <lathe/jit/recipe_folder.hpp>
#include <lathe/lathe.hpp>
#include <lathe/runtime/build_id.hpp>
#include <lathe/runtime/llvm.hpp>
#include <support/errors.hpp>
#include <support/skip.hpp>
#include <support/temp_folder.hpp>

#include "planner.hpp"

namespace lt = lathe;
using namespace test::planner;
using test::error_of;

#define NEEDS_RECIPES()                              \
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here"); \
  if (lt::build_id().empty()) LATHE_SKIP("no build id here")

namespace {

// How often a context of its own plans this program, whose kernel does what it should.
int plans_of(const std::string& folder, const Names& names = {}, lt::JitOptions options = {}) {
  Planner p(folder);
  options.context = &p.context;
  const Window w(names);
  CHECK(w.fits(w.kernel(options)));
  return p.plans;
}

}  // namespace

TEST_CASE("a later context takes kernels from the folder without planning") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  Planner first(folder.path()), second(folder.path());
  const Window w({.k = 300});
  const auto options = [](Planner& p) {
    return lt::JitOptions{.context = &p.context, .math = lt::Math::fast};
  };
  const Map f = w.kernel(options(first)), g = w.kernel(options(second));
  CHECK(first.plans == 1);
  CHECK(second.plans == 0);
  CHECK(w.fits(f));
  CHECK(w.fits(g));
  // What was not kept is made when it is asked for, the same.
  CHECK(g.numerics() == f.numerics());
  CHECK(g.program().str() == f.program().str());
  CHECK(second.plans == 0);
  CHECK(g.scheduled().str() == f.scheduled().str());
  CHECK(second.plans == 1);
  CHECK(g.lowered().str() == f.lowered().str());
  CHECK(g.llvm_ir() == f.llvm_ir());
  CHECK(g.assembly() == f.assembly());
  CHECK(lt::to_c(g.any()) == lt::to_c(f.any()));
  CHECK(second.plans == 1);
  // In memory there is one recipe then.
  CHECK(w.kernel(options(second)).any().code() == g.any().code());
  CHECK(Window({.k = 300}).kernel(options(second)).any().code() == g.any().code());
  CHECK(second.plans == 1);
}

TEST_CASE("numerics and messages of errors come with the kernel") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  std::vector<std::string> said, numerics;
  for (int round = 0; round < 2; ++round) {
    Planner p(folder.path());
    lt::Input<std::int64_t, 1> at("at", {4});
    lt::Input<float, 1> X("X", {8});
    const auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return lt::tanh(X(at(i))); });
    const auto f =
        lt::jit({Y, {.context = &p.context, .math = lt::Math::fast, .checked = true}}, at, X, Y);
    CHECK(p.plans == (round == 0 ? 1 : 0));
    const std::vector<std::int64_t> wild{0, 1, 9, 3};
    Values x(8, 1.0f), y(4);
    said.push_back(error_of([&] { f(wild, x, y); }));
    for (const std::string& line : f.numerics()) numerics.push_back(line);
  }
  CHECK(said[0].substr(0, 5) == "L0409");
  CHECK(said[0] == said[1]);
  REQUIRE(numerics.size() % 2 == 0);
  CHECK(!numerics.empty());
  for (std::size_t k = 0; k < numerics.size() / 2; ++k)
    CHECK(numerics[k] == numerics[k + numerics.size() / 2]);
}

TEST_CASE("a kernel from the folder takes views with gaps, and has constants of its own") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  for (const float first : {1.0f, 7.0f}) {
    Planner p(folder.path());
    const auto W = lt::constant("W", Values{first, 2, 3, 4}, {4});
    lt::Input<float, 2> X("X", {3, 4});
    const auto Y = lt::compute("Y", {3, 4}, [&](lt::Var i, lt::Var j) { return X(i, j) * W(j); });
    const auto f = lt::jit({Y, {.context = &p.context}}, X, Y);
    CHECK(p.plans == (first == 1.0f ? 1 : 0));
    Values x(18, 2.0f), y(12);
    const Values row{2 * first, 4, 6, 8};
    const auto rows_fit = [&] {
      for (std::size_t k = 0; k < y.size(); ++k)
        if (y[k] != row[k % 4]) return false;
      return true;
    };
    f(lt::View<const float, 2>(x.data(), {3, 4}, {4, 1}), lt::view(y, {3, 4}));
    CHECK(rows_fit());
    y.assign(12, 0.0f);
    f(lt::View<const float, 2>(x.data(), {3, 4}, {6, 1}), lt::view(y, {3, 4}));
    CHECK(rows_fit());
  }
}

TEST_CASE("a later process takes kernels from the folder") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  CHECK(plans_of(folder.path()) == 1);
  const pid_t child = fork();
  if (child == 0) _exit(plans_of(folder.path()) == 0 ? 0 : 1);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("what decides code tells files of the folder apart") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  const auto plans = [&](const Names& names, const lt::JitOptions& options) {
    return plans_of(folder.path(), names, options);
  };
  CHECK(plans({}, {}) == 1);
  CHECK(plans({}, {}) == 0);
  for (const Names& names : {Names{.x = "V"}, Names{.y = "Z"}, Names{.reduce = "s"}, Names{.n = 9},
                             Names{.factor = 3.0f}, Names{.input = {.constant = true}}}) {
    CHECK(plans(names, {}) == 1);
    CHECK(plans(names, {}) == 0);
  }
  lt::Target smaller = lt::host();
  smaller.l2_bytes /= 2;
  for (const lt::JitOptions& options :
       {lt::JitOptions{.strict = true}, lt::JitOptions{.checked = true},
        lt::JitOptions{.math = lt::Math::accurate}, lt::JitOptions{.target = smaller}}) {
    CHECK(plans({}, options) == 1);
    CHECK(plans({}, options) == 0);
  }
  // Code for any strides ahead is planned each time.
  CHECK(plans({}, {.strides = lt::Strides::both}) == 1);
  CHECK(plans({}, {.strides = lt::Strides::both}) == 1);
}

TEST_CASE("passes that are to be dumped run, whatever the folder has") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  CHECK(plans_of(folder.path()) == 1);
  std::string said;
  lt::Context dumps({.log = [&](lt::LogLevel, std::string_view text) { said += text; },
                     .cache_dir = folder.path(),
                     .dump = "vectorize"});
  const Window w;
  CHECK(w.fits(w.kernel({.context = &dumps})));
  CHECK(said.find("program Y") != std::string::npos);
}

TEST_CASE("files of another build, or of another program, are no recipes") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  Planner p(folder.path());
  const auto key = [](std::int64_t n) {
    return lt::RecipeKey{lt::program_of(Window({.n = n}).Y),
                         lt::host(),
                         {.dense = true},
                         lt::Strides::late,
                         false,
                         lt::Llvm::find()};
  };
  const lt::Source asks(lt::program_of(Window().Y), {.context = &p.context});
  CHECK(plans_of(folder.path()) == 1);
  const lt::RecipeFolder own(p.context, lt::build_id()), other(p.context, "another build"),
      unknown(p.context, "");
  CHECK(own.find(key(8), asks));
  CHECK(!own.find(key(9), asks));
  CHECK(!other.find(key(8), asks));
  CHECK(!unknown.find(key(8), asks));
  CHECK(unknown.text_of(key(8)).empty());
  lt::ContextOptions forbids = p.context.options();
  forbids.tile_registers = false;
  const lt::Context without(forbids);
  CHECK(lt::RecipeFolder(without, "a").text_of(key(8)) !=
        lt::RecipeFolder(p.context, "a").text_of(key(8)));
  // A file under a name that is not its own, as if two hashes had met.
  const lt::ObjectCache files(folder.path());
  lt::Vec<char> bytes;
  std::string reason;
  REQUIRE(files.find(own.text_of(key(8)), bytes));
  REQUIRE(files.keep(own.text_of(key(9)), bytes, reason));
  CHECK(!own.find(key(9), asks));
  // Bytes that end too early, with a sound checksum.
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    lt::Vec<char> start(bytes.begin(), bytes.begin() + size);
    REQUIRE(files.keep(own.text_of(key(8)), start, reason));
    CHECK(!own.find(key(8), asks));
  }
  REQUIRE(files.keep(own.text_of(key(8)), bytes, reason));
  CHECK(own.find(key(8), asks));
}

TEST_CASE("a damaged folder costs a plan, and is mended") {
  NEEDS_RECIPES();
  namespace fs = std::filesystem;
  test::TempFolder folder;
  CHECK(plans_of(folder.path()) == 1);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path())) files.push_back(entry.path());
  REQUIRE(files.size() == 2);
  const auto damage = [](const fs::path& path, int how) {
    const auto size = fs::file_size(path);
    if (how == 0) fs::resize_file(path, size / 2);
    if (how == 1) fs::resize_file(path, 0);
    if (how == 2) fs::remove(path);
    if (how != 3) return;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 1);
    file.put('\x7f');
  };
  for (const fs::path& path : files) {
    for (int how = 0; how < 4; ++how) {
      CHECK(plans_of(folder.path()) == 0);
      damage(path, how);
      CHECK(plans_of(folder.path()) == 1);
    }
  }
  CHECK(plans_of(folder.path()) == 0);
}

TEST_CASE("a kernel from the folder forgets constants that nothing reads any more") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  for (int round = 0; round < 2; ++round) {
    Planner p(folder.path());
    const auto W = lt::constant("W", Values{1, 2, 3, 4}, {4});
    lt::Input<float, 1> X("X", {4});
    const auto U = lt::compute("U", {4}, [&](lt::Var i) { return W(3 - i) * W(i); });
    const auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + U(3 - i); });
    const auto f = lt::jit({Y, {.context = &p.context}}, X, Y);
    CHECK(p.plans == (round == 0 ? 2 : 0));
    CHECK(f.program()->params[2].content->data() == nullptr);
    CHECK(f.program()->params[2].content->hash() == W.content()->hash());
    Values x(4, 1.0f), y(4);
    f(x, y);
    CHECK(y == Values{5, 7, 7, 5});
  }
}

TEST_CASE("what runs once comes from the folder, too, for the elements that a program has") {
  NEEDS_RECIPES();
  test::TempFolder folder;
  Values before;
  std::vector<std::string> told;
  for (const float first : {1.0f, 5.0f, 1.0f}) {
    Planner p(folder.path());
    const auto W = lt::constant("W", Values{first, 2, 3, 4}, {4});
    lt::Input<float, 1> V("V", {4}, {.constant = true}), X("X", {4});
    const auto U = lt::compute("U", {4}, [&](lt::Var i) { return W(3 - i) * W(i); });
    const auto T = lt::compute("T", {4}, [&](lt::Var i) { return V(3 - i) + U(i); });
    const auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + U(3 - i) * T(3 - i); });
    const auto f = lt::jit({Y, {.context = &p.context}}, V, X, Y);
    const auto g = lt::evaluate({Y, {.context = &p.context}}, V, X, Y);
    CHECK((p.plans == 0) == !told.empty());
    Values x(4, 1.0f), v{1, 2, 3, 4}, y(4), z(4);
    f(v, x, y), g(v, x, z);
    CHECK(y == z);
    CHECK(y != before);
    before = y;
    REQUIRE(!f.once().empty());
    std::vector<std::string> now{f.scheduled().str(), f.lowered().str(), f.llvm_ir()};
    for (const lt::Program& part : f.once()) now.push_back(part.str());
    if (told.empty()) told = now;
    CHECK(now == told);
  }
}
