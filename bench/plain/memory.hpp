// Memory for the parameters of a program, twice: for Lathe and for plain loops.
#pragma once

#include "core/array.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

/// Arguments of a program. Inputs hold numbers from 0 to less than 1, and integers
/// of all sizes; Lathe and the loops share them, and write to places of their own.
class PlainMemory {
 public:
  /// `gap`: elements between the rows of inputs.
  PlainMemory(const lt::Program& program, const Sizes& sizes, std::int64_t positions_below,
              std::int64_t gap = 0);
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  const std::vector<lt::CallArg>& lathe() const { return calls_; }
  const Pointers& loops() const { return want_; }
  std::size_t bytes() const { return bytes_; }
  lt::DType dtype(std::size_t param) const { return params_[param].dtype; }
  /// From the first input to the first result, as many bytes as both have.
  std::vector<Competitor> copies() const;
  std::size_t copied_bytes() const;
  /// Takes what Lathe has computed for what the loops should.
  void keep() const;
  /// Puts other numbers where Lathe's results are, or those of the loops.
  void spoil() const;
  void spoil_loops() const;
  /// Where the results differ by more than `bound`, as Numbers has it.
  std::string difference(double bound) const;

 private:
  struct Param {
    std::string name;
    lt::DType dtype;
    bool is_input;
    std::int64_t count;
    std::vector<std::int64_t> extents, strides;
  };

  static std::size_t bytes_of(const Param& p) {
    return static_cast<std::size_t>(p.count) * static_cast<std::size_t>(p.dtype.element_bytes());
  }
  std::string difference(std::size_t param, double bound) const;
  std::size_t first_result() const;
  template <class F>
  void spoil_results(const F& place) const;

  std::vector<Param> params_;
  std::vector<Array> arrays_;
  std::vector<lt::CallArg> calls_;
  Pointers want_;
  std::size_t bytes_ = 0;
};

}  // namespace bench
#endif
