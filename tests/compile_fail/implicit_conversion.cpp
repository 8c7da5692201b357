// Stored as float, but computed as int.
// expect: (conversion|viable conversion) from .*Expr<int>.* to .*Expr<float>
#include <lathe/lathe.hpp>

namespace lt = lathe;

void implicit_conversion(lt::Input<int, 1> N) { lt::Expr<float> e = N(lt::Expr<std::int64_t>(0)); }
