#pragma once

#include <bit>
#include <cctype>
#include <lathe/codegen/c/emitter.hpp>

namespace lathe::detail {

LATHE_DECL int c_lanes(DType t) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(t.lanes)));
}

LATHE_DECL std::string_view c_scalar_type(DType t) {
  static constexpr std::string_view names[] = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                                               "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  if (t.is_bool()) return "_Bool";
  if (t.is_float()) return t.bits == 64 ? "double" : "float";
  return names[std::countr_zero(static_cast<unsigned>(t.bits)) - (t.is_unsigned() ? -1 : 3)];
}

LATHE_DECL std::string_view c_memory_type(DType t) {
  return t.is_bool() ? "uint8_t" : c_scalar_type(t);
}

// "float", "lt_f32x8". A bool in a vector is an int8_t, 0 or -1.
LATHE_DECL std::string CEmitter::type(DType t) {
  if (t.lanes == 1) return std::string(c_scalar_type(t));
  const DType whole = t.with_lanes(c_lanes(t));
  std::string name = cat("lt_", whole.str());
  unit_.define(name, cat("typedef ", t.is_bool() ? "int8_t" : c_scalar_type(t), " ", name,
                         " __attribute__((vector_size(", whole.bytes(), ")));\n"));
  return name;
}

// The number keeps it apart from the words and functions of C.
LATHE_DECL std::string CEmitter::unique(std::string_view name) {
  std::string plain = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "v" : "";
  for (char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return cat(plain, "_", names_++);
}

LATHE_DECL CEmitter::Text CEmitter::named(const Text& value, DType t, std::string_view name) {
  Text own = unique(name);
  line("const ", type(t), " ", own, " = ", value, ";");
  return own;
}

// For a value that is written more than once.
LATHE_DECL CEmitter::Text CEmitter::simple(const Text& value, DType t) {
  for (char c : value)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return named(value, t);
  return value;
}

// A vector whose first lanes are computed one by one.
LATHE_DECL CEmitter::Text CEmitter::lanes(DType t, int count, std::string_view lane) {
  Text own = unique("t");
  line(type(t), " ", own, count < c_lanes(t) ? " = {0};" : ";");
  line("for (int l = 0; l < ", count, "; ++l) ", own, "[l] = ", lane, ";");
  return own;
}

LATHE_DECL void CEmitter::finish(std::string_view head) {
  const bool fails = fails_.back().used;
  unit_.function(cat(head, " {\n", fails ? "  int32_t status = 0;\n" : "", code_, "  return 0;\n",
                     fails ? "fail:\n  return status;\n" : "", "}\n\n"));
}

}  // namespace lathe::detail
