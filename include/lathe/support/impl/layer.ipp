// The bodies of this layer.
#pragma once

#include <lathe/support/impl/call_report.ipp>
#include <lathe/support/impl/content_hash.ipp>
#include <lathe/support/impl/context.ipp>
#include <lathe/support/impl/deadline.ipp>
#include <lathe/support/impl/dynlib.ipp>
#include <lathe/support/impl/error.ipp>
#include <lathe/support/impl/target.ipp>
#include <lathe/support/impl/target_caps.ipp>
#include <lathe/support/impl/target_host.ipp>
#include <lathe/support/impl/text.ipp>
