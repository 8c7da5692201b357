#pragma once

#include <lathe/schedule/core/records.hpp>

namespace lathe {

LATHE_DECL Arg Arg::of_number(std::int64_t value) {
  Arg a;
  a.kind = ArgKind::number;
  a.number = value;
  return a;
}
LATHE_DECL Arg Arg::of_text(std::string value) {
  Arg a;
  a.kind = ArgKind::text;
  a.text = std::move(value);
  return a;
}
LATHE_DECL Arg Arg::of_word(std::string_view value) {
  Arg a = of_text(std::string(value));
  a.kind = ArgKind::word;
  return a;
}
LATHE_DECL Arg Arg::of_buffer(std::string name) {
  Arg a = of_text(std::move(name));
  a.kind = ArgKind::buffer;
  return a;
}
LATHE_DECL Arg Arg::of_list(Vec<Arg> items) {
  Arg a;
  a.kind = ArgKind::list;
  a.list = std::move(items);
  return a;
}
LATHE_DECL Arg Arg::of(const Factor& factor) {
  Arg a;
  a.kind = ArgKind::inferred;
  if (factor.is_infer()) return a;
  if (const std::int64_t* value = as_const_int(factor.value())) return of_number(*value);
  a.kind = ArgKind::expr;
  a.expr = factor.value();
  return a;
}
LATHE_DECL Arg Arg::of(const AttrValue& value) {
  return value.is_text ? of_text(value.text) : of_number(value.number);
}
LATHE_DECL Arg Arg::of(const Vec<LoopRef>& loops) {
  Vec<Arg> items(loops.begin(), loops.end());
  return of_list(std::move(items));
}
LATHE_DECL AttrValue Arg::attribute() const {
  return kind == ArgKind::number ? AttrValue(number) : AttrValue(text);
}

LATHE_DECL const Vec<const Primitive*>& primitives() {
  static const Vec<const Primitive*> all{
#define LATHE_PRIMITIVE(name) &detail::primitive_##name(),
      LATHE_PRIMITIVES(LATHE_PRIMITIVE)
#undef LATHE_PRIMITIVE
  };
  return all;
}

LATHE_DECL const Primitive* find_primitive(std::string_view name) {
  for (const Primitive* p : primitives())
    if (p->name == name) return p;
  return nullptr;
}

}  // namespace lathe
