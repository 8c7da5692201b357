// How lowering tests state their claim: after every pass the evaluator gives the bits that the
// program gave.
#pragma once

#include <lathe/ir/compare.hpp>
#include <lathe/lower/passes.hpp>
#include <lathe/lower/pipeline.hpp>
#include <lathe/runtime/abi.hpp>

#include "../../support/lowering.hpp"
#include "../schedule/run.hpp"

namespace test {

/// Arguments of a program, dense; the same bytes whatever stage it is at.
struct Arguments {
  std::vector<std::vector<unsigned char>> memory;

  explicit Arguments(const lt::Program& p, const Dims& dims = {}) : dims_(dims) {
    unsigned seed = 0;
    for (const auto& param : p->params) {
      if (!param.buffer) continue;
      std::size_t size = static_cast<std::size_t>(param.dtype().element_bytes());
      for (const auto& e : param.buffer->shape)
        size *= static_cast<std::size_t>(extent_value(e, p, dims));
      memory.emplace_back(size, static_cast<unsigned char>(0xA5));
      if (param.access != lt::Access::out) fill(memory.back(), param.dtype(), ++seed);
    }
  }

  std::vector<std::uint64_t> slots(const lt::Program& p) {
    DenseCall call;
    for (auto& m : memory) call.buffers.push_back(m.data());
    call.extent = [&](const lt::AnyExpr& e) { return extent_value(e, p, dims_); };
    call.scalar = [](lt::DType) { return lt::to_slot(1.5f); };
    return slots_of(p, call);
  }

 private:
  Dims dims_;
};

inline std::vector<std::vector<unsigned char>> evaluate_stage(const lt::Program& p,
                                                              const lt::Program& original,
                                                              const Dims& dims = {}) {
  Arguments arguments(original, dims);
  auto slots = arguments.slots(p);
  lt::Evaluator(p).run(slots.data());
  return arguments.memory;
}

/// Runs the pipeline up to the pass that may contract, comparing after each pass. Gives the last
/// program.
inline lt::Program check_stages(const lt::Program& program, const Dims& dims = {},
                                const lt::Target& target = lt::Target("x86-64-v4")) {
  auto expected = evaluate_stage(program, program, dims);
  lt::Program last = program;
  Lowering lowering(program, target);
  for (const lt::Pass& pass : lt::cpu_pipeline()) {
    if (std::string_view(pass.name) == "contract") break;
    const lt::Program staged = lowering.until(pass.name);
    if (structurally_equal(staged, std::exchange(last, staged))) continue;
    INFO("after ", pass.name, ":\n", last.str());
    CHECK(lt::verify_reason(last, last->stage) == "");
    CHECK(evaluate_stage(last, program, dims) == expected);
  }
  return last;
}

/// What a pass leaves of the body of a program with these parameters; all stages are compared.
inline std::string body_after(const char* pass, const std::string& parameters,
                              const std::string& body) {
  const lt::Program p = lt::parse("program P(" + parameters + "):\n" + body);
  check_stages(p);
  const std::string text = lt::lower_until(pass, p, lt::host()).str();
  return text.substr(text.find('\n') + 1);
}

}  // namespace test
