// The bodies of math: a translation unit of lathe::compiled.
#pragma once

#include <lathe/lower/math/expand_math.ipp>
#include <lathe/lower/math/math_atan.ipp>
#include <lathe/lower/math/math_builder.ipp>
#include <lathe/lower/math/math_cbrt.ipp>
#include <lathe/lower/math/math_erf.ipp>
#include <lathe/lower/math/math_exp.ipp>
#include <lathe/lower/math/math_log.ipp>
#include <lathe/lower/math/math_payne_hanek.ipp>
#include <lathe/lower/math/math_pow.ipp>
#include <lathe/lower/math/math_trig.ipp>
#include <lathe/lower/math/use_estimates.ipp>
#include <lathe/lower/math/use_reciprocals.ipp>
