// Measures the largest errors: of each function of one f32 over all 2^32 arguments, of the others
// over samples. Prints the table of docs/math.md.
//     math_error [--math accurate|normal|fast] [--samples BITS] [names…]
// With --samples, 2^BITS arguments of each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "measure.hpp"

using namespace test;

namespace {

lathe::Math level(const std::string& word) {
  if (word == "accurate") return lathe::Math::accurate;
  return word == "fast" ? lathe::Math::fast : lathe::Math::normal;
}

struct Request {
  int bits = 0;  ///< of the number of samples; 0: all f32, 2^24 samples of others
  lathe::Math math = lathe::Math::normal;
  std::vector<std::string> names;
  bool wants(std::string_view name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

template <class T>
void print(const Worst<T>& worst, int arguments) {
  if (worst.ulp == kWrong)
    std::printf(" wrong at %a", static_cast<double>(worst.x));
  else
    std::printf(" %.3f at %.9g", worst.ulp, static_cast<double>(worst.x));
  if (arguments == 2) std::printf(", %.9g", static_cast<double>(worst.y));
  std::printf(" |");
  std::fflush(stdout);
}

void measure_f32(const MathFunction<float>& function, const Request& request) {
  MeasuredFunction<float> measured(function, {.math = request.math});
  if (function.arguments == 2) {
    measured.measure(std::int64_t{1} << (request.bits ? request.bits : 24),
                     RandomArguments<float>(1));
  } else {
    const int bits = request.bits ? request.bits : 32;
    measured.measure(std::int64_t{1} << bits,
                     [bits](std::int64_t n) { return std::pair(spread_float(n, bits), 1.f); });
  }
  print(measured.worst(), function.arguments);
}

void measure_f64(const MathFunction<double>& function, const Request& request) {
  if (function.bounds.at(request.math) == kNone) return void(std::printf(" refused |"));
  MeasuredFunction<double> measured(function, {.math = request.math});
  measured.measure(std::int64_t{1} << (request.bits ? std::min(request.bits, 24) : 24),
                   RandomArguments<double>(2));
  print(measured.worst(), function.arguments);
}

}  // namespace

int main(int count, char** words) {
  Request request;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--samples" && k + 1 < count)
      request.bits = std::clamp(std::atoi(words[++k]), 12, 32);
    else if (word == "--math" && k + 1 < count)
      request.math = level(words[++k]);
    else
      request.names.push_back(word);
  }
  std::printf("| function | f32 | f64 |\n|---|---|---|\n");
  const auto narrow = math_functions<float>();
  const auto wide = math_functions<double>();
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    if (!request.wants(narrow[k].name)) continue;
    std::printf("| %s |", std::string(narrow[k].name).c_str());
    std::fflush(stdout);
    measure_f32(narrow[k], request);
    measure_f64(wide[k], request);
    std::printf("\n");
  }
}
