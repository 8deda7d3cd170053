"""Converters of special functions, which ONNX has not: of series and approximations in float64."""

from __future__ import annotations

import math

import numpy

from onnx_chainer.functions._declare import converts, row

# erfcx(x) = t exp(P(t)) with t = 1 / (1 + x / 2), for x >= 0, to seven digits (W. Press et al.,
# Numerical Recipes in C, 6.2).
_ERFCX = (
    (0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807)
    + (-0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223),
)


def _polynomial(g, coefficients, x, dtype=numpy.float64):
    """Horner's rule, from the highest power on."""
    y = g.const(coefficients[0], dtype)
    for c in coefficients[1:]:
        y = g.Add(g.Mul(y, x), g.const(c, dtype))
    return y


def _log_erfcx(g, x):
    """Logarithm of ``exp(x**2) erfc(x)`` for positive numbers of float64."""
    number = _float64(g)
    t = g.Div(number(1), g.Add(number(1), g.Mul(x, number(0.5))))
    return g.Add(g.Log(t), _polynomial(g, _ERFCX[0], t))


@converts('Erfcx')
def convert_Erfcx(g, f, x):
    """Of a polynomial, to seven digits."""
    number = _float64(g)
    z = g.cast(x, numpy.float64)
    y = g.Exp(_log_erfcx(g, g.Abs(z)))
    other = g.Sub(g.Mul(g.Exp(g.Mul(z, z)), number(2)), y)
    return g.cast(g.Where(g.Less(z, number(0)), other, y), g.dtype())


@converts('LogNdtr')
def convert_LogNdtr(g, f, x):
    """Of a polynomial, to seven digits."""
    number = _float64(g)
    z = g.Mul(g.cast(x, numpy.float64), number(math.sqrt(0.5)))
    # The logarithm of ndtr(-abs(x)).
    tail = g.Add(g.Sub(_log_erfcx(g, g.Abs(z)), g.Mul(z, z)), number(math.log(0.5)))
    y = g.Where(g.Less(z, number(0)), tail, g.Log(g.Sub(number(1), g.Exp(tail))))
    return g.cast(y, g.dtype())


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
    """Normal quantile in float64."""
    p = g.cast(p, numpy.float64)

    number = _float64(g)
    q = g.Sub(p, number(0.5))
    r = g.Mul(q, q)
    central = g.Mul(g.Div(_polynomial(g, _CENTRAL[0], r), _polynomial(g, _CENTRAL[1], r)), q)
    lower = g.Less(q, number(0))
    least = g.Where(lower, p, g.Sub(number(1), p))
    t = g.Sqrt(g.Mul(g.Log(least), number(-2)))
    tail = g.Div(_polynomial(g, _TAIL[0], t), _polynomial(g, _TAIL[1], t))
    tail = g.Where(lower, tail, g.Neg(tail))
    return g.Where(g.Less(least, number(0.02425)), tail, central)


@converts('ErfInv')
def convert_ErfInv(g, f, x):
    """Of a rational approximation of the normal quantile, to nine digits."""
    wide = g.cast(x, numpy.float64)
    half = g.const(0.5, numpy.float64)
    y = _quantile(g, g.Add(g.Mul(wide, half), half))
    return g.cast(g.Mul(y, g.const(math.sqrt(0.5), numpy.float64)), g.dtype())


@converts('ErfcInv')
def convert_ErfcInv(g, f, x):
    """Of a rational approximation of the normal quantile, to nine digits."""
    wide = g.cast(x, numpy.float64)
    y = _quantile(g, g.Mul(wide, g.const(0.5, numpy.float64)))
    return g.cast(g.Mul(y, g.const(-math.sqrt(0.5), numpy.float64)), g.dtype())


@converts('LGamma')
def convert_LGamma(g, f, x):
    """Of Stirling's series, for positive numbers."""
    number = _float64(g)
    z, shifted = _shift_up(g, x)
    log_product = g.Log(shifted)
    inverse = g.Div(number(1), z)
    square = g.Mul(inverse, inverse)
    series = number(_STIRLING[-1])
    for c in _STIRLING[-2::-1]:
        series = g.Add(g.Mul(series, square), number(c))
    series = g.Mul(series, inverse)
    y = g.Mul(g.Sub(z, number(0.5)), g.Log(z))
    y = g.Add(g.Sub(y, z), number(0.5 * math.log(2 * math.pi)))
    return g.cast(g.Sub(g.Add(y, series), log_product), g.dtype())


# Coefficients of Stirling's series: B(2k) / (2k (2k - 1)), and of the one of digamma: B(2k) / 2k.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)


_SHIFTS = 8


def _float64(g):
    return lambda value: g.const(value, numpy.float64)


def _shift_up(g, x):
    """``x + 8`` in float64, where series converge, and ``x (x + 1) ... (x + 7)``."""
    number = _float64(g)
    z = g.cast(x, numpy.float64)
    product = z
    for i in range(1, _SHIFTS):
        product = g.Mul(product, g.Add(z, number(i)))
    return g.Add(z, number(_SHIFTS)), product


@converts('DiGamma')
def convert_DiGamma(g, f, x):
    """Of an asymptotic series, for positive numbers."""
    number = _float64(g)
    z = g.cast(x, numpy.float64)
    y = g.Neg(g.Div(number(1), z))
    for i in range(1, _SHIFTS):
        y = g.Sub(y, g.Div(number(1), g.Add(z, number(i))))
    z = g.Add(z, number(_SHIFTS))
    inverse = g.Div(number(1), z)
    square = g.Mul(inverse, inverse)
    series = number(_DIGAMMA[-1])
    for c in _DIGAMMA[-2::-1]:
        series = g.Add(g.Mul(series, square), number(c))
    y = g.Add(y, g.Sub(g.Log(z), g.Mul(inverse, number(0.5))))
    return g.cast(g.Sub(y, g.Mul(series, square)), g.dtype())


row(
    'Ndtri',
    'Of a rational approximation, to nine digits.',
    lambda g, f, p: g.cast(_quantile(g, p), g.dtype()),
)


@converts('Scan')
def convert_Scan(g, f, *xs):
    """``Scan``, whose body is the graph of a step."""
    body = g.subgraph()
    return g.Scan(*xs, body=body, num_scan_inputs=len(xs) - f.n_carried, n=g.n_outputs)
