// The system's leave to use tile registers.
#pragma once

#include <string>

namespace lathe {

/// Asks for the tile registers of x86 (AMX) on behalf of the whole process, which then needs larger
/// signal stacks, and whose threads take 8 KB more each once they use them. Linux gives them to
/// nobody who has not asked. False, with a reason, where they are refused; asking again may help.
bool permit_tiles(std::string& reason);

}  // namespace lathe
