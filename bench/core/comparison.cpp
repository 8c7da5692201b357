#include "core/comparison.hpp"

#include <stdexcept>

#include "core/measure.hpp"

namespace bench {

Row compare(const Comparison& what, const Options& options) {
  if (const std::string wrong = what.difference(); !wrong.empty())
    throw std::runtime_error("wrong result, not timed: " + wrong);
  const OthersWatch others;
  const std::vector<Timing> times = measure(what.all, {options.seconds, 1});
  Row row;
  row.dtype = what.dtype;
  row.flops = what.flops, row.bytes = what.bytes;
  row.busy = others.cores();
  row.lathe_ms = 1e3 * times[0].median, row.spread = times[0].spread();
  for (std::size_t k = 1; k < times.size(); ++k)
    row.peers[what.all[k].name] = 1e3 * times[k].median;
  return row;
}

}  // namespace bench
