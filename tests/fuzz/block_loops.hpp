// The loops of one block as text, with what its iterators are bound to: straight, reaching points
// several times or never, or ended by data.
#pragma once

#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>

#include "family.hpp"

namespace fuzz {

/// How often, in percent, a block has each of these traits.
struct Traits {
  int own = 0;        ///< the term reads what the block writes
  int repeat = 0;     ///< a loop that no iterator names
  int overlap = 0;    ///< bindings that reach a point several times
  int condition = 0;  ///< on data, or on iterators
  int data_ends = 0;  ///< data decide where loops end
  int beyond = 0;     ///< loops that reach other points than the domain has
  int scatter = 0;    ///< an element is named by a reduce iterator; there is no init then
  int plain = 15;     ///< no reducer
  int init = 70;
  int counts = 10;  ///< small terms of which a sum has a provable range
};

class BlockLoops : public Family {
 public:
  explicit BlockLoops(Random& random) : Family(random) {
    static const std::vector<DType> types = {lathe::kI32, lathe::kI32, lathe::kI8,  lathe::kU8,
                                             lathe::kI16, lathe::kI64, lathe::kU32, lathe::kF32};
    dtype_ = random_.pick(types);
    symbolic_ = random_.chance(15);
  }

 protected:
  struct Loop {
    std::string var, range;
  };
  using Texts = std::vector<std::string>;

  static std::string number_text(std::int64_t value) { return std::to_string(value); }
  std::string constant(double v) const {
    return lathe::str(dtype_.is_float() ? lathe::make_float(dtype_, v)
                                        : lathe::make_const(dtype_, static_cast<int>(v)));
  }
  std::string type() const { return std::string(dtype_.str()); }
  static std::string text(const Size& s) { return lathe::str(s.any); }
  static std::string joined(const Texts& all, const char* between) {
    std::string out;
    for (const auto& t : all) out += (out.empty() ? "" : between) + t;
    return out;
  }
  void line(int depth, const std::string& words) {
    lines_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + words + "\n";
  }
  void param(const std::string& access, const std::string& name, const std::string& t,
             const std::string& shape) {
    params_.push_back(access + " " + name + ": " + t + "[" + shape + "]");
  }
  std::string one_of(const Texts& all) { return random_.pick(all); }

  /// Chooses the loops, and what they bind v and w to.
  void bind() {
    loops_.clear();
    v_ = random_.chance(traits_.overlap) && random_.chance(60) ? spread(n_, "i", "j")
                                                               : simple(n_, "i");
    straight_ = v_ == "i";
    const bool ends = random_.chance(traits_.data_ends);
    if (ends && random_.chance(45)) loops_[0].range = data_range("c", "0", n_), loose_ = true;
    const std::size_t spatial = loops_.size();
    w_ = random_.chance(traits_.overlap) ? spread(m_, "r", "q") : simple(m_, "r");
    if (ends && (!loose_ || random_.chance(30)))
      loops_[spatial].range =
          random_.chance(50) && straight_ ? row_range() : data_range("d", "0", m_);
    if (random_.chance(traits_.repeat)) loops_.push_back({"t", "0.." + repeats_text()});
    order();
  }

  Traits traits_;
  Size n_, m_;
  std::vector<Loop> loops_;
  std::string v_, w_;
  bool counts_ = false, straight_ = false;
  bool loose_ = false;  ///< some elements are not reached
  Texts params_;
  std::string lines_;

 private:
  std::string repeats_text() {
    if (counts_) return one_of({"3", "30", "90"});
    return random_.chance(8) ? data_range("e", "", m_).substr(2)
                             : one_of({"2", "3", "3", "7", "1", "0"});
  }
  /// A loop that is the iterator, as a rule.
  std::string simple(const Size& s, const std::string& var) {
    if (!random_.chance(traits_.beyond)) {
      loops_.push_back({var, "0.." + text(s)});
      return var;
    }
    loose_ = true;
    const std::int64_t some = random_.below(static_cast<int>(s.value) + 4);
    switch (random_.below(4)) {
      case 0:
        loops_.push_back({var, "1.." + number_text(some + 1)});
        return var + " - 1";
      case 1:
        loops_.push_back({var, number_text(random_.below(3)) + ".." + number_text(some + 2)});
        return var;
      case 2:
        other_loop(var);
        return var;
      default:
        loops_.push_back({var, "0.." + number_text(some)});
        return var;
    }
  }
  /// As long as some array is that has no part in it.
  void other_loop(const std::string& var) {
    const Size other = size(17);
    if (other.symbolic()) param("in", "N" + var, "u8", text(other));
    loops_.push_back({var, "0.." + text(other)});
  }
  /// Two loops, or one, that reach a point several times, and some never.
  std::string spread(const Size& s, const std::string& a, const std::string& b) {
    const std::int64_t n = s.value, k = 2 + random_.below(3), width = k + random_.below(3) - 1;
    auto loop = [&](const std::string& var, std::int64_t end) {
      loops_.push_back({var, "0.." + number_text(end)});
    };
    switch (random_.below(6)) {
      case 0:
        loop(a, (n + k - 1) / k), loop(b, width);
        return a + " * " + number_text(k) + " + " + b;
      case 1: {
        const std::int64_t inner = 2 + random_.below(9), by = 2 + random_.below(26);
        loop(a, std::min<std::int64_t>(40, (n * by + inner - 1) / inner)), loop(b, inner);
        return "floordiv(" + a + " * " + number_text(inner) + " + " + b + ", " + number_text(by) +
               ")";
      }
      case 2:
        loop(a, n * 2 + random_.below(3) - 1);
        return "floordiv(" + a + ", " + number_text(k) + ")";
      case 3:
        loop(a, n + random_.below(9));
        return "floormod(" + a + " * " + number_text(1 + random_.below(3)) + ", " + text(s) + ")";
      case 4:
        loop(a, n), loop(b, 2);
        return a + " + " + b + one_of({"", " - 1"});
      default:
        loop(a, n + 2);
        return one_of({"min(" + a + ", " + text(s) + " - 1)", "max(" + a + " - 2, 0)"});
    }
  }
  /// Up to a number that data give.
  std::string data_range(const std::string& name, const std::string& from, const Size&) {
    refusable_ = true;  // ends that memory gives may be too much for a text
    param("in", name, "u8", "1");
    return from + "..i64(" + name + "[0] & " + one_of({"7u8", "3u8", "15u8"}) + ")";
  }
  /// Of a row: how long it is, or where it starts and ends.
  std::string row_range() {
    refusable_ = true;
    param("in", "p", "u8", text(n_) + " + 1");
    auto at = [](const std::string& i) { return "i64(p[" + i + "] & 7u8)"; };
    must_hold_i_ = true;
    const std::string row = "min(max(i, 0), " + text(n_) + ")",
                      next = "min(max(i + 1, 0), " + text(n_) + ")";
    return random_.chance(50) ? "0.." + at(row) : at(row) + ".." + at(next);
  }
  void order() {
    if (random_.chance(35)) {  // a repeating loop anywhere, the others as they are
      if (loops_.back().var != "t") return;
      const Loop t = loops_.back();
      loops_.pop_back();
      const auto at = random_.below(static_cast<int>(loops_.size()) + 1);
      loops_.insert(loops_.begin() + at, t);
      return;
    }
    for (std::size_t k = loops_.size(); k > 1; --k)
      std::swap(loops_[k - 1],
                loops_[static_cast<std::size_t>(random_.below(static_cast<int>(k)))]);
    if (!must_hold_i_) return;
    for (std::size_t k = 0; k < loops_.size(); ++k)
      if (loops_[k].var == "i") std::swap(loops_[0], loops_[k]);
  }

  bool must_hold_i_ = false;
};

}  // namespace fuzz
