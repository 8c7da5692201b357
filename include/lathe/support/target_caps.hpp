// What a target's code can say by itself: what the passes to Stage::machine ask, and what verify
// holds them to.
#pragma once

#include <lathe/support/target.hpp>

namespace lathe {

/// What machine code is written in.
enum class Language : std::uint8_t { llvm, c };

/// Derived from the target once, here, so that no pass looks at features of its own.
struct TargetCaps {
  bool fma = true;               ///< one instruction; else a call of the C library
  bool scales = true;            ///< scalb, logb and significand
  bool estimates = true;         ///< reciprocal_estimate and rsqrt_estimate
  bool rounds = true;            ///< floor, ceil, trunc, round
  bool half = true;              ///< casts between f16 and wider floats
  bool byte_dots = true;         ///< dot4, of bytes as the next two say
  bool mixed_dots = true;        ///< of unsigned with signed bytes
  bool alike_dots = true;        ///< of bytes that are both signed, or both unsigned
  bool word_dots = true;         ///< dot_words
  bool byte_differences = true;  ///< sad8
  bool bf16_dots = true;         ///< dot2
  bool byte_matrices = true;     ///< mat_dot8
  bool byte_tiles = true;        ///< tile registers, and tile_dot of bytes
  bool bf16_tiles = true;        ///< the same of bf16
  bool odd_dots = true;          ///< odd_dot2 and odd_mat_dot4
  bool half_fma = true;          ///< fma of f16
  bool wide_conversions = true;  ///< of vectors of i64 to floats
  bool gathers = true;           ///< of lanes from anywhere, faster than element by element
  /// Masks of 8, 16 and 32 lanes are words of a general register.
  bool mask_words = false;
  /// Vectors of bytes compare into the mask of vectors of any type.
  bool byte_masks = true;

  /// Instructions that take lanes of two registers in any order, for elements of 1, 2, 4, 8 bytes.
  int merges[4] = {1, 1, 1, 1};
  /// The instruction that takes bytes of two registers takes longer than one for each and one that
  /// puts them together.
  bool merges_bytes_slowly = false;
  /// One instruction puts the bytes of each 16 of a register in any order.
  bool shuffles_pieces = false;
  /// Bytes that go in turns from four vectors, each within a register, are fewer instructions if
  /// one store takes all.
  bool turns_bytes = false;
  /// How many sums of vectors of f32 take as long as a quotient, or a square root.
  int quotient_sums = 20, root_sums = 25;
  int register_bytes = 64;
  /// Vectors of narrower elements load lane by lane under a mask.
  int masked_bytes = 1;
  /// The longest vectors whose lanes come in an order that is computed, in a few instructions.
  int permuted_bytes = 64;
  /// Masks of elements below 4 bytes are a few instructions around a mask of words.
  bool narrow_masks_by_words = false;
  /// Instructions that move one element of memory into a lane.
  static constexpr int kElementMove = 2;

  // Bugs of LLVM that passes go around (lower/machine/workarounds).
  bool loses_byte_quotients = false;
  bool widens_masked_stores = false;

  /// Whether no instruction has masks for elements of so many bytes.
  bool masks_by_parts(int bytes) const {
    return bytes < (narrow_masks_by_words ? 4 : masked_bytes);
  }
  /// Whether dot4 multiplies bytes of these signs.
  bool multiplies_bytes(bool a_is_signed, bool b_is_signed) const {
    return a_is_signed == b_is_signed ? alike_dots : mixed_dots;
  }

  /// Whatever a machine may have: programs that are legal for some target.
  TargetCaps() = default;
  TargetCaps(const Target& target, Language language = Language::llvm);
};

}  // namespace lathe
