// Whether two runs of one program on the same data agree: to the bit, or within the bound of
// error_bound.hpp where steps or lowering may round otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <lathe/analysis/dependence.hpp>
#include <lathe/ir/visit.hpp>
#include <string>
#include <vector>

#include "error_bound.hpp"
#include "execution.hpp"
#include "stats.hpp"

namespace fuzz {

/// Whether threads update floats in the order in which they come.
inline bool any_order(const lathe::Program& lowered) {
  return lathe::any_statement(lowered->body, [](const lathe::Stmt& s) {
    const auto* f = s.as<lathe::ForNode>();
    return f && f->loop_kind == lathe::ForKind::parallel &&
           lathe::any_statement(f->body, [](const lathe::Stmt& below) {
             const auto* n = below.as<lathe::AtomicNode>();
             return n && !lathe::atomics_commute(n->op, n->buffer->dtype);
           });
  });
}

class Comparison {
 protected:
  Comparison(Stats& stats, Machine& machine) : stats_(stats), machine_(machine) {}

  void exact(const char* what, const Results& want, const Results& got) {
    ++stats_.comparisons[what];
    compare(args_, want, got, what);
  }
  void bounded(const char* what, const Results& want, const Results& got, const Magnitudes& kind,
               const lathe::Stmt& magnitudes) {
    if (!kind.bounded || data_ == Data::special) {
      ++stats_.comparisons[std::string(what) + ": no bound"];
      return;
    }
    ++stats_.comparisons[what];
    Results bound = magnitudes_of(magnitudes);
    if (kind.products)
      drop_where_infinite(
          bound,
          magnitudes_of(Magnitudes(open_->body, Magnitudes::Products::parts).stmt(open_->body)));
    compare(args_, want, got, what, &bound, 4 * kind.operations * std::max(kind.roundoff, 6e-8));
  }
  /// Whether all intermediate results of small integers are exact: their magnitudes are below 2^24.
  bool exact_range(const lathe::Stmt& body) {
    Results all = magnitudes_of(body);
    for (std::size_t k = 0; k < args_.size(); ++k) {
      if (!args_[k].written || !args_[k].dtype.is_float()) continue;
      auto size = static_cast<std::size_t>(args_[k].dtype.element_bytes());
      for (std::size_t at = 0; at < all[k].size(); at += size)
        if (!(as_double(args_[k].dtype,
                        lathe::detail::read_element(args_[k].dtype, all[k].data() + at)) < 1 << 24))
          return false;
    }
    return true;
  }

  Stats& stats_;
  Machine& machine_;
  lathe::Program open_;  ///< for arrays of any strides, without a schedule
  std::vector<Argument> args_;
  Slots slots_;
  Data data_ = Data::real;

 private:
  Results magnitudes_of(const lathe::Stmt& body) {
    std::vector<Argument> absolute = args_;
    for (auto& a : absolute) {
      if (!a.dtype.is_float()) continue;
      if (a.is_scalar) a.scalar &= ~(std::uint64_t{1} << (a.dtype.bits - 1));
      auto size = static_cast<std::size_t>(a.dtype.element_bytes());
      for (std::size_t at = size; at <= a.bytes.size(); at += size)
        a.bytes[at - 1] = static_cast<char>(a.bytes[at - 1] & 0x7f);
    }
    const Slots slots = machine_.slots_for(open_, absolute);
    return machine_.interpret(open_.with(body), slots, absolute, false);
  }
  /// Elements where the other results are not finite have no bound.
  void drop_where_infinite(Results& bound, const Results& other) const {
    for (std::size_t k = 0; k < args_.size(); ++k) {
      DType t = args_[k].dtype;
      if (!args_[k].written || !t.is_float()) continue;
      auto size = static_cast<std::size_t>(t.element_bytes());
      for (std::size_t at = 0; at < bound[k].size(); at += size)
        if (!std::isfinite(as_double(t, lathe::detail::read_element(t, other[k].data() + at))))
          std::memcpy(bound[k].data() + at, other[k].data() + at, size);
    }
  }
};

}  // namespace fuzz
