// The bodies of this layer, and of those below it where all are one translation unit.
#pragma once

#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif
//
#include <lathe/ir/impl/attributes.ipp>
#include <lathe/ir/impl/compare.ipp>
#include <lathe/ir/impl/conjuncts.ipp>
#include <lathe/ir/impl/constant.ipp>
#include <lathe/ir/impl/contents.ipp>
#include <lathe/ir/impl/dtype.ipp>
#include <lathe/ir/impl/expr.ipp>
#include <lathe/ir/impl/fates.ipp>
#include <lathe/ir/impl/free_vars.ipp>
#include <lathe/ir/impl/hash.ipp>
#include <lathe/ir/impl/lane_stride.ipp>
#include <lathe/ir/impl/law_samples.ipp>
#include <lathe/ir/impl/law_trial.ipp>
#include <lathe/ir/impl/law_values.ipp>
#include <lathe/ir/impl/machine_conversion.ipp>
#include <lathe/ir/impl/machine_form.ipp>
#include <lathe/ir/impl/machine_rules.ipp>
#include <lathe/ir/impl/mutate.ipp>
#include <lathe/ir/impl/reducer.ipp>
#include <lathe/ir/impl/reducer_law.ipp>
#include <lathe/ir/impl/renew.ipp>
#include <lathe/ir/impl/scalar.ipp>
#include <lathe/ir/impl/scalar_code.ipp>
#include <lathe/ir/impl/scalar_dots.ipp>
#include <lathe/ir/impl/share.ipp>
#include <lathe/ir/impl/slot_layout.ipp>
#include <lathe/ir/impl/stmt.ipp>
#include <lathe/ir/impl/substitute.ipp>
#include <lathe/ir/impl/tensor_intrin.ipp>
#include <lathe/ir/impl/text/lex.ipp>
#include <lathe/ir/impl/text/parse.ipp>
#include <lathe/ir/impl/text/parse_expr.ipp>
#include <lathe/ir/impl/text/parse_laws.ipp>
#include <lathe/ir/impl/text/parse_stmt.ipp>
#include <lathe/ir/impl/text/print.ipp>
#include <lathe/ir/impl/text/print_expr.ipp>
#include <lathe/ir/impl/text/print_names.ipp>
#include <lathe/ir/impl/text/print_stmt.ipp>
#include <lathe/ir/impl/typing.ipp>
#include <lathe/ir/impl/verify.ipp>
#include <lathe/ir/impl/verify_defined.ipp>
#include <lathe/ir/impl/verify_stmt.ipp>
#include <lathe/ir/impl/visit.ipp>
//
#include <lathe/ir/impl/describe.ipp>
#include <lathe/ir/impl/rebuild.ipp>
