#pragma once

#include <lathe/jit/kernel_constants.hpp>
#include <lathe/support/text.hpp>

namespace lathe::detail {

LATHE_DECL Ref<KernelConstants> constants_of(const Program& program, Location where) {
  Vec<ConstantRef> contents;
  for (const Param& p : program->params) {
    if (p.is_argument()) continue;
    if (!p.content || !p.content->data())
      throw UserError("L0317",
                      cat("the elements of constant '", p.name(), "' of program '", program->name,
                          "' are not here"),
                      where, {}, "give parse a function that has them");
    contents.push_back(p.content);
  }
  return contents.empty() ? Ref<KernelConstants>() : make_ref<KernelConstants>(contents);
}

}  // namespace lathe::detail
