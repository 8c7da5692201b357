#pragma once

#include <cctype>
#include <lathe/codegen/c/emitter.hpp>
#include <lathe/ir/slot_layout.hpp>
#include <lathe/support/kernel_c.hpp>

namespace lathe {
namespace detail {

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

LATHE_DECL CText CEmitter::named(const CText& value, DType t, std::string_view name) {
  CText own = unique(name);
  line("const ", type(t), " ", own, " = ", value, ";");
  return own;
}

// For a value that is written more than once.
LATHE_DECL CText CEmitter::simple(const CText& value, DType t) {
  for (char c : value)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return named(value, t);
  return value;
}

// A vector whose first lanes are computed one by one.
LATHE_DECL CText CEmitter::lanes(DType t, int count, std::string_view lane) {
  CText own = unique("t");
  line(type(t), " ", own, count < c_lanes(t) ? " = {0};" : ";");
  line("for (int l = 0; l < ", count, "; ++l) ", own, "[l] = ", lane, ";");
  return own;
}

LATHE_DECL void CEmitter::finish(std::string_view head) {
  const bool fails = fails_.back().used;
  unit_.function(cat(head, " {\n", fails ? "  int32_t status = 0;\n" : "", code_, "  return 0;\n",
                     fails ? "fail:\n  return status;\n" : "", "}\n\n"));
}

LATHE_DECL void CEmitter::emit_entry(const Program& program) {
  int slot = 0;
  const auto bind = [&](const RefCounted* var, DType t, std::string_view name) {
    const std::string from = cat("slots[", slot, "]");
    const DType bits{TypeCode::uint, t.bits, 1, false};
    vars_[var] = t.is_bool() ? named(cat("(", from, " & 255) != 0"), t, name)
                 : t.is_float()
                     ? reinterpret(bits, t, named(cat("(", type(bits), ")", from), bits, name))
                     : named(cat("(", type(t), ")", from), t, name);
  };
  for (const CallSlot& s : slot_layout(program)) {
    if (s.kind == CallSlot::Kind::buffer) {
      const Buffer& b = program->params[static_cast<std::size_t>(s.param)].buffer;
      const std::string name = unique(s.name), t(c_memory_type(b->dtype));
      line(t, " *restrict ", name, " = (", t, " *)(uintptr_t)slots[", slot, "];");
      places_[b.get()] = {name, false};
    } else if (const VarNode* var = slot_variable(program, s)) {
      bind(var, var->dtype, s.name);
    }
    ++slot;
  }
  stmt(program->body);
  finish(cat("int32_t ", state_.symbol, "(const uint64_t *slots, lathe_runtime *rt)"));
}

}  // namespace detail

LATHE_DECL Vec<std::string> CUnit::add(const Program& program, std::string_view symbol) {
  detail::CKernelState state{*this, std::string(symbol)};
  detail::CEmitter(state).emit_entry(program);
  return std::move(state.messages);
}

LATHE_DECL std::string CUnit::text() const {
  return cat(detail::kKernelPrologue, definitions_, "\n", functions_);
}

}  // namespace lathe
