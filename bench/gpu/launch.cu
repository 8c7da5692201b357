// What a launch costs on the host and on the device, by each way to launch, and what other calls of
// the driver cost that a run-time library may need at each call.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o launch launch.cu -lcuda
#include <functional>
#include <string>

#include "common.hpp"

namespace {

struct Arguments {
  void* pointers[4];
  long long extents[4];
};

__global__ void empty() {}
__global__ void eight(void*, void*, void*, void*, long long, long long, long long, long long) {}
__global__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

struct Way {
  std::string name;
  std::function<void()> call;
  int kernels = 1;  ///< of a call
};

// `calls` calls enqueued on an idle stream: us a call on the host, and a kernel until all are done.
void measure(const std::vector<Way>& ways, cudaStream_t stream, int calls) {
  constexpr int kRounds = 41;
  std::vector<std::vector<double>> host(ways.size()), total(ways.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      double enqueued = 0;
      const double all = host_microseconds([&] {
        enqueued = host_microseconds([&] {
          for (int call = 0; call < calls; ++call) ways[i].call();
        });
        CHECK(cudaStreamSynchronize(stream));
      });
      host[i].push_back(enqueued / calls);
      total[i].push_back(all / calls / ways[i].kernels);
    }
  for (std::size_t i = 0; i < ways.size(); ++i)
    std::printf("  %-46s host %7.3f us a call (least %.3f), done %7.3f us a kernel\n",
                ways[i].name.c_str(), median(host[i]),
                *std::min_element(host[i].begin(), host[i].end()), median(total[i]));
}

CUfunction function_of(const void* kernel) {
  cudaFunction_t out;
  CHECK(cudaGetFuncBySymbol(&out, kernel));
  return out;
}

cudaGraphExec_t record(cudaStream_t stream, int kernels, const std::function<void()>& launch) {
  cudaGraph_t graph;
  cudaGraphExec_t out;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kernels; ++i) launch();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&out, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return out;
}

CUlaunchConfig config_of(cudaStream_t stream, CUlaunchAttribute* attributes, unsigned count) {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = attributes, config.numAttrs = count;
  return config;
}

void measure_launches(cudaStream_t stream) {
  Arguments a = {};
  void* pointers[] = {&a.pointers[0], &a.pointers[1], &a.pointers[2], &a.pointers[3],
                      &a.extents[0],  &a.extents[1],  &a.extents[2],  &a.extents[3]};
  std::size_t bytes = sizeof a;
  void* buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &a, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    CU_LAUNCH_PARAM_END};
  CUlaunchAttribute dependent = {};
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig plain = config_of(stream, nullptr, 0),
                       early = config_of(stream, &dependent, 1);
  const CUfunction none = function_of(reinterpret_cast<void*>(empty)),
                   many = function_of(reinterpret_cast<void*>(eight)),
                   waits = function_of(reinterpret_cast<void*>(wait_for_previous));
  const auto launch_many = [&] { CHECK(cuLaunchKernelEx(&plain, many, pointers, nullptr)); };
  const cudaGraphExec_t one = record(stream, 1, launch_many),
                        hundred = record(stream, 100, launch_many);
  measure({{"cuLaunchKernelEx, no argument",
            [&] { CHECK(cuLaunchKernelEx(&plain, none, nullptr, nullptr)); }},
           {"cuLaunchKernelEx, eight arguments", launch_many},
           {"cuLaunchKernelEx, eight in one buffer",
            [&] { CHECK(cuLaunchKernelEx(&plain, many, nullptr, buffer)); }},
           {"cuLaunchKernel, eight arguments",
            [&] { CHECK(cuLaunchKernel(many, 1, 1, 1, 128, 1, 1, 0, stream, pointers, nullptr)); }},
           {"cudart <<<>>>, eight arguments",
            [&] { eight<<<1, 128, 0, stream>>>(nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0); }},
           {"graph of one kernel", [&] { CHECK(cudaGraphLaunch(one, stream)); }},
           {"griddepcontrol, launched without attribute",
            [&] { CHECK(cuLaunchKernelEx(&plain, waits, nullptr, nullptr)); }},
           {"griddepcontrol, dependent launch",
            [&] { CHECK(cuLaunchKernelEx(&early, waits, nullptr, nullptr)); }}},
          stream, 200);
  measure({{"graph of 100 kernels", [&] { CHECK(cudaGraphLaunch(hundred, stream)); }, 100}}, stream,
          5);
  measure({{"cuLaunchKernelEx and cudaStreamSynchronize",
            [&] {
              launch_many();
              CHECK(cudaStreamSynchronize(stream));
            }},
           {"graph of one kernel and cudaStreamSynchronize",
            [&] {
              CHECK(cudaGraphLaunch(one, stream));
              CHECK(cudaStreamSynchronize(stream));
            }}},
          stream, 50);
  CHECK(cudaGraphExecDestroy(one)), CHECK(cudaGraphExecDestroy(hundred));
}

void measure_other_calls(cudaStream_t stream) {
  DeviceArray<float> array(1 << 20);
  const auto address = reinterpret_cast<CUdeviceptr>(array.data());
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  const Way ways[] = {
      {"cuCtxGetCurrent", [&] { CHECK(cuCtxGetCurrent(&context)); }},
      {"cuCtxPushCurrent and cuCtxPopCurrent",
       [&] {
         CUcontext popped;
         CHECK(cuCtxPushCurrent(context)), CHECK(cuCtxPopCurrent(&popped));
       }},
      {"cuStreamIsCapturing",
       [&] {
         CUstreamCaptureStatus status;
         CHECK(cuStreamIsCapturing(stream, &status));
       }},
      {"cuStreamGetCtx", [&] { CHECK(cuStreamGetCtx(stream, &context)); }},
      {"cuPointerGetAttribute, memory type",
       [&] {
         unsigned type;
         CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
       }},
      {"cuTensorMapEncodeTiled",
       [&] {
         CUtensorMap map;
         const cuuint64_t extents[] = {1024, 1024}, stride = 2048;
         const cuuint32_t box[] = {64, 128}, steps[] = {1, 1};
         CHECK(cuTensorMapEncodeTiled(
             &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, array.data(), extents, &stride, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
       }},
      {"cudaEventRecord", [&] { CHECK(cudaEventRecord(event, stream)); }},
      {"cudaMallocAsync and cudaFreeAsync, 4 MiB",
       [&] {
         void* memory;
         CHECK(cudaMallocAsync(&memory, 4 << 20, stream)), CHECK(cudaFreeAsync(memory, stream));
       }},
      {"cudaMalloc and cudaFree, 4 MiB",
       [&] {
         void* memory;
         CHECK(cudaMalloc(&memory, 4 << 20)), CHECK(cudaFree(memory));
       }},
  };
  for (const Way& way : ways) measure({way}, stream, 100);
  CHECK(cudaEventDestroy(event));
}

}  // namespace

int main() {
  print_device();
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  measure_launches(stream);
  measure_other_calls(stream);
  CHECK(cudaStreamDestroy(stream));
}
