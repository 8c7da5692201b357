// Feeds bytes to the parser of traces and plays what it gives on a program: clang++
// -fsanitize=fuzzer,address,undefined. Any bytes give a trace that prints and reads back, or a
// UserError; any trace gives a program that verifies, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <lathe/ir/verify.hpp>
#include <lathe/lathe.hpp>
#include <string>

namespace {

const lathe::Schedule& start() {
  static const lathe::Schedule schedule(lathe::parse(
      "program P<n>(in X: f32[n, 12], out Y: f32[n], out Z: i32[12]):\n  alloc T: f32[n, 12]\n"
      "  for i in 0..n:\n    for j in 0..12:\n      block T(vi in 0..n = i, vj in 0..12 = j):\n"
      "        T[vi, vj] = X[vi, vj] * 2.0\n"
      "  for i in 0..n:\n    for r in 0..12:\n"
      "      block Y(vi in 0..n = i, reduce vr in 0..12 = r) reduce sum init:\n"
      "        Y[vi] sum= T[vi, vr]\n"
      "  for k in 0..12:\n    block Z(vk in 0..12 = k):\n      Z[vk] = i32(vk) + 1i32\n"));
  return schedule;
}

void play(const lathe::Trace& trace) {
  try {
    lathe::Schedule s = lathe::replay(trace, start(), true);
    if (!lathe::verify_reason(s.program(), lathe::Stage::blocks).empty()) std::abort();
  } catch (const lathe::UserError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const lathe::Trace trace = lathe::parse_trace({reinterpret_cast<const char*>(data), size});
    const std::string text = trace.str();
    if (lathe::parse_trace(text).str() != text) std::abort();
    play(trace);
  } catch (const lathe::UserError& error) {
    if (error.id() != "L0228") std::abort();
  }
  return 0;
}
