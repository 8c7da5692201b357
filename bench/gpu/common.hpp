// What the programs of this folder share: checked calls, arrays on the device, times, medians.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void fail(const char* what, int line) {
  std::fprintf(stderr, "line %d: %s\n", line, what);
  std::exit(1);
}
inline void check_call(cudaError_t error, int line) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error), line);
}
inline void check_call(CUresult error, int line) {
  const char* text = "unknown error";
  if (error != CUDA_SUCCESS) cuGetErrorString(error, &text), fail(text, line);
}
#define CHECK(call) check_call(call, __LINE__)

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    CHECK(cudaMalloc(&data_, size * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void clear() { CHECK(cudaMemset(data_, 0, size_ * sizeof(T))); }
  std::vector<T> to_host() const {
    std::vector<T> out(size_);
    CHECK(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Milliseconds between two points of a stream.
class EventPair {
 public:
  EventPair() { CHECK(cudaEventCreate(&begin_)), CHECK(cudaEventCreate(&end_)); }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;
  ~EventPair() { cudaEventDestroy(begin_), cudaEventDestroy(end_); }

  template <class Body>
  double time_ms(const Body& body, cudaStream_t stream = nullptr) {
    CHECK(cudaEventRecord(begin_, stream));
    body();
    CHECK(cudaEventRecord(end_, stream));
    CHECK(cudaEventSynchronize(end_));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  cudaEvent_t begin_, end_;
};

template <class Body>
double median_ms(int rounds, const Body& body) {
  EventPair events;
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(events.time_ms(body));
  CHECK(cudaGetLastError());
  return median(times);
}

template <class Body>
double host_microseconds(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
  return passed.count();
}

inline void print_device() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int driver = 0, runtime = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  std::printf("%s, sm_%d%d, driver API %d, toolkit %d\n", device.name, device.major, device.minor,
              driver, runtime);
}
