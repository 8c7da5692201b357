// The bodies of this layer and of those below it.
#pragma once

#include <lathe/support/impl/error.ipp>
//
#include <lathe/ir/impl/dtype.ipp>
#include <lathe/ir/impl/expr.ipp>
#include <lathe/ir/impl/stmt.ipp>
#include <lathe/ir/impl/visit.ipp>
