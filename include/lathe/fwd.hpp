// The names of Lathe's main classes, for headers that only pass them on.
#pragma once

namespace lathe {

class AnyExpr;
class AnyKernel;
class AnyTensor;
class Context;
class Program;
class Schedule;
class Stmt;
class UserError;
struct Target;
struct OutputList;

template <class T>
class Expr;
template <class T, int R>
class Input;
template <class T, int R>
class Tensor;
template <class T, int R>
class View;
template <class... P>
class Kernel;

}  // namespace lathe
