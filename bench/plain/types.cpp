// Narrow and wide types, and gathers.
#include "plain/loops/loops.hpp"
#include "plain/program.hpp"

#ifdef BENCH_HAS_LATHE_HEADER
namespace bench {
namespace {

using u8 = std::uint8_t;
using i8 = std::int8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

lt::Program threshold(int n) {
  lt::Input<u8, 1> X("X", {n});
  return lt::program_of(lt::compute(
      "Y", {n}, [&](lt::Var i) { return lt::select(X(i) > 127, lt::Expr<u8>(255), 0); }));
}

lt::Program alpha_blend(int n) {
  lt::Input<u8, 1> alpha("alpha", {n}), A("A", {n}), B("B", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    auto share = lt::cast<int>(alpha(i));
    return lt::cast<u8>((share * lt::cast<int>(A(i)) + (255 - share) * lt::cast<int>(B(i)) + 128) >>
                        8);
  }));
}

lt::Program gray(int n) {
  lt::Input<u8, 2> X("X", {n, 3});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    const auto part = [&](int channel, int weight) {
      return lt::cast<int>(X(i, channel)) * weight;
    };
    return lt::cast<u8>((part(0, 77) + part(1, 150) + part(2, 29)) >> 8);
  }));
}

lt::Program blur_u8(int h, int w) {
  lt::Input<u8, 2> X("X", {h + 2, w + 2});
  return lt::program_of(lt::compute("Y", {h, w}, [&](lt::Var i, lt::Var j) {
    const auto at = [&](int a, int b) { return lt::cast<int>(X(i + a, j + b)); };
    const auto row = [&](int a) { return at(a, 0) + 2 * at(a, 1) + at(a, 2); };
    return lt::cast<u8>((row(0) + 2 * row(1) + row(2) + 8) >> 4);
  }));
}

lt::Program dot_i8(int n) {
  lt::Input<i8, 1> A("A", {n}), B("B", {n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("S", {}, [&] { return lt::sum(lt::cast<int>(A(r)) * lt::cast<int>(B(r)), r); }));
}

lt::Program product_u8_i8(int m, int n, int k) {
  lt::Input<u8, 2> A("A", {m, k});
  lt::Input<i8, 2> B("B", {k, n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<int>(A(i, r)) * lt::cast<int>(B(r, j)), r);
  }));
}

// Of a layer with asymmetric weights: a zero point of the activations, and one of each column.
lt::Program product_from_zero(int m, int n, int k) {
  lt::Input<u8, 2> A("A", {m, k}), B("B", {k, n});
  lt::Input<i32, 1> zero("zero", {n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum((lt::cast<int>(A(i, r)) - 121) * (lt::cast<int>(B(r, j)) - zero(j)), r);
  }));
}

// Between each of m vectors and each of n.
lt::Program distances_i8(int m, int n, int k) {
  lt::Input<i8, 2> A("A", {m, k}), B("B", {n, k});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    const auto apart = lt::cast<int>(A(i, r)) - lt::cast<int>(B(j, r));
    return lt::sum(apart * apart, r);
  }));
}

lt::Program row_sums_i32(int m, int n) {
  lt::Input<i32, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(X(i, r), r); }));
}

lt::Program column_sums_i64(int m, int n) {
  lt::Input<i64, 2> X("X", {m, n});
  lt::Reduce r("r", m);
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var j) { return lt::sum(X(r, j), r); }));
}

lt::Program axpy_f64(int n) {
  lt::Input<double, 1> X("X", {n}), Z("Z", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) { return 0.5 * X(i) + Z(i); }));
}

lt::Program product_bf16(int m, int n, int k) {
  lt::Input<lt::bf16, 2> A("A", {m, k}), B("B", {k, n});
  lt::Reduce r("r", k);
  return lt::program_of(lt::compute("C", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(lt::cast<float>(A(i, r)) * lt::cast<float>(B(r, j)), r);
  }));
}

lt::Program gather_rows(int rows, int n, int m) {
  lt::Input<float, 2> T("T", {rows, n});
  lt::Input<i32, 1> at("at", {m});
  return lt::program_of(
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return T(lt::cast<i64>(at(i)), j); }));
}

lt::Program embedding_bag(int rows, int n, int m, int each) {
  lt::Input<float, 2> T("T", {rows, n});
  lt::Input<i32, 2> at("at", {m, each});
  lt::Reduce e("e", each);
  return lt::program_of(lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) {
    return lt::sum(T(lt::cast<i64>(at(i, e)), j), e);
  }));
}

lt::Program table_lookup(int size, int n) {
  lt::Input<float, 1> T("T", {size});
  lt::Input<i32, 1> at("at", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) { return T(lt::cast<i64>(at(i))); }));
}

lt::Program permute_columns(int n, int m) {
  lt::Input<float, 2> X("X", {m, n});
  lt::Input<i32, 1> at("at", {n});
  return lt::program_of(
      lt::compute("Y", {m, n}, [&](lt::Var i, lt::Var j) { return X(i, lt::cast<i64>(at(j))); }));
}

// To twice the size; pixels lie at the middle of their squares.
lt::Program resize_bilinear(int h, int w, int c) {
  lt::Input<float, 3> X("X", {h, w, c});
  const auto pixel = lt::clamp(X);
  return lt::program_of(lt::compute("Y", {2 * h, 2 * w, c}, [&](lt::Var i, lt::Var j, lt::Var k) {
    auto p = (i + 1) / 2, q = (j + 1) / 2;
    auto down = lt::select(i % 2 == 0, 0.75f, 0.25f), along = lt::select(j % 2 == 0, 0.75f, 0.25f);
    auto top = pixel(p - 1, q - 1, k) * (1 - along) + pixel(p - 1, q, k) * along;
    auto end = pixel(p, q - 1, k) * (1 - along) + pixel(p, q, k) * along;
    return top * (1 - down) + end * down;
  }));
}

lt::Program resize_nearest(int h, int w) {
  lt::Input<float, 2> X("X", {h, w});
  return lt::program_of(
      lt::compute("Y", {2 * h, 2 * w}, [&](lt::Var i, lt::Var j) { return X(i / 2, j / 2); }));
}

lt::Program normalize_u8(int n) {
  lt::Input<u8, 2> X("X", {n, 3});
  lt::Input<float, 1> mean("mean", {3}), scale("scale", {3});
  return lt::program_of(lt::compute("Y", {3, n}, [&](lt::Var c, lt::Var i) {
    return (lt::cast<float>(X(i, c)) * (1.0f / 255) - mean(c)) * scale(c);
  }));
}

lt::Program quantize(int n) {
  lt::Input<float, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    return lt::cast<i8>(lt::clip(lt::round(X(i) * 300.0f - 150.0f), -127.0f, 127.0f));
  }));
}

lt::Program brighten_u8(int n) {
  lt::Input<u8, 1> X("X", {n});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) {
    return lt::cast<u8>(lt::min(lt::cast<std::uint16_t>(X(i)) + 60, 255));
  }));
}

lt::Program row_sums_bf16(int m, int n) {
  lt::Input<lt::bf16, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(lt::cast<float>(X(i, r)), r); }));
}

lt::Program row_sums_u8(int m, int n) {
  lt::Input<u8, 2> X("X", {m, n});
  lt::Reduce r("r", n);
  return lt::program_of(
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(lt::cast<int>(X(i, r)), r); }));
}

lt::Program weights_i8(int m, int n) {
  lt::Input<i8, 2> W("W", {m, n});
  lt::Input<float, 1> X("X", {n}), scale("scale", {m});
  lt::Reduce r("r", n);
  auto Y =
      lt::compute("Y", {m}, [&](lt::Var i) { return lt::sum(lt::cast<float>(W(i, r)) * X(r), r); });
  return lt::program_of(lt::compute("Z", {m}, [&](lt::Var i) { return Y(i) * scale(i); }));
}

// Two weights in a byte, and a scale for each group of 32.
lt::Program weights_i4(int m, int groups) {
  lt::Input<u8, 2> W("W", {m, groups * 16});
  lt::Input<float, 2> scale("scale", {m, groups});
  lt::Input<float, 1> X("X", {groups * 32});
  lt::Reduce r("r", groups * 32);
  return lt::program_of(lt::compute("Y", {m}, [&](lt::Var i) {
    auto byte = lt::cast<int>(W(i, r / 2));
    auto weight = lt::select(r % 2 == 0, byte & 15, byte >> 4) - 8;
    return lt::sum(lt::cast<float>(weight) * scale(i, r / 32) * X(r), r);
  }));
}

lt::Program table_of_bytes(int n) {
  lt::Input<u8, 1> X("X", {n}), T("T", {256});
  return lt::program_of(lt::compute("Y", {n}, [&](lt::Var i) { return T(lt::cast<i64>(X(i))); }));
}

}  // namespace

PlainPrograms narrow_programs() {
  const Size pixels = between(100000, 400000), side = between(200, 500);
  return {
      {"threshold u8", threshold, loops::threshold, {{400000}, {pixels}}},
      {"alpha blend u8", alpha_blend, loops::alpha_blend, {{100000}, {pixels}}},
      {"gray u8", gray, loops::gray, {{100000}, {pixels}}},
      {"blur 3x3 u8", blur_u8, loops::blur_u8, {{512, 512}, {side, side}}},
      {"dot i8", dot_i8, loops::dot_i8, {{131072}, {pixels}}},
      {"A B u8 i8",
       product_u8_i8,
       loops::product_u8_i8,
       {{64, 128, 128}, {128, 256, 512}, {between(40, 100), between(40, 100), between(40, 100)}}},
      {"A B u8 less zero points",
       product_from_zero,
       loops::product_from_zero,
       {{64, 128, 128}, {between(4, 20), between(40, 300), between(40, 300)}}},
      {"distances i8",
       distances_i8,
       loops::distances_i8,
       {{64, 256, 128}, {between(10, 40), between(100, 300), between(20, 200)}}},
      {"row sums i32", row_sums_i32, loops::row_sums_i32, {{256, 500}, {side, side}}},
      {"column sums i64", column_sums_i64, loops::column_sums_i64, {{300, 300}, {side, side}}},
      {"axpy f64", axpy_f64, loops::axpy_f64, {{40000}, {between(20000, 60000)}}},
      {"A B bf16",
       product_bf16,
       loops::product_bf16,
       {{64, 64, 128}, {between(40, 100), between(40, 100), between(40, 100)}}},
      {"normalize u8 to planes",
       normalize_u8,
       loops::normalize_u8,
       {{50000}, {between(30000, 100000)}}},
      {"quantize f32 to i8", quantize, loops::quantize, {{100000}, {pixels}}},
      {"brighten u8", brighten_u8, loops::brighten_u8, {{200000}, {pixels}}},
      {"row sums bf16", row_sums_bf16, loops::row_sums_bf16, {{256, 500}, {side, side}}},
      {"row sums u8", row_sums_u8, loops::row_sums_u8, {{512, 500}, {side, side}}},
      {"weights of 8 bits by vector",
       weights_i8,
       loops::weights_i8,
       {{1024, 1024}, {2048, 4096}, {between(200, 1000), between(200, 1000)}}},
      {"weights of 4 bits by vector",
       weights_i4,
       loops::weights_i4,
       {{1024, 32}, {2048, 128}, {between(200, 1000), between(8, 40)}}},
  };
}

PlainPrograms gather_programs() {
  const Size rows = between(500, 3000), side = between(60, 250);
  return {
      {"gather of rows",
       gather_rows,
       loops::gather_rows,
       {{2000, 64, 1000}, {1000, 256, 1000}, {rows, between(30, 200), 1000}},
       {.positions_in = 0}},
      {"embedding bag",
       embedding_bag,
       loops::embedding_bag,
       {{2000, 64, 200, 10}, {rows, between(30, 200), 200, between(8, 20)}},
       {.positions_in = 0}},
      {"table lookup",
       table_lookup,
       loops::table_lookup,
       {{256, 20000}, {between(100, 5000), between(5000, 40000)}},
       {.positions_in = 0}},
      {"permutation of columns",
       permute_columns,
       loops::permute_columns,
       {{128, 200}, {side, side}},
       {.positions_in = 0}},
      {"resize bilinear",
       resize_bilinear,
       loops::resize_bilinear,
       {{64, 64, 3}, {32, 32, 32}, {side, side, 1}}},
      {"resize nearest", resize_nearest, loops::resize_nearest, {{128, 128}, {side, side}}},
      {"table of bytes u8",
       table_of_bytes,
       loops::table_of_bytes,
       {{20000}, {between(10000, 60000)}}},
  };
}

}  // namespace bench
#endif
