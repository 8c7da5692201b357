// oneDNN: matmul with post-operations, element-wise primitives.
#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <unordered_map>

#include "core/peers.hpp"
#include "peers/onednn_operators.hpp"
#include "peers/onednn_run.hpp"

namespace bench {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

Tag tag_of_b(const Gemm& p) { return p.b_transposed ? Tag::ba : Tag::ab; }

dnnl::matmul::primitive_desc matmul_desc(const Gemm& p) {
  const memory::desc a({p.m, p.k}, Type::f32, p.a_transposed ? Tag::ba : Tag::ab);
  const memory::desc b({p.k, p.n}, Type::f32, p.packed ? Tag::any : tag_of_b(p));
  const memory::desc c({p.m, p.n}, Type::f32, Tag::ab);
  dnnl::primitive_attr attributes;
  if (!p.epilogue) return {dnnl::matmul::desc(a, b, c), attributes, engine()};
  dnnl::post_ops after;
  after.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
  attributes.set_post_ops(after);
  const memory::desc bias({1, p.n}, Type::f32, Tag::ab);
  return {dnnl::matmul::desc(a, b, bias, c), attributes, engine()};
}

Competitor make_gemm(const Gemm& p, const Job& job) {
  const dnnl::matmul::primitive_desc desc = matmul_desc(p);
  const memory b = packed(wrap(memory::desc({p.k, p.n}, Type::f32, tag_of_b(p)), job.in[1].data()),
                          desc.weights_desc());
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, wrap(desc.src_desc(), job.in[0].data())},
      {DNNL_ARG_WEIGHTS, b},
      {DNNL_ARG_DST, wrap(desc.dst_desc(), job.out.data())}};
  if (p.epilogue) arguments.insert({DNNL_ARG_BIAS, wrap(desc.bias_desc(), job.in[2].data())});
  return competitor(dnnl::matmul(desc), arguments, job.threads);
}

Competitor make_map(const Elementwise& p, const Job& job) {
  const memory::desc desc({p.n}, Type::f32, Tag::a);
  const memory a = wrap(desc, job.in[0].data()), y = wrap(desc, job.out.data());
  switch (p.op) {
    case Elementwise::Op::copy:
      return competitor(dnnl::reorder(a, y), {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, y}}, job.threads);
    case Elementwise::Op::triad: {
      const dnnl::sum::primitive_desc sum(desc, {1.0f, 0.5f}, {desc, desc}, engine());
      const memory b = wrap(desc, job.in[1].data());
      return competitor(
          dnnl::sum(sum),
          {{DNNL_ARG_MULTIPLE_SRC, a}, {DNNL_ARG_MULTIPLE_SRC + 1, b}, {DNNL_ARG_DST, y}},
          job.threads);
    }
    case Elementwise::Op::exp:
    case Elementwise::Op::gelu:
      break;
  }
  const auto algorithm = p.op == Elementwise::Op::exp ? dnnl::algorithm::eltwise_exp
                                                      : dnnl::algorithm::eltwise_gelu_erf;
  const dnnl::eltwise_forward::desc forward(dnnl::prop_kind::forward_inference, algorithm, desc,
                                            0.0f, 0.0f);
  return competitor(dnnl::eltwise_forward({forward, engine()}),
                    {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, y}}, job.threads);
}

std::vector<Competitor> make(const Job& job) {
  use_threads(job.threads);
  if (const auto* gemm = std::get_if<Gemm>(&job.what.problem)) return {make_gemm(*gemm, job)};
  if (const auto* map = std::get_if<Elementwise>(&job.what.problem)) return {make_map(*map, job)};
  return {};
}

constexpr const char* no_product = "has no product of these types";

Competitor make_product(const ProductJob& job) {
  const auto& [kind, m, n, k, constant] = job.what;
  const std::optional<Types> known = types_of(kind);
  if (!known) throw std::runtime_error(no_product);
  const Types types = *known;
  const memory::desc a({m, k}, types.a, Tag::ab), b({k, n}, types.b, Tag::ab),
      c({m, n}, types.c, Tag::ab);
  const memory::desc any({k, n}, types.b, Tag::any);
  const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(a, constant ? any : b, c), engine());
  return competitor(dnnl::matmul(desc),
                    {{DNNL_ARG_SRC, wrap(a, job.a)},
                     {DNNL_ARG_WEIGHTS, packed(wrap(b, job.b), desc.weights_desc())},
                     {DNNL_ARG_DST, wrap(c, job.c)}},
                    1);
}

std::vector<Competitor> products(const ProductJob& job) {
  use_threads(1);
  try {
    return {make_product(job)};
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    throw std::runtime_error(no_product);
  }
}

void compile(const Gemm& p) {
  dnnl::set_primitive_cache_capacity(0);
  const dnnl::matmul primitive(matmul_desc(p));
  (void)primitive;
}

}  // namespace

Peer onednn_peer() {
  return {"onednn", "", make, compile, "oneapi/dnnl/dnnl.hpp", products, onednn_operators};
}

}  // namespace bench
