// A function of the standard library on an expression.
// expect: Functions of expressions are lt::exp, lt::max
#include <cmath>
#include <lathe/lathe.hpp>

namespace lt = lathe;

void function_of_std(lt::Input<float, 1> X) {
  auto Y = lt::compute("Y", {4}, [&](lt::Var i) { return std::exp(X(i)); });
}
