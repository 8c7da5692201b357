// Loads and stores of bytes and words under masks, at both ends of a page with no memory around it.
#include <lathe/ir/stmt.hpp>
#include <random>
#include <support/capture.hpp>

#include "kernels.hpp"

using namespace lathe;
using namespace test;

namespace {

/// z = x where m, zero elsewhere; y = x where m.
class MaskedMoves {
 public:
  MaskedMoves(DType type, int lanes, const Target& target) : type_(type), lanes_(lanes) {
    Build b;
    auto x = b.buffer("x", type), m = b.buffer("m", kBool);
    auto y = b.output("y", type), z = b.output("z", type);
    const AnyExpr all = ramp(0, 1, lanes), mask = make_load(m, {all});
    const Program p = b.done(make_seq({make_store(z, {all}, make_load(x, {all}, mask)),
                                       make_store(y, {all}, make_load(x, {all}, mask), mask)}));
    for (const auto* llvm : llvms()) kernels_.emplace_back(p, *llvm, target);
  }

  /// Whether only the elements of the mask are read and written, and those as they should be.
  void check(const std::vector<unsigned char>& mask) const {
    const auto n = static_cast<std::size_t>(lanes_), size = bytes();
    std::size_t first = 0, end = n;
    while (first < n && !mask[first]) ++first;
    while (end > first && !mask[end - 1]) --end;
    std::vector<unsigned char> zeros(n * size, 0);
    for (const Kernel& kernel : kernels_)
      for (const bool at_begin : {true, false}) {
        const auto place = [&](const GuardedPage& page) {
          return at_begin ? page.begin<unsigned char>() - first * size
                          : page.end<unsigned char>() - end * size;
        };
        unsigned char *x = place(from_), *y = place(to_);
        for (std::size_t k = first * size; k < end * size; ++k)
          x[k] = value(k), y[k] = static_cast<unsigned char>(200 + k % 7);
        std::vector<unsigned char> z = zeros;
        CHECK(kernel.call(x, mask.data(), y, z.data()) == 0);
        bool equal = true;
        for (std::size_t k = 0; k < n * size; ++k) {
          const bool kept = mask[k / size] != 0;
          equal = equal && z[k] == (kept ? value(k) : 0);
          if (k >= first * size && k < end * size)
            equal = equal && y[k] == (kept ? value(k) : 200 + k % 7);
        }
        CHECK(equal);
      }
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(type_.element_bytes()); }
  unsigned char value(std::size_t k) const {
    return type_.is_bool() ? k % 3 == 0 : static_cast<unsigned char>(3 * k + 1);
  }

  DType type_;
  int lanes_;
  GuardedPage from_, to_;
  std::vector<Kernel> kernels_;
};

}  // namespace

TEST_CASE("bytes and words under masks of any lanes, and no others") {
  for (const char* name : {"host", "x86-64-v3"}) {
    const Target target(name);
    if (!target.runs_on(host())) continue;
    for (const DType type : {kU8, kI16, kF16, kBool})
      for (const int lanes : {2, 5, 8, 16, 24, 32, 40}) {
        CAPTURE(std::string(name));
        CAPTURE(type.str());
        CAPTURE(lanes);
        const MaskedMoves moves(type, lanes, target);
        const auto n = static_cast<std::size_t>(lanes);
        for (std::size_t first = 0; first < n; ++first)
          for (std::size_t end = first + 1; end <= n; ++end) {
            std::vector<unsigned char> mask(n, 0);
            for (std::size_t k = first; k < end; ++k) mask[k] = 1;
            moves.check(mask);
          }
        moves.check(std::vector<unsigned char>(n, 0));
        std::mt19937 random(7);
        for (int holes = 0; holes < 100; ++holes) {
          std::vector<unsigned char> mask(n, 0);
          for (auto& lane : mask) lane = random() % 4 != 0;
          moves.check(mask);
        }
      }
  }
}
