#!/usr/bin/env python3
"""Fits polynomials and rational functions of include/lathe/lower/math, those that FITS names. Needs mpmath from PyPI.

`fit_math.py` prints all, `fit_math.py tanh_fast` one: the largest relative error, and the coefficients, lowest first.
Their last digits depend on the grid, which changes the error by less than a hundredth.
"""

import struct
import sys
from collections.abc import Callable

from mpmath import atan, cbrt, cos, erf, lu_solve, matrix, mp, mpf, pi, sin, sqrt, tanh

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


def sin_tail(terms: int) -> tuple[list[mpf], mpf]:
    """(sin(r) - r) / r^3 by powers of r^2 on [0, pi/2], relative to sin."""
    basis = [power(2 * k) for k in range(terms)]
    return remez(lambda r: (sin(r) - r) / r**3, basis, lambda r: r**3 / sin(r), mpf("1e-6"), pi / 2)


def odd_over_x(function: Function, above: int, below: int, high: str) -> tuple[list[mpf], mpf]:
    """function(x) / x as P/Q of z = x^2, up to x = high."""
    return rational(lambda z: function(sqrt(z)) / sqrt(z), above, below, mpf(high) ** 2)


FITS: dict[str, tuple[int, Callable[[], tuple[list[mpf], mpf]]]] = {
    "atan_f32": (32, lambda: atan_tail(8)),
    "atan_f64": (64, lambda: atan_tail(19)),
    "atan_rounded": (64, lambda: atan_tail(11)),
    "sin_rounded": (64, lambda: sin_tail(5)),
    "cbrt": (32, lambda: remez(lambda m: 1 / cbrt(m), [power(k) for k in range(6)], cbrt, mpf(1), mpf(8))),
    "tanh_fast": (32, lambda: odd_over_x(tanh, 4, 4, "9")),
    "erf_fast": (32, lambda: odd_over_x(erf, 5, 5, "3.83")),
}


def text(x: mpf, bits: int) -> str:
    number = float(x)
    return (struct.unpack("f", struct.pack("f", number))[0] if bits == 32 else number).hex()


def main() -> None:
    for name in sys.argv[1:] or FITS:
        bits, fit = FITS[name]
        coefficients, error = fit()
        print(f"{name}: 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(text(c, bits) for c in coefficients))


if __name__ == "__main__":
    main()
