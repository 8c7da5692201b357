#!/usr/bin/env python3
"""Fits polynomials and rational functions of include/lathe/lower/math, those that FITS names. Needs mpmath from PyPI.

`fit_math.py` prints all, `fit_math.py tanh_fast` one: the largest relative error, and the coefficients, lowest first.
Their last digits depend on the grid, which changes the error by less than a hundredth.
"""

import random
import struct
import sys
from collections.abc import Callable

from mpmath import atan, cbrt, cos, erf, log, log1p, lu_solve, matrix, mp, mpf, pi, sin, sqrt, tanh

mp.dps = 50
Function = Callable[[mpf], mpf]


def nodes(low: mpf, high: mpf, count: int, shift: float) -> list[mpf]:
    """Chebyshev points, which are dense at the ends."""
    steps = count - 1 + 2 * mpf(shift)
    return [low + (high - low) * (1 - cos(pi * (k + mpf(shift)) / steps)) / 2 for k in range(count)]


def alternating(errors: list[mpf], wanted: int) -> list[int]:
    """Where the error has its extrema, of alternating signs."""
    out: list[int] = []
    for k, error in enumerate(errors):
        if not out or (errors[out[-1]] > 0) != (error > 0):
            out.append(k)
        elif abs(error) > abs(errors[out[-1]]):
            out[-1] = k
    while len(out) > wanted:
        out.pop(0 if abs(errors[out[0]]) < abs(errors[out[-1]]) else -1)
    return out


def remez(target: Function, basis: list[Function], weight: Function, low: mpf, high: mpf) -> tuple[list[mpf], mpf]:
    """The sum of basis functions whose weighted distance to the target is least, and that distance."""
    count = len(basis)
    points = nodes(low, high, count + 1, 0.5)
    grid = nodes(low, high, 600, 0)
    table = [[f(x) for f in basis] for x in grid]
    targets, weights = [target(x) for x in grid], [weight(x) for x in grid]
    best: tuple[list[mpf], mpf] = ([], mpf("inf"))
    for _ in range(10):
        left, right = matrix(count + 1, count + 1), matrix(count + 1, 1)
        for row, x in enumerate(points):
            for column, f in enumerate(basis):
                left[row, column] = weight(x) * f(x)
            left[row, count] = (-1) ** row
            right[row] = weight(x) * target(x)
        found = list(lu_solve(left, right))[:count]
        sums = [sum(c * v for c, v in zip(found, row, strict=True)) for row in table]
        errors = [w * (s - t) for w, s, t in zip(weights, sums, targets, strict=True)]
        largest = max(abs(e) for e in errors)
        if largest < best[1]:
            best = (found, largest)
        extrema = alternating(errors, count + 1)
        if len(extrema) < count + 1:
            break
        points = [grid[k] for k in extrema]
    return best


def rounded(x: mpf, bits: int) -> float:
    return struct.unpack("f", struct.pack("f", float(x)))[0] if bits == 32 else float(x)


def value(coefficients: list[mpf], x: mpf) -> mpf:
    return sum(c * x**k for k, c in enumerate(coefficients))


def power(k: int) -> Function:
    return lambda x: x**k


def rational(target: Function, above: int, below: int, high: mpf) -> tuple[list[mpf], mpf]:
    """P/Q with so many coefficients, and the 1 of Q: fits of P - target * (Q - 1), weighted by the last 1/Q."""
    low, denominator = mpf("1e-9"), [mpf(1)]
    best: tuple[list[mpf], mpf] = ([], mpf("inf"))
    for _ in range(6):
        basis = [power(k) for k in range(above)] + [lambda x, k=k: -target(x) * x**k for k in range(1, below + 1)]
        found, _ = remez(target, basis, lambda x, q=denominator: 1 / (target(x) * value(q, x)), low, high)
        denominator = [mpf(1), *found[above:]]
        quotients = [(x, value(found[:above], x) / value(denominator, x)) for x in nodes(low, high, 700, 0)]
        error = max(abs(q / target(x) - 1) for x, q in quotients)
        if error < best[1]:
            best = (found[:above] + denominator, error)
    return best


def atan_tail(terms: int) -> tuple[list[mpf], mpf]:
    """(atan(z) - z) / z^3 by powers of z^2 on [0, 1], relative to atan."""
    basis = [power(2 * k) for k in range(terms)]
    return remez(lambda z: (atan(z) - z) / z**3, basis, lambda z: z**3 / atan(z), mpf("1e-6"), mpf(1))


def sin_tail(terms: int, high: mpf = pi / 2) -> tuple[list[mpf], mpf]:
    """(sin(r) - r) / r^3 by powers of r^2 on [0, high], relative to sin."""
    basis = [power(2 * k) for k in range(terms)]
    return remez(lambda r: (sin(r) - r) / r**3, basis, lambda r: r**3 / sin(r), mpf("1e-6"), high)


def cos_tail(terms: int, high: mpf = pi / 4) -> tuple[list[mpf], mpf]:
    """(cos(r) - 1 + r^2 / 2) / r^4 by powers of r^2 on [0, high], relative to cos."""
    basis = [power(2 * k) for k in range(terms)]
    return remez(lambda r: (cos(r) - 1 + r**2 / 2) / r**4, basis, lambda r: r**4 / cos(r), mpf("1e-6"), high)


def neighbour(x: float, steps: int) -> float:
    """The f32 so many steps from x."""
    return struct.unpack("f", struct.pack("i", struct.unpack("i", struct.pack("f", x))[0] + steps))[0]


def in_f32(
    target: Function, weight: Function, low: mpf, high: mpf, found: list[mpf], tries: int = 3000
) -> tuple[list[mpf], mpf]:
    """Coefficients of f32 near the given ones, a few of them moved at a time while that helps."""
    draw = random.Random(1)
    grid = nodes(low, high, 400, 0)
    rows = [(float(weight(x)), float(target(x)), [float(x) ** k for k in range(len(found))]) for x in grid]

    def error(c: list[float]) -> float:
        return max(w * abs(sum(a * b for a, b in zip(c, row, strict=True)) - t) for w, t, row in rows)

    best = [rounded(c, 32) for c in found]
    least = error(best)
    for _ in range(tries):
        moved = list(best)
        for _ in range(draw.choice((1, 2, 2, 3))):
            k = draw.randrange(len(moved))
            far = 1 + 8 * (k > 3) + 200 * (k > 5)
            moved[k] = neighbour(moved[k], draw.choice((-3, -2, -1, 1, 2, 3)) * draw.choice((1, 1, far)))
        if error(moved) < least:
            best, least = moved, error(moved)
    return [mpf(c) for c in best], mpf(least)


def log_tail(terms: int, base: mpf, low: mpf = mpf(-1) / 4, high: mpf = mpf(1) / 2) -> tuple[list[mpf], mpf]:
    """(ln(1 + f) - f) / f^2 / ln(base) by powers of f on [low, high], relative to the logarithm."""

    def target(f: mpf) -> mpf:
        return (log1p(f) - f) / f**2 / log(base)

    def weight(f: mpf) -> mpf:
        return abs(f**2 / log1p(f) * log(base))

    found, _ = remez(target, [power(k) for k in range(terms)], weight, low, high)
    return in_f32(target, weight, low, high, found)


def odd_over_x(function: Function, above: int, below: int, high: str) -> tuple[list[mpf], mpf]:
    """function(x) / x as P/Q of z = x^2, up to x = high."""
    return rational(lambda z: function(sqrt(z)) / sqrt(z), above, below, mpf(high) ** 2)


FITS: dict[str, tuple[int, Callable[[], tuple[list[mpf], mpf]]]] = {
    "atan_f32": (32, lambda: atan_tail(8)),
    "atan_f64": (64, lambda: atan_tail(19)),
    "atan_rounded": (64, lambda: atan_tail(11)),
    "sin_rounded": (64, lambda: sin_tail(5)),
    "log_f32": (32, lambda: log_tail(8, mp.e)),
    "log_accurate": (32, lambda: log_tail(9, mp.e)),
    "log2_f32": (32, lambda: log_tail(8, mpf(2))),
    "log2_accurate": (32, lambda: log_tail(9, mpf(2), mpf("-0.3334"), mpf("0.3335"))),
    "sin_quarter_f32": (32, lambda: sin_tail(3, pi / 4)),
    "cos_quarter_f32": (32, lambda: cos_tail(3)),
    "sin_quarter_f64": (64, lambda: sin_tail(6, pi / 4)),
    "cos_quarter_f64": (64, lambda: cos_tail(6)),
    "sin_quarter_rounded": (64, lambda: sin_tail(4, pi / 4)),
    "cos_quarter_rounded": (64, lambda: cos_tail(4)),
    "cbrt": (32, lambda: remez(lambda m: 1 / cbrt(m), [power(k) for k in range(6)], cbrt, mpf(1), mpf(8))),
    "tanh_fast": (32, lambda: odd_over_x(tanh, 4, 4, "9")),
    "erf_fast": (32, lambda: odd_over_x(erf, 5, 5, "3.83")),
}


def main() -> None:
    for name in sys.argv[1:] or FITS:
        bits, fit = FITS[name]
        coefficients, error = fit()
        print(f"{name}: 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(rounded(c, bits).hex() for c in coefficients))


if __name__ == "__main__":
    main()
