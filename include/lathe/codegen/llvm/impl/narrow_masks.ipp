// Bytes and words under masks where instructions have masks for 4 bytes and more alone (AVX2). No
// byte outside of the mask is touched. Most masks are one run of lanes: what a row has around its
// border, or at its end.
#pragma once

#include <algorithm>
#include <lathe/codegen/llvm/emitter.hpp>

namespace lathe::detail {

inline constexpr int kNarrowBytes = 32;  ///< of the vectors that are loaded as words

inline LlvmValue llvm_count_zeros(LlvmFunction& f, std::string_view end, const LlvmValue& bits) {
  const std::string name = cat("llvm.", end, ".i64");
  f.module.declare("i64", name, "i64, i1");
  return f.op(kI64, "call i64 @", name, "(i64 ", bits.text, ", i1 false)");
}

/// The set bits of a word: the first, the end, and whether those between are set.
struct LlvmRun {
  LlvmValue first, end, whole;
};

inline LlvmRun llvm_run(LlvmFunction& f, const LlvmValue& bits) {
  LlvmRun run;
  run.first = llvm_count_zeros(f, "cttz", bits);
  run.end = f.binary("sub", f.integer(kI64, 64), llvm_count_zeros(f, "ctlz", bits));
  const LlvmValue lowest = f.binary("and", bits, f.binary("sub", f.integer(kI64, 0), bits));
  const LlvmValue carried = f.binary("and", f.binary("add", bits, lowest), bits);
  run.whole = f.compare("icmp eq", carried, f.integer(kI64, 0));
  return run;
}

inline std::string llvm_byte_at(LlvmFunction& f, std::string_view pointer, const LlvmValue& index) {
  return f.op(kI64, "getelementptr i8, ptr ", pointer, ", i64 ", index.text).text;
}

inline void llvm_move(LlvmFunction& f, std::string_view type, const LlvmValue& index) {
  const std::string from = llvm_byte_at(f, "%from", index), to = llvm_byte_at(f, "%to", index);
  const LlvmValue v = f.op(kI64, "load ", type, ", ptr ", from, ", align 1");
  f.line("store ", type, " ", v.text, ", ptr ", to, ", align 1");
}

/// `lathe.move(from, to, bits)` moves the bytes whose bits are set; a run in two pieces, which
/// overlap where it is not as long as both. Its caller's vectors stay in registers, as it uses none
/// of these: LLVM 16 to 22 end such a function that does with `vzeroupper`.
inline std::string llvm_move_bytes(LlvmModule& module) {
  LlvmFunction f(module);
  const LlvmValue bits{kI64, "%bits"}, none = f.integer(kI64, 0);
  const LlvmRun run = llvm_run(f, bits);
  f.branch(run.whole, "pieces", "bytes");
  f.start("pieces");
  const LlvmValue count = f.binary("sub", run.end, run.first);
  for (const int size : {16, 8, 4}) {
    const std::string fits = f.block("fits"), less = f.block("less");
    f.branch(f.compare("icmp sge", count, f.integer(kI64, size)), fits, less);
    f.start(fits);
    llvm_move(f, cat("i", 8 * size), run.first);
    llvm_move(f, cat("i", 8 * size), f.binary("sub", run.end, f.integer(kI64, size)));
    f.jump("done");
    f.start(less);
  }
  const std::string few = f.current();
  f.start("bytes");
  const LlvmValue left{kI64, "%left"}, rest{kI64, "%rest"};
  f.line("%left = phi i64 [ %bits, %entry ], [ %bits, %", few, " ], [ %rest, %byte ]");
  f.branch(f.compare("icmp ne", left, none), "byte", "done");
  f.start("byte");
  llvm_move(f, "i8", llvm_count_zeros(f, "cttz", left));
  f.line("%rest = and i64 %left, ", f.binary("sub", left, f.integer(kI64, 1)).text);
  f.jump("bytes");
  f.start("done");
  f.line("ret void");
  return f.finish(
      "define internal preserve_allcc void @lathe.move(ptr %from, ptr %to, i64 %bits) noinline "
      "noimplicitfloat");
}

inline LlvmValue llvm_bits_of_mask(LlvmFunction& f, const LlvmValue& mask) {
  const std::string word = cat("i", mask.dtype.lanes);
  const LlvmValue bits =
      f.op(kI64, "bitcast ", llvm_type(mask.dtype), " ", mask.text, " to ", word);
  return f.op(kI64, "zext ", word, " ", bits.text, " to i64");
}

/// The 4 bytes from `at` on, of which those in other words are shifted out.
inline LlvmValue llvm_end_word(LlvmFunction& f, const LlvmValue& at, std::string_view shift,
                               const LlvmValue& others) {
  const LlvmValue four = f.op(kI32, "load i32, ptr ", llvm_byte_at(f, "%from", at), ", align 1");
  const LlvmValue count = f.binary("and", others, f.integer(kI64, 3));
  const LlvmValue shifted = f.binary("shl", count, f.integer(kI64, 3));
  return f.binary(shift, four, f.convert("trunc", shifted, kI32));
}

/// `words`, with `value` in the one that has this byte.
inline LlvmValue llvm_with_word(LlvmFunction& f, const LlvmValue& words, const LlvmValue& value,
                                const LlvmValue& byte) {
  const int lanes = words.dtype.lanes;
  const LlvmValue lane = f.convert("trunc", f.binary("lshr", byte, f.integer(kI64, 2)), kI32);
  const LlvmValue here = f.compare("icmp eq", f.splat(lane, lanes), llvm_iota(words.dtype, 1));
  return f.select(here, f.splat(value, lanes), words);
}

/// Words within a run are loaded under their own mask, those at its ends by 4 bytes of the run.
inline LlvmValue llvm_words_of_run(LlvmFunction& f, const LlvmRun& run, const LlvmValue& mask) {
  const DType bytes = kU8.with_lanes(mask.dtype.lanes), words = kI32.with_lanes(bytes.lanes / 4);
  const LlvmValue last = f.binary("sub", run.end, f.integer(kI64, 4));
  const LlvmValue before = f.binary("sub", f.integer(kI64, 0), run.end);
  const LlvmValue lower = llvm_end_word(f, run.first, "shl", run.first);
  const LlvmValue upper = llvm_end_word(f, last, "lshr", before);
  const LlvmValue all = f.convert("bitcast", f.convert("sext", mask, bytes), words);
  const LlvmValue full = f.compare("icmp eq", all, f.integer(words, -1));
  const std::string masks = llvm_type(full.dtype), vector = llvm_type(words),
                    name = cat("llvm.masked.load.", llvm_mangled(words), ".p0");
  f.module.declare(vector, name, cat("ptr, i32, ", masks, ", ", vector));
  LlvmValue v = f.op(words, "call ", vector, " @", name, "(ptr %from, i32 1, ", masks, " ",
                     full.text, ", ", vector, " zeroinitializer)");
  v = llvm_with_word(f, v, lower, run.first);
  v = llvm_with_word(f, v, upper, f.binary("sub", run.end, f.integer(kI64, 1)));
  return f.convert("bitcast", v, bytes);
}

/// `lathe.load.<bytes>(from, mask)`: zero outside of the mask.
inline std::string llvm_load_bytes(LlvmModule& module, int bytes) {
  LlvmFunction f(module);
  const std::string type = llvm_type(kU8.with_lanes(bytes)), slot = f.frame(type, bytes);
  const LlvmValue mask{kBool.with_lanes(bytes), "%mask"}, bits = llvm_bits_of_mask(f, mask);
  f.branch(f.compare("icmp eq", bits, f.integer(kI64, (std::int64_t{1} << bytes) - 1)), "whole",
           "part");
  f.start("whole");
  f.line("%all = load ", type, ", ptr %from, align 1");
  f.line("ret ", type, " %all");
  f.end();
  f.start("part");
  const LlvmRun run = llvm_run(f, bits);
  const LlvmValue count = f.binary("sub", run.end, run.first);
  const LlvmValue enough = f.compare("icmp sge", count, f.integer(kI64, 4));
  f.branch(f.binary("and", run.whole, enough), "words", "few");
  f.start("words");
  f.line("ret ", type, " ", llvm_words_of_run(f, run, mask).text);
  f.end();
  f.start("few");
  f.line("store ", type, " zeroinitializer, ptr ", slot, ", align ", format_int(bytes));
  f.line("call preserve_allcc void @lathe.move(ptr %from, ptr ", slot, ", i64 ", bits.text, ")");
  f.line("%copied = load ", type, ", ptr ", slot, ", align ", format_int(bytes));
  f.line("ret ", type, " %copied");
  return f.finish(cat("define internal ", type, " @lathe.load.", bytes, "(ptr %from, ",
                      llvm_type(mask.dtype), " %mask) alwaysinline"));
}

/// The mask of the bytes of elements that a mask has.
inline LlvmValue llvm_byte_mask(LlvmFunction& f, const LlvmValue& mask, DType stored) {
  if (stored.element_bytes() == 1) return mask;
  const DType elements = kI16.with_lanes(mask.dtype.lanes), bytes = kI8.with_lanes(stored.bytes());
  const LlvmValue all = f.convert("bitcast", f.convert("sext", mask, elements), bytes);
  return f.compare("icmp ne", all, llvm_zero(bytes));
}

/// `lanes` of a vector from `first` on, which are zero beyond its end.
inline LlvmValue llvm_lanes_or_zero(LlvmFunction& f, const LlvmValue& v, int first, int lanes) {
  if (first == 0 && lanes == v.dtype.lanes) return v;
  Vec<int> from = llvm_lane_range(first, lanes);
  for (int& lane : from) lane = std::min<int>(lane, v.dtype.lanes);
  return f.shuffle(v, llvm_zero(v.dtype), from);
}

LATHE_DECL void LlvmEmitter::define_moves() {
  if (module_.is_first_use("lathe.move")) module_.add_function(llvm_move_bytes(module_));
}

LATHE_DECL LlvmValue LlvmEmitter::load_narrow(const std::string& pointer, DType stored,
                                              const LlvmValue& mask) {
  define_moves();
  const LlvmValue bytes = llvm_byte_mask(f_, mask, stored);
  LlvmValue all;
  for (int first = 0; first < stored.bytes(); first += kNarrowBytes) {
    const int size = stored.bytes() - first > kNarrowBytes / 2 ? kNarrowBytes : kNarrowBytes / 2;
    const std::string name = cat("lathe.load.", size);
    if (module_.is_first_use(name)) module_.add_function(llvm_load_bytes(module_, size));
    const LlvmValue part = llvm_lanes_or_zero(f_, bytes, first, size);
    const DType type = kU8.with_lanes(size);
    const LlvmValue v = f_.op(type, "call ", llvm_type(type), " @", name, "(ptr ",
                              llvm_byte_at(f_, pointer, f_.integer(kI64, first)), ", ",
                              llvm_type(part.dtype), " ", part.text, ")");
    all = first == 0 ? v : f_.concat(all, v);
  }
  return f_.convert("bitcast", llvm_lanes_or_zero(f_, all, 0, stored.bytes()), stored);
}

LATHE_DECL void LlvmEmitter::store_narrow(const std::string& pointer, const LlvmValue& stored,
                                          const LlvmValue& mask) {
  define_moves();
  const LlvmValue mask_of_bytes = llvm_byte_mask(f_, mask, stored.dtype),
                  bytes = f_.convert("bitcast", stored, kU8.with_lanes(stored.dtype.bytes()));
  for (int first = 0; first < stored.dtype.bytes(); first += kNarrowBytes) {
    const int size = std::min(kNarrowBytes, stored.dtype.bytes() - first);
    store_bytes(llvm_byte_at(f_, pointer, f_.integer(kI64, first)),
                llvm_lanes_or_zero(f_, bytes, first, size),
                llvm_lanes_or_zero(f_, mask_of_bytes, first, size));
  }
}

// Of a row whose end comes after several vectors, the first ones are whole.
LATHE_DECL void LlvmEmitter::store_bytes(const std::string& to, const LlvmValue& bytes,
                                         const LlvmValue& mask) {
  const std::string type = llvm_type(bytes.dtype), slot = f_.frame(type, kNarrowBytes),
                    whole = f_.block("whole"), part = f_.block("part"), done = f_.block("done");
  const LlvmValue bits = llvm_bits_of_mask(f_, mask);
  const std::int64_t all = (std::int64_t{1} << bytes.dtype.lanes) - 1;
  f_.branch(f_.compare("icmp eq", bits, f_.integer(kI64, all)), whole, part);
  f_.start(whole);
  f_.line("store ", type, " ", bytes.text, ", ptr ", to, ", align 1");
  f_.jump(done);
  f_.start(part);
  f_.line("store ", type, " ", bytes.text, ", ptr ", slot, ", align ", kNarrowBytes);
  f_.line("call preserve_allcc void @lathe.move(ptr ", slot, ", ptr ", to, ", i64 ", bits.text,
          ")");
  f_.jump(done);
  f_.start(done);
}

}  // namespace lathe::detail
