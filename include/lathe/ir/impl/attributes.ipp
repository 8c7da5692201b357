#pragma once

#include <lathe/ir/attributes.hpp>
#include <lathe/ir/impl/text/printer.hpp>
#include <lathe/ir/lex.hpp>
#include <lathe/support/text.hpp>
#include <utility>

namespace lathe {

LATHE_DECL bool parse_tail(std::string_view text, Tail& out) {
  for (std::size_t k = 0; k < std::size(kTailWords); ++k)
    if (kTailWords[k] == text) return out = static_cast<Tail>(k), true;
  return false;
}

LATHE_DECL bool parse_partition(std::string_view text, Partition& out) {
  for (std::size_t k = 0; k < std::size(kPartitionWords); ++k)
    if (kPartitionWords[k] == text) return out = static_cast<Partition>(k), true;
  return false;
}

namespace detail {

struct AttributeRows {
  const AttributeRow* at[Attribute::kTypes];
};
// In the order of the list, so that an attribute's index finds one.
template <class... As>
constexpr AttributeRows rows_of(const OneOf<As...>*) {
  return {{&As::kRow...}};
}
inline constexpr AttributeRows kAttributeRows = rows_of(static_cast<const Attribute*>(nullptr));

template <class F>
void each_field(Attribute& a, F&& f) {
  a.visit([&](auto& of) { of.fields(of, f); });
}
template <class F>
void each_field(const Attribute& a, F&& f) {
  a.visit([&](const auto& of) { of.fields(of, f); });
}

inline int field_count(const Attribute& a) {
  int count = 0;
  each_field(a, [&](const auto&, const auto&) { ++count; });
  return count;
}

inline std::string words_text(std::span<const std::string_view> words) {
  std::string out = "one of";
  for (const auto& word : words) append(out, ' ', word);
  return out;
}

struct FieldForm {
  std::string operator()(const NumberField& f) const {
    return cat("a number from ", f.min, " to ", f.max);
  }
  std::string operator()(const WordField& f) const { return words_text(f.words); }
  std::string operator()(const NameField&) const { return "a name"; }
  std::string operator()(const NumbersField& f) const {
    return cat("a list of numbers from ", f.min, " to ", f.max);
  }
  std::string operator()(const ValueField&) const { return "a number or a text"; }
};

/// A field's value as in the text form.
struct FieldText {
  template <class T>
  std::string operator()(const NumberField&, const T& value) const {
    return format_int(static_cast<std::int64_t>(value));
  }
  template <class E>
  std::string operator()(const WordField& f, const E& value) const {
    return escape(f.words[static_cast<std::size_t>(value)], '"');
  }
  std::string operator()(const NameField&, const std::string& value) const {
    return escape(value, '"');
  }
  std::string operator()(const NumbersField&, const Vec<std::int64_t>& value) const {
    return cat("[", join(value, ", ", [](std::int64_t n) { return format_int(n); }), "]");
  }
  std::string operator()(const ValueField&, const AttrValue& value) const {
    return value.is_text ? escape(value.text, '"') : format_int(value.number);
  }
};

struct FieldFits {
  template <class T>
  bool operator()(const NumberField& f, const T& value) const {
    return static_cast<std::int64_t>(value) >= f.min && static_cast<std::int64_t>(value) <= f.max;
  }
  template <class E>
  bool operator()(const WordField& f, const E& value) const {
    return static_cast<std::size_t>(value) < f.words.size();
  }
  bool operator()(const NameField&, const std::string&) const { return true; }
  bool operator()(const NumbersField& f, const Vec<std::int64_t>& value) const {
    for (std::int64_t n : value)
      if (n < f.min || n > f.max) return false;
    return !value.empty();
  }
  bool operator()(const ValueField&, const AttrValue&) const { return true; }
};

struct SetField {
  const AttrValue& from;
  template <class T>
  bool operator()(const NumberField& f, T& value) const {
    if (from.is_text || from.number < f.min || from.number > f.max) return false;
    return value = static_cast<T>(from.number), true;
  }
  template <class E>
  bool operator()(const WordField& f, E& value) const {
    for (std::size_t k = 0; from.is_text && k < f.words.size(); ++k)
      if (f.words[k] == from.text) return value = static_cast<E>(k), true;
    return false;
  }
  bool operator()(const NameField&, std::string& value) const {
    return from.is_text && (value = from.text, true);
  }
  bool operator()(const NumbersField&, Vec<std::int64_t>&) const { return false; }
  bool operator()(const ValueField&, AttrValue& value) const { return value = from, true; }
};

inline bool is_hint_key(std::string_view key) {
  return key.starts_with(UserHint::kRow.key) && key.size() > UserHint::kRow.key.size();
}

}  // namespace detail

LATHE_DECL const AttributeRow& row_of(const Attribute& a) {
  return *detail::kAttributeRows.at[a.index()];
}
LATHE_DECL std::string_view key_of(const Attribute& a) {
  const auto* hint = a.as<UserHint>();
  return hint ? std::string_view(hint->key) : row_of(a).key;
}

LATHE_DECL std::string to_text(const Attribute& a) {
  std::string out = "@" + detail::quoted_name(key_of(a));
  const int count = detail::field_count(a);
  int done = 0;
  detail::each_field(a, [&](const auto& field, const auto& value) {
    const std::string text = detail::FieldText()(field, value);
    if (count == 1) return append(out, '=', text);
    append(out, done++ == 0 ? "(" : ", ", field.name, '=', text);
  });
  return count > 1 ? out + ')' : out;
}

LATHE_DECL void Attributes::set(Attribute a) {
  erase_if([&](const Attribute& other) { return detail::exclude_each_other(a, other); });
  all_.push_back(std::move(a));
}

namespace detail {

LATHE_DECL bool exclude_each_other(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return row_of(a).many ? a == b : key_of(a) == key_of(b);
}

LATHE_DECL bool attribute_with_key(std::string_view key, bool on_loop, Attribute& out) {
  if (is_hint_key(key)) return out = UserHint{std::string(key), {}}, true;
  for (std::size_t k = 0; k < Attribute::kTypes; ++k) {
    const AttributeRow& row = *kAttributeRows.at[k];
    if (row.key != key || !(on_loop ? row.loops : row.blocks)) continue;
    return out = Attribute::of_type(k), true;
  }
  return false;
}

LATHE_DECL std::string form_of(const Attribute& a) {
  const int count = field_count(a);
  std::string out;
  each_field(a, [&](const auto& field, const auto&) {
    if (count > 1) append(out, out.empty() ? "(" : ", ", field.name, '=');
    append(out, FieldForm()(field));
  });
  return count == 0 ? "without a value" : count > 1 ? out + ')' : out;
}

LATHE_DECL std::string unknown_key(std::string_view key, bool on_loop) {
  std::string known;
  for (const auto* row : kAttributeRows.at)
    if ((on_loop ? row->loops : row->blocks) && row->key != UserHint::kRow.key)
      append(known, known.empty() ? "" : ", ", row->key);
  return cat("no annotation of a ", on_loop ? "loop" : "block", " is called '", key,
             "'; there are ", known, ", and free ones that start with 'user.'");
}

/// What is wrong where its value is none of those that it may have.
inline std::string attribute_misfit(const Attribute& a, bool on_loop) {
  return cat("the annotation '", key_of(a), "' of a ", on_loop ? "loop" : "block", " is ",
             form_of(a));
}

LATHE_DECL std::string attribute_problem(const Attribute& a, bool on_loop) {
  const auto* hint = a.as<UserHint>();
  if ((hint && !is_hint_key(hint->key)) || !(on_loop ? row_of(a).loops : row_of(a).blocks))
    return unknown_key(key_of(a), on_loop);
  bool fits = true;
  each_field(a, [&](const auto& field, const auto& value) { fits &= FieldFits()(field, value); });
  if (const auto* pipeline = a.as<PipelineAttr>())
    fits &= pipeline->stages.size() == pipeline->orders.size();
  return fits ? std::string() : attribute_misfit(a, on_loop);
}

LATHE_DECL bool set_value(Attribute& a, const AttrValue& value) {
  bool set = field_count(a) == 1;
  each_field(a, [&](const auto& field, auto& of) { set = set && SetField{value}(field, of); });
  return set;
}

LATHE_DECL std::string annotation_keys() {
  std::string out = "keys:";
  for (const auto* row : kAttributeRows.at)
    if (row->set_by == SetBy::key && row->key != UserHint::kRow.key)
      append(out, ' ', row->key, row->loops ? " (loop, " : " (block, ", row->says, "),");
  return out + " and free ones that start with 'user.'";
}

}  // namespace detail
}  // namespace lathe
