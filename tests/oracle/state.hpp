// What a running program knows: the values of variables and the content of buffers.
#pragma once

#include <lathe/ir/expr.hpp>
#include <unordered_map>

#include "memory.hpp"

namespace oracle {

using Lanes = std::vector<Number>;

struct State {
  std::unordered_map<const lathe::VarNode*, Lanes> vars;
  std::unordered_map<const lathe::BufferNode*, Array> arrays;

  Array& array(const lathe::Buffer& b) {
    auto found = arrays.find(b.get());
    if (found == arrays.end()) throw std::logic_error("oracle: no buffer " + b->name);
    return found->second;
  }
  void set(const lathe::VarRef& var, Number value) { vars[var.get()] = {value}; }
  bool knows(const lathe::VarNode* var) const { return vars.count(var) != 0; }
};

}  // namespace oracle
