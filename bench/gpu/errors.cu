// Which failures leave the context usable. Each experiment runs in a process of its own.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o errors errors.cu -lcuda
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>

#include "common.hpp"

namespace {

__global__ void store_to(int* address) { *address = 1; }
__global__ void trap() { asm volatile("trap;"); }
__global__ void fail_assertion() { assert(threadIdx.x > 1000); }
__global__ void __launch_bounds__(128) bounded(int* out) { *out = 1; }
__global__ void report(volatile int* status) {
  *status = 42;
  __threadfence_system();
}

const char* name_of(CUresult error) {
  const char* name = nullptr;
  return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "?";
}

// After an experiment: do calls still succeed, and after the primary context was let go and taken
// again?
void print_aftermath() {
  CUdeviceptr memory = 0;
  const CUresult before = cuMemAlloc(&memory, 1024);
  std::printf("; then cuMemAlloc: %s", name_of(before));
  if (before == CUDA_SUCCESS) return;
  CUdevice device = 0;
  CUcontext context = nullptr;
  const CUresult released = cuDevicePrimaryCtxRelease(device);
  const CUresult retained = cuDevicePrimaryCtxRetain(&context, device);
  std::printf("; context let go: %s, taken again: %s", name_of(released), name_of(retained));
  if (retained != CUDA_SUCCESS) return;
  const CUresult set = cuCtxSetCurrent(context);
  const CUresult after = set == CUDA_SUCCESS ? cuMemAlloc(&memory, 1024) : set;
  std::printf(", cuMemAlloc: %s", name_of(after));
}

void print_errors(cudaError_t at_call, cudaError_t at_wait) {
  std::printf("call: %s, wait: %s", cudaGetErrorName(at_call), cudaGetErrorName(at_wait));
  print_aftermath();
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int threads, int shared, Arguments... arguments) {
  kernel<<<1, threads, shared>>>(arguments...);
  const cudaError_t at_call = cudaGetLastError();
  print_errors(at_call, cudaDeviceSynchronize());
}

void unmapped_address() { launch(store_to, 1, 0, reinterpret_cast<int*>(0x1000)); }
void misaligned_address() {
  char* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64));
  launch(store_to, 1, 0, reinterpret_cast<int*>(memory + 2));
}
void trap_instruction() { launch(trap, 1, 0); }
void assertion() { launch(fail_assertion, 1, 0); }
void too_many_threads() { launch(trap, 2048, 0); }
void more_threads_than_bounds() { launch(bounded, 256, 0, static_cast<int*>(nullptr)); }
void too_much_shared_memory() { launch(trap, 1, 300'000); }
void too_much_memory() {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::size_t{1} << 42);
  print_errors(error, cudaDeviceSynchronize());
}

void host_memory() {
  static int word = 0;
  launch(store_to, 1, 0, &word);
}

void status_word() {
  int* word = nullptr;
  CHECK(cudaHostAlloc(&word, sizeof *word, cudaHostAllocDefault));
  *word = 0;
  report<<<1, 1>>>(word);
  CHECK(cudaDeviceSynchronize());
  std::printf("a kernel's store to pinned memory, by the host's address: %d", *word);
}

void graph_with_failure() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  void* memory = nullptr;
  const cudaError_t allocated = cudaMalloc(&memory, 1024);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  std::printf("cudaMalloc under a thread's capture: %s, end of capture: %s",
              cudaGetErrorName(allocated), cudaGetErrorName(ended));
}

void child_after_init() {
  CHECK(cudaFree(nullptr));
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    const CUresult allocated = cuMemAlloc(&memory, 1024);
    std::printf("cuMemAlloc in the child: %s, cuInit: %s", name_of(allocated), name_of(cuInit(0)));
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

struct Experiment {
  const char* name;
  void (*run)();
};
const Experiment kExperiments[] = {
    {"store to an unmapped address", unmapped_address},
    {"store to a misaligned address", misaligned_address},
    {"store to pageable host memory", host_memory},
    {"trap", trap_instruction},
    {"assert", assertion},
    {"2048 threads", too_many_threads},
    {"256 threads, __launch_bounds__(128)", more_threads_than_bounds},
    {"300,000 bytes of shared memory", too_much_shared_memory},
    {"4 TiB of memory", too_much_memory},
    {"pinned status word", status_word},
    {"allocation in a capture", graph_with_failure},
    {"fork after initialisation", child_after_init},
};

}  // namespace

int main() {
  for (const Experiment& experiment : kExperiments) {
    std::printf("%-36s ", experiment.name);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      experiment.run();
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf(WIFSIGNALED(status) ? " (killed by signal %d)\n" : "\n", WTERMSIG(status));
  }
}
