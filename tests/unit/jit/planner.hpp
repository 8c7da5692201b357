// A context that counts plans, and a program whose names and numbers tests change.
#pragma once

#include <lathe/jit/code_cache.hpp>
#include <lathe/lathe.hpp>
#include <string>
#include <vector>

namespace test::planner {

namespace lt = lathe;

using Values = std::vector<float>;
using Map = lt::Kernel<lt::View<const float, 1>, lt::View<float, 1>>;

// A context that counts how often something was planned.
struct Planner {
  explicit Planner(std::string cache_dir = {}) : folder(std::move(cache_dir)) {}
  int plans = 0;
  std::string folder;
  lt::Context context{{.log =
                           [this](lt::LogLevel, std::string_view text) {
                             plans += text.substr(0, 18) == "default schedule: ";
                           },
                       .log_level = lt::LogLevel::debug,
                       .cache_dir = folder}};
  lt::RecipeCache& recipes() { return lt::CodeCache::of(context).recipes(); }
};

// What a compute reads and gives, by the names and numbers that tests change.
struct Names {
  std::string x = "X", y = "Y", reduce = "r";
  std::int64_t n = 8, k = 3;
  float factor = 2.0f;
  lt::InputOptions input{};
};
struct Window {
  explicit Window(const Names& its = {})
      : names(its), X(its.x, {its.n + its.k}, its.input), r(its.reduce, its.k) {}
  Names names;
  lt::Input<float, 1> X;
  lt::Reduce r;
  lt::Tensor<float, 1> Y = lt::compute(
      names.y, {names.n}, [&](lt::Var i) { return lt::sum(X(i + r) * names.factor, r); });

  Map kernel(const lt::JitOptions& options) const { return lt::jit({Y, options}, X, Y); }
  // Of ones all elements are k * factor.
  bool fits(const Map& f) const {
    const Values x(static_cast<std::size_t>(names.n + names.k), 1.0f);
    Values y(static_cast<std::size_t>(names.n));
    f(x, y);
    return y == Values(y.size(), static_cast<float>(names.k) * names.factor);
  }
};

}  // namespace test::planner
