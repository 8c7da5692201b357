#pragma once

#include <algorithm>
#include <lathe/cost/explanation.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

class ExplanationText {
 public:
  explicit ExplanationText(const Explanation& e) : e_(e) {}

  std::string text() && {
    head();
    for (const auto& stage : e_.stages) paragraph(stage);
    steps();
    list("decisions of the default schedule", e_.plan);
    list("steps of the default schedule that were refused", e_.left_out);
    list("rounding", e_.numerics);
    list("notes", e_.notes);
    return std::move(out_).str();
  }

 private:
  void head() {
    out_.line("program ", e_.program, " on ", e_.machine.name, " (", e_.machine.source, ")");
    out_.line("  ", count_in_units(e_.operations()), " operations, arguments of ",
              bytes_in_units(e_.bytes));
    out_.line("  roof ", seconds_in_units(e_.roof), " (", to_text(e_.bound), "), predicted ",
              seconds_in_units(e_.predicted()),
              e_.measured > 0 ? cat(", measured ", seconds_in_units(e_.measured)) : "", ": ",
              percent(e_.share()), " of the roof");
  }
  static std::string percent(double share) {
    return cat(static_cast<std::int64_t>(share * 100 + 0.5), " %");
  }
  // Stages that take next to no time are told in one line.
  void paragraph(const StageCost& stage) {
    constexpr double kLittle = 0.02;
    const double all = e_.predicted(), part = all > 0 ? stage.predicted() / all : 0;
    out_.open("stage ", stage.name, ": ", percent(part), " of the time, limited by ",
              to_text(stage.limit()));
    if (part >= kLittle || e_.stages.size() == 1) details(stage);
    out_.close();
  }
  void details(const StageCost& s) {
    if (!s.loops.empty()) out_.line("loops   ", join(s.loops, " · "));
    out_.line("work    ", count_in_units(s.points), " points, ", count_in_units(s.operations),
              " operations, ", count_in_units(s.lanes), " at once, ", count_in_units(s.threads),
              s.threads > 1 ? " threads" : " thread");
    std::vector<std::string> times, moved;
    for (std::size_t k = 0; k < kResources; ++k)
      if (s.seconds[k] > 0)
        times.push_back(
            cat(to_text(static_cast<Resource>(k)), " ", seconds_in_units(s.seconds[k])));
    static constexpr std::string_view kLevels[] = {"L1", "L2", "L3", "memory"};
    for (std::size_t k = 0; k < s.bytes.size(); ++k)
      if (s.bytes[k] > 0) moved.push_back(cat(bytes_in_units(s.bytes[k]), " from ", kLevels[k]));
    if (!times.empty()) out_.line("time    ", join(times, " · "));
    if (!moved.empty()) out_.line("moves   ", join(moved, " · "));
    for (const auto& help : s.helps) out_.line("try     ", help);
  }
  void steps() {
    if (e_.steps.empty()) return;
    out_.open("steps");
    for (std::string_view rest = e_.steps; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      out_.line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    out_.close();
  }
  void list(std::string_view name, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out_.open(name);
    for (const auto& line : lines) out_.line(line);
    out_.close();
  }

  const Explanation& e_;
  TextWriter out_;
};

// JSON of what explanations hold: names may have any bytes.
class ExplanationJson {
 public:
  explicit ExplanationJson(const Explanation& e) : e_(e) {}

  std::string text() && {
    out_ = "{";
    field("program", e_.program);
    field("machine", e_.machine.str());
    field("operations", e_.operations());
    field("bytes", e_.bytes);
    field("roof", e_.roof);
    field("bound", to_text(e_.bound));
    field("predicted", e_.predicted());
    field("measured", e_.measured);
    field("share", e_.share());
    key("stages");
    out_ += '[';
    for (const auto& s : e_.stages) stage(s);
    close(']');
    field("steps", e_.steps);
    field("plan", e_.plan);
    field("left_out", e_.left_out);
    field("numerics", e_.numerics);
    field("notes", e_.notes);
    close('}');
    return out_ + '\n';
  }

 private:
  void stage(const StageCost& s) {
    next();
    out_ += '{';
    field("name", s.name);
    field("loops", s.loops);
    field("points", s.points);
    field("operations", s.operations);
    field("lanes", s.lanes);
    field("threads", s.threads);
    key("bytes");
    out_ += cat("{\"L1\": ", s.bytes[0], ", \"L2\": ", s.bytes[1], ", \"L3\": ", s.bytes[2],
                ", \"memory\": ", s.bytes[3], "}");
    key("seconds");
    out_ += '{';
    for (std::size_t k = 0; k < kResources; ++k)
      field(to_text(static_cast<Resource>(k)), s.seconds[k]);
    close('}');
    field("limit", to_text(s.limit()));
    field("predicted", s.predicted());
    field("ideal", s.ideal);
    field("helps", s.helps);
    close('}');
  }
  void next() {
    if (out_.back() != '{' && out_.back() != '[') out_ += ", ";
  }
  void close(char bracket) { out_ += bracket; }
  void key(std::string_view name) {
    next();
    append(out_, '"', name, "\": ");
  }
  void field(std::string_view name, double value) {
    key(name);
    append(out_, value);
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    string(value);
  }
  void field(std::string_view name, const std::vector<std::string>& values) {
    key(name);
    out_ += '[';
    for (const auto& value : values) {
      next();
      string(value);
    }
    close(']');
  }
  void string(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        append(out_, '\\', c);
      else if (c == '\n')
        out_ += "\\n";
      else if (byte < 32 || byte == 127)
        append(out_, "\\u00", "0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]);
      else
        out_ += c;
    }
    out_ += '"';
  }

  const Explanation& e_;
  std::string out_;
};

}  // namespace detail

LATHE_DECL std::string Explanation::str() const { return detail::ExplanationText(*this).text(); }
LATHE_DECL std::string Explanation::json() const { return detail::ExplanationJson(*this).text(); }

}  // namespace lathe
