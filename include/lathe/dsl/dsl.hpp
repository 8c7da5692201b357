// The whole language in which computations are described.
#pragma once

#include <lathe/dsl/any.hpp>
#include <lathe/dsl/boundary.hpp>
#include <lathe/dsl/constant.hpp>
#include <lathe/dsl/expr.hpp>
#include <lathe/dsl/math.hpp>
#include <lathe/dsl/program.hpp>
#include <lathe/dsl/reduction.hpp>
#include <lathe/dsl/script.hpp>
#include <lathe/dsl/statistics.hpp>
#include <lathe/dsl/tensor.hpp>
