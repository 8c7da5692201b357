// Reduction of an angle of any size to one half-turn, for sin, cos and tan.
#pragma once

#include <lathe/lower/math/math_builder.hpp>

namespace lathe::detail {

/// sin(r) for |r| <= pi / 2.
AnyExpr math_sin_core(MathBuilder& b, const AnyExpr& r);

/// Payne and Hanek: the mantissa times those bits of 2/pi that decide the angle modulo a full turn.
/// Computes in f64, which its builder holds; the caller finishes it.
class MathPayneHanek {
 public:
  /// size >= 1 and finite, of type t (f32 or f64).
  MathPayneHanek(DType t, const TargetCaps& caps, const AnyExpr& size);

  MathBuilder b;

  /// sin(size) or cos(size).
  AnyExpr sine(bool cosine);

 private:
  AnyExpr word(std::uint64_t v) const { return make_int(u32_, static_cast<std::int64_t>(v)); }
  AnyExpr dword(std::uint64_t v) const { return make_int(u64_, static_cast<std::int64_t>(v)); }
  Vec<AnyExpr> window(const AnyExpr& exponent);
  void multiply(const Vec<AnyExpr>& mantissa, const Vec<AnyExpr>& bits);

  DType u32_, u64_;
  int limbs_ = 1, words_ = 3, top_word_ = 4;
  AnyExpr high_, low_;
};

}  // namespace lathe::detail
