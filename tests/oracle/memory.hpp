// What a buffer holds: elements by index, each with a number or nothing yet.
#pragma once

#include <optional>
#include <string>

#include "number.hpp"

namespace oracle {

/// Why a program has no result. `rule` is one of the words below, `what` tells more.
struct NoResult : std::runtime_error {
  enum Rule { outside, undefined, assertion, too_large, endless, meaningless };
  NoResult(Rule its_rule, const std::string& what) : std::runtime_error(what), rule(its_rule) {}
  Rule rule;
};

/// Elements in row-major order; an element of several lanes is that many numbers.
class Array {
 public:
  static constexpr Whole kMostNumbers = Whole{1} << 26;

  Array() = default;
  Array(std::string name, DType type, std::vector<Whole> extents)
      : name_(std::move(name)), type_(type), extents_(std::move(extents)) {
    Whole count = type.lanes;
    for (Whole extent : extents_) count = extent <= 0 ? 0 : std::min(count * extent, kMostNumbers);
    if (count >= kMostNumbers) throw NoResult(NoResult::too_large, name_ + " is too large");
    numbers_.resize(static_cast<std::size_t>(count));
  }

  /// Where the number of an element's lane is.
  std::size_t place(const std::vector<Whole>& indices, int lane = 0) const {
    Whole at = 0;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (indices[d] < 0 || indices[d] >= extents_[d])
        throw NoResult(NoResult::outside, element(indices) + " is outside");
      at = at * extents_[d] + indices[d];
    }
    return static_cast<std::size_t>(at * type_.lanes + lane);
  }
  Number read(const std::vector<Whole>& indices, int lane = 0) const {
    const std::optional<Number>& found = numbers_[place(indices, lane)];
    if (!found) throw NoResult(NoResult::undefined, element(indices) + " was never stored");
    return *found;
  }
  void write(const std::vector<Whole>& indices, int lane, Number value) {
    numbers_[place(indices, lane)] = value;
  }

  DType type() const { return type_; }
  std::vector<std::optional<Number>>& numbers() { return numbers_; }
  const std::vector<std::optional<Number>>& numbers() const { return numbers_; }

 private:
  std::string element(const std::vector<Whole>& indices) const {
    std::string text = name_ + "[";
    for (std::size_t d = 0; d < indices.size(); ++d)
      text += (d ? ", " : "") + std::to_string(static_cast<std::int64_t>(indices[d]));
    return text + "]";
  }

  std::string name_;
  DType type_;
  std::vector<Whole> extents_;
  std::vector<std::optional<Number>> numbers_;
};

}  // namespace oracle
