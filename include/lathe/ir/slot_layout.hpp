// The slots of a program's call (support/slot_layout.hpp), and the variables that they give values.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <lathe/support/slot_layout.hpp>

namespace lathe {

/// The same before and after open_strides, and at every other stage.
SlotLayout slot_layout(const Program& program);

/// The variable whose value the slot holds. Null for an address, and for the stride of a buffer
/// that declares none.
const VarNode* slot_variable(const Program& program, const CallSlot& slot);

}  // namespace lathe
