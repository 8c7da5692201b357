#pragma once

#include <algorithm>
#include <lathe/dsl/any.hpp>
#include <lathe/dsl/impl/tensor_graph.ipp>
#include <lathe/dsl/program.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>

namespace lathe {
namespace detail {

/// Puts each tensor's buffer of this program in the place of the one that DSL expressions hold.
class StorageMap : public Mutator {
 public:
  void set(const AnyTensor& tensor, Buffer storage) {
    map_.emplace_back(tensor.buffer(), std::move(storage));
  }
  Buffer of(const AnyTensor& tensor) { return buffer(tensor.buffer()); }
  Buffer buffer(const Buffer& b) override {
    if (!b->origin) return b;
    const TensorOrigin* wanted = origin_of(b);
    for (const auto& [known, storage] : map_) {
      const TensorOrigin* origin = origin_of(known);
      if (origin->source == wanted->source && origin->output == wanted->output) return storage;
    }
    const AnyTensor tensor(b);
    return tensor.is_input() ? tensor.param_buffer() : tensor.inner_buffer();
  }

 private:
  Vec<std::pair<Buffer, Buffer>> map_;
};

class ProgramBuilder {
 public:
  ProgramBuilder(const OutputList& outputs, Location where) : outputs_(outputs), where_(where) {}
  Program build(const Vec<ProgramParam>* params);

 private:
  [[noreturn]] void fail(const char* id, const std::string& message, const char* help = "") const {
    throw UserError(id, message, where_, {}, help);
  }
  void collect();
  Vec<ProgramParam> default_params() const;
  void check_params(const Vec<ProgramParam>& params) const;
  void check_missing(const Vec<ProgramParam>& params) const;
  void check_inout(const AnyTensor& in, const AnyTensor& result) const;
  void check_names(const Vec<ProgramParam>& params) const;
  void check_ranges() const;
  bool is_output(const AnyTensor& t) const;
  bool is_param(const TensorSource& source, int output) const;
  void add_constants();
  Stmt nest(const TensorSource& source);
  void declare_dims();

  const OutputList& outputs_;
  Location where_;
  TensorGraph graph_;
  StorageMap storage_;
  ProgramNode program_;
};

inline bool same_tensor(const AnyTensor& a, const AnyTensor& b) {
  if (!a || !b || a.is_scalar() || b.is_scalar())
    return a && b && a.is_scalar() && b.is_scalar() && a.scalar() == b.scalar();
  return &a.source() == &b.source() && a.output() == b.output();
}

inline bool same_extent(const AnyExpr& a, const AnyExpr& b) {
  if (a.same_as(b)) return true;
  const auto *x = as_const_int(a), *y = as_const_int(b);
  return x && y && *x == *y;
}

inline void ProgramBuilder::collect() {
  if (outputs_.tensors.empty()) fail("L0116", "a program needs an output");
  for (const auto& t : outputs_.tensors) {
    if (!t) fail("L0116", "an output is undefined");
    if (t.is_input()) fail("L0113", "output '" + t.name() + "' is an input");
    graph_.add(t);
    if (graph_.too_many)
      fail("L0125", "'" + t.name() + "' needs more than 1000 computes",
           "make several programs of it");
  }
}

inline bool ProgramBuilder::is_output(const AnyTensor& t) const {
  for (const auto& o : outputs_.tensors)
    if (same_tensor(o, t)) return true;
  return false;
}

inline Vec<ProgramParam> ProgramBuilder::default_params() const {
  Vec<ProgramParam> params;
  auto find_inout = [&](const AnyTensor& t) -> const ProgramParam* {
    for (const auto& p : outputs_.inouts)
      if (same_tensor(p.tensor, t) || same_tensor(p.result, t)) return &p;
    return nullptr;
  };
  for (const auto& t : graph_.inputs) {
    if (t.is_constant()) continue;
    const ProgramParam* inout = find_inout(t);
    params.push_back(inout ? *inout : ProgramParam(t));
  }
  for (const auto& s : graph_.scalars) params.emplace_back(AnyTensor(s));
  // An input that nothing reads may be written all the same.
  for (const auto& p : outputs_.inouts)
    if (std::none_of(params.begin(), params.end(),
                     [&](const ProgramParam& q) { return same_tensor(q.tensor, p.tensor); }))
      params.push_back(p);
  for (const auto& t : outputs_.tensors)
    if (!find_inout(t)) params.emplace_back(t);
  return params;
}

inline void ProgramBuilder::check_params(const Vec<ProgramParam>& params) const {
  for (std::size_t k = 0; k < params.size(); ++k) {
    const AnyTensor &t = params[k].tensor, &result = params[k].result;
    if (!t) fail("L0116", "argument " + std::to_string(k) + " is an undefined tensor");
    for (std::size_t other = 0; other < k; ++other)
      if (same_tensor(params[other].tensor, t) || same_tensor(params[other].result, t) ||
          same_tensor(params[other].tensor, result) || same_tensor(params[other].result, result))
        fail("L0113", "'" + t.name() + "' is given twice among the arguments");
    if (t.is_constant())
      fail("L0113", "constant '" + t.name() + "' is given as an argument",
           "leave it out: its elements are known");
    if (result) check_inout(t, result);
    if (!t.is_input() && !is_output(t))
      fail("L0113", "argument '" + t.name() + "' is an intermediate, not an output",
           "make it an output: lt::outputs(…, that tensor)");
  }
}

inline void ProgramBuilder::check_missing(const Vec<ProgramParam>& params) const {
  auto given = [&](const AnyTensor& t) {
    for (const auto& p : params)
      if (same_tensor(p.tensor, t) || same_tensor(p.result, t)) return true;
    return false;
  };
  for (const auto& t : graph_.inputs)
    if (!t.is_constant() && !given(t))
      fail("L0112", "input '" + t.name() + "' is read, but is not among the arguments");
  for (const auto& s : graph_.scalars)
    if (!given(AnyTensor(s)))
      fail("L0112", "scalar '" + s->name + "' is read, but is not among the arguments");
  for (const auto& t : outputs_.tensors)
    if (!given(t)) fail("L0112", "output '" + t.name() + "' is not among the arguments");
  for (const auto& io : outputs_.inouts)
    if (std::none_of(params.begin(), params.end(), [&](const ProgramParam& p) {
          return same_tensor(p.tensor, io.tensor) && same_tensor(p.result, io.result);
        }))
      fail("L0112",
           "'" + io.tensor.name() +
               "' is declared inout among the outputs, but not among the arguments",
           "give lt::inout(input, result) there too");
}

/// Every load of one input in a program, and which of them are not at the axes of the compute that
/// may overwrite it.
struct OtherReads : Visitor {
  const TensorSource* input = nullptr;
  const TensorSource* reader = nullptr;  ///< the compute being walked
  const TensorSource* owner = nullptr;   ///< the one whose reads at its own axes are harmless
  const TensorSource* offender = nullptr;

  void expr(const AnyExpr& e) override {
    if (const auto* load = e.as<LoadNode>())
      if (load->buffer->origin && origin_of(load->buffer)->source.get() == input &&
          !harmless(*load))
        offender = reader;
    descend(e);
  }
  bool harmless(const LoadNode& load) const {
    if (reader != owner) return false;
    for (std::size_t d = 0; d < load.indices.size(); ++d)
      if (!load.indices[d].same_as(AnyExpr(owner->iters[d].var))) return false;
    return true;
  }
};

inline void ProgramBuilder::check_inout(const AnyTensor& in, const AnyTensor& result) const {
  std::string what =
      "inout: '" + result.name() + "' cannot take the place of '" + in.name() + "': ";
  if (!in.is_input() || in.is_scalar())
    fail("L0115", what + "'" + in.name() + "' is not an input tensor");
  if (in.source().constancy != Constancy::none)
    fail("L0115", what + "'" + in.name() + "' is constant");
  if (!is_output(result)) fail("L0115", what + "'" + result.name() + "' is not an output");
  if (in.dtype() != result.dtype())
    fail("L0115", what + "one is " + in.dtype().str() + ", the other " + result.dtype().str());
  bool same = in.rank() == result.rank();
  for (int d = 0; same && d < in.rank(); ++d)
    same = same_extent(in.shape()[static_cast<std::size_t>(d)],
                       result.shape()[static_cast<std::size_t>(d)]);
  if (!same) fail("L0115", what + "their shapes differ");
  const TensorSource& source = result.source();
  if (source.reducer) fail("L0115", what + "it is a reduction");
  if (source.values.size() != 1) fail("L0115", what + "its compute has several outputs");
  OtherReads reads;
  reads.input = &in.source();
  reads.owner = &source;
  for (const auto& c : graph_.computes) {
    reads.reader = c.get();
    for (const auto& it : c->iters) reads.expr(it.min), reads.expr(it.extent);
    if (c->predicate) reads.expr(c->predicate);
    for (const auto& v : c->values) reads.expr(v);
  }
  if (reads.offender == &source)
    fail("L0115", what + "it reads '" + in.name() + "' at other elements than the one it stores");
  if (reads.offender)
    fail("L0115", what + "'" + reads.offender->name + "' reads '" + in.name() + "' too");
}

inline void ProgramBuilder::check_names(const Vec<ProgramParam>& params) const {
  Vec<std::string> names;
  auto add = [&](const std::string& name) {
    for (const auto& known : names)
      if (known == name)
        fail("L0111", "two tensors are called '" + name + "'",
             "give each tensor a name of its own");
    names.push_back(name);
  };
  for (const auto& p : params)
    if (p.tensor.is_input()) add(p.tensor.name());
  for (const auto& t : graph_.inputs)
    if (t.is_constant()) add(t.name());
  for (const auto& c : graph_.computes) {
    if (c->storage.size() > 1) add(c->name);
    for (const auto& s : c->storage) add(s.inner->name);
  }
}

/// A reduce range may read arguments, not what the program computes.
inline void ProgramBuilder::check_ranges() const {
  for (const auto& c : graph_.computes) {
    TensorGraph used;
    for (const auto& it : c->iters)
      if (!as_const_int(it.min) || !as_const_int(it.extent)) used.add_dims({it.min, it.extent});
    if (!used.computes.empty())
      throw UserError("L0122",
                      "a reduce range of '" + c->name + "' reads '" + used.computes[0]->name +
                          "', which is computed here",
                      where_, {}, "compute it in a program of its own and pass it as an input");
  }
}

inline bool ProgramBuilder::is_param(const TensorSource& source, int output) const {
  for (const auto& o : outputs_.tensors)
    if (&o.source() == &source && o.output() == output) return true;
  return false;
}

/// The loops of one compute with its block inside.
inline Stmt ProgramBuilder::nest(const TensorSource& source) {
  Vec<AnyExpr> at;
  Vec<IterVar> iters;
  Substitution loops;
  for (const auto& it : source.iters) {
    VarRef loop = make_var(origin_of(*it.var)->label);
    loops.emplace_back(it.var, AnyExpr(loop));
    iters.push_back({it.var, storage_.expr(it.min), storage_.expr(it.extent), it.kind, loop});
    if (it.kind == IterKind::spatial) at.push_back(it.var);
  }
  Vec<Stmt> stores;
  for (std::size_t k = 0; k < source.values.size(); ++k) {
    Buffer to = source.storage[k].inner;
    for (std::size_t o = 0; o < outputs_.tensors.size(); ++o)
      if (&outputs_.tensors[o].source() == &source &&
          outputs_.tensors[o].output() == static_cast<int>(k))
        to = storage_.of(outputs_.tensors[o]);
    stores.push_back(make_store(to, at, storage_.expr(source.values[k])));
  }
  BlockNode block(source.tag, iters, make_seq(std::move(stores)));
  if (source.predicate) block.predicate = storage_.expr(source.predicate);
  block.reducer = source.reducer;
  block.init = static_cast<bool>(source.reducer);
  Stmt s = make_block(std::move(block));
  for (std::size_t k = iters.size(); k-- > 0;) {
    const auto* var = iters[k].binding.as<VarNode>();
    s = make_for(VarRef(var), substitute(iters[k].min, loops), substitute(iters[k].extent, loops),
                 s);
  }
  return s;
}

inline void ProgramBuilder::declare_dims() {
  TensorGraph all = graph_;
  all.dims.clear();
  for (const auto& p : program_.params)
    if (p.buffer) all.add_dims(p.buffer->shape);
  for (const auto& d : graph_.dims) all.add_dims({AnyExpr(d)});
  for (const auto& dim : all.dims) {
    verify_dim(dim, program_.params, where_);
    const auto* o = origin_of(*dim);
    program_.dims.push_back(make_ref<DimNode>(dim, o->min, o->max, o->multiple_of));
  }
}

inline void ProgramBuilder::add_constants() {
  for (const auto& t : graph_.inputs)
    if (t.is_constant())
      program_.params.push_back(
          {Access::in, t.param_buffer(), {}, Constancy::owned, t.source().content});
}

inline Program ProgramBuilder::build(const Vec<ProgramParam>* given) {
  collect();
  Vec<ProgramParam> params = given ? *given : default_params();
  check_params(params);
  check_missing(params);
  check_names(params);
  check_ranges();
  for (const auto& p : params) {
    Param param;
    if (p.tensor.is_scalar())
      param.var = p.tensor.scalar();
    else
      param.buffer = p.tensor.param_buffer();
    param.access = p.result ? Access::inout : p.tensor.is_input() ? Access::in : Access::out;
    if (param.buffer) param.constancy = p.tensor.source().constancy;
    if (p.result)
      storage_.set(p.result, param.buffer);
    else if (!p.tensor.is_scalar())
      storage_.set(p.tensor, param.buffer);
    program_.params.push_back(std::move(param));
  }
  add_constants();
  Vec<Stmt> nests;
  for (const auto& c : graph_.computes) nests.push_back(nest(*c));
  program_.body = make_seq(std::move(nests));
  for (std::size_t k = graph_.computes.size(); k-- > 0;)
    for (std::size_t o = graph_.computes[k]->storage.size(); o-- > 0;)
      if (!is_param(*graph_.computes[k], static_cast<int>(o)))
        program_.body = make_alloc(graph_.computes[k]->storage[o].inner, program_.body);
  program_.name = outputs_.tensors[0].source().name;
  declare_dims();
  return Program(std::move(program_));
}

}  // namespace detail

LATHE_DECL Program program_of(const OutputList& outputs, const Vec<ProgramParam>& params,
                              Location where) {
  return detail::within_memory(
      "program", where, [&] { return detail::ProgramBuilder(outputs, where).build(&params); });
}
LATHE_DECL Program program_of(const OutputList& outputs, Location where) {
  return detail::within_memory(
      "program", where, [&] { return detail::ProgramBuilder(outputs, where).build(nullptr); });
}

}  // namespace lathe
