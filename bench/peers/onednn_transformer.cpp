#include "peers/onednn_transformer.hpp"

#include <cmath>
#include <oneapi/dnnl/dnnl.hpp>

#include "peers/onednn_run.hpp"

namespace bench {

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;
using Type = memory::data_type;

memory::desc any(const Dims& dims) { return {dims, Type::f32, memory::format_tag::any}; }

/// Primitives one after the other.
class Chain {
 public:
  explicit Chain(int threads) : threads_(threads) {}

  void add(const dnnl::primitive& primitive, const Arguments& arguments) {
    steps_.push_back(competitor(primitive, arguments, threads_).run);
  }
  std::vector<Competitor> done() const {
    return {{"onednn", [steps = steps_] {
               for (const auto& step : steps) step();
             }}};
  }

 private:
  int threads_;
  std::vector<std::function<void()>> steps_;
};

/// Weights are packed ahead, in the layout that the primitive asks for.
void add_linear(Chain& chain, const memory& x, const memory& weights, const memory& bias,
                const memory& y, const dnnl::primitive_attr& attributes, Arguments more = {}) {
  const memory::desc shape = any(weights.get_desc().dims());
  const dnnl::matmul::desc plain(x.get_desc(), shape, y.get_desc()),
      biased(x.get_desc(), shape, bias ? bias.get_desc() : memory::desc(), y.get_desc());
  const dnnl::matmul::primitive_desc product(bias ? biased : plain, attributes, engine());
  more.insert({{DNNL_ARG_SRC, x},
               {DNNL_ARG_WEIGHTS, packed(weights, product.weights_desc())},
               {DNNL_ARG_DST, y}});
  if (bias) more.insert({DNNL_ARG_BIAS, bias});
  chain.add(dnnl::matmul(product), more);
}

dnnl::primitive_attr followed_by(dnnl::algorithm function, float alpha) {
  dnnl::post_ops after;
  after.append_eltwise(1.0f, function, alpha, 0.0f);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return attributes;
}

void add_layer_norm(Chain& chain, const memory& x, const float* gain, const float* shift,
                    const memory& y) {
  using Flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward::desc norm(dnnl::prop_kind::forward_inference,
                                                     x.get_desc(), norm_epsilon,
                                                     Flags::use_scale | Flags::use_shift);
  const memory::desc row = dense({x.get_desc().dims().back()});
  chain.add(dnnl::layer_normalization_forward({norm, engine()}),
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_SCALE, wrap(row, gain)},
             {DNNL_ARG_SHIFT, wrap(row, shift)},
             {DNNL_ARG_DST, y}});
}

/// Zero where a query sees a place. Added by a primitive of its own: after a product it is the
/// reference implementation, a thousand times as slow.
void add_mask(Chain& chain, const Attention& p, const memory& scores) {
  const memory mask(dense({1, 1, 1, p.queries, p.length}), engine());
  auto* to = static_cast<float*>(mask.get_data_handle());
  for (int i = 0; i < p.queries; ++i)
    for (int j = 0; j < p.length; ++j) *to++ = j <= i + p.length - p.queries ? 0.0f : -1e30f;
  const memory::desc& all = scores.get_desc();
  const dnnl::binary::desc sum(dnnl::algorithm::binary_add, all, mask.get_desc(), all);
  chain.add(dnnl::binary({sum, engine()}),
            {{DNNL_ARG_SRC_0, scores}, {DNNL_ARG_SRC_1, mask}, {DNNL_ARG_DST, scores}});
}

}  // namespace

std::vector<Competitor> competitors(const Attention& p, const OperatorJob& job) {
  const std::int64_t b = job.what.batch, g = p.groups, s = p.heads / p.groups, m = p.queries,
                     n = p.length, w = p.width;
  const memory::desc q({b, g, s, m, w}, Type::f32, Dims{m * g * s * w, s * w, w, g * s * w, 1}),
      k({b, g, 1, w, n}, Type::f32, Dims{n * g * w, w, w, 1, g * w}),
      v({b, g, 1, n, w}, Type::f32, Dims{n * g * w, w, w, g * w, 1}),
      scores = dense({b, g, s, m, n});
  const memory between(scores, engine());
  dnnl::primitive_attr scaled;
  scaled.set_output_scales(0, {1.0f / std::sqrt(static_cast<float>(p.width))});
  Chain chain(job.threads);
  chain.add(dnnl::matmul({dnnl::matmul::desc(q, k, scores), scaled, engine()}),
            {{DNNL_ARG_SRC, wrap(q, job.in[0])},
             {DNNL_ARG_WEIGHTS, wrap(k, job.in[1])},
             {DNNL_ARG_DST, between}});
  if (p.causal) add_mask(chain, p, between);
  chain.add(dnnl::softmax_forward(softmax_of(scores)),
            {{DNNL_ARG_SRC, between}, {DNNL_ARG_DST, between}});
  chain.add(dnnl::matmul({dnnl::matmul::desc(scores, v, q), engine()}),
            {{DNNL_ARG_SRC, between},
             {DNNL_ARG_WEIGHTS, wrap(v, job.in[2])},
             {DNNL_ARG_DST, wrap(q, job.out)}});
  return chain.done();
}

std::vector<Competitor> competitors(const Linear& p, const OperatorJob& job) {
  const OperatorShapes shapes = shapes_of(job.what);
  const memory::desc rows = dense(shapes.in[0]);
  Chain chain(job.threads);
  memory x = wrap(rows, job.in[0]);
  if (p.norm) {
    const memory between(rows, engine());
    add_layer_norm(chain, x, job.in[1], job.in[2], between);
    x = between;
  }
  const std::size_t last = job.in.size() - 1;
  add_linear(chain, x, wrap(dense(shapes.in[last - 1]), job.in[last - 1]),
             wrap(dense({1, p.outputs}), job.in[last]), wrap(dense(shapes.out), job.out),
             p.gelu ? followed_by(dnnl::algorithm::eltwise_gelu_erf, 0) : dnnl::primitive_attr());
  return chain.done();
}

std::vector<Competitor> competitors(const GatedUnit&, const OperatorJob& job) {
  const OperatorShapes shapes = shapes_of(job.what);
  const memory::desc rows = dense(shapes.in[0]), in = dense(shapes.in[1]),
                     inner = dense({shapes.in[0][0], shapes.in[1][1]});
  const memory x = wrap(rows, job.in[0]), gate(inner, engine()), up(inner, engine());
  Chain chain(job.threads);
  add_linear(chain, x, wrap(in, job.in[1]), {}, gate,
             followed_by(dnnl::algorithm::eltwise_swish, 1));
  dnnl::post_ops times;
  times.append_binary(dnnl::algorithm::binary_mul, inner);
  dnnl::primitive_attr gated;
  gated.set_post_ops(times);
  add_linear(chain, x, wrap(in, job.in[2]), {}, up, gated,
             {{DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, gate}});
  add_linear(chain, up, wrap(dense(shapes.in[3]), job.in[3]), {}, wrap(rows, job.out), {});
  return chain.done();
}

std::vector<Competitor> competitors(const RowNorm& p, const OperatorJob& job) {
  if (!p.centred) return {};
  const memory::desc rows = dense(shapes_of(job.what).in[0]);
  Chain chain(job.threads);
  add_layer_norm(chain, wrap(rows, job.in[0]), job.in[1], job.in[2], wrap(rows, job.out));
  return chain.done();
}

std::vector<Competitor> competitors(const Rotation&, const OperatorJob&) { return {}; }

}  // namespace bench
