#pragma once

#include <algorithm>
#include <cmath>
#include <lathe/cost/explanation.hpp>
#include <lathe/schedule/core/impl/html_text.ipp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

// A roofline: operations a second over operations per byte, both by powers of two; a line for each
// cache and memory, a dot for each stage at the level whose bytes take it longest.
class Roofline {
 public:
  explicit Roofline(const Explanation& e) : e_(e) {
    const Machine& m = e.machine;
    peak_ = 2 * m.fmas * m.clock * m.cores * m.vector_bytes / 4;  // of f32
    speeds_ = {m.vector_bytes * m.loads * m.clock * m.cores, m.l2_speed * m.cores,
               m.l3_speed * m.cores, std::max(m.memory_speed, m.memory_speed_all)};
  }

  std::string text() && {
    append(out_, "<svg class=\"roofline\" viewBox=\"0 0 ", kWidth, " ", kHeight,
           "\" role=\"img\" aria-label=\"roofline\">\n");
    static constexpr std::string_view kLevels[] = {"L1", "L2", "L3", "memory"};
    for (std::size_t k = 0; k < speeds_.size(); ++k) roof(kLevels[k], speeds_[k]);
    for (const auto& stage : e_.stages) dot(stage);
    append(out_, "<text x=\"4\" y=\"", kHeight - 4,
           "\">operations per byte, 1/64 to 1024</text>\n</svg>\n");
    return std::move(out_);
  }

 private:
  static constexpr int kWidth = 640, kHeight = 240;
  static constexpr double kLeft = -6, kRight = 10, kDown = 14;  // powers of two

  int x(double intensity) const {
    const double at = std::clamp(std::log2(intensity), kLeft, kRight);
    return static_cast<int>((at - kLeft) / (kRight - kLeft) * kWidth);
  }
  int y(double rate) const {
    const double down = std::clamp(std::log2(peak_ / rate), 0.0, kDown);
    return static_cast<int>(20 + down / kDown * (kHeight - 40));
  }
  void roof(std::string_view level, double speed) {
    const double knee = peak_ / speed, left = std::exp2(kLeft);
    append(out_, "<polyline points=\"", x(left), ",", y(speed * left), " ", x(knee), ",", y(peak_),
           " ", kWidth, ",", y(peak_), "\"></polyline>\n<text x=\"", x(left) + 4, "\" y=\"",
           y(speed * left) - 3, "\">", level, "</text>\n");
  }
  void dot(const StageCost& s) {
    if (s.operations <= 0 || s.predicted() <= 0) return;
    std::size_t level = 0;
    const double* seconds = &s.seconds[static_cast<std::size_t>(Resource::l1)];
    for (std::size_t k = 0; k < s.bytes.size(); ++k)
      if (s.bytes[k] > 0 && seconds[k] >= seconds[level]) level = k;
    const double bytes = std::max(s.bytes[level], 1.0);
    const int across = x(s.operations / bytes), down = y(s.operations / s.predicted());
    append(out_, "<circle cx=\"", across, "\" cy=\"", down, "\" r=\"4\"></circle><text x=\"",
           across + 6, "\" y=\"", down + 4, "\">", html_text(s.name), "</text>\n");
  }

  const Explanation& e_;
  double peak_ = 1;
  std::array<double, 4> speeds_{};
  std::string out_;
};

inline void cost_row(std::string& out, const StageCost& s, double all) {
  const auto share = static_cast<std::int64_t>(all > 0 ? 100 * s.predicted() / all + 0.5 : 0);
  append(out, "<tr><td><code>", html_text(s.name), "</code></td><td>", share, " %</td><td>",
         to_text(s.limit()), "</td><td>", static_cast<std::int64_t>(s.lanes), "</td><td>",
         static_cast<std::int64_t>(s.threads), "</td><td>");
  for (const auto& help : s.helps) append(out, "<div>", html_text(help), "</div>");
  append(out, "</td></tr>\n");
}

inline std::string costs_section(const Explanation& e) {
  std::string out = "<h2>Costs</h2>\n";
  append(out, "<p class=\"legend\">Predicted for ", html_text(e.machine.name), ": ",
         static_cast<std::int64_t>(100 * e.share() + 0.5), " % of the roof (", to_text(e.bound),
         ").</p>\n", Roofline(e).text(),
         "<div class=\"wide\"><table>\n<tr><th>stage</th><th>time</th><th>limited by</th>",
         "<th>lanes</th><th>threads</th><th>what may help</th></tr>\n");
  for (const auto& stage : e.stages) cost_row(out, stage, e.predicted());
  append(out, "</table></div>\n");
  return out;
}

}  // namespace lathe::detail
