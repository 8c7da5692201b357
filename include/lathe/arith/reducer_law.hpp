// Whether the identity of a reducer is one, as far as numbers tell.
#pragma once

#include <lathe/ir/stmt.hpp>
#include <string>

namespace lathe {

/// A fold that is split starts each part from the identity, and joins parts into one that started
/// from it. That is right if combine(identity, x) is x for every x that folds give. Tried for the
/// folds of a few constants: the first that is changed, "combine(identity, 11.0) is 21.0", else
/// empty. Silent where the combine does not fold to numbers (exp and such), and about NaN.
std::string identity_problem(const ReducerNode& reducer);

}  // namespace lathe
