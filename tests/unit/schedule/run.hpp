// How schedule tests state that a schedule kept the meaning of its program: runs both, compares
// every output bit.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <lathe/analysis/access.hpp>
#include <lathe/arith/simplify.hpp>
#include <lathe/dsl/dsl.hpp>
#include <lathe/eval/evaluate.hpp>
#include <lathe/ir/compare.hpp>
#include <lathe/ir/narrow.hpp>
#include <lathe/ir/parse.hpp>
#include <lathe/ir/print.hpp>
#include <lathe/ir/verify.hpp>
#include <lathe/ir/visit.hpp>
#include <lathe/schedule/core/schedule.hpp>
#include <string>
#include <vector>

#include "support/documented.hpp"
#include "support/slots.hpp"

namespace test {

namespace lt = lathe;

/// Values of dims by name.
using Dims = std::vector<std::pair<std::string, std::int64_t>>;

inline std::int64_t dim_value(const Dims& dims, const std::string& name) {
  for (const auto& [known, value] : dims)
    if (known == name) return value;
  FAIL("no value for dim " << name);
  return 0;
}

inline std::int64_t extent_value(const lt::AnyExpr& e, const lt::Program& p, const Dims& dims) {
  lt::Substitution map;
  for (const auto& d : p->dims)
    map.emplace_back(d->var, lt::AnyExpr(dim_value(dims, d->var->name)));
  return lt::const_int(lt::substitute(e, map)).value();
}

/// Small integers that depend on the position, so that sums of a few thousand are exact in f32 in
/// any order.
inline void fill(std::vector<unsigned char>& bytes, lt::DType t, unsigned seed) {
  auto width = static_cast<std::size_t>(t.element_bytes());
  for (std::size_t k = 0; k * width < bytes.size(); ++k) {
    int value = static_cast<int>((k * 7 + k / 13 + seed * 5) % 17) - 8;
    auto put = [&](auto v) { std::memcpy(bytes.data() + k * width, &v, width); };
    if (t == lt::kF32)
      put(static_cast<float>(value));
    else if (t == lt::kF64)
      put(static_cast<double>(value));
    else if (t == lt::kF16)
      put(lt::f16(static_cast<float>(value)));
    else if (t.is_bool())
      put(static_cast<unsigned char>(value > 0));
    else
      put(static_cast<std::int64_t>(t.is_unsigned() ? value + 8 : value));
  }
}

/// What a scalar parameter is.
inline std::uint64_t scalar_slot(lt::DType t) {
  if (t == lt::kF32) return std::bit_cast<std::uint32_t>(2.0f);
  if (t == lt::kF64) return std::bit_cast<std::uint64_t>(2.0);
  return 2;
}

/// The bytes of every parameter buffer after the program ran.
inline std::vector<std::vector<unsigned char>> run(const lt::Program& p, const Dims& dims = {},
                                                   bool find_uninitialized = true) {
  std::vector<std::vector<unsigned char>> memory;
  unsigned seed = 0;
  for (const auto& param : p->params) {
    if (!param.buffer) continue;
    std::size_t size = static_cast<std::size_t>(param.dtype().element_bytes());
    for (const auto& e : param.buffer->shape)
      size *= static_cast<std::size_t>(extent_value(e, p, dims));
    memory.emplace_back(size, static_cast<unsigned char>(0xA5));
    if (param.access != lt::Access::out) fill(memory.back(), param.dtype(), ++seed);
  }
  DenseCall call;
  for (auto& m : memory) call.buffers.push_back(m.data());
  call.extent = [&](const lt::AnyExpr& e) { return extent_value(e, p, dims); };
  call.scalar = scalar_slot;
  const auto slots = slots_of(p, call);
  lt::EvaluatorOptions options;
  options.find_uninitialized = find_uninitialized;
  lt::Evaluator(p, options).run(slots.data());
  return memory;
}

/// The same program with parallel loops, and vectorized ones of a single block, running backwards,
/// which changes nothing if their promises hold. Between blocks lanes may hand values onward.
inline lt::Program backwards(const lt::Program& p) {
  struct Reverse : lt::Mutator {
    lt::Stmt stmt(const lt::Stmt& s) override {
      const auto* f = s.as<lt::ForNode>();
      if (!f || f->loop_kind == lt::ForKind::serial || f->loop_kind == lt::ForKind::unrolled ||
          (f->loop_kind == lt::ForKind::vectorized && lt::blocks_below(f->body).size() > 1))
        return descend(s);
      lt::AnyExpr mirrored = f->min + f->min + f->extent - 1 - lt::AnyExpr(f->var);
      lt::VarRef var = lt::make_var(f->var->name);
      lt::Stmt body = lt::substitute(
          stmt(f->body), {{f->var, lt::substitute(mirrored, {{f->var, lt::AnyExpr(var)}})}});
      return lt::make_for(var, f->min, f->extent, body, f->loop_kind, f->attributes);
    }
  };
  return p.with(Reverse().stmt(p->body));
}

/// The schedule computes what its program computed; its program holds verify's rules and reads back
/// from its text; its trace replays to it, from memory and from text.
inline void check_kept(const lt::Schedule& start, const lt::Schedule& s, const Dims& dims = {}) {
  INFO(s.str());
  CHECK(lt::verify_reason(s.program(), lt::Stage::blocks) == "");
  auto expected = run(start.program(), dims);
  CHECK(run(s.program(), dims) == expected);
  CHECK(run(backwards(s.program()), dims) == expected);
  CHECK(lt::structurally_equal(lt::parse(s.str()), s.program()));
  lt::Trace trace = s.trace();
  INFO(trace.str());
  CHECK(lt::structurally_equal(lt::replay(trace, start).program(), s.program()));
  lt::Trace parsed = lt::parse_trace(trace.str());
  CHECK(parsed.str() == trace.str());
  CHECK(lt::structurally_equal(lt::replay(parsed, start).program(), s.program()));
}

/// Line numbers of test files become #, so that texts do not change with the lines around.
inline std::string without_lines(std::string text) {
  for (std::size_t at = text.find("_test.cpp:"); at != std::string::npos;
       at = text.find("_test.cpp:", at + 1)) {
    std::size_t begin = at + 10, end = begin;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    text.replace(begin, end - begin, "#");
  }
  return text;
}

/// The row of the primitive in tests/docs names what it is refused with.
inline void check_documented(const std::string& primitive, const std::string& id) {
  INFO("docs/schedule.md does not say that ", primitive, " may be refused with ", id);
  CHECK(documents_refusal(primitive, id));
}
/// The same for a refusal's text, "error[L0203] split: …".
inline void check_documented(const std::string& error) {
  const std::string id = error.substr(6, 5), name = error.substr(13, error.find(':') - 13);
  if (lt::find_primitive(name)) check_documented(name, id);
}

/// A step that is refused: the whole text of the error, and that the schedule stayed as it was.
template <class Step>
std::string refused(lt::Schedule& s, Step&& step) {
  std::uint64_t before = lt::structural_hash(s.program());
  std::string trace = s.trace().str();
  std::string text = "not refused";
  try {
    step(s);
  } catch (const lt::UserError& e) {
    text = without_lines(e.what());
    check_documented(text);
    CHECK(e.where().line > 0);
  }
  CHECK(lt::structural_hash(s.program()) == before);
  CHECK(s.trace().str() == trace);
  return text;
}
/// Its first line.
template <class Step>
std::string refused_line(lt::Schedule& s, Step&& step) {
  const std::string text = refused(s, step);
  return text.substr(0, text.find('\n'));
}
/// Its id.
template <class Step>
std::string refused_id(lt::Schedule& s, Step&& step) {
  std::string text = refused(s, step);
  return text.substr(0, 12) == "not refused" ? text : text.substr(6, 5);
}

}  // namespace test
