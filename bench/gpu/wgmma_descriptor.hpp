// The descriptor by which wgmma finds a tile in shared memory.
#pragma once

#include <cstdint>

/// K-major rows of 128 bytes, swizzled by as many; eight rows are 1024 bytes apart.
inline __device__ std::uint64_t wgmma_descriptor(const char* shared) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(shared));
  return (address & 0x3FFFF) >> 4 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}
