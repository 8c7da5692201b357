#pragma once

#include <lathe/ir/print.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/edit.hpp>
#include <lathe/schedule/core/trace.hpp>
#include <lathe/support/text.hpp>

namespace lathe {
namespace detail {

// Names for references: by first definition, only for what is used later.
class TraceNames {
 public:
  explicit TraceNames(const Trace& trace) {
    // From the end: what a query that nothing uses asks for is not used by it.
    for (std::size_t k = trace.entries.size(); k-- > 0;) {
      const TraceEntry& e = trace.entries[k];
      if (e.primitive->query && !any_used(e)) continue;
      for (const auto& a : e.inputs) use(a);
    }
    for (const auto& e : trace.entries)
      for (const auto& r : e.results)
        if (r.kind == ArgKind::sample) free_.erase_if([&](const VarRef& v) { return v == r.loop; });
  }
  /// The name that a result defines here; "_" if nothing uses it or it has a name already.
  std::string define(const Arg& result) {
    const RefCounted* ref = ref_of(result);
    if (!contains(used_, ref) || !find(ref).empty()) return "_";
    const bool loop = result.kind == ArgKind::loop, sample = result.kind == ArgKind::sample;
    int& count = loop ? loops_ : sample ? samples_ : blocks_;
    std::string name;
    do name = (loop ? "l" : sample ? "n" : "b") + std::to_string(count++);
    while (is_free(name));
    names_.emplace_back(ref, name);
    return name;
  }
  std::string find(const RefCounted* ref) const {
    for (const auto& [r, name] : names_)
      if (r == ref) return name;
    return {};
  }
  bool is_used(const Arg& a) const { return contains(used_, ref_of(a)); }
  bool any_used(const TraceEntry& e) const {
    for (const auto& r : e.results)
      if (is_used(r)) return true;
    return false;
  }
  static const RefCounted* ref_of(const Arg& a) {
    return a.kind == ArgKind::block ? static_cast<const RefCounted*>(a.block.get()) : a.loop.get();
  }
  /// An expression with sampled numbers under their names here.
  AnyExpr named(const AnyExpr& e) const {
    Substitution map;
    for (const auto& var : free_vars(e))
      if (std::string name = find(var.get()); !name.empty())
        map.emplace_back(var, AnyExpr(make_var(name)));
    return substitute(e, map);
  }

 private:
  // Names of Dims, which no reference may take.
  bool is_free(const std::string& name) const {
    for (const auto& var : free_)
      if (var->name == name) return true;
    return false;
  }
  void use(const Arg& a) {
    for (const auto& item : a.list) use(item);
    if (a.kind == ArgKind::expr)
      for (const auto& var : free_vars(a.expr)) used_.push_back(var.get()), free_.push_back(var);
    if (a.kind == ArgKind::loop || a.kind == ArgKind::block || a.kind == ArgKind::sample)
      used_.push_back(ref_of(a));
  }
  Vec<const RefCounted*> used_;
  Vec<VarRef> free_;
  Vec<std::pair<const RefCounted*, std::string>> names_;
  int loops_ = 0, blocks_ = 0, samples_ = 0;
};

inline std::string escaped(const std::string& text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 32 || byte == 127)
      out += "\\x", out += digits[byte >> 4], out += digits[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

// "|d0, d1| [floordiv(d1, 32), d0]": the binders get names that no Dim in the map has.
inline std::string layout_text(const LayoutMapNode& map, std::string_view open,
                               std::string_view close, bool cpp) {
  Vec<VarRef> free;
  for (const auto& to : map.to)
    for (const auto& v : free_vars(to))
      if (!contains(map.from, v)) free.push_back(v);
  Vec<VarRef> vars;
  Substitution rename;
  for (std::size_t d = 0; d < map.from.size(); ++d) {
    std::string name = "d" + std::to_string(d);
    for (const auto& v : free)
      if (v->name == name) name += "_";
    vars.push_back(make_var(name));
    rename.emplace_back(map.from[d], AnyExpr(vars.back()));
  }
  Vec<AnyExpr> to;
  for (const auto& e : map.to) to.push_back(substitute(e, rename));
  std::string out(open);
  out += join(vars, ", ", [&](const VarRef& v) { return (cpp ? "lathe::Index " : "") + v->name; }) +
         std::string(close);
  return out + join(to, ", ", [](const AnyExpr& e) { return str(e); });
}

inline std::string argument_text(const Arg& a, const TraceNames& names) {
  switch (a.kind) {
    case ArgKind::loop:
    case ArgKind::block:
    case ArgKind::sample:
      return names.find(TraceNames::ref_of(a));
    case ArgKind::number:
      return std::to_string(a.number);
    case ArgKind::inferred:
      return "infer";
    case ArgKind::expr:
      return "(" + str(names.named(a.expr)) + ")";
    case ArgKind::word:
      return a.text;
    case ArgKind::buffer:
    case ArgKind::text:
      return escaped(a.text);
    case ArgKind::map:
      return layout_text(*a.map, "|", "| [", false) + "]";
    case ArgKind::list:
      return "[" + join(a.list, ", ", [&](const Arg& item) { return argument_text(item, names); }) +
             "]";
    case ArgKind::none:
    case ArgKind::factor:
      return "none";
  }
  unreachable("argument kind");
}

inline std::string entry_text(const TraceEntry& e, TraceNames& names) {
  std::string results;
  if (names.any_used(e))
    results = join(e.results, ", ", [&](const Arg& r) { return names.define(r); }) + " = ";
  std::string out = results + std::string(e.primitive->name);
  if (e.primitive->version != 1) out += "@" + std::to_string(e.primitive->version);
  out += "(";
  bool first = true;
  for (std::size_t k = 0; k < e.inputs.size(); ++k) {
    const Parameter& p = e.primitive->parameters[k];
    std::string text = argument_text(e.inputs[k], names);
    if (!p.fallback.empty() && text == p.fallback) continue;
    out += (first ? "" : ", ") + (p.fallback.empty() ? "" : std::string(p.name) + "=") + text;
    first = false;
  }
  return out + ")";
}

inline std::string hex64(std::uint64_t value) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
  return "0x" + out;
}

}  // namespace detail

LATHE_DECL std::string Trace::str() const {
  detail::TraceNames names(*this);
  std::string out = "trace 1 program " + detail::hex64(program_hash) + "\n";
  for (const auto& e : entries)
    if (!e.primitive->query || names.any_used(e)) out += detail::entry_text(e, names) + "\n";
  return out;
}

namespace detail {

// As C++ reads it: a hexadecimal escape would take what follows with it.
inline std::string cpp_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 32 || byte == 127)
      for (int shift : {9, 6, 3, 0})
        out += shift == 9 ? '\\' : static_cast<char>('0' + (byte >> shift & 7));
    else
      out += c;
  }
  return out + "\"";
}

// A word by the parameter that it is for.
inline std::string cpp_word(std::string word, std::string_view parameter) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"tail", "lathe::Tail::"},
      {"policy", "lathe::Partition::"},
      {"scope", "lathe::Scope::"},
      {"dtype", "lathe::k"}};
  if (parameter == "scope" && word == "register") word = "reg";
  if (parameter == "dtype") word[0] = static_cast<char>(word[0] - 'a' + 'A');
  for (const auto& [name, before] : kinds)
    if (name == parameter) return std::string(before) + word;
  unreachable("a word of no type");
}

inline std::string cpp_argument(const Arg& a, const Parameter& p, const TraceNames& names) {
  auto items = [&] {
    return join(a.list, ", ", [&](const Arg& item) { return cpp_argument(item, p, names); });
  };
  if (a.kind == ArgKind::word) return cpp_word(a.text, p.name);
  if (a.kind == ArgKind::text) return cpp_text(a.text);
  if (a.kind == ArgKind::inferred) return "lathe::infer";
  if (a.kind == ArgKind::list) return "{" + items() + "}";
  if (a.kind == ArgKind::map)
    return layout_text(*a.map, "[](", ") { return lathe::layout(", true) + "); }";
  return argument_text(a, names);
}

// Methods take arguments by position: those up to the last that is not its default.
inline std::size_t arguments_given(const TraceEntry& e, const TraceNames& names) {
  std::size_t count = e.inputs.size();
  for (; count > 0; --count) {
    const Parameter& p = e.primitive->parameters[count - 1];
    if (p.fallback.empty() || argument_text(e.inputs[count - 1], names) != p.fallback) break;
  }
  return count;
}

inline std::string cpp_call(const TraceEntry& e, const TraceNames& names) {
  const bool counted = e.primitive->results == Results::counted;
  std::string out = std::string(e.primitive->name) +
                    (counted ? "<" + std::to_string(e.results.size()) + ">(" : "(");
  bool first = true;
  for (std::size_t k = 0; k < arguments_given(e, names); ++k) {
    const Parameter& p = e.primitive->parameters[k];
    if (counted && p.name == "n") continue;
    out += (first ? "" : ", ") + cpp_argument(e.inputs[k], p, names);
    first = false;
  }
  return out + ");\n";
}

}  // namespace detail

LATHE_DECL std::string Trace::cpp(std::string_view schedule) const {
  detail::TraceNames names(*this);
  std::string out;
  int unused = 0;
  for (const auto& e : entries) {
    const bool used = names.any_used(e);
    if (e.primitive->query && !used) continue;
    if (used) {
      const bool one = e.primitive->results == Results::one;
      std::string list = join(e.results, ", ", [&](const Arg& r) {
        std::string name = names.define(r);
        return name == "_" ? "unused" + std::to_string(unused++) : name;
      });
      out += one ? "auto " + list + " = " : "auto [" + list + "] = ";
    }
    out += std::string(schedule) + "." + detail::cpp_call(e, names);
  }
  return out;
}

}  // namespace lathe
