#include <doctest/doctest.h>

#include <lathe/lathe.hpp>
#include <lathe/runtime/llvm.hpp>
#include <lathe/runtime/object_cache.hpp>
#include <support/skip.hpp>
#include <support/temp_folder.hpp>

namespace lt = lathe;

TEST_CASE("a later process takes its objects from the folder") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  test::TempFolder folder;
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) + 1.0f; });
  auto result = [&](lt::Context& context) {
    std::vector<float> x{1, 2, 3, 4}, y(4);
    lt::jit({Y, {.context = &context}}, X, Y)(x, y);
    return y;
  };
  lt::Context first({.cache_dir = folder.path()}), second({.cache_dir = folder.path()});
  CHECK(result(first) == std::vector<float>{2, 3, 4, 5});

  // An object that adds 2 in its place shows where the second context looks.
  const auto kernel = lt::jit({Y, {.context = &first}}, X, Y);
  const std::string text = kernel.any().llvm_ir(), one = "0x3FF0000000000000";
  std::string other = text, reason;
  REQUIRE(other.find(one) != std::string::npos);
  for (auto at = other.find(one); at != other.npos; at = other.find(one))
    other.replace(at, one.size(), "0x4000000000000000");
  const lt::Llvm& llvm = lt::Llvm::get();
  const lt::ObjectCache cache(folder.path());
  const std::string key = lt::ObjectCache::key(llvm, lt::host(), text);
  lt::Vec<char> kept;
  REQUIRE(cache.find(key, kept));
  REQUIRE(cache.keep(key, lt::compile_to_object(llvm, other, lt::host()), reason));
  CHECK(result(second) == std::vector<float>{3, 4, 5, 6});
}

TEST_CASE("a cache folder that can't be written is one line in the log") {
  if (!lt::Llvm::find()) LATHE_SKIP("no LLVM here");
  std::string said;
  lt::Context context({.log = [&](lt::LogLevel, std::string_view text) { said += text; },
                       .cache_dir = "/dev/null/nowhere"});
  lt::Input<float, 1> X("X", {4});
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return X(i) * 3.0f; });
  std::vector<float> x{1, 2, 3, 4}, y(4);
  lt::jit({Y, {.context = &context}}, X, Y)(x, y);
  CHECK(y == std::vector<float>{3, 6, 9, 12});
  CHECK(said == "no object is kept in '/dev/null/nowhere': Not a directory");
}
