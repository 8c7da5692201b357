// Tensor maps and asynchronous copies: which maps are refused, where swizzled elements lie, what
// comes from outside of the tensor.
//     nvcc -std=c++20 -O2 -arch=sm_90 -o bulk_copies bulk_copies.cu -lcuda
#include <sys/wait.h>
#include <unistd.h>

#include "common.hpp"

namespace {

using u16 = std::uint16_t;
constexpr int kRows = 16, kWidth = 520, kHeight = 100;  // of the box, of the tensor

struct MapRequest {
  const char* name;
  std::size_t base_offset = 0;
  cuuint64_t stride = 2 * kWidth;
  cuuint32_t box_columns = 64, box_rows = kRows;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  cuuint64_t rows = kHeight;
};

CUresult encode(CUtensorMap* map, u16* base, const MapRequest& request) {
  const cuuint64_t extents[] = {kWidth, request.rows};
  const cuuint32_t box[] = {request.box_columns, request.box_rows}, steps[] = {1, 1};
  return cuTensorMapEncodeTiled(
      map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, reinterpret_cast<char*>(base) + request.base_offset,
      extents, &request.stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, request.swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

void print_refusals(u16* base) {
  const MapRequest requests[] = {
      {"as it should be"},
      {"base 8 bytes off", 8},
      {"stride of 1042 bytes", 0, 1042},
      {"stride of 1048 bytes", 0, 1048},
      {"stride of 2^40 bytes", 0, cuuint64_t{1} << 40},
      {"128 columns under a 128 byte swizzle", 0, 1040, 128},
      {"64 columns under a 64 byte swizzle", 0, 1040, 64, 16, CU_TENSOR_MAP_SWIZZLE_64B},
      {"256 columns without swizzle", 0, 1040, 256, 16, CU_TENSOR_MAP_SWIZZLE_NONE},
      {"257 rows", 0, 1040, 64, 257},
      {"60 columns, 120 bytes", 0, 1040, 60},
      {"no rows in the tensor", 0, 1040, 64, 16, CU_TENSOR_MAP_SWIZZLE_128B, 0},
      {"2^32 rows", 0, 1040, 64, 16, CU_TENSOR_MAP_SWIZZLE_128B, cuuint64_t{1} << 32},
      {"2^32 + 1 rows", 0, 1040, 64, 16, CU_TENSOR_MAP_SWIZZLE_128B, (cuuint64_t{1} << 32) + 1},
  };
  for (const MapRequest& request : requests) {
    CUtensorMap map;
    const char* text = nullptr;
    CHECK(cuGetErrorName(encode(&map, base, request), &text));
    std::printf("map, %-38s %s\n", request.name, text);
  }
}

// One box to `shared + at`; then the whole of shared memory to global memory.
__global__ void load_box(const __grid_constant__ CUtensorMap map, int x, int y, int at, int bytes,
                         u16* out) {
  extern __shared__ __align__(1024) char shared[];
  __shared__ alignas(8) std::uint64_t barrier;
  const auto bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + at;
  for (int i = 0; i < 4096; ++i) reinterpret_cast<u16*>(shared)[i] = 0xFFFF;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(bar)
      : "memory");
  int done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
        "selp.b32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  for (int i = 0; i < 4096; ++i) out[i] = reinterpret_cast<u16*>(shared)[i];
}

u16 element(int x, int y) {
  return x < 0 || x >= kWidth || y < 0 || y >= kHeight ? 0 : static_cast<u16>(y * kWidth + x);
}

struct Box {
  const char* name;
  CUtensorMapSwizzle swizzle;
  int span;  ///< bytes of a row, and of the swizzle
  int x, y;
  int at = 0;  ///< bytes from an address that is a multiple of 1024
};

DeviceArray<u16> make_tensor() {
  std::vector<u16> elements(kWidth * (kHeight + 2));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<u16>(i);
  return DeviceArray<u16>(elements);
}

// How many elements of the box aren't where the formula says: by addresses, by offsets in the box.
void check_box(const Box& box) {
  const DeviceArray<u16> tensor = make_tensor();
  u16* const base = tensor.data();
  CUtensorMap map;
  CHECK(
      encode(&map, base, {"", 0, 1040, static_cast<cuuint32_t>(box.span / 2), kRows, box.swizzle}));
  DeviceArray<u16> out(4096);
  load_box<<<1, 1, 8192>>>(map, box.x, box.y, box.at, kRows * box.span, out.data());
  std::printf("box, %-42s ", box.name);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return (void)std::printf("%s\n", cudaGetErrorName(error));
  const std::vector<u16> got = out.to_host();
  int by_address = 0, by_offset = 0;
  const int mask = box.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : box.span / 16 - 1;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < box.span / 2; ++column) {
      const int offset = row * box.span + 2 * column, address = box.at + offset;
      const u16 want = element(box.x + column, box.y + row);
      by_address += got[(address ^ (address >> 7 & mask) << 4) / 2] != want;
      by_offset += got[(box.at + (offset ^ (offset >> 7 & mask) << 4)) / 2] != want;
    }
  std::printf("wrong by addresses %d, by offsets %d, of %d\n", by_address, by_offset,
              kRows * box.span / 2);
}

const Box kBoxes[] = {
    {"swizzle 128", CU_TENSOR_MAP_SWIZZLE_128B, 128, 64, 8},
    {"swizzle 64", CU_TENSOR_MAP_SWIZZLE_64B, 64, 64, 8},
    {"swizzle 32", CU_TENSOR_MAP_SWIZZLE_32B, 32, 64, 8},
    {"no swizzle", CU_TENSOR_MAP_SWIZZLE_NONE, 128, 64, 8},
    {"at column 8, 16 bytes", CU_TENSOR_MAP_SWIZZLE_128B, 128, 8, 8},
    {"at column 4, 8 bytes", CU_TENSOR_MAP_SWIZZLE_128B, 128, 4, 8},
    {"at column 1, 2 bytes", CU_TENSOR_MAP_SWIZZLE_128B, 128, 1, 8},
    {"at column 1, no swizzle", CU_TENSOR_MAP_SWIZZLE_NONE, 128, 1, 8},
    {"over the right and lower edge", CU_TENSOR_MAP_SWIZZLE_128B, 128, 496, 95},
    {"over the left and upper edge", CU_TENSOR_MAP_SWIZZLE_128B, 128, -8, -3},
    {"all outside", CU_TENSOR_MAP_SWIZZLE_128B, 128, 4000, -4000},
    {"swizzle 128 at 128 bytes past 1024", CU_TENSOR_MAP_SWIZZLE_128B, 128, 64, 8, 128},
    {"swizzle 64 at 128 bytes past 1024", CU_TENSOR_MAP_SWIZZLE_64B, 64, 64, 8, 128},
    {"no swizzle at 64 bytes past 1024", CU_TENSOR_MAP_SWIZZLE_NONE, 128, 64, 8, 64},
};

// 16 bytes of which the first `valid` are read.
__global__ void copy_with_zeros(const int* from, int valid, int* out) {
  __shared__ alignas(16) int shared[4];
  for (int& word : shared) word = -1;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[i] = shared[i];
}

void print_partial_copies() {
  const DeviceArray<int> from(std::vector<int>{0x11111111, 0x22222222, 0x33333333, 0x44444444});
  DeviceArray<int> out(4);
  for (int valid : {16, 10, 4, 0}) {
    copy_with_zeros<<<1, 1>>>(from.data(), valid, out.data());
    const std::vector<int> got = out.to_host();
    std::printf("cp.async of %2d of 16 bytes: %08x %08x %08x %08x\n", valid, got[0], got[1], got[2],
                got[3]);
  }
  copy_with_zeros<<<1, 1>>>(nullptr, 0, out.data());
  std::printf("cp.async of 0 bytes from address 0: %s\n",
              cudaGetErrorName(cudaDeviceSynchronize()));
}

// What fails takes its context along.
template <class Body>
void in_own_process(const Body& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

int main() {
  for (const Box& box : kBoxes) in_own_process([&] { check_box(box); });
  in_own_process(print_partial_copies);
  print_device();
  print_refusals(make_tensor().data());
}
