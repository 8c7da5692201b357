// The limits of the device, how fine its clocks are, and when shared memory is refused.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o limits limits.cu -lcuda
#include <map>

#include "common.hpp"

namespace {

struct Attribute {
  const char* name;
  CUdevice_attribute key;
};
const Attribute kAttributes[] = {
    {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"SM clock, kHz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {"memory clock, kHz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {"memory bus, bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {"L2, bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {"L2 that may be set aside, bytes", CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
    {"threads a multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {"threads a block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {"blocks a multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {"registers a multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {"registers a block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {"shared memory a multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"shared memory a block, by default", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {"shared memory a block, opted in", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"shared memory reserved a block", CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {"grid x", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {"grid y", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {"block x", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {"block z", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {"clusters", CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
    {"memory pools", CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {"tensor maps", CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED},
    {"pageable memory access", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {"f32 to f64 rate", CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
};

void print_attributes() {
  for (const Attribute& attribute : kAttributes) {
    int value = 0;
    CHECK(cuDeviceGetAttribute(&value, attribute.key, 0));
    std::printf("  %-40s %d\n", attribute.name, value);
  }
}

void print_primary_context() {
  CUdevice device;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  unsigned flags = 0;
  int active = 0;
  CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  CUcontext ours, current;
  const double us = host_microseconds([&] { CHECK(cuDevicePrimaryCtxRetain(&ours, device)); });
  std::printf("primary context: active before %d, flags %u, retained in %.0f ms\n", active, flags,
              us / 1000);
  CHECK(cudaFree(nullptr));
  CHECK(cuCtxGetCurrent(&current));
  std::printf("the runtime library uses the same context: %s\n", current == ours ? "yes" : "no");
  std::size_t free = 0, total = 0;
  CHECK(cuMemGetInfo(&free, &total));
  std::printf("memory: %zu MiB, %zu free\n", total >> 20, free >> 20);
}

__global__ void empty() {}

__global__ void sample_timer(unsigned long long* times, int count) {
  unsigned long long now, last = 0;
  for (int i = 0; i < count;) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now != last) times[i++] = last = now;
  }
}

void print_steps(const char* name, const std::vector<double>& values) {
  std::map<double, int> counts;
  for (double value : values) ++counts[value];
  std::printf("%s: median %.3f us, %zu distinct of %zu:", name, median(values), counts.size(),
              values.size());
  int shown = 0;
  for (auto [value, count] : counts)
    if (shown++ < 6) std::printf(" %.3f (%d)", value, count);
  std::printf("\n");
}

void print_clocks() {
  EventPair events;
  std::vector<double> nothing, kernel;
  for (int i = 0; i < 1000; ++i) {
    nothing.push_back(1000 * events.time_ms([] {}));
    kernel.push_back(1000 * events.time_ms([] { empty<<<1, 32>>>(); }));
  }
  print_steps("two events", nothing);
  print_steps("two events around an empty kernel", kernel);
  DeviceArray<unsigned long long> samples(1000);
  sample_timer<<<1, 1>>>(samples.data(), 1000);
  const auto times = samples.to_host();
  std::vector<double> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back((times[i] - times[i - 1]) * 1e-3);
  print_steps("steps of %globaltimer", steps);
}

__global__ void touch_shared(int* out, int last) {
  extern __shared__ char memory[];
  memory[last] = 7;
  *out = memory[last];
}

// The first error of: raising the limit, the launch.
const char* launch_with_shared(int bytes, bool raise) {
  DeviceArray<int> out(1);
  if (raise) {
    const cudaError_t error =
        cudaFuncSetAttribute(touch_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return (void)cudaGetLastError(), cudaGetErrorName(error);
  }
  touch_shared<<<1, 1, bytes>>>(out.data(), bytes - 1);
  const cudaError_t error = cudaGetLastError();
  CHECK(cudaDeviceSynchronize());
  return cudaGetErrorName(error);
}

void print_shared_limits() {
  std::printf("dynamic shared memory: 48 KiB %s, one byte more %s\n",
              launch_with_shared(49152, false), launch_with_shared(49153, false));
  std::printf("with the attribute raised: 232448 bytes %s, one more %s\n",
              launch_with_shared(232448, true), launch_with_shared(232449, true));
  int blocks = 0;
  for (int bytes : {232448, 115712, 115713, 76800, 76801}) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch_shared, 128, bytes));
    std::printf("  %d bytes: %d blocks a multiprocessor\n", bytes, blocks);
  }
}

// Blocks of 384 threads and 200 KiB, one a multiprocessor.
void print_clusters() {
  constexpr int shared = 200 << 10;
  CHECK(cudaFuncSetAttribute(touch_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaFuncSetAttribute(touch_shared, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (unsigned size : {1u, 2u, 3u, 4u, 8u, 16u}) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 48 * 132, config.blockDim = 384, config.dynamicSmemBytes = shared;
    config.attrs = &attribute, config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, touch_shared, &config));
    std::printf("clusters of %2u: %3d at a time, %3d multiprocessors\n", size, clusters,
                clusters * static_cast<int>(size));
  }
}

}  // namespace

int main() {
  print_primary_context();
  print_device();
  print_attributes();
  print_clocks();
  print_shared_limits();
  print_clusters();
}
