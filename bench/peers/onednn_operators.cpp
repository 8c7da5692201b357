// oneDNN: convolutions, matmul with strides, softmax. A convolution of capsules is one of volumes
// whose third axis are the rows of the matrices, and whose channels are their columns.
#include "peers/onednn_operators.hpp"

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>

#include "peers/onednn_run.hpp"
#include "peers/onednn_transformer.hpp"

namespace bench {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;
using Kind = Convolution::Kind;
using Dims = memory::dims;

/// What a convolution is to oneDNN.
struct ConvolutionDims {
  Dims in, weights, out, stride, dilation, before, after;
  memory::desc weights_as_given;  ///< in the order of the operator's formula

  ConvolutionDims(const Convolution& p, int batch);

 private:
  void add_axis(const Convolution& p, int extent);
  void add_rows_of_capsules();
  void name_weights(const Convolution& p);
};

ConvolutionDims::ConvolutionDims(const Convolution& p, int batch) {
  const int side = p.kind == Kind::capsule ? capsule_side : 1;
  in = {batch, p.channels * side}, out = {batch, p.filters * side};
  for (const int extent : p.image) add_axis(p, extent);
  if (p.kind == Kind::capsule) add_rows_of_capsules();
  name_weights(p);
}

void ConvolutionDims::add_axis(const Convolution& p, int extent) {
  in.push_back(extent), out.push_back(p.result(extent));
  weights.push_back(p.kernel), stride.push_back(p.stride), dilation.push_back(p.dilation - 1);
  before.push_back(p.pad), after.push_back(p.pad);
}

void ConvolutionDims::add_rows_of_capsules() {
  in.push_back(capsule_side), out.push_back(capsule_side);
  weights.push_back(1), stride.push_back(1), dilation.push_back(0);
  before.push_back(0), after.push_back(0);
}

/// Given as K…(C / groups)F; oneDNN counts them GFCK…
void ConvolutionDims::name_weights(const Convolution& p) {
  const std::int64_t channels = in[1] / p.groups, filters = out[1] / p.groups;
  Dims strides(weights.size(), 1);
  std::int64_t stride_of_tap = channels * out[1];
  for (std::size_t axis = weights.size(); axis-- > 0; stride_of_tap *= weights[axis])
    strides[axis] = stride_of_tap;
  weights.insert(weights.begin(), {filters, channels});
  strides.insert(strides.begin(), {1, out[1]});
  if (p.groups > 1) {
    weights.insert(weights.begin(), p.groups);
    strides.insert(strides.begin(), filters);
  }
  weights_as_given = memory::desc(weights, Type::f32, strides);
}

/// Channels last.
memory::desc image(const Dims& dims) {
  constexpr Tag tags[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  return {dims, Type::f32, tags[dims.size() - 3]};
}
memory::desc any(const Dims& dims) { return {dims, Type::f32, Tag::any}; }

/// A primitive and the layouts that it chose.
struct Primitive {
  dnnl::primitive run;
  memory::desc in, weights, out;
};

template <class P>
Primitive primitive(const typename P::primitive_desc& desc) {
  return {P(desc), desc.src_desc(), desc.weights_desc(), desc.dst_desc()};
}

Primitive make_primitive(const Convolution& p, const ConvolutionDims& d, bool own_layout) {
  const memory::desc in = own_layout ? any(d.in) : image(d.in),
                     out = own_layout ? any(d.out) : image(d.out);
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  if (p.kind == Kind::transposed)
    return primitive<dnnl::deconvolution_forward>(
        {{kind, dnnl::algorithm::deconvolution_direct, in, any(d.weights), out, d.stride,
          d.dilation, d.before, d.after},
         engine()});
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  if (p.kind != Kind::bias_relu)
    return primitive<dnnl::convolution_forward>(
        {{kind, direct, in, any(d.weights), out, d.stride, d.dilation, d.before, d.after},
         engine()});
  dnnl::post_ops after;
  after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return primitive<dnnl::convolution_forward>(
      {{kind, direct, in, any(d.weights), dense({p.filters}), out, d.stride, d.dilation, d.before,
        d.after},
       attributes,
       engine()});
}

/// Weights of capsules, [taps, m, v, c, f], as [taps, (m, c), (v, f)].
std::vector<float> merged_weights(const Convolution& p, const float* given) {
  constexpr std::int64_t side = capsule_side;
  const std::int64_t taps = std::int64_t{p.kernel} * p.kernel, c = p.channels, f = p.filters;
  std::vector<float> out(static_cast<std::size_t>(taps * side * side * c * f));
  float* to = out.data();
  for (std::int64_t row = 0; row < taps * side; ++row)
    for (std::int64_t channel = 0; channel < c; ++channel)
      for (std::int64_t v = 0; v < side; ++v)
        to = std::copy_n(given + ((row * side + v) * c + channel) * f, f, to);
  return out;
}

/// Memory is written before it is timed: what new memory holds may be denormal numbers, which are
/// slow, in what a blocked layout has more than the image.
memory zeros(const memory::desc& layout) {
  memory out(layout, engine());
  std::fill_n(static_cast<std::byte*>(out.get_data_handle()), layout.get_size(), std::byte{});
  return out;
}

memory own_copy(const memory& given, const memory::desc& layout) {
  memory out = zeros(layout);
  copy(given, out);
  return out;
}

Competitor make(const Convolution& p, const OperatorJob& job, bool own_layout) {
  const ConvolutionDims d(p, job.what.batch);
  const Primitive chosen = make_primitive(p, d, own_layout);
  const memory in = wrap(image(d.in), job.in[0]), out = wrap(image(d.out), job.out);
  if (own_layout && chosen.in == in.get_desc() && chosen.out == out.get_desc()) return {};
  const std::vector<float> merged =
      p.kind == Kind::capsule ? merged_weights(p, job.in[1]) : std::vector<float>();
  const memory weights = wrap(d.weights_as_given, merged.empty() ? job.in[1] : merged.data());
  const memory to = own_layout ? zeros(chosen.out) : out;
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, own_layout ? own_copy(in, chosen.in) : in},
      {DNNL_ARG_WEIGHTS, own_copy(weights, chosen.weights)},
      {DNNL_ARG_DST, to}};
  if (p.kind == Kind::bias_relu)
    arguments.insert({DNNL_ARG_BIAS, wrap(dense({p.filters}), job.in[2])});
  Competitor c = competitor(chosen.run, arguments, job.threads);
  if (own_layout) c.name = "onednn_own", c.finish = [=] { copy(to, out); };
  return c;
}

std::vector<Competitor> competitors(const Convolution& p, const OperatorJob& job) {
  std::vector<Competitor> all = {make(p, job, false)};
  if (Competitor own = make(p, job, true); own.run) all.push_back(std::move(own));
  return all;
}

Competitor matmul(const memory::desc& a, const memory::desc& b, const OperatorJob& job,
                  const memory::desc& c) {
  const dnnl::matmul product({dnnl::matmul::desc(a, b, c), engine()});
  return competitor(product,
                    {{DNNL_ARG_SRC, wrap(a, job.in[0])},
                     {DNNL_ARG_WEIGHTS, wrap(b, job.in[1])},
                     {DNNL_ARG_DST, wrap(c, job.out)}},
                    job.threads);
}

std::vector<Competitor> competitors(const BatchedProduct& p, const OperatorJob& job) {
  const std::int64_t batch = job.what.batch;
  return {
      matmul(dense({batch, p.n, p.k}), dense({batch, p.k, p.m}), job, dense({batch, p.n, p.m}))};
}

/// Over the last axis.
Competitor softmax(const memory::desc& layout, const OperatorJob& job, const float* from) {
  return competitor(dnnl::softmax_forward(softmax_of(layout)),
                    {{DNNL_ARG_SRC, wrap(layout, from)}, {DNNL_ARG_DST, wrap(layout, job.out)}},
                    job.threads);
}

std::vector<Competitor> competitors(const Softmax&, const OperatorJob& job) {
  return {softmax(dense(shapes_of(job.what).out), job, job.in[0])};
}

/// Two primitives; the second one works in place.
std::vector<Competitor> competitors(const Scores& p, const OperatorJob& job) {
  const std::int64_t batch = job.what.batch, row = std::int64_t{p.heads} * p.width;
  const memory::desc q({batch, p.heads, p.length, p.width}, Type::f32,
                       Dims{p.length * row, p.width, row, 1});
  const memory::desc k({batch, p.heads, p.width, p.length}, Type::f32,
                       Dims{p.length * row, p.width, 1, row});
  const memory::desc scores = dense(shapes_of(job.what).out);
  Competitor product = matmul(q, k, job, scores);
  if (!p.softmax) return {product};
  return {{"onednn", [first = product.run, second = softmax(scores, job, job.out).run] {
             first(), second();
           }}};
}

std::vector<Competitor> competitors(const Norm&, const OperatorJob&) { return {}; }

}  // namespace

std::vector<Competitor> onednn_operators(const OperatorJob& job) {
  use_threads(job.threads);
  try {
    return std::visit([&](const auto& p) { return competitors(p, job); }, job.what.problem);
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    throw std::runtime_error("has no primitive for it");
  }
}

}  // namespace bench
