#pragma once

#include <algorithm>
#include <lathe/autoschedule/plan.hpp>
#include <lathe/support/text.hpp>
#include <tuple>

namespace lathe {

namespace detail {

inline constexpr std::string_view kPlanHead = "plan 1";

// One line of a plan, without its comment.
inline Decision parse_decision(std::string_view line, std::size_t number, Location where) {
  const auto word = [&] {
    line = trimmed(line);
    return taken_until(line, ' ');
  };
  Decision out;
  out.block = word(), out.what = word(), out.taken.name = word();
  if (out.taken.name.empty())
    throw UserError("L0266",
                    cat("plan: line ", number, " is not a block, a decision and what it takes"),
                    where, {}, "such as 'C register_tile i 8 3'");
  for (std::string_view digits = word(); !digits.empty(); digits = word()) {
    std::int64_t value = 0;
    if (!parse_int(digits, value))
      throw UserError("L0266", cat("plan: line ", number, ": '", digits, "' is no number"), where);
    out.taken.numbers.push_back(value);
  }
  return out;
}

inline void refuse_decided_twice(const Plan& plan, Location where) {
  std::vector<const Decision*> all;
  for (const auto& decision : plan.decisions) all.push_back(&decision);
  const auto key = [](const Decision* d) { return std::tie(d->block, d->what); };
  std::sort(all.begin(), all.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  for (std::size_t k = 1; k < all.size(); ++k)
    if (key(all[k - 1]) == key(all[k]))
      throw UserError(
          "L0266", cat("plan: '", all[k]->block, ' ', all[k]->what, "' is decided twice"), where);
}

}  // namespace detail

LATHE_DECL std::string PlanOption::str() const {
  std::string out = name;
  for (const std::int64_t number : numbers) append(out, ' ', number);
  return out;
}

LATHE_DECL std::string Decision::str() const {
  constexpr std::size_t kRunnersUp = 2;
  std::string out = cat(block, ' ', what, ' ', taken.str());
  if (taken.cycles > 0) append(out, " # ", three_digits(taken.cycles), " cycles");
  const std::string_view before = taken.cycles > 0 ? "; next " : " # or ";
  for (std::size_t k = 0; k < std::min(others.size(), kRunnersUp); ++k) {
    append(out, k == 0 ? before : ", ", others[k].str());
    if (others[k].cycles > 0) append(out, ' ', three_digits(others[k].cycles));
  }
  return out;
}

LATHE_DECL const Decision* Plan::find(std::string_view block, std::string_view what) const {
  for (const auto& decision : decisions)
    if (decision.block == block && decision.what == what) return &decision;
  return nullptr;
}

LATHE_DECL std::string Plan::str() const {
  std::string out = cat(detail::kPlanHead, '\n');
  for (const auto& decision : decisions) append(out, decision.str(), '\n');
  return out;
}

LATHE_DECL Plan Plan::parse(std::string_view text, Location where) {
  Plan out;
  const std::string_view head = taken_until(text, '\n');
  if (trimmed(head.substr(0, head.find('#'))) != detail::kPlanHead)
    throw UserError("L0266", cat("plan: the text starts with '", detail::kPlanHead, "'"), where, {},
                    "plans of other versions of Lathe can't be read");
  for (std::size_t number = 2; !text.empty(); ++number) {
    std::string_view line = taken_until(text, '\n');
    line = trimmed(line.substr(0, line.find('#')));
    if (!line.empty()) out.decisions.push_back(detail::parse_decision(line, number, where));
  }
  detail::refuse_decided_twice(out, where);
  return out;
}

}  // namespace lathe
