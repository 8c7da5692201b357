// Memory for the parameters of a program, twice: for Lathe and for plain loops.
#pragma once

#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {

/// The bytes of one parameter. Arrays of one case differ in `number`, so that their addresses
/// differ in the bits that choose a cache set.
class Array {
 public:
  Array(std::size_t bytes, std::size_t number);
  void* data() const { return bytes_.get() + offset_; }

 private:
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t offset_;
};

/// Arguments of a program. Inputs hold numbers from 0 to less than 1, and integers
/// of all sizes; Lathe and the loops share them, and write to places of their own.
class PlainMemory {
 public:
  PlainMemory(const lt::Program& program, const Sizes& sizes, std::int64_t positions_below);
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  const std::vector<lt::CallArg>& lathe() const { return calls_; }
  const Pointers& loops() const { return want_; }
  std::size_t bytes() const { return bytes_; }
  lt::DType dtype(std::size_t param) const { return params_[param].dtype; }
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

  std::string difference(std::size_t param, double bound) const;

  std::vector<Param> params_;
  std::vector<Array> arrays_;
  std::vector<lt::CallArg> calls_;
  Pointers want_;
  std::size_t bytes_ = 0;
};

}  // namespace bench
#endif
