"""Converters of special functions, which ONNX has not: of series and approximations in float64."""

from __future__ import annotations

import functools
import math

import numpy

from onnx_chainer.functions._declare import converts, formulas

# erfcx(x) = t exp(P(t)) with t = 1 / (1 + x / 2), for x >= 0, to seven digits (W. Press et al.,
# Numerical Recipes in C, 6.2).
_ERFCX = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807,
    -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip


def _polynomial(g, coefficients, x):
    """Horner's rule, from the highest power on."""
    y = g.const(coefficients[0])
    for c in coefficients[1:]:
        y = g.Add(g.Mul(y, x), c)
    return y


def _in_float64(body):
    """A converter whose ``body`` takes and gives float64."""

    @functools.wraps(body)
    def convert(g, f, x):
        with g.numbers_of(numpy.float64):
            return g.cast(body(g, g.cast(x, numpy.float64)), g.dtype())

    return convert


def _log_erfcx(g, x):
    """Logarithm of ``exp(x**2) erfc(x)`` for positive numbers."""
    t = g.Div(1, g.Add(1, g.Mul(x, 0.5)))
    return g.Add(g.Log(t), _polynomial(g, _ERFCX, t))


def _erfcx(g, x):
    """To seven digits."""
    y = g.Exp(_log_erfcx(g, g.Abs(x)))
    other = g.Sub(g.Mul(g.Exp(g.square(x)), 2), y)
    return g.Where(g.Less(x, 0), other, y)


def _log_ndtr(g, x):
    """To seven digits."""
    z = g.Mul(x, math.sqrt(0.5))
    # The logarithm of ndtr(-abs(x)).
    tail = g.Add(g.Sub(_log_erfcx(g, g.Abs(z)), g.square(z)), math.log(0.5))
    return g.Where(g.Less(z, 0), tail, g.Log(g.Sub(1, g.Exp(tail))))


# Rational approximation of the normal quantile, to nine digits (P. Acklam).
_CENTRAL = (
    (-39.69683028665376, 220.9460984245205, -275.9285104469687)
    + (138.3577518672690, -30.66479806614716, 2.506628277459239),
    (-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972)
    + (-13.28068155288572, 1.0),
)
_TAIL = (
    (-0.007784894002430293, -0.3223964580411365, -2.400758277161838)
    + (-2.549732539343734, 4.374664141464968, 2.938163982698783),
    (0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1.0),
)


def _quantile(g, p):
    """The quantile of the normal distribution, to nine digits."""
    q = g.Sub(p, 0.5)
    r = g.square(q)
    central = g.Mul(g.Div(_polynomial(g, _CENTRAL[0], r), _polynomial(g, _CENTRAL[1], r)), q)
    lower = g.Less(q, 0)
    least = g.Where(lower, p, g.Sub(1, p))
    t = g.Sqrt(g.Mul(g.Log(least), -2))
    tail = g.Div(_polynomial(g, _TAIL[0], t), _polynomial(g, _TAIL[1], t))
    tail = g.Where(lower, tail, g.Neg(tail))
    return g.Where(g.Less(least, 0.02425), tail, central)


def _erfinv(g, x):
    """To nine digits."""
    return g.Mul(_quantile(g, g.Add(g.Mul(x, 0.5), 0.5)), math.sqrt(0.5))


def _erfcinv(g, x):
    """To nine digits."""
    return g.Mul(_quantile(g, g.Mul(x, 0.5)), -math.sqrt(0.5))


# Coefficients of Stirling's series: B(2k) / (2k (2k - 1)), and of the one of digamma: B(2k) / 2k,
# from the highest k on.
_STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_DIGAMMA = (-691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
# The series converge from here on; a smaller x is x + _SHIFTS less some terms.
_SHIFTS = 8


def _shifted(g, x):
    """``x``, ``x + 1``, ... up to the number for which the series converge."""
    return [x, *(g.Add(x, i) for i in range(1, _SHIFTS + 1))]


def _lgamma(g, x):
    """For positive numbers."""
    *below, z = _shifted(g, x)
    inverse = g.Div(1, z)
    series = g.Mul(_polynomial(g, _STIRLING, g.square(inverse)), inverse)
    y = g.Mul(g.Sub(z, 0.5), g.Log(z))
    y = g.Add(g.Sub(y, z), 0.5 * math.log(2 * math.pi))
    return g.Sub(g.Add(y, series), g.Log(functools.reduce(g.Mul, below)))


def _digamma(g, x):
    """For positive numbers."""
    *below, z = _shifted(g, x)
    inverse = g.Div(1, z)
    square = g.square(inverse)
    y = g.Sub(g.Log(z), g.Mul(inverse, 0.5))
    y = g.Sub(y, g.Mul(_polynomial(g, _DIGAMMA, square), square))
    return functools.reduce(g.Sub, [g.Div(1, each) for each in below], y)


formulas(
    Erfcx=_in_float64(_erfcx),
    LogNdtr=_in_float64(_log_ndtr),
    Ndtri=_in_float64(_quantile),
    ErfInv=_in_float64(_erfinv),
    ErfcInv=_in_float64(_erfcinv),
    LGamma=_in_float64(_lgamma),
    DiGamma=_in_float64(_digamma),
)


@converts()
def convert_Scan(g, f, *xs):
    """Its body is the graph of a step."""
    body = g.subgraph()
    return g.Scan(*xs, body=body, num_scan_inputs=len(xs) - f.n_carried, n=g.n_outputs)
