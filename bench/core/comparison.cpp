#include "core/comparison.hpp"

#include <stdexcept>

#include "core/limits.hpp"
#include "core/measure.hpp"

namespace bench {

Row compare(const Comparison& what, const Options& options) {
  if (const std::string wrong = what.difference(); !wrong.empty())
    throw std::runtime_error("wrong result, not timed: " + wrong);
  std::vector<Competitor> all = what.all;
  if (what.fma_share > 0) all.push_back(fma_limit(what.threads));
  all.insert(all.end(), what.copies.begin(), what.copies.end());
  const OthersWatch others;
  const std::vector<Timing> times = measure(all, {options.seconds, what.threads});
  Row row;
  row.dtype = what.dtype, row.threads = what.threads;
  row.flops = what.flops, row.bytes = what.bytes;
  row.busy = others.cores();
  row.lathe_ms = 1e3 * times[0].median, row.spread = times[0].spread();
  if (what.fma_share > 0)
    row.limit_ms =
        1e3 * what.flops / (what.fma_share * fma_flops(what.threads)) * times[what.all.size()].p10;
  for (std::size_t k = all.size() - what.copies.size(); k < all.size(); ++k) {
    const double ms = 1e3 * what.bytes / what.copied_bytes * times[k].median;
    if (row.limit_ms == 0 || ms < row.limit_ms) row.limit_ms = ms;
  }
  for (std::size_t k = 1; k < what.all.size(); ++k)
    row.peers[what.all[k].name] = 1e3 * times[k].median;
  return row;
}

}  // namespace bench
