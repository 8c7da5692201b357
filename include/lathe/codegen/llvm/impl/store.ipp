#pragma once

#include <lathe/codegen/llvm/emitter.hpp>
#include <lathe/ir/lane_stride.hpp>
#include <lathe/ir/tile.hpp>

namespace lathe::detail {

LATHE_DECL void LlvmEmitter::store(const StoreNode& n) {
  if (is_tile_value(n.value)) return store_tile(n);
  const LlvmPlace& at = place(n.buffer);
  LlvmValue mask;
  if (n.mask) {
    const std::int64_t* known = as_const_int(n.mask);
    if (known && *known == 0) return;
    if (!known) mask = value(n.mask);
  }
  LlvmValue v = value(n.value);
  if (at.is_register) return store_register(n, at, std::move(v), mask);
  if (n.indices.empty()) return store_element(at, {f_.integer(kI64, 0), 0, 0}, v, mask);
  const AnyExpr& index = n.indices[0];
  if (index.dtype().lanes == 1 && v.dtype.lanes == 1)
    return store_element(at, {index64(index), 0, multiple_of(index)}, v, mask);
  int lanes = index.dtype().lanes > v.dtype.lanes ? index.dtype().lanes : v.dtype.lanes;
  if (v.dtype.lanes == 1) v = f_.splat(v, lanes);
  if (!mask.text.empty() && mask.dtype.lanes == 1) mask = f_.splat(mask, lanes);
  store_vector(at, index, v, mask, n.streaming);
}

LATHE_DECL void LlvmEmitter::store_register(const StoreNode& n, const LlvmPlace& at, LlvmValue v,
                                            const LlvmValue& mask) {
  DType t = n.buffer->dtype;
  std::string type = llvm_type(t), align = format_int(at.alignment);
  if (v.dtype.lanes == 1 && t.lanes != 1) v = f_.splat(v, t.lanes);
  if (!mask.text.empty())
    v = f_.select(mask, v, f_.op(t, "load ", type, ", ptr ", at.pointer, ", align ", align));
  f_.line("store ", type, " ", v.text, ", ptr ", at.pointer, ", align ", align);
}

LATHE_DECL void LlvmEmitter::store_when(const LlvmValue& mask, const LlvmPlace& at,
                                        const LlvmStrided& index, const LlvmValue& v) {
  std::string then = f_.block("then"), done = f_.block("done");
  f_.branch(mask, then, done);
  f_.start(then);
  store_element(at, index, v, {});
  f_.start(done);
}

LATHE_DECL void LlvmEmitter::store_element(const LlvmPlace& at, const LlvmStrided& index,
                                           const LlvmValue& v, const LlvmValue& mask) {
  if (!mask.text.empty()) return store_when(mask, at, index, v);
  LlvmValue stored = to_memory(v);
  f_.line("store ", llvm_type(stored.dtype), " ", stored.text, ", ptr ",
          address(at, v.dtype, index.base, true), ", align ",
          format_int(alignment(at, v.dtype, index.multiple)), module_.alias_tags(at.scope));
}

LATHE_DECL void LlvmEmitter::store_vector(const LlvmPlace& at, const AnyExpr& index,
                                          const LlvmValue& v, const LlvmValue& mask,
                                          Streaming streaming) {
  std::int64_t stride = 0;
  if (lane_stride(index, stride) && (stride == 1 || stride == -1)) {
    LlvmStrided i = strided(index, stride);
    if (stride == 1) return store_dense(at, i, v, mask, streaming);
    int n = v.dtype.lanes;
    Lanes back = llvm_lane_range(n - 1, n, -1);
    LlvmValue turned = mask.text.empty() ? mask : f_.shuffle(mask, back);
    return store_dense(at, shifted(i, 1 - n), f_.shuffle(v, back), turned, streaming);
  }
  const auto* ramp = index.as<RampNode>();
  if (!ramp || !as_const_int(ramp->stride) || !lane_stride(ramp->base, stride) || stride != 1)
    return scatter(at, value(index), v, mask);
  int inner = ramp->base.dtype().lanes;
  if (inner == 1) return scatter(at, value(index), v, mask);
  LlvmStrided first = strided(ramp->base, 1);
  for (int piece = 0; piece < ramp->lanes; ++piece) {
    Lanes lanes = llvm_lane_range(piece * inner, inner);
    LlvmValue part = mask.text.empty() ? mask : f_.shuffle(mask, lanes);
    store_dense(at, shifted(first, piece * *as_const_int(ramp->stride)), f_.shuffle(v, lanes), part,
                streaming);
  }
}

LATHE_DECL void LlvmEmitter::store_dense(const LlvmPlace& at, const LlvmStrided& index,
                                         const LlvmValue& v, const LlvmValue& mask,
                                         Streaming streaming) {
  LlvmValue stored = to_memory(v);
  std::string type = llvm_type(stored.dtype), tags = module_.alias_tags(at.scope);
  std::string pointer = address(at, v.dtype, index.base, mask.text.empty());
  int known = alignment(at, v.dtype, index.multiple);
  std::string align = format_int(known);
  if (mask.text.empty()) {
    if (streaming != Streaming::none)
      return store_streaming(stored, pointer, known, streaming == Streaming::lines, tags);
    return f_.line("store ", type, " ", stored.text, ", ptr ", pointer, ", align ", align, tags);
  }
  if (module_.caps.narrow_masks_by_words && stored.dtype.element_bytes() < 4)
    return store_narrow(pointer, stored, mask);
  std::string mask_type = llvm_type(mask.dtype),
              name = cat("llvm.masked.store.", llvm_mangled(stored.dtype), ".p0");
  module_.declare("void", name, cat(type, ", ptr, i32, ", mask_type));
  f_.line("call void @", name, "(", type, " ", stored.text, ", ptr ", pointer, ", i32 ", align,
          ", ", mask_type, " ", mask.text, ")", tags);
}

// Non-temporal stores need the vector's own alignment: where it is not known, a test decides.
// Memory of malloc is aligned to 16 bytes only; pieces of that size stream as well, as the
// processor gathers whole lines before it writes, unless `lines` says that it could not.
LATHE_DECL void LlvmEmitter::store_streaming(const LlvmValue& v, const std::string& pointer,
                                             int known, bool lines, std::string_view tags) {
  constexpr int kPiece = 16;
  const int line = module_.target.line_bytes;
  int bytes = v.dtype.bytes();
  if ((bytes & (bytes - 1)) != 0 || bytes < (lines ? line : kPiece))
    return store_pieces(v, pointer, bytes, known, tags);
  streamed_ = true;
  const std::string hint = cat(", !nontemporal !4", tags);
  const int vector = bytes < module_.target.vector_bytes ? bytes : module_.target.vector_bytes;
  const int wanted = lines ? line : vector;
  if (known >= wanted) return store_pieces(v, pointer, bytes, wanted, hint);
  LlvmValue bits = f_.op(kI64, "ptrtoint ptr ", pointer, " to i64");
  std::string done = f_.block("done");
  for (int piece : {wanted, kPiece}) {
    if (piece == kPiece && (lines || wanted == kPiece)) break;
    std::string aligned = f_.block("aligned"), other = f_.block("other");
    LlvmValue low = f_.binary("and", bits, f_.integer(kI64, piece - 1));
    f_.branch(f_.compare("icmp eq", low, f_.integer(kI64, 0)), aligned, other);
    f_.start(aligned);
    store_pieces(v, pointer, piece == wanted ? bytes : piece, piece, hint);
    f_.jump(done);
    f_.start(other);
  }
  store_pieces(v, pointer, bytes, known, tags);
  f_.start(done);
}

LATHE_DECL void LlvmEmitter::store_pieces(const LlvmValue& v, const std::string& pointer,
                                          int piece_bytes, int align, std::string_view hints) {
  const int lanes = piece_bytes / v.dtype.element_bytes();
  for (int first = 0; first < v.dtype.lanes; first += lanes) {
    LlvmValue part = lanes == v.dtype.lanes ? v : f_.shuffle(v, llvm_lane_range(first, lanes));
    std::string at = pointer;
    if (first != 0)
      at = f_.op(kI64, "getelementptr i8, ptr ", pointer, ", i64 ",
                 format_int(first * v.dtype.element_bytes()))
               .text;
    f_.line("store ", llvm_type(part.dtype), " ", part.text, ", ptr ", at, ", align ",
            format_int(align), hints);
  }
}

LATHE_DECL void LlvmEmitter::scatter(const LlvmPlace& at, const LlvmValue& index,
                                     const LlvmValue& v, const LlvmValue& mask) {
  LlvmValue stored = to_memory(v);
  int lanes = v.dtype.lanes;
  std::string type = llvm_type(stored.dtype), pointers = cat("<", lanes, " x ptr>");
  DType bits = kBool.with_lanes(lanes);
  std::string name = cat("llvm.masked.scatter.", llvm_mangled(stored.dtype), ".v", lanes, "p0");
  module_.declare("void", name, cat(type, ", ", pointers, ", i32, ", llvm_type(bits)));
  std::string where = lane_addresses(at, v.dtype, index);
  LlvmValue chosen = mask.text.empty() ? f_.integer(bits, 1) : mask;
  f_.line("call void @", name, "(", type, " ", stored.text, ", ", pointers, " ", where, ", i32 ",
          format_int(v.dtype.element_bytes()), ", ", llvm_type(bits), " ", chosen.text, ")",
          module_.alias_tags(at.scope));
}

}  // namespace lathe::detail
