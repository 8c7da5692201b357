#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/lane_stride.hpp>

namespace lathe::detail {

LATHE_DECL LlvmValue LlvmEmitter::from_memory(const LlvmValue& stored, DType t) {
  if (!t.is_bool()) return {t, stored.text};
  return f_.compare("icmp ne", stored, llvm_zero(stored.dtype));
}

LATHE_DECL LlvmValue LlvmEmitter::to_memory(const LlvmValue& v) {
  return v.dtype.is_bool() ? f_.convert("zext", v, memory_type(v.dtype)) : v;
}

LATHE_DECL LlvmValue LlvmEmitter::load(const LoadNode& n) {
  const LlvmPlace& at = place(n.buffer);
  if (at.is_register) {
    std::string type = llvm_type(n.buffer->dtype);
    return f_.op(n.buffer->dtype, "load ", type, ", ptr ", at.pointer, ", align ",
                 format_int(at.alignment));
  }
  LlvmValue mask;
  if (n.mask) {
    const std::int64_t* known = as_const_int(n.mask);
    if (known && *known == 0) return llvm_zero(n.dtype);
    if (!known) mask = value(n.mask);
  }
  if (n.dtype.lanes == 1) return load_scalar(n, at, mask);
  return load_vector(at, n.dtype, n.indices[0], mask);
}

LATHE_DECL LlvmValue LlvmEmitter::load_scalar(const LoadNode& n, const LlvmPlace& at,
                                              const LlvmValue& mask) {
  LlvmStrided index{f_.integer(kI64, 0), 0, 0};
  if (!n.indices.empty()) index = {index64(n.indices[0]), 0, multiple_of(n.indices[0])};
  return load_element(at, n.dtype, index, mask);
}

LATHE_DECL LlvmValue LlvmEmitter::load_element(const LlvmPlace& at, DType t,
                                               const LlvmStrided& index, LlvmValue mask,
                                               bool inbounds) {
  auto read = [&] {
    DType stored = memory_type(t);
    std::string pointer = address(at, t, index.base, inbounds);
    return from_memory(
        f_.op(stored, "load ", llvm_type(stored), ", ptr ", pointer, ", align ",
              format_int(alignment(at, t, index.multiple)), module_.alias_tags(at.scope)),
        t);
  };
  if (mask.text.empty()) return read();
  return when(mask, llvm_zero(t), read);
}

LATHE_DECL LlvmValue LlvmEmitter::load_vector(const LlvmPlace& at, DType t, const AnyExpr& index,
                                              const LlvmValue& mask) {
  std::int64_t stride = 0;
  if (lane_stride(index, stride)) return load_strided(at, t, strided(index, stride), mask);
  const auto* ramp = index.as<RampNode>();
  if (ramp && as_const_int(ramp->stride) && lane_stride(ramp->base, stride) &&
      (stride == 1 || stride == -1))
    return load_pieces(at, t, *ramp, stride, mask);
  // What is the same in all lanes is part of the address, so that 32 bits a lane may be enough.
  const auto* sum = index.as<BinaryNode>();
  const auto* same = sum && sum->op == BinaryOp::add ? sum->b.as<BroadcastNode>() : nullptr;
  if (same && same->value.dtype().lanes == 1) {
    LlvmPlace from = at;
    from.pointer = address(at, t, index64(same->value), false);
    return load_anywhere(from, t, sum->a, mask);
  }
  return load_anywhere(at, t, index, mask);
}

LATHE_DECL LlvmValue LlvmEmitter::load_anywhere(const LlvmPlace& at, DType t, const AnyExpr& index,
                                                const LlvmValue& mask) {
  if (module_.caps.gathers || !mask.text.empty()) return gather(at, t, value(index), mask);
  const auto* cast = index.as<CastNode>();
  const bool narrow = cast && cast->value.dtype().scalar() == kI32;
  return load_elements(at, t, value(narrow ? cast->value : index));
}

// LLVM would take each lane's address out of a register, where other loads at the same places have
// others. An index of 32 bits is half of a word that is taken out, of which LLVM must know nothing:
// it drops the extension of a half (22: of max(90 - i32(u8), 0) it takes the other one for zero).
LATHE_DECL LlvmValue LlvmEmitter::load_elements(const LlvmPlace& at, DType t,
                                                const LlvmValue& index) {
  const bool halves = index.dtype.scalar() == kI32 && t.lanes % 2 == 0;
  const LlvmValue words =
      halves ? f_.convert("bitcast", index, kI64.with_lanes(t.lanes / 2)) : widen_index(index);
  LlvmValue out = llvm_zero(memory_type(t)), word;
  for (int lane = 0; lane < t.lanes; ++lane) {
    LlvmValue place;
    if (!halves) {
      place = f_.extract(words, lane);
    } else if (lane % 2 == 0) {
      word = opaque(f_.extract(words, lane / 2));
      place = widen_index(f_.convert("trunc", word, kI32));
    } else {
      place = f_.binary("ashr", word, f_.integer(kI64, 32));
    }
    // What is the same in all lanes may have led out of the buffer.
    const LlvmValue element = load_element(at, t.scalar(), {place, 0, 1}, {}, false);
    out = f_.insert(out, to_memory(element), lane);
  }
  return from_memory(out, t);
}

LATHE_DECL LlvmValue LlvmEmitter::load_pieces(const LlvmPlace& at, DType t, const RampNode& ramp,
                                              std::int64_t stride, const LlvmValue& mask) {
  int inner = ramp.base.dtype().lanes;
  LlvmStrided first = strided(ramp.base, stride);
  LlvmValue result;
  for (int piece = 0; piece < ramp.lanes; ++piece) {
    LlvmStrided index = shifted(first, piece * *as_const_int(ramp.stride));
    LlvmValue part = mask;
    if (!mask.text.empty()) part = f_.shuffle(mask, llvm_lane_range(piece * inner, inner));
    LlvmValue v = load_strided(at, t.with_lanes(inner), index, part);
    result = piece == 0 ? v : f_.concat(result, v);
  }
  return result;
}

LATHE_DECL LlvmValue LlvmEmitter::load_strided(const LlvmPlace& at, DType t, const LlvmStrided& i,
                                               const LlvmValue& mask) {
  int n = t.lanes;
  if (i.stride == 1) return load_dense(at, t, i, mask);
  if (i.stride == -1) {
    Vec<int> back = llvm_lane_range(n - 1, n, -1);
    LlvmValue turned = mask.text.empty() ? mask : f_.shuffle(mask, back);
    return f_.shuffle(load_dense(at, t, shifted(i, 1 - n), turned), back);
  }
  if (i.stride == 0) {
    LlvmValue any = mask.text.empty() ? mask : f_.any(mask);
    LlvmValue all = f_.splat(load_element(at, t.scalar(), i, any), n);
    return mask.text.empty() ? all : f_.select(mask, all, llvm_zero(t));
  }
  LlvmValue base = f_.splat(i.base, n);
  LlvmValue steps = llvm_iota(kI64.with_lanes(n), i.stride);
  return gather(at, t, f_.binary("add", base, steps), mask);
}

LATHE_DECL LlvmValue LlvmEmitter::load_dense(const LlvmPlace& at, DType t, const LlvmStrided& index,
                                             const LlvmValue& mask) {
  DType stored = memory_type(t);
  std::string type = llvm_type(stored), tags = module_.alias_tags(at.scope);
  std::string pointer = address(at, t, index.base, mask.text.empty());
  std::string align = format_int(alignment(at, t, index.multiple));
  if (mask.text.empty())
    return from_memory(f_.op(stored, "load ", type, ", ptr ", pointer, ", align ", align, tags), t);
  if (module_.caps.narrow_masks_by_words && stored.element_bytes() < 4)
    return from_memory(load_narrow(pointer, stored, mask), t);
  std::string mask_type = llvm_type(mask.dtype),
              name = cat("llvm.masked.load.", llvm_mangled(stored), ".p0");
  module_.declare(type, name, cat("ptr, i32, ", mask_type, ", ", type));
  return from_memory(f_.op(stored, "call ", type, " @", name, "(ptr ", pointer, ", i32 ", align,
                           ", ", mask_type, " ", mask.text, ", ", type, " zeroinitializer)", tags),
                     t);
}

LATHE_DECL std::string LlvmEmitter::lane_addresses(const LlvmPlace& at, DType t,
                                                   const LlvmValue& index) {
  LlvmValue wide = widen_index(index);
  return f_
      .op(wide.dtype, "getelementptr ", llvm_type(memory_type(t.scalar())), ", ptr ", at.pointer,
          ", ", llvm_type(wide.dtype), " ", wide.text)
      .text;
}

LATHE_DECL LlvmValue LlvmEmitter::gather(const LlvmPlace& at, DType t, const LlvmValue& index,
                                         const LlvmValue& mask) {
  DType stored = memory_type(t);
  std::string type = llvm_type(stored), pointers = cat("<", t.lanes, " x ptr>");
  DType bits = kBool.with_lanes(t.lanes);
  std::string name = cat("llvm.masked.gather.", llvm_mangled(stored), ".v", t.lanes, "p0");
  module_.declare(type, name, cat(pointers, ", i32, ", llvm_type(bits), ", ", type));
  std::string where = lane_addresses(at, t, index);
  LlvmValue chosen = mask.text.empty() ? f_.integer(bits, 1) : mask;
  return from_memory(f_.op(stored, "call ", type, " @", name, "(", pointers, " ", where, ", i32 ",
                           format_int(t.element_bytes()), ", ", llvm_type(bits), " ", chosen.text,
                           ", ", type, " zeroinitializer)", module_.alias_tags(at.scope)),
                     t);
}

}  // namespace lathe::detail
