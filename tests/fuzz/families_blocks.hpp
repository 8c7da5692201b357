// Families of single blocks between what feeds them and what reads them, as texts: updates that
// read what they write, instances that repeat or overlap, conditions on data, loops whose ends data
// decide.
#pragma once

#include "block_loops.hpp"

namespace fuzz {

class BlockFamilies : public BlockLoops {
 public:
  using BlockLoops::BlockLoops;

  void self_update() {
    focus_ = {"rfactor", "rfactor", "split", "compute_at", "reverse_compute_at", "fuse"};
    write({.own = 100, .repeat = 10, .overlap = 10, .condition = 10});
  }
  void repeats() {
    focus_ = {"fuse", "reorder", "compute_at", "reverse_compute_at", "change_type"};
    write({.own = 10, .repeat = 100, .overlap = 15, .condition = 10, .counts = 40});
  }
  void overlaps() {
    focus_ = {"change_type", "compute_at", "reverse_compute_at", "fuse", "rfactor", "split"};
    write({.own = 10, .repeat = 15, .overlap = 100, .beyond = 10, .counts = 50});
  }
  void conditions() {
    focus_ = {"compute_at", "cache_read", "rfactor", "split", "decompose_reduction", "vectorize"};
    write({.own = 5, .repeat = 5, .condition = 100, .beyond = 10, .plain = 10});
  }
  void ragged() {
    focus_ = {"fuse", "split", "rfactor"};
    write({.condition = 20, .data_ends = 100, .beyond = 30, .plain = 15});
  }
  void beyond() {
    focus_ = {"fuse", "split"};
    write({.condition = 10, .beyond = 100, .plain = 5});
  }
  void scatter_update() {
    write({.own = 5, .repeat = 10, .overlap = 20, .condition = 15, .scatter = 100, .init = 0});
  }
  /// All of it.
  void wild_block() {
    write({.own = 20,
           .repeat = 25,
           .overlap = 25,
           .condition = 30,
           .data_ends = 20,
           .beyond = 25,
           .scatter = 10,
           .counts = 15});
  }

 private:
  void write(const Traits& traits) {
    traits_ = traits;
    n_ = positive_size(17), m_ = positive_size(13);
    counts_ = dtype_.is_int() && random_.chance(traits.counts);
    if (counts_) dtype_ = lathe::kI32, n_ = positive_size(9), m_ = positive_size(13);
    if (scatter_ = random_.chance(traits.scatter); scatter_) plain_ = false;
    plain_ = !scatter_ && random_.chance(traits.plain);
    init_ = !plain_ && !scatter_ && random_.chance(traits.init);
    reducer_ = reducer_name();
    data_ = counts_ ? one_of({"i8", "u8", "bool"}) : type();
    bind();
    choose_output();
    conditions_of();
    term_ = update_term();
    input_nests();
    main_nest();
    consumer_nest();
    finish();
  }

  // What it writes.
  std::string reducer_name() {
    if (counts_ && random_.chance(80)) return "sum";
    return one_of({"sum", "sum", "sum", "prod", "max", "min"});
  }
  void choose_output() {
    const int kind = random_.below(10);
    // Elements that nobody stores are only in an inout.
    filled_ = !init_ && kind >= 4;
    if (scatter_) filled_ = kind >= 4;
    if (loose_ && kind >= 4) filled_ = random_.chance(60);
    temporary_ = kind >= 7 || (counts_ && random_.chance(80));
    if (temporary_ && !init_) filled_ = true;
    inout_ = kind < 4 && !temporary_;
    if (!temporary_) param(inout_ ? "inout" : "out", "C", type(), length());
  }
  std::string length() const { return scatter_ ? text(n_) + " + " + text(m_) : text(n_); }
  std::string place() {
    if (!scatter_) return "v";
    return one_of({"v + w", "floordiv(v + w, 2)", "w", "floormod(w * 3 + v, " + text(n_) + ")",
                   "floordiv(w, 3) + v"});
  }
  std::string own() {
    const Texts all = {"C[v]",
                       "C[v]",
                       "select(v > 0, C[max(v - 1, 0)], $1)",
                       "C[max(v - 1, 0)]",
                       "C[0]",
                       "C[min(v + 1, " + text(n_) + " - 1)]",
                       "C[" + text(n_) + " - 1 - v]",
                       "select(w > 0, C[v], $1)",
                       "C[floormod(v * 2, " + text(n_) + ")]"};
    std::string out = one_of(all);
    for (std::size_t at; (at = out.find("$1")) != std::string::npos;)
      out.replace(at, 2, constant(1));
    return out;
  }
  std::string update_term() {
    std::string x = "A[v, w]";
    if (counts_) {
      x = type() + "(" + x + (data_ == "bool" ? "" : one_of({"", " & 1" + data_, " & 3" + data_})) +
          ")";
    } else if (random_.chance(30)) {
      param("in", "B", type(), text(m_));
      x += one_of({" * ", " + "}) + "B[w]";
    }
    reads_own_ = random_.chance(traits_.own);
    if (!reads_own_) return x;
    if (random_.chance(20)) x = constant(2);
    std::string self = own();
    if (random_.chance(40)) self = "(" + self + " + " + constant(1) + ")";
    return random_.chance(50) ? x + " * " + self : x + one_of({" + ", " - "}) + self;
  }

  // The conditions.
  std::string condition() {
    const std::string k = constant(random_.below(4));
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return flag_ = true, "f[v] " + one_of({"> ", "<= ", "!= "}) + k;
      case 3:
      case 4:
        once("h", "in", type(), text(m_));
        return "h[w] " + one_of({"> ", "< "}) + k;
      case 5:
        once("g", "in", type(), text(n_) + ", " + text(m_));
        return "g[v, w] " + one_of({"< ", ">= "}) + k;
      case 6:
      case 7:
        once("I", "in", "i64", text(n_));
        return one_of({"w < I[v]", "w >= I[v]", "w + v < I[v]", "I[v] - w > 2", "w != I[v]"});
      case 8:
        once("K", "in", "i64", text(m_));
        flag_ = true;
        return "f[min(max(K[w], 0), " + text(n_) + " - 1)] > " + k;
      case 9:
        once("K", "in", "i64", text(m_));
        flag_ = true;
        return "select(K[w] >= 0 && K[w] < " + text(n_) + ", f[K[w]] > " + k + ", " +
               one_of({"true", "false"}) + ")";
      case 10:
        return one_of({"v + w < 9", "w > 1", "v != 2", "w < v", "floormod(v + w, 3) != 1"});
      default:
        if (plain_ || scatter_ || temporary_) return "w < 5";
        return inout_ ? "C[v] < " + k : "v > 0";
    }
  }
  void once(const std::string& name, const char* access, const std::string& t,
            const std::string& shape) {
    for (const auto& p : params_)
      if (p.find(" " + name + ": ") != std::string::npos) return;
    param(access, name, t, shape);
  }
  void conditions_of() {
    if (!random_.chance(traits_.condition)) return;
    loose_ = true;
    Texts all;
    for (int k = 1 + random_.below(3) / 2 + random_.below(3) / 2; k > 0; --k)
      all.push_back(condition());
    condition_ = " where " + joined(all, " && ");
    if (!temporary_ && !inout_ && random_.chance(70)) filled_ = true;
    if (temporary_) filled_ = true;
    if (!flag_) return;
    flag_kind_ = random_.below(4);
    if (flag_kind_ != 1) param(flag_kind_ == 0 ? "in" : "inout", "f", type(), text(n_));
    flag_inside_ = flag_kind_ > 0 && straight_ && loops_[0].var == "i" && random_.chance(40) &&
                   condition_.find("f[min") == std::string::npos &&
                   condition_.find("f[K") == std::string::npos;
  }

  // The nests.
  void input_nests() {
    const bool through = random_.chance(30);
    param("in", through ? "A0" : "A", data_, text(n_) + ", " + text(m_));
    if (temporary_) line(1, "alloc C: " + type() + "[" + length() + "]");
    if (flag_ && flag_kind_ == 1) line(1, "alloc f: " + type() + "[" + text(n_) + "]");
    if (through) {
      line(1, "alloc A: " + data_ + "[" + text(n_) + ", " + text(m_) + "]");
      line(1, "for i in 0.." + text(n_) + ":");
      line(2, "for r in 0.." + text(m_) + ":");
      line(3, "block A(v in 0.." + text(n_) + " = i, w in 0.." + text(m_) + " = r):");
      line(4, "A[v, w] = A0[v, w]" +
                  (data_ == "bool" ? "" : one_of({" + A0[v, 0]", "", " + A0[0, w]"})));
    }
    if (filled_) {
      line(1, "for i in 0.." + length() + ":");
      line(2, "block zero(v in 0.." + length() + " = i):");
      line(3, "C[v] = " + constant(random_.below(2)));
    }
    if (flag_ && flag_kind_ > 0 && !flag_inside_) {
      line(1, "for i in 0.." + text(n_) + ":");
      flag_block(2);
    }
  }
  void flag_block(int depth) {
    const std::string a = counts_ ? type() + "(" + source() + "[v, 0])" : source() + "[v, 0]";
    line(depth, "block f(v in 0.." + text(n_) + " = i):");
    line(depth + 1, "f[v] = " + a + one_of({"", " + " + constant(1), " * " + constant(2)}));
  }
  std::string source() const {
    for (const auto& p : params_)
      if (p.find(" A0: ") != std::string::npos) return "A0";
    return "A";
  }
  void main_nest() {
    int depth = 1;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      line(depth++, "for " + loops_[k].var + " in " + loops_[k].range + ":");
      if (k == 0 && flag_inside_) flag_block(depth);
    }
    const bool sum = !plain_;
    line(depth, "block C(v in 0.." + text(n_) + " = " + v_ + ", " + (sum ? "reduce " : "") +
                    "w in 0.." + text(m_) + " = " + w_ + ")" + condition_ +
                    (sum ? " reduce " + reducer_ : "") + (init_ ? " init" : "") + ":");
    line(depth + 1, "C[" + place() + "] " + (sum ? reducer_ : "") + "= " + term_);
  }
  void consumer_nest() {
    if (!temporary_ && random_.chance(75)) return;
    param("out", "Y", type(), length());
    const bool inside =
        !scatter_ && straight_ && loops_[0].var == "i" && loops_.size() > 1 && random_.chance(45);
    if (!inside) line(1, "for i in 0.." + length() + ":");
    if (inside && loops_[0].range != "0.." + text(n_)) {
      params_.back().replace(0, 3, "inout");
    }
    line(2, "block Y(v in 0.." + length() + " = i):");
    line(3,
         "Y[v] = " +
             (inside || random_.chance(80) ? std::string("C[v]") : "C[" + length() + " - 1 - v]") +
             one_of({" + " + constant(1), " * " + constant(3), ""}));
  }
  void finish() {
    text_ = "program P" + (dim_list_.empty() ? "" : "<" + dim_list_ + ">") + "(" +
            joined(params_, ", ") + "):\n" + lines_;
    loose_program_ = true;
  }

  std::string reducer_, term_, condition_, data_;
  bool scatter_ = false, plain_ = false, init_ = false;
  bool filled_ = false, temporary_ = false, inout_ = false, reads_own_ = false, flag_ = false,
       flag_inside_ = false;
  int flag_kind_ = 0;  ///< an input, a temporary, or an inout
};

}  // namespace fuzz
