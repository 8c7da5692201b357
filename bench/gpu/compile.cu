// NVRTC: which headers it has, how long small kernels take to a cubin, alone, by threads and by
// processes, what its cache saves and costs, and how long a cubin takes to its first launch.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o compile compile.cu -lcuda -ldl
//     compile [path of libnvrtc [folder of the toolkit's headers]]
#include <dlfcn.h>
#include <nvrtc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "common.hpp"

namespace {

// ---- the library --------------------------------------------------------------------------------

struct Nvrtc {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
};

Nvrtc load_nvrtc(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror(), __LINE__);
  Nvrtc out;
#define LOAD(member, name) out.member = reinterpret_cast<decltype(out.member)>(dlsym(library, name))
  LOAD(version, "nvrtcVersion");
  LOAD(create, "nvrtcCreateProgram");
  LOAD(destroy, "nvrtcDestroyProgram");
  LOAD(compile, "nvrtcCompileProgram");
  LOAD(log_size, "nvrtcGetProgramLogSize");
  LOAD(log, "nvrtcGetProgramLog");
  LOAD(cubin_size, "nvrtcGetCUBINSize");
  LOAD(cubin, "nvrtcGetCUBIN");
#undef LOAD
  return out;
}

struct Compiled {
  nvrtcResult result;
  std::string log, cubin;
};

Compiled compile(const Nvrtc& nvrtc, const std::string& text, std::vector<std::string> more = {}) {
  std::vector<std::string> options = {"--gpu-architecture=sm_90a", "--std=c++17", "--fmad=false",
                                      "-default-device"};
  options.insert(options.end(), more.begin(), more.end());
  std::vector<const char*> list;
  for (const std::string& option : options) list.push_back(option.c_str());
  nvrtcProgram program;
  nvrtc.create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
  Compiled out{nvrtc.compile(program, static_cast<int>(list.size()), list.data()), {}, {}};
  std::size_t size = 0;
  nvrtc.log_size(program, &size);
  out.log.resize(size);
  nvrtc.log(program, out.log.data());
  if (out.result == NVRTC_SUCCESS && nvrtc.cubin_size(program, &size) == NVRTC_SUCCESS) {
    out.cubin.resize(size);
    nvrtc.cubin(program, out.cubin.data());
  }
  nvrtc.destroy(&program);
  return out;
}

void compile_or_fail(const Nvrtc& nvrtc, const std::string& text,
                     const std::vector<std::string>& more = {}) {
  const Compiled out = compile(nvrtc, text, more);
  if (out.result != NVRTC_SUCCESS) fail(out.log.c_str(), __LINE__);
}

// ---- kernels: as a generator would write them ---------------------------------------------------

std::string elementwise(int variant) {
  return "extern \"C\" __global__ void __launch_bounds__(256, 1) kernel(const float* __restrict__ "
         "a,"
         " float* __restrict__ b, int n) {\n"
         "  const int first = (blockIdx.x * 256 + threadIdx.x) * 4;\n"
         "  if (first < n) {\n"
         "    const float4 x = *reinterpret_cast<const float4*>(a + first);\n"
         "    float4 y;\n"
         "    y.x = x.x * " +
         std::to_string(variant) +
         ".0f + 1.0f;\n"
         "    y.y = x.y / (1.0f + x.y * x.y);\n"
         "    y.z = sqrtf(x.z);\n"
         "    y.w = __fmaf_rn(x.w, x.w, x.x);\n"
         "    *reinterpret_cast<float4*>(b + first) = y;\n"
         "  }\n}\n";
}

std::string row_sums(int variant) {
  return "extern \"C\" __global__ void __launch_bounds__(256, 1) kernel(const float* __restrict__ "
         "a,"
         " float* __restrict__ b, int n) {\n"
         "  __shared__ float partial[8];\n"
         "  float sum = " +
         std::to_string(variant) +
         ".0f;\n"
         "  for (int i = threadIdx.x; i < n; i += 256) sum += a[(long long)blockIdx.x * n + i];\n"
         "  for (int lane = 16; lane; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);\n"
         "  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;\n"
         "  __syncthreads();\n"
         "  sum = 0.0f;\n"
         "  for (int warp = 0; warp < 8; ++warp) sum += partial[warp];\n"
         "  if (threadIdx.x == 0) b[blockIdx.x] = sum;\n}\n";
}

// 64 accumulators a thread and 32 products a step of k, from shared memory.
std::string products(int variant) {
  return "extern \"C\" __global__ void __launch_bounds__(256, 1) kernel(const uint4* __restrict__ "
         "a,"
         " float* __restrict__ b, int n) {\n"
         "  extern __shared__ __align__(1024) unsigned tile[];\n"
         "  float d[32][4] = {};\n"
         "  for (int k = 0; k < n; ++k) {\n"
         "    reinterpret_cast<uint4*>(tile)[threadIdx.x] = a[k * " +
         std::to_string(variant + 256) +
         " + threadIdx.x];\n"
         "    __syncthreads();\n"
         "    unsigned x[8][4], y[4][2];\n"
         "    #pragma unroll\n"
         "    for (int i = 0; i < 32; ++i) x[i / 4][i % 4] = tile[i * 32 + threadIdx.x % 32];\n"
         "    #pragma unroll\n"
         "    for (int i = 0; i < 8; ++i) y[i / 2][i % 2] = tile[i * 32 + threadIdx.x % 32 ^ 5];\n"
         "    #pragma unroll\n"
         "    for (int i = 0; i < 32; ++i)\n"
         "      asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \"\n"
         "        \"{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};\"\n"
         "        : \"+f\"(d[i][0]), \"+f\"(d[i][1]), \"+f\"(d[i][2]), \"+f\"(d[i][3])\n"
         "        : \"r\"(x[i / 4][0]), \"r\"(x[i / 4][1]), \"r\"(x[i / 4][2]), \"r\"(x[i / "
         "4][3]),\n"
         "          \"r\"(y[i % 4][0]), \"r\"(y[i % 4][1]));\n"
         "    __syncthreads();\n"
         "  }\n"
         "  #pragma unroll\n"
         "  for (int i = 0; i < 128; ++i) b[(blockIdx.x * 128 + i) * 256 + threadIdx.x] = "
         "d[i / 4][i % 4];\n}\n";
}

struct Kind {
  const char* name;
  std::string (*text)(int variant);
};
const Kind kKinds[] = {
    {"elementwise", elementwise}, {"row sums", row_sums}, {"mma tile", products}};

// ---- measurements -------------------------------------------------------------------------------

void print_headers(const Nvrtc& nvrtc, const std::string& folder) {
  const std::string kernel = "extern \"C\" __global__ void kernel(int* a) { *a = 1; }\n";
  for (const char* header : {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "stdint.h"}) {
    const std::string text = std::string("#include <") + header + ">\n" + kernel;
    const Compiled without = compile(nvrtc, text);
    const double begin = host_microseconds([&] { compile(nvrtc, kernel); });
    Compiled with;
    const double us = host_microseconds([&] { with = compile(nvrtc, text, {"-I" + folder}); });
    std::printf("#include <%s>: %s; with a path: %s, %.1f ms more\n", header,
                without.result == NVRTC_SUCCESS ? "found" : "not found",
                with.result == NVRTC_SUCCESS ? "found" : "not found", (us - begin) / 1000);
  }
}

// Options that keep NVRTC from the driver's cache: since 12.9 it looks there first.
std::vector<std::string> no_cache(const Nvrtc& nvrtc) {
  int major = 0, minor = 0;
  nvrtc.version(&major, &minor);
  if (10 * major + minor < 129) return {};
  return {"--no-cache"};
}

void print_times(const Nvrtc& nvrtc) {
  const std::vector<std::string> plain = no_cache(nvrtc);
  std::vector<std::string> minimal = plain;
  minimal.push_back("--minimal");
  for (const Kind& kind : kKinds) {
    std::vector<double> full, less, new_to_cache, cached;
    const auto time = [&](std::vector<double>& to, int variant,
                          const std::vector<std::string>& more) {
      to.push_back(host_microseconds([&] { compile_or_fail(nvrtc, kind.text(variant), more); }) /
                   1000);
    };
    for (int i = 0; i < 11; ++i) {
      time(full, i, plain);
      time(less, i, minimal);
      time(new_to_cache, i, {});
      time(cached, i, {});
    }
    const bool same =
        compile(nvrtc, kind.text(1), plain).cubin == compile(nvrtc, kind.text(1)).cubin;
    std::printf(
        "%-12s ms to a cubin: first %.1f, median %.1f, with --minimal %.1f, new to the cache "
        "%.1f, from the cache %.1f, %s bytes\n",
        kind.name, full[0], median(full), median(less), median(new_to_cache), median(cached),
        same ? "the same" : "other");
  }
}

// Whether a process that compiled may fork a child that uses the device.
void print_fork(const char* path, const char* what, const char* disable, bool with_cache) {
  std::fflush(stdout);
  if (fork() == 0) {
    setenv("CUDA_CACHE_DISABLE", disable, 1);
    const Nvrtc nvrtc = load_nvrtc(path);
    const std::vector<std::string> none;
    compile_or_fail(nvrtc, elementwise(7000), with_cache ? none : no_cache(nvrtc));
    if (fork() == 0) {
      const char* name = nullptr;
      cuGetErrorName(cuInit(0), &name);
      std::printf("after a compile %s, cuInit in a child gives %s\n", what, name);
      std::fflush(stdout);
      _exit(0);
    }
    wait(nullptr);
    _exit(0);
  }
  wait(nullptr);
}

constexpr int kKernelsEach = 12;

void compile_several(const Nvrtc& nvrtc, int worker) {
  for (int i = 0; i < kKernelsEach; ++i)
    compile_or_fail(nvrtc, kKinds[i % 3].text(100 + worker * kKernelsEach + i), no_cache(nvrtc));
}

void print_scaling_of_threads(const Nvrtc& nvrtc, int workers) {
  const double us = host_microseconds([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i) threads.emplace_back([&, i] { compile_several(nvrtc, i); });
    for (std::thread& thread : threads) thread.join();
  });
  std::printf("%2d threads: %.0f kernels a second\n", workers, 1e6 * workers * kKernelsEach / us);
}

void print_scaling_of_processes(const char* path, int workers) {
  std::fflush(stdout);
  const double us = host_microseconds([&] {
    for (int i = 0; i < workers; ++i)
      if (fork() == 0) {
        compile_several(load_nvrtc(path), i);
        _exit(0);
      }
    while (wait(nullptr) > 0) {
    }
  });
  std::printf("%2d processes: %.0f kernels a second, loading the library included\n", workers,
              1e6 * workers * kKernelsEach / us);
}

struct LoadTimes {
  std::vector<double> load, find, first, second;
};

void time_load(const std::string& cubin, LoadTimes& times) {
  CUlibrary library;
  CUkernel kernel;
  CUfunction function;
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 1 << 20));
  int n = 0;
  void* arguments[] = {&out, &out, &n};
  const auto launch = [&] {
    CHECK(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cudaDeviceSynchronize());
  };
  times.load.push_back(host_microseconds([&] {
    CHECK(cuLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  }));
  times.find.push_back(host_microseconds([&] {
    CHECK(cuLibraryGetKernel(&kernel, library, "kernel"));
    CHECK(cuKernelGetFunction(&function, kernel));
  }));
  times.first.push_back(host_microseconds(launch));
  times.second.push_back(host_microseconds(launch));
  CHECK(cuLibraryUnload(library));
  CHECK(cudaFree(out));
}

void print_load_times(const Nvrtc& nvrtc) {
  CHECK(cudaFree(nullptr));
  for (const Kind& kind : {kKinds[0], kKinds[1]}) {
    LoadTimes times;
    for (int i = 0; i < 21; ++i) time_load(compile(nvrtc, kind.text(1000 + i)).cubin, times);
    std::printf(
        "%-12s us: cuLibraryLoadData %.0f, kernel and function %.0f, first launch and wait "
        "%.0f, second %.0f\n",
        kind.name, median(times.load), median(times.find), median(times.first),
        median(times.second));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const char* path = count > 1 ? arguments[1] : "libnvrtc.so.13";
  for (int workers : {1, 2, 4, 8, 16}) print_scaling_of_processes(path, workers);
  print_fork(path, "as usual", "0", true);
  print_fork(path, "with --no-cache", "0", false);
  print_fork(path, "with CUDA_CACHE_DISABLE=1", "1", true);
  const Nvrtc nvrtc = load_nvrtc(path);
  int major = 0, minor = 0;
  nvrtc.version(&major, &minor);
  std::printf("NVRTC %d.%d\n", major, minor);
  print_times(nvrtc);
  print_headers(nvrtc, count > 2 ? arguments[2] : "/usr/local/cuda/include");
  for (int workers : {1, 2, 4, 8, 16}) print_scaling_of_threads(nvrtc, workers);
  print_device();
  print_load_times(nvrtc);
}
