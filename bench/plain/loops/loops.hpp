// The programs of the suite `plain` as plain loops, compiled with -O3 -march=native -ffast-math.
// BENCH_LOOPS: the namespace of sources that are compiled once more, for exact_loops.hpp.
// Pointers are in the order of the programs' parameters, sizes behind them; arrays are row-major.
#pragma once

#include <cstdint>

#ifndef BENCH_LOOPS
#define BENCH_LOOPS loops
#endif

namespace bench::BENCH_LOOPS {

using u8 = std::uint8_t;
using i8 = std::int8_t;

// Dots. The results are one element.
template <class T>
void dot(const T* a, const T* b, T* s, int n);
void strided_dot(const float* a, const float* b, float* s, int n);
void squared_norm(const float* a, float* s, int n);
void distance(const float* a, const float* b, float* s, int n);
void largest_magnitude(const float* a, float* s, int n);
void moments(const float* a, float* sum, float* squares, int n);

// Folds of rows, of m x n.
void row_sums(const float* x, float* y, int m, int n);
void row_maxima(const float* x, float* y, int m, int n);
void row_means(const float* x, float* y, int m, int n);
void row_variances(const float* x, float* y, int m, int n);
void row_norms(const float* x, float* y, int m, int n);
void row_ranges(const float* x, float* y, int m, int n);
void block_sums(const float* x, float* y, int b, int m, int n);

// Folds of columns, of m x n; of images, n times h x w x c or c x h x w.
void column_sums(const float* x, float* y, int m, int n);
void column_maxima(const float* x, float* y, int m, int n);
void column_variances(const float* x, float* y, int m, int n);
void normal_columns(const float* x, float* y, int m, int n);
void pool_nhwc(const float* x, float* y, int n, int h, int w, int c);
void pool_nchw(const float* x, float* y, int n, int c, int h, int w);
void channel_sums(const float* x, float* y, int n, int c, int h, int w);

// Matrices of m x n by vectors.
template <class T>
void matrix_vector(const T* a, const T* x, T* y, int m, int n);
void transposed_vector(const float* a, const float* x, float* y, int m, int n);
void outer_product(const float* x, const float* y, float* a, int m, int n);
void matrix_vector_added(const float* a, const float* x, const float* b, float* y, int m, int n);
void batched_vector(const float* a, const float* x, float* y, int b, int m, int n);
void bilinear_form(const float* x, const float* a, const float* y, float* s, int m, int n);

// Products of m x k by k x n.
template <class T>
void product(const T* a, const T* b, T* c, int m, int n, int k);
void product_nt(const float* a, const float* b, float* c, int m, int n, int k);
void product_tn(const float* a, const float* b, float* c, int m, int n, int k);
void product_tt(const float* a, const float* b, float* c, int m, int n, int k);
void gram(const float* a, float* c, int n, int k);
void two_products(const float* a, const float* b, const float* c, float* d, int m, int n);
void product_bias_relu(const float* a, const float* b, const float* bias, float* c, int m, int n,
                       int k);
void batched_product(const float* a, const float* b, float* c, int t, int m, int n, int k);
void contraction4(const float* a, const float* b, float* c, int i, int j, int k, int l, int m);

// Convolutions without padding: images of channels c, filters f, kernels of p x p (or p), results
// of h x w.
void conv_nhwc(const float* x, const float* k, float* y, int h, int w, int c, int f, int p);
void conv_nchw(const float* x, const float* k, float* y, int c, int f, int h, int w, int p);
void conv_grouped(const float* x, const float* k, float* y, int h, int w, int groups);
void depthwise_nhwc(const float* x, const float* k, float* y, int h, int w, int c, int p);
void depthwise_nchw(const float* x, const float* k, float* y, int c, int h, int w, int p);
void conv_strided(const float* x, const float* k, float* y, int h, int w, int c, int f);
void conv_dilated(const float* x, const float* k, float* y, int h, int w, int c, int f);
void conv_1d(const float* x, const float* k, float* y, int w, int c, int f, int p);
void conv_3d(const float* x, const float* k, float* y, int d, int h, int w, int c, int f);
void conv_transposed(const float* x, const float* k, float* y, int h, int w, int c, int f);
void conv_padded(const float* x, const float* k, float* y, int h, int w, int c, int f);
void conv_blocked(const float* x, const float* k, float* y, int c, int f, int h, int w);

// Chains of steps along rows, of m x n.
void softmax(const float* x, float* y, int m, int n);
void log_softmax(const float* x, float* y, int m, int n);
void layer_norm(const float* x, const float* gain, const float* bias, float* y, int m, int n);
void rms_norm(const float* x, const float* gain, float* y, int m, int n);
void unit_rows(const float* x, float* y, int m, int n);
void cross_entropy(const float* x, const std::int32_t* at, float* y, int m, int n);
void group_norm(const float* x, const float* gain, float* y, int groups, int channels, int n);
void causal_softmax(const float* x, float* y, int n);

// Attention: n queries of d numbers and as many keys and values, h heads.
void attention(const float* q, const float* k, const float* v, float* y, int n, int d);
void causal_attention(const float* q, const float* k, const float* v, float* y, int n, int d);
void attention_heads(const float* q, const float* k, const float* v, float* y, int h, int n, int d);
void one_query(const float* q, const float* k, const float* v, float* y, int h, int n, int d);
void shared_heads(const float* q, const float* k, const float* v, float* y, int h, int n, int d);
void scores(const float* q, const float* k, float* y, int n, int h, int d);

// Windows. Results of h x w.
void max_pool(const float* x, float* y, int h, int w, int c);
void average_pool(const float* x, float* y, int c, int h, int w);
void moving_average(const float* x, float* y, int n, int p);
void blur(const float* x, float* y, int h, int w);
void blur_in_two(const float* x, float* y, int h, int w);
void sobel(const float* x, float* y, int h, int w);
void jacobi_2d(const float* x, float* y, int h, int w);
void jacobi_3d(const float* x, float* y, int d, int h, int w);
void max_pool_nchw(const float* x, float* y, int c, int h, int w);
void sliding_maxima(const float* x, float* y, int n, int p);
void erosion(const u8* x, u8* y, int h, int w);
void erosion_of_colours(const u8* x, u8* y, int h, int w);
void neighbours_on_torus(const float* x, float* y, int h, int w);

// Searches, of m x n.
void row_argmax(const float* x, std::int64_t* at, int m, int n);
void column_argmax(const float* x, std::int64_t* at, int m, int n);
void nearest(const float* x, const float* points, std::int64_t* at, int m, int n, int d);
void log_sum_exp(const float* x, float* y, int m, int n);
void count_above(const float* x, std::int32_t* y, int m, int n);
void position_of_largest(const float* x, std::int64_t* at, int n);
void first_above(const float* x, std::int64_t* y, int m, int n);
void largest_two(const float* x, float* first, float* second, int m, int n);
void column_argmin_of_two(const float* a, const float* b, std::int64_t* at, int m, int n);

// Layouts.
void transpose(const float* x, float* y, int m, int n);
void transpose_u8(const u8* x, u8* y, int m, int n);
void transpose_outer(const float* x, float* y, int a, int b, int c);
void reverse_axes(const float* x, float* y, int a, int b, int c);
void nchw_to_nhwc(const float* x, float* y, int n, int c, int h, int w);
void nhwc_to_nchw(const float* x, float* y, int n, int h, int w, int c);
void pixel_shuffle(const float* x, float* y, int c, int h, int w, int s);
void rgb_to_planes(const u8* x, u8* y, int n);
void complex_product(const float* a, const float* b, float* y, int n);
void swap_middle(const float* x, float* y, int a, int b, int c, int d);
void windows_of_image(const float* x, float* y, int h, int w, int p, int c);
void planes_to_rgb(const u8* x, u8* y, int n);
void mirror(const float* x, float* y, int m, int n);
void concatenation(const float* a, const float* b, float* y, int m, int n, int k);
void zeros_around(const float* x, float* y, int c, int h, int w);

// Channels that lie side by side: of n points or colours, of pictures of h x w; complex matrices of
// m x k by k x n; means of b x t x c; triangles of n x n, and bands.
void point_sums(const float* x, float* y, int n);
void colour_sums(const u8* x, std::int32_t* y, int n);
void colours_by_matrix(const float* m, const float* x, float* y, int n);
void complex_matrices(const float* a, const float* b, float* c, int m, int n, int k);
void blur_colours(const u8* x, u8* y, int h, int w);
void colour_over(const u8* s, const u8* d, u8* y, int n);
void unit_vectors(const float* x, float* y, int n);
void masked_means(const float* x, const float* w, float* y, int b, int t, int c);
void triangle_by_vector(const float* a, const float* x, float* y, int n);
void upper_triangle_by_matrix(const float* a, const float* b, float* c, int n, int m);
void autocorrelation(const float* x, float* y, int lags, int n);
void band_by_vector(const float* a, const float* x, float* y, int n, int reach);

// What rows share: n pictures of p places with groups of 8 channels, b or `heads` times t places of
// d, `frames` of n numbers with k results, a matrix of m x n.
void normal_groups(const float* x, const float* mean, const float* variance, const float* gamma,
                   const float* beta, float* y, int n, int p, int groups);
void positions(const float* x, const float* f, float* y, int b, int t, int d);
void turned_heads(const float* x, const float* f, float* y, int heads, int t, int d);
void cosines_by_formula(const float* x, float* s, int frames, int hop, int n, int k);
void weights_by_table(const float* x, const std::int32_t* at, const float* table, float* y, int m,
                      int n);

// Narrow and wide types.
void threshold(const u8* x, u8* y, int n);
void alpha_blend(const u8* alpha, const u8* a, const u8* b, u8* y, int n);
void gray(const u8* x, u8* y, int n);
void blur_u8(const u8* x, u8* y, int h, int w);
void dot_i8(const i8* a, const i8* b, std::int32_t* s, int n);
void product_u8_i8(const u8* a, const i8* b, std::int32_t* c, int m, int n, int k);
void product_from_zero(const u8* a, const u8* b, const std::int32_t* zero, std::int32_t* c, int m,
                       int n, int k);
void distances_i8(const i8* a, const i8* b, std::int32_t* c, int m, int n, int k);
void row_sums_i32(const std::int32_t* x, std::int32_t* y, int m, int n);
void column_sums_i64(const std::int64_t* x, std::int64_t* y, int m, int n);
void axpy_f64(const double* x, const double* z, double* y, int n);
void product_bf16(const std::uint16_t* a, const std::uint16_t* b, float* c, int m, int n, int k);
void normalize_u8(const u8* x, const float* mean, const float* scale, float* y, int n);
void quantize(const float* x, i8* y, int n);
void weights_i8(const i8* w, const float* x, const float* scale, float* y, int m, int n);
void weights_i4(const u8* w, const float* scale, const float* x, float* y, int m, int groups);
void brighten_u8(const u8* x, u8* y, int n);
void row_sums_bf16(const std::uint16_t* x, float* y, int m, int n);
void row_sums_u8(const u8* x, std::int32_t* y, int m, int n);

// Gathers.
void gather_rows(const std::int32_t* at, const float* t, float* y, int rows, int n, int m);
void embedding_bag(const std::int32_t* at, const float* t, float* y, int rows, int n, int m,
                   int each);
void table_lookup(const std::int32_t* at, const float* t, float* y, int size, int n);
void permute_columns(const std::int32_t* at, const float* x, float* y, int n, int m);
void resize_bilinear(const float* x, float* y, int h, int w, int c);
void resize_nearest(const float* x, float* y, int h, int w);
void table_of_bytes(const u8* x, const u8* t, u8* y, int n);

// Recurrences, over rows or columns of m x n.
void filter_rows(const float* x, float* y, int m, int n);
void filter_columns(const float* x, float* y, int m, int n);
void sums_so_far_rows(const float* x, float* y, int m, int n);
void sums_so_far_columns(const float* x, float* y, int m, int n);
void most_so_far_rows(const float* x, float* y, int m, int n);
void horner(const float* x, const float* c, float* y, int n, int degree);
void seam_costs(const float* x, float* y, int m, int n);

// One element after the other.
void axpy_chain(const float* a, const float* b, const float* c, float* y, int n);
void momentum(const float* u, const float* g, const float* w, float* v, float* out, int n);
void polynomial(const float* x, float* y, int n);
void sigmoid(const float* x, float* y, int n);
void gelu(const float* x, float* y, int n);
void exp_chain(const float* x, float* y, int n);
void select_chain(const float* x, float* y, int n);
void mandelbrot(const float* a, const float* b, float* y, int n);
void bias_relu_residual(const float* x, const float* bias, const float* r, float* y, int m, int n);
void length(const float* a, const float* b, float* y, int n);
void lstm_gates(const float* gates, const float* cell, float* next, float* out, int m, int n);
void swiglu(const float* x, float* y, int m, int n);
void rotation(const float* x, const float* c, const float* s, float* y, int m, int n);
void black_scholes(const float* stock, const float* strike, const float* time, float* y, int n);
void sine_and_cosine(const float* x, float* y, int n);

}  // namespace bench::BENCH_LOOPS
