// Families of texts that were programs before bytes, words, lines or nodes of them were changed.
#pragma once

#include <lathe/ir/verify.hpp>
#include <set>

#include "crash.hpp"
#include "families_blocks.hpp"
#include "families_claims.hpp"
#include "families_reduction.hpp"
#include "work.hpp"

namespace fuzz {

/// Whether a program is small enough to be run, and ends: its loops and arrays have bounds, and its
/// Dims may have their values.
class Tame : public lathe::Visitor {
 public:
  Tame(const lathe::Program& p, const std::vector<std::pair<std::string, std::int64_t>>& dims)
      : facts_(p) {
    for (const auto& dim : p->dims) {
      bool known = false;
      for (const auto& [name, value] : dims)
        if (dim->var->name == name && may_be(*dim, value))
          known = true, sizes_.emplace_back(dim->var, AnyExpr(value));
      holds = holds && known;
    }
    for (const auto& param : p->params)
      if (param.buffer) shape(param.buffer);
    stmt(p->body);
    holds = holds && p->stage == lathe::Stage::blocks && times_all_ < 1e6 && elements_ < 1e6 &&
            Work(p, dims).nodes() < 3e6;
  }
  bool holds = true;

  void stmt(const lathe::Stmt& s) override {
    if (s.as<lathe::WhileNode>()) holds = false;
    if (const auto* a = s.as<lathe::AllocNode>()) shape(a->buffer);
    const auto* f = s.as<lathe::ForNode>();
    if (!f) return descend(s);
    const double outside = times_;
    times_ *= std::max(1.0, most(f->extent));
    times_all_ = std::max(times_all_, times_);
    descend(s);
    times_ = outside;
  }

 private:
  static bool may_be(const lathe::DimNode& dim, std::int64_t value) {
    return dim.min <= value && value <= dim.max && value % dim.multiple_of == 0;
  }
  double most(const AnyExpr& e) {
    const lathe::ConstInterval range = lathe::const_bounds(lathe::substitute(e, sizes_), facts_);
    if (!range.has_max()) holds = false;
    return range.has_max() ? static_cast<double>(range.max) : 1;
  }
  void shape(const lathe::Buffer& b) {
    double count = 16;
    for (const auto& e : b->shape) count *= std::max(1.0, most(e));
    elements_ = std::max(elements_, count);
  }

  lathe::Facts facts_;
  lathe::Substitution sizes_;
  double times_ = 1, times_all_ = 1, elements_ = 0;
};

/// One expression or statement in the place of another.
class NodeSwap : public lathe::Mutator {
 public:
  NodeSwap(Random& random, const lathe::Stmt& body) : random_(random) {
    Collect all(*this);
    all.stmt(body);
    if (exprs_.size() > 1) target_ = random_.below(static_cast<int>(exprs_.size()));
  }
  using lathe::Mutator::stmt;

  AnyExpr expr(const AnyExpr& e) override {
    if (seen_++ != target_) return descend(e);
    for (int tries = 0; tries < 8; ++tries) {
      const AnyExpr& other = random_.pick(exprs_);
      if (other.dtype() == e.dtype() && !other.same_as(e)) return other;
    }
    return e;
  }

 private:
  struct Collect : lathe::Visitor {
    explicit Collect(NodeSwap& its_swap) : swap(its_swap) {}
    void expr(const AnyExpr& e) override {
      swap.exprs_.push_back(e);
      descend(e);
    }
    NodeSwap& swap;
  };

  Random& random_;
  std::vector<AnyExpr> exprs_;
  int target_ = -1, seen_ = 0;
};

class MutatedFamilies : public ClaimFamilies {
 public:
  using ClaimFamilies::ClaimFamilies;

  void mutated_bytes() {
    mutated([&](std::string& t) { bytes(t); });
  }
  void mutated_words() {
    mutated([&](std::string& t) { words(t); });
  }
  void mutated_nodes() {
    mutated([&](std::string& t) { nodes(t); });
  }

 private:
  template <class Topic>
  void take(void (Topic::*family)()) {
    Topic topic(random_);
    (topic.*family)();
    const ComputedProgram made = topic.computed();
    text_ = made.program.str(), dims_ = made.dims;
  }
  void some_program() {
    using B = BlockFamilies;
    using R = ReductionFamilies;
    static const std::vector<void (B::*)()> blocks = {&B::self_update, &B::repeats, &B::conditions,
                                                      &B::ragged, &B::wild_block};
    static const std::vector<void (R::*)()> folds = {&R::reduction, &R::softmax, &R::argmax,
                                                     &R::moments};
    static const std::vector<void (ClaimFamilies::*)()> own = {
        &ClaimFamilies::nested_loops, &ClaimFamilies::nested_blocks, &ClaimFamilies::kinds};
    for (;;) {
      try {
        switch (random_.below(4)) {
          case 0:
            return base();
          case 1:
            return take(random_.pick(folds));
          case 2:
            return (this->*random_.pick(own))();
          default:
            return take(random_.pick(blocks));
        }
      } catch (const lathe::UserError&) {
      }
    }
  }
  /// The first change of several that gives a program at all, or none.
  template <class Change>
  void mutated(Change change) {
    some_program();
    refusable_ = true;
    const std::string start = text_;
    for (int tries = 0; tries < 30; ++tries) {
      std::string text = start;
      try {
        for (int k = 1 + random_.below(3); k > 0; --k) change(text);
        if (text != start && runs(text)) return void(text_ = text);
      } catch (const lathe::UserError&) {
      } catch (const std::exception& error) {
        throw Failure("parse", std::string(error.what()) + "\n" + text);
      }
    }
    text_ = start;
  }
  bool runs(const std::string& text) {
    current_case = text;
    if (text.size() > 20000) return false;
    const lathe::Program p = lathe::parse(text);
    lathe::verify_user(p);
    return Tame(p, dims_).holds;
  }
  std::size_t somewhere(const std::string& text) {
    return static_cast<std::size_t>(random_.below(static_cast<int>(text.size())));
  }
  void bytes(std::string& t) {
    if (t.empty()) return;
    const std::size_t at = somewhere(t), from = somewhere(t);
    switch (random_.below(6)) {
      case 0:
        t[at] = static_cast<char>(random_.bits());
        return;
      case 1:
        t[at] = "0123456789()[]:,.+-*/%<>=!&| \nijvwrXYACf"[random_.below(41)];
        return;
      case 2:
        t.erase(at, 1 + static_cast<std::size_t>(random_.below(6)));
        return;
      case 3:
        t.insert(at, t.substr(from, static_cast<std::size_t>(random_.below(12))));
        return;
      case 4:
        return digit(t);
      default:
        std::swap(t[at], t[from]);
    }
  }
  void digit(std::string& t) {
    const std::size_t at = t.find_first_of("0123456789", somewhere(t));
    if (at != std::string::npos) t[at] = static_cast<char>('0' + random_.below(10));
  }
  struct Word {
    std::size_t at, size;
  };
  static std::vector<Word> words_of(const std::string& t) {
    std::vector<Word> all;
    auto letter = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    };
    for (std::size_t at = 0; at < t.size();) {
      std::size_t end = at + 1;
      if (letter(t[at])) {
        while (end < t.size() && letter(t[end]) && t.compare(end, 2, "..") != 0) ++end;
      }
      if (t[at] != ' ' && t[at] != '\n') all.push_back({at, end - at});
      at = end;
    }
    return all;
  }
  void words(std::string& t) {
    if (random_.chance(15)) return lines(t);
    const std::vector<Word> all = words_of(t);
    if (all.size() < 2) return;
    static const std::vector<std::string> others = {"0",        "1",
                                                    "2",        "7",
                                                    "-1",       "9223372036854775807",
                                                    "i32",      "i64",
                                                    "u8",       "f32",
                                                    "bool",     "sum",
                                                    "max",      "prod",
                                                    "argmax",   "init",
                                                    "reduce",   "opaque",
                                                    "in",       "out",
                                                    "inout",    "+",
                                                    "-",        "*",
                                                    "floordiv", "min",
                                                    "<",        "==",
                                                    "1i32",     "1.5",
                                                    "f16.nan",  "nan(0x7ff8000000000001)",
                                                    "true",     "parallel",
                                                    "unrolled", "nan",
                                                    "inf",      "f8e4m3.nan"};
    const Word to = random_.pick(all), from = random_.pick(all);
    const std::string other = t.substr(from.at, from.size);
    switch (random_.below(5)) {
      case 0:
        t.replace(to.at, to.size, random_.pick(others));
        return;
      case 1:
        t.insert(to.at, random_.pick(others) + " ");
        return;
      case 2:
        t.erase(to.at, to.size);
        return;
      default:
        t.replace(to.at, to.size, other);
    }
  }
  /// One line twice, not at all, or in another place.
  void lines(std::string& t) {
    std::vector<std::string> all;
    for (std::size_t at = 0, end; at < t.size(); at = end + 1) {
      end = std::min(t.find('\n', at), t.size());
      all.push_back(t.substr(at, end - at));
    }
    if (all.size() < 3) return;
    auto some = [&] { return all.begin() + 1 + random_.below(static_cast<int>(all.size()) - 1); };
    const std::string line = *some();
    const int kind = random_.below(3);
    if (kind == 0) all.insert(some(), line);
    if (kind == 1) all.erase(some());
    if (kind == 2) std::swap(*some(), *some());
    t.clear();
    for (const auto& l : all) t += l + "\n";
  }
  void nodes(std::string& t) {
    const lathe::Program p = lathe::parse(t);
    NodeSwap swap(random_, p->body);
    t = p.with(swap.stmt(p->body)).str();
  }
};

}  // namespace fuzz
