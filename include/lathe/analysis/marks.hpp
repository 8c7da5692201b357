// Whether what attributes of loops ask for can be done: for the steps that set them, the checks
// after later steps and of programs that come as text, and the passes that realise them.
#pragma once

#include <lathe/analysis/access.hpp>
#include <string>

namespace lathe::detail {

/// Why it can't; empty if it can.
std::string why_not_honoured(const Program& program, const LoopSite& site, const Attribute& a);

}  // namespace lathe::detail
