#include "core/report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {

namespace {

using Json = nlohmann::ordered_json;

const std::pair<const std::string, double>* best_peer(const Row& row) {
  const auto faster = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto best = std::min_element(row.peers.begin(), row.peers.end(), faster);
  return best == row.peers.end() ? nullptr : &*best;
}

// Of Lathe; while it has no result for a case, of its best peer, so that the table is still of use.
std::optional<double> subject_ms(const Row& row) {
  if (row.lathe_ms) return row.lathe_ms;
  if (const auto* best = best_peer(row)) return best->second;
  return std::nullopt;
}

Json per_ms(double amount, std::optional<double> ms) {
  return ms && amount > 0 ? Json(amount / *ms * 1e-6) : Json(nullptr);
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Row& row) {
  const auto* best = best_peer(row);
  const bool compared = best && row.lathe_ms;
  Json out;
  out["suite"] = row.suite;
  if (!row.family.empty()) out["family"] = row.family;
  out["case"] = row.name;
  out["dtype"] = row.dtype;
  out["threads"] = row.threads;
  out["schedule"] = row.schedule;
  out["lathe_ms"] = optional_json(row.lathe_ms);
  out["gflops"] = per_ms(row.flops, row.lathe_ms);
  out["gbps"] = per_ms(row.bytes, row.lathe_ms);
  out["peers"] = row.peers;
  out["best_peer"] = best ? Json(best->first) : Json(nullptr);
  out["ratio"] = compared ? Json(best->second / *row.lathe_ms) : Json(nullptr);
  out["peak_fraction"] = per_ms(row.limit_ms * 1e6, row.lathe_ms);
  out["jit_ms"] = optional_json(row.jit_ms);
  if (row.plan_ms) out["plan_ms"] = *row.plan_ms;
  if (row.steps_per_second) out["steps_per_second"] = *row.steps_per_second;
  out["spread"] = row.spread;
  out["busy"] = row.busy;
  if (row.seed) out["seed"] = *row.seed;
  return out;
}

std::string number(const char* format, std::optional<double> value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::optional<double> rate(double amount, std::optional<double> ms) {
  if (!ms || amount <= 0) return std::nullopt;
  return amount / *ms * 1e-6;
}

}  // namespace

Report::Report(const std::string& json_file) {
  if (json_file.empty()) return;
  json_.open(json_file);
  if (!json_) throw std::runtime_error("can't write " + json_file);
}

void Report::add(const Row& row) {
  print(row);
  if (json_.is_open()) json_ << to_json(row).dump() << std::endl;
}

void Report::print(const Row& row) {
  if (row.suite != last_suite_) {
    std::printf("\n%-11s %-41s %3s %10s %8s %7s %6s %6s %8s %7s %5s  %s\n", "suite", "case", "thr",
                "lathe ms", "GFLOP/s", "GB/s", "peak", "ratio", "jit ms", "spread", "busy",
                "peers (ms), best first");
    last_suite_ = row.suite;
  }
  const auto* best = best_peer(row);
  const std::optional<double> ms = subject_ms(row);
  std::optional<double> ratio, peak;
  if (best && row.lathe_ms) ratio = best->second / *row.lathe_ms;
  if (ms && row.limit_ms > 0) peak = row.limit_ms / *ms;
  std::printf("%-11s %-41s %3d %10s %8s %7s %6s %6s %8s %6.1f%% %5.2f ", row.suite.c_str(),
              row.name.c_str(), row.threads, number("%.4g", row.lathe_ms).c_str(),
              number("%.1f", rate(row.flops, ms)).c_str(),
              number("%.1f", rate(row.bytes, ms)).c_str(), number("%.3f", peak).c_str(),
              number("%.3f", ratio).c_str(), number("%.1f", row.jit_ms).c_str(), 100 * row.spread,
              row.busy);
  std::vector<std::pair<std::string, double>> sorted(row.peers.begin(), row.peers.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [name, peer_ms] : sorted) std::printf(" %s %.4g", name.c_str(), peer_ms);
  if (row.plan_ms) std::printf(" planned in %.1f ms", *row.plan_ms);
  if (row.steps_per_second) std::printf(" %.0f steps/s", *row.steps_per_second);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace bench
