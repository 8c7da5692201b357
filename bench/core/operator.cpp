#include "core/operator.hpp"

#include <initializer_list>

namespace bench {

namespace {

using Kind = Convolution::Kind;

Extents with_batch(int batch, const std::vector<int>& more) {
  Extents out = {batch};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

OperatorShapes shapes(const Convolution& p, int batch) {
  const std::size_t axes = p.image.size();
  std::vector<int> in = p.image, out, weights(axes, p.kernel);
  for (const int extent : p.image) out.push_back(p.result(extent));
  if (p.kind == Kind::capsule)
    for (std::vector<int>* extents : {&in, &out, &weights})
      extents->insert(extents->end(), 2, capsule_side);
  in.push_back(p.channels), out.push_back(p.filters);
  if (p.kind != Kind::depthwise) weights.push_back(p.channels / p.groups);
  weights.push_back(p.filters);
  OperatorShapes all{{with_batch(batch, in), Extents(weights.begin(), weights.end())},
                     with_batch(batch, out)};
  if (p.kind == Kind::bias_relu) all.in.push_back({p.filters});
  return all;
}

OperatorShapes shapes(const BatchedProduct& p, int batch) {
  return {{{batch, p.n, p.k}, {batch, p.k, p.m}}, {batch, p.n, p.m}};
}

OperatorShapes shapes(const Norm& p, int batch) { return {{{batch, p.n, p.m}}, {batch}}; }

OperatorShapes shapes(const Softmax& p, int batch) {
  const Extents all = {std::int64_t{batch} * p.n, p.m};
  return {{all}, all};
}

OperatorShapes shapes(const Scores& p, int batch) {
  const Extents in = {batch, p.length, p.heads, p.width};
  return {{in, in}, {batch, p.heads, p.length, p.length}};
}

OperatorShapes shapes(const Attention& p, int batch) {
  const Extents q = {batch, p.queries, p.heads, p.width}, k = {batch, p.length, p.groups, p.width};
  return {{q, k, k}, q};
}

OperatorShapes shapes(const Linear& p, int batch) {
  const std::int64_t rows = std::int64_t{batch} * p.rows;
  OperatorShapes all{{{rows, p.inputs}, {p.inputs, p.outputs}, {p.outputs}}, {rows, p.outputs}};
  if (p.norm) all.in.insert(all.in.begin() + 1, 2, Extents{p.inputs});
  return all;
}

OperatorShapes shapes(const GatedUnit& p, int batch) {
  const Extents rows = {std::int64_t{batch} * p.rows, p.width}, in = {p.width, p.inner};
  return {{rows, in, in, {p.inner, p.width}}, rows};
}

OperatorShapes shapes(const RowNorm& p, int batch) {
  const Extents rows = {std::int64_t{batch} * p.rows, p.width};
  OperatorShapes all{{rows, {p.width}}, rows};
  if (p.centred) all.in.push_back({p.width});
  return all;
}

OperatorShapes shapes(const Rotation& p, int batch) {
  const Extents all = {batch, p.length, p.heads, p.width}, table = {p.length, p.width / 2};
  return {{all, table, table}, all};
}

/// What a chain of the largest, a difference, an exponential, a sum and a quotient takes.
constexpr double softmax_flops = 5;

struct FlopsOfElement {
  double operator()(const Convolution& p) const {
    double taps = 1;
    for (std::size_t axis = 0; axis < p.image.size(); ++axis) taps *= p.kernel;
    const double terms = taps * p.channels / p.groups;
    if (p.kind == Kind::capsule) return 2 * terms * capsule_side;
    return 2 * terms + (p.kind == Kind::bias_relu ? 2 : 0);
  }
  double operator()(const BatchedProduct& p) const { return 2.0 * p.k; }
  double operator()(const Norm& p) const { return 2.0 * p.n * p.m; }
  double operator()(const Softmax&) const { return softmax_flops; }
  double operator()(const Scores& p) const { return 2.0 * p.width + softmax_flops * p.softmax; }
  double operator()(const Attention& p) const {
    const double skipped = p.causal ? (p.queries - 1) / 2.0 : 0;
    return (4 + softmax_flops / p.width) * (p.length - skipped);
  }
  double operator()(const Linear& p) const { return 2.0 * p.inputs; }
  double operator()(const GatedUnit& p) const { return 6.0 * p.inner; }
  double operator()(const RowNorm& p) const { return p.centred ? 7 : 4; }
  double operator()(const Rotation&) const { return 3; }
};

std::string text(std::initializer_list<int> numbers) {
  std::string out;
  for (const int n : numbers) out += (out.empty() ? "" : "x") + std::to_string(n);
  return out;
}

struct Sizes {
  std::string operator()(const Convolution& p) const {
    std::string out;
    for (const int extent : p.image) out += std::to_string(extent) + "x";
    out += std::to_string(p.channels);
    if (p.kind != Kind::depthwise) out += "x" + std::to_string(p.filters);
    return out + " k" + std::to_string(p.kernel) + " s" + std::to_string(p.stride) + " p" +
           std::to_string(p.pad);
  }
  std::string operator()(const BatchedProduct& p) const { return text({p.n, p.m, p.k}); }
  std::string operator()(const Norm& p) const { return text({p.n, p.m}); }
  std::string operator()(const Softmax& p) const { return text({p.n, p.m}); }
  std::string operator()(const Scores& p) const { return text({p.length, p.heads, p.width}); }
  std::string operator()(const Attention& p) const {
    std::string out = text({p.length, p.heads, p.width});
    if (p.queries != p.length) out += " of " + std::to_string(p.queries);
    if (p.groups != p.heads) out += " in " + std::to_string(p.groups) + " groups";
    return out;
  }
  std::string operator()(const Linear& p) const { return text({p.rows, p.inputs, p.outputs}); }
  std::string operator()(const GatedUnit& p) const { return text({p.rows, p.width, p.inner}); }
  std::string operator()(const RowNorm& p) const { return text({p.rows, p.width}); }
  std::string operator()(const Rotation& p) const { return text({p.length, p.heads, p.width}); }
};

}  // namespace

std::string sizes_of(const OperatorProblem& problem) { return std::visit(Sizes(), problem); }

OperatorShapes shapes_of(const Operator& what) {
  return std::visit([&](const auto& p) { return shapes(p, what.batch); }, what.problem);
}

double flops_of(const Operator& what) {
  const OperatorShapes all = shapes_of(what);
  const auto* conv = std::get_if<Convolution>(&what.problem);
  // Each element of the image, not of the result, meets the whole kernel.
  if (conv && conv->kind == Kind::transposed)
    return FlopsOfElement()(*conv) * static_cast<double>(elements(all.in[0])) / conv->channels *
           conv->filters;
  return std::visit(FlopsOfElement(), what.problem) * static_cast<double>(elements(all.out));
}

}  // namespace bench
