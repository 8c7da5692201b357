#pragma once

#include <lathe/ir/parse.hpp>
#include <lathe/schedule/core/records.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Reads a trace. Expressions are read by the parser of programs: each stands as the value of a
// small program of its own.
class TraceParser {
 public:
  TraceParser(std::string_view text, Location where) : text_(text), where_(where) {}

  Trace parse() {
    if (text_.size() > kMaxText) fail("the text is longer than 16 MiB");
    Trace out;
    word("trace");
    if (number() != 1) fail("this format version is not known");
    word("program");
    out.program_hash = hash();
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      out.entries.push_back(entry());
      blanks();
      if (at_ < text_.size() && text_[at_] != '\n') fail("a new line was expected");
    }
    return out;
  }

 private:
  static constexpr std::size_t kMaxText = 16u << 20;
  static constexpr int kMaxDepth = 50;

  [[noreturn]] void fail(const std::string& message) const {
    std::size_t line = 1, begin = 0;
    for (std::size_t k = 0; k < at_ && k < text_.size(); ++k)
      if (text_[k] == '\n') ++line, begin = k + 1;
    throw UserError("L0228",
                    "trace: line " + std::to_string(line) + ", column " +
                        std::to_string(at_ - begin + 1) + ": " + message,
                    where_);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
  }
  void skip_lines() {
    for (blanks(); at_ < text_.size() && (peek() == '\n' || peek() == '#'); blanks()) {
      while (at_ < text_.size() && peek() != '\n') ++at_;
      if (at_ < text_.size()) ++at_;
    }
  }
  bool accept(char c) {
    blanks();
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "' was expected");
  }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  std::string name() {
    blanks();
    std::size_t begin = at_;
    if (!is_letter(peek())) fail("a name was expected");
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  void word(std::string_view expected) {
    std::size_t begin = (blanks(), at_);
    if (!is_letter(peek()) || name() != expected)
      at_ = begin, fail("'" + std::string(expected) + "' was expected");
  }
  std::int64_t number() {
    blanks();
    std::size_t begin = at_;
    if (peek() == '-') ++at_;
    while (is_digit(peek())) ++at_;
    std::int64_t value = 0;
    if (!parse_int(text_.substr(begin, at_ - begin), value))
      at_ = begin, fail("a number was expected");
    return value;
  }
  std::uint64_t hash() {
    blanks();
    if (peek() != '0') fail("a hash was expected");
    ++at_;
    if (peek() != 'x') fail("a hash was expected");
    ++at_;
    std::uint64_t value = 0;
    int digits = 0;
    for (; digits < 16; ++digits, ++at_) {
      char c = peek();
      int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<std::uint64_t>(digit);
    }
    if (digits == 0) fail("a hash was expected");
    return value;
  }

  TraceEntry entry() {
    TraceEntry e;
    Vec<std::string> left{name()};
    while (accept(',')) left.push_back(name());
    bool has_results = accept('=');
    if (!has_results && left.size() != 1) fail("'=' was expected");
    std::string op = has_results ? name() : left[0];
    if (!has_results) left.clear();
    e.primitive = find_primitive(op);
    if (!e.primitive) fail("no step is called '" + op + "'");
    if (accept('@') && number() != e.primitive->version)
      fail("this version of '" + op + "' is not known");
    arguments(e);
    e.where = where_;
    for (const auto& n : left) e.results.push_back(define(n, e.primitive->gives));
    return e;
  }

  void arguments(TraceEntry& e) {
    const auto& parameters = e.primitive->parameters;
    e.inputs.resize(parameters.size());
    Vec<bool> given(parameters.size(), false);
    expect('(');
    for (std::size_t next = 0; !accept(')');) {
      if (next > 0) expect(',');
      std::size_t at = named_parameter(parameters);
      if (at == parameters.size()) {
        while (at == parameters.size() && next < parameters.size() &&
               parameters[next].fallback.empty())
          at = next;
        if (at == parameters.size()) fail("too many arguments");
      }
      if (given[at]) fail("argument '" + std::string(parameters[at].name) + "' is given twice");
      given[at] = true;
      e.inputs[at] = argument(parameters[at].kind, 0);
      ++next;
    }
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (given[k]) continue;
      if (parameters[k].fallback.empty())
        fail("argument '" + std::string(parameters[k].name) + "' is missing");
      e.inputs[k] = default_argument(parameters[k]);
    }
  }

  // name= in front of an argument; the number of parameters if there is none.
  std::size_t named_parameter(const Vec<Parameter>& parameters) {
    std::size_t begin = (blanks(), at_);
    if (is_letter(peek())) {
      std::string key = name();
      if (accept('=')) {
        for (std::size_t k = 0; k < parameters.size(); ++k)
          if (parameters[k].name == key && !parameters[k].fallback.empty()) return k;
        at_ = begin;
        fail("no attribute is called '" + key + "'");
      }
    }
    at_ = begin;
    return parameters.size();
  }

  Arg argument(ArgKind kind, int depth) {
    if (depth > kMaxDepth) fail("lists are nested too deeply");
    blanks();
    char c = peek();
    if (c == '[') return list(depth);
    if (c == '|') return map();
    if (c == '(') return Arg::of(Factor(in_parentheses(kind)));
    if (c == '"') {
      Arg a = Arg::of_text(text());
      if (kind == ArgKind::buffer) a.kind = ArgKind::buffer;
      return a;
    }
    if (c == '-' || is_digit(c)) return Arg::of_number(number());
    std::size_t begin = at_;
    std::string n = name();
    if (n == "infer") return Arg::of(Factor(infer));
    if (kind == ArgKind::word) return Arg::of_word(n);
    for (const auto& [known, arg] : names_)
      if (known == n) return arg;
    at_ = begin;
    fail("'" + n + "' is not defined");
  }

  Arg list(int depth) {
    Vec<Arg> items;
    expect('[');
    while (!accept(']')) {
      if (!items.empty()) expect(',');
      items.push_back(argument(ArgKind::none, depth + 1));
    }
    return Arg::of_list(std::move(items));
  }

  std::string text() {
    expect('"');
    std::string out;
    for (; peek() != '"'; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') fail("the text has no end");
      if (peek() != '\\') {
        out += peek();
        continue;
      }
      ++at_;
      if (peek() == 'x') {
        int value = 0;
        for (int k = 0; k < 2; ++k) {
          ++at_;
          char c = peek();
          if (!is_digit(c) && !(c >= 'a' && c <= 'f')) fail("two hexadecimal digits were expected");
          value = value * 16 + (is_digit(c) ? c - '0' : c - 'a' + 10);
        }
        out += static_cast<char>(value);
      } else if (peek() == '"' || peek() == '\\') {
        out += peek();
      } else {
        fail("no such escape");
      }
    }
    ++at_;
    return out;
  }

  Arg map() {
    Vec<std::string> binders;
    expect('|');
    while (!accept('|')) {
      if (!binders.empty()) expect(',');
      binders.push_back(name());
      for (std::size_t k = 0; k + 1 < binders.size(); ++k)
        if (binders[k] == binders.back()) fail("'" + binders.back() + "' is bound twice");
    }
    Vec<VarRef> vars;
    Vec<AnyExpr> to = expressions("[]", "i64", &binders, &vars);
    if (to.empty())
      for (const auto& b : binders) vars.push_back(make_var(b));
    return Arg(make_ref<LayoutMapNode>(vars, to));
  }

  // A condition where a parameter says so, else a number.
  AnyExpr in_parentheses(ArgKind kind) {
    const std::size_t begin = at_;
    Vec<AnyExpr> found = expressions("()", kind == ArgKind::expr ? "bool" : "i64");
    if (found.size() == 1) return found[0];
    at_ = begin;
    fail("expected one expression in parentheses");
  }

  // Comma-separated expressions in brackets. Every name that stands in them is an i64 variable.
  Vec<AnyExpr> expressions(std::string_view brackets, std::string_view type,
                           const Vec<std::string>* binders = nullptr, Vec<VarRef>* vars = nullptr) {
    expect(brackets[0]);
    std::size_t begin = at_;
    int depth = 1;
    for (; depth > 0; ++at_) {
      if (at_ >= text_.size() || peek() == '\n') fail("the expression has no end");
      if (peek() == '(' || peek() == '[') ++depth;
      if (peek() == ')' || peek() == ']') --depth;
    }
    std::string inside(text_.substr(begin, at_ - 1 - begin));
    std::string header = cat("program p(out `o p`: ", type, "[1]"), body;
    Vec<std::string> seen;
    auto declare = [&](const std::string& n) {
      for (const auto& s : seen)
        if (s == n) return;
      seen.push_back(n);
      header += ", `" + n + "`: i64";
    };
    if (binders)
      for (const auto& b : *binders) declare(b);
    for_each_name(inside, declare);
    for (const auto& part : top_level_parts(inside)) body += "\n  `o p`[0] = " + part;
    if (body.empty()) return {};
    try {
      Program p = lathe::parse(header + "):" + body + "\n", where_);
      if (binders)
        for (std::size_t k = 0; k < binders->size(); ++k) vars->push_back(p->params[k + 1].var);
      Vec<AnyExpr> out;
      for (const auto& s : seq_of(p->body)) out.push_back(with_samples(s.as<StoreNode>()->value));
      return out;
    } catch (const UserError& e) {
      at_ = begin;
      fail("not an index expression (" + e.message() + ")");
    }
  }

  AnyExpr with_samples(const AnyExpr& e) const {
    Substitution map;
    for (const auto& var : free_vars(e))
      for (const auto& [name, arg] : names_)
        if (arg.kind == ArgKind::sample && name == var->name)
          map.emplace_back(var, AnyExpr(arg.loop));
    return substitute(e, map);
  }

  template <class F>
  static void for_each_name(const std::string& text, F&& f) {
    for (std::size_t k = 0; k < text.size();) {
      if (!is_letter(text[k])) {
        // A literal's suffix is no name.
        bool digit = is_digit(text[k]);
        ++k;
        while (digit && k < text.size() && (is_letter(text[k]) || is_digit(text[k]))) ++k;
        continue;
      }
      std::size_t begin = k;
      while (k < text.size() && (is_letter(text[k]) || is_digit(text[k]))) ++k;
      if (k < text.size() && text[k] == '(') continue;
      f(text.substr(begin, k - begin));
    }
  }

  static Vec<std::string> top_level_parts(const std::string& text) {
    Vec<std::string> out;
    std::string part;
    int depth = 0;
    for (char c : text) {
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (c == ',' && depth == 0)
        out.push_back(std::move(part)), part.clear();
      else
        part += c;
    }
    if (part.find_first_not_of(' ') != std::string::npos) out.push_back(std::move(part));
    return out;
  }

  // A symbol for a result; replay maps it.
  Arg define(const std::string& n, ArgKind kind) {
    Arg a = kind == ArgKind::block    ? Arg(BlockRef(make_ref<BlockTagNode>(n)))
            : kind == ArgKind::sample ? Arg(Sample(make_var(n)))
                                      : Arg(LoopRef(make_var(n)));
    if (n == "_") return a;
    for (const auto& known : names_)
      if (known.first == n) fail("'" + n + "' is defined twice");
    names_.emplace_back(n, a);
    return a;
  }

  std::string_view text_;
  Location where_;
  std::size_t at_ = 0;
  Vec<std::pair<std::string, Arg>> names_;
};

}  // namespace detail

LATHE_DECL Trace parse_trace(std::string_view text, Location where) {
  return detail::TraceParser(text, where).parse();
}

}  // namespace lathe
