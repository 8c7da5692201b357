// The bodies of this layer and of those below it.
#pragma once

#include <lathe/support/impl/layer.ipp>
//
#include <lathe/runtime/impl/abi.ipp>
#include <lathe/runtime/impl/thread_pool.ipp>
#include <lathe/runtime/impl/view.ipp>
