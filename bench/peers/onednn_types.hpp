// What both versions of oneDNN say in the same words. Whoever includes it has included one of them.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "core/product.hpp"

namespace {

inline dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

struct Types {
  dnnl::memory::data_type a, b, c;
};

/// None of a type that version 2 does not know.
inline std::optional<Types> types_of(bench::ProductTypes types) {
  using Type = dnnl::memory::data_type;
  switch (types) {
    case bench::ProductTypes::bf16:
      return Types{Type::bf16, Type::bf16, Type::f32};
    case bench::ProductTypes::u8s8:
      return Types{Type::u8, Type::s8, Type::s32};
    case bench::ProductTypes::s8s8:
      return Types{Type::s8, Type::s8, Type::s32};
    case bench::ProductTypes::f16:
      return Types{Type::f16, Type::f16, Type::f32};
    case bench::ProductTypes::f64:
      break;
  }
  return {};
}

}  // namespace
