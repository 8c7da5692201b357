// A CUDA source that describes a kernel of Lathe beside one of its own; bodies are in another file.
#include <lathe/lathe.hpp>

namespace lt = lathe;

__global__ void twice(float* x) { x[threadIdx.x] *= 2; }

lt::Program described() {
  lt::Dim n("n");
  lt::Input<float, 1> X("X", {n});
  auto Y = lt::compute("Y", {n}, [&](lt::Var i) { return X(i) * 2.0f; });
  return lt::program_of(Y);
}
