// Operators by families.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "core/draw.hpp"
#include "core/operator.hpp"

namespace bench {

/// Collects the sizes of families, each with a drawn one last.
class Families {
 public:
  /// `mark` follows the name of each family.
  explicit Families(unsigned seed, int batch = 1, std::string mark = "")
      : seed_(seed), batch_(batch), mark_(std::move(mark)) {}

  template <class P, class F>
  void add(const std::string& family, std::initializer_list<P> sizes, const F& drawn) {
    for (const P& size : sizes) add_one(family, size);
    Draw draw = draw_for(family);
    add_one(family, drawn(draw), " drawn");
  }
  void add_one(const std::string& family, const OperatorProblem& size, const char* note = "") {
    const std::string start = family + mark_;
    all.push_back({start, start + " " + sizes_of(size) + note, batch_, size});
  }
  Draw draw_for(const std::string& family) const { return {seed_, family}; }

  std::vector<Operator> all;

 private:
  unsigned seed_;
  int batch_;
  std::string mark_;
};

}  // namespace bench
