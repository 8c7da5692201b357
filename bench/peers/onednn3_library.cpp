// oneDNN 3, in a library of its own: what it calls has the names of oneDNN 2's functions.
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>

#include "peers/onednn3.hpp"
#include "peers/onednn_types.hpp"

namespace {

using bench::Competitor;
using bench::ProductJob;
using bench::ProductTypes;
using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

dnnl::stream& stream() {
  static dnnl::stream all(engine());
  return all;
}

Types all_types_of(ProductTypes types) {
  return types_of(types).value_or(Types{Type::f64, Type::f64, Type::f64});
}

/// A product that reads B in one layout.
struct Matmul {
  memory a, b, c;
  dnnl::matmul primitive;

  void run() {
    primitive.execute(stream(), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
  }
};

memory wrap(const memory::desc& desc, const void* data) {
  return memory(desc, engine(), const_cast<void*>(data));
}

/// B in the layout that oneDNN likes best: not filled yet.
Matmul best_matmul(const ProductJob& job) {
  const auto& [kind, m, n, k, constant] = job.what;
  const Types types = all_types_of(kind);
  const memory::desc a({m, k}, types.a, Tag::ab), b({k, n}, types.b, Tag::any),
      c({m, n}, types.c, Tag::ab);
  const dnnl::matmul::primitive_desc desc(engine(), a, b, c);
  return {wrap(a, job.a), memory(desc.weights_desc(), engine()), wrap(c, job.c),
          dnnl::matmul(desc)};
}

memory plain_b(const ProductJob& job) {
  return wrap({{job.what.k, job.what.n}, all_types_of(job.what.types).b, Tag::ab}, job.b);
}

Matmul plain_matmul(const ProductJob& job) {
  const auto& [kind, m, n, k, constant] = job.what;
  const Types types = all_types_of(kind);
  const memory::desc a({m, k}, types.a, Tag::ab), c({m, n}, types.c, Tag::ab);
  const memory b = plain_b(job);
  const dnnl::matmul::primitive_desc desc(engine(), a, b.get_desc(), c);
  return {wrap(a, job.a), b, wrap(c, job.c), dnnl::matmul(desc)};
}

Competitor packed_ahead(const ProductJob& job) {
  Matmul product = best_matmul(job);
  memory b = plain_b(job);
  dnnl::reorder(b, product.b).execute(stream(), b, product.b);
  stream().wait();
  return {"onednn3", [product]() mutable {
            product.run();
            stream().wait();
          }};
}

Competitor packed_by_each_call(const ProductJob& job) {
  Matmul product = best_matmul(job);
  memory b = plain_b(job);
  return {"onednn3 reorders", [=, reorder = dnnl::reorder(b, product.b)]() mutable {
            reorder.execute(stream(), b, product.b);
            product.run();
            stream().wait();
          }};
}

Competitor in_place(const ProductJob& job) {
  return {"onednn3", [product = plain_matmul(job)]() mutable {
            product.run();
            stream().wait();
          }};
}

}  // namespace

void bench_onednn3_start() {
  const memory::desc square({64, 64}, Type::f32, Tag::ab);
  memory a(square, engine()), b(square, engine()), c(square, engine());
  Matmul product{a, b, c, dnnl::matmul({engine(), square, square, square})};
  product.run();
  stream().wait();
}

void bench_onednn3_products(const ProductJob& job, std::vector<Competitor>& to) {
  try {
    if (job.what.constant)
      to = {packed_ahead(job)};
    else
      to = {in_place(job), packed_by_each_call(job)};
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented) throw;
    throw std::runtime_error("has no product of these types");
  }
}
