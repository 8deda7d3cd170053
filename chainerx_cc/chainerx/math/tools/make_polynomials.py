"""Writes ../polynomials.h: the polynomials of elementary.h, for float and double.

Each is a Chebyshev fit (within a factor of about two of minimax) of a function whose absolute
error is the relative error that matters: ``elementary.h`` says how the pieces are put together.
Run with mpmath installed:

    python make_polynomials.py > ../polynomials.h
"""

import mpmath as mp

mp.mp.dps = 60


def exp_tail(r):  # (e^r - 1 - r) / r^2
    if abs(r) < mp.mpf('0.01'):
        return mp.nsum(lambda k: r**k / mp.factorial(k + 2), [0, 20])
    return (mp.expm1(r) - r) / r**2


def exp2_tail(r):  # (2^r - 1) / r
    return mp.log(2) if r == 0 else mp.expm1(r * mp.log(2)) / r


def log_tail(f):  # (log(1 + f) - f + f^2 / 2) / f^3
    if abs(f) < mp.mpf('0.01'):
        return mp.fsum((-f) ** k / (k + 3) for k in range(30))
    return (mp.log1p(f) - f + f**2 / 2) / f**3


def log_ratio(z):  # (log((1 + s) / (1 - s)) - 2 s) / s^3 with z = s^2
    if z < mp.mpf('0.001'):
        return mp.fsum(2 * z**k / (2 * k + 3) for k in range(25))
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / s**3


def log_over(f):  # log(1 + f) / f
    return mp.log1p(f) / f if f != 0 else mp.mpf(1)


# (log2((1 + s) / (1 - s)) / s - c - c z / 3) / z^2 with c = 2 / log(2) and z = s^2
def log2_ratio_tail(z):
    if z < mp.mpf('0.001'):
        return mp.fsum(2 * z**k / (2 * k + 5) for k in range(25)) / mp.log(2)
    return (log_ratio(z) - mp.mpf(2) / 3) / z / mp.log(2)


def sin_tail(z):  # (sin r - r) / r^3 with z = r^2
    if z < mp.mpf('0.01'):
        return mp.fsum((-1) ** (k + 1) * z**k / mp.factorial(2 * k + 3) for k in range(20))
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3


def cos_tail(z):  # (cos r - 1 + r^2 / 2) / r^4
    if z < mp.mpf('0.01'):
        return mp.fsum((-1) ** k * z**k / mp.factorial(2 * k + 4) for k in range(20))
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / z**2


def asin_tail(z):  # (asin x - x) / x^3
    if z < mp.mpf('0.001'):
        terms = range(1, 25)
        return mp.fsum(
            mp.binomial(2 * k, k) / (mp.mpf(4) ** k * (2 * k + 1)) * z ** (k - 1) for k in terms
        )
    x = mp.sqrt(z)
    return (mp.asin(x) - x) / x**3


def atan_tail(z):  # (atan x - x) / x^3
    if z < mp.mpf('0.001'):
        return mp.fsum((-1) ** (k + 1) * z**k / (2 * k + 3) for k in range(25))
    x = mp.sqrt(z)
    return (mp.atan(x) - x) / x**3


def erf_ratio(z):  # erf(x) / x
    if z < mp.mpf('0.001'):
        terms = ((-z) ** k / (mp.factorial(k) * (2 * k + 1)) for k in range(25))
        return 2 / mp.sqrt(mp.pi) * mp.fsum(terms)
    x = mp.sqrt(z)
    return mp.erf(x) / x


def erfcx_mapped(t):  # (1 + 2 x) exp(x^2) erfc(x) with t = (x - 4) / (x + 4)
    if t >= 1 - mp.mpf('1e-9'):
        return 2 / mp.sqrt(mp.pi) * (1 - 0 * t)
    x = 4 * (1 + t) / (1 - t)
    if x > 40:
        u = 1 / (2 * x * x)
        total, term = mp.mpf(1), mp.mpf(1)
        for k in range(1, 30):
            term *= -(2 * k - 1) * u
            total += term
            if abs(term) < mp.mpf('1e-40'):
                break
        return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


# (a + k) Phi(-a) exp(a^2 / 2) of u = a / (a + k), with the normal distribution function Phi
def mills(k):
    def f(u):
        a = k * u / (1 - u)
        return (a + k) * mp.erfc(a / mp.sqrt(2)) * mp.exp(a * a / 2) / 2

    return f


LN2 = mp.log(2) / 2 * mp.mpf('1.01')
LOG_LOW, LOG_HIGH = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
TAN_PI_8 = mp.sqrt(2) - 1
QUARTER_PI2 = (mp.pi / 4) ** 2 * mp.mpf('1.01')

# name, comment, function, interval, coefficients for float and for double (0: not made)
POLYNOMIALS = [
    ('Exp', '(exp(r) - 1 - r) / r^2, |r| <= log(2) / 2', exp_tail, (-LN2, LN2), 5, 11),
    ('Exp2', '(2^r - 1) / r, |r| <= 1/2', exp2_tail, (mp.mpf('-0.505'), mp.mpf('0.505')), 6, 12),
    (
        'Log',
        '(log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2)',
        log_tail,
        (LOG_LOW, LOG_HIGH),
        8,
        0,
    ),
    (
        'LogRatio',
        '(log((1 + s) / (1 - s)) - 2 s) / s^3 of s^2, s = f / (2 + f)',
        log_ratio,
        (0, mp.mpf('0.0296')),
        0,
        8,
    ),
    ('Log2', 'log2(1 + f) / f', lambda f: log_over(f) / mp.log(2), (LOG_LOW, LOG_HIGH), 10, 0),
    ('Log10', 'log10(1 + f) / f', lambda f: log_over(f) / mp.log(10), (LOG_LOW, LOG_HIGH), 10, 0),
    (
        'PowLog',
        '(log2((1 + s) / (1 - s)) / s - c - c s^2 / 3) / s^4 of s^2 <= 1/81, c = 2 / log(2)',
        log2_ratio_tail,
        (0, mp.mpf('0.01235')),
        2,
        6,
    ),
    ('Sin', '(sin(r) - r) / r^3 of r^2, |r| <= pi / 4', sin_tail, (0, QUARTER_PI2), 3, 6),
    ('Cos', '(cos(r) - 1 + r^2 / 2) / r^4 of r^2, |r| <= pi / 4', cos_tail, (0, QUARTER_PI2), 3, 6),
    ('Asin', '(asin(x) - x) / x^3 of x^2, |x| <= 1/2', asin_tail, (0, mp.mpf('0.25')), 5, 13),
    ('Atan', '(atan(x) - x) / x^3 of x^2, |x| <= tan(pi / 8)', atan_tail, (0, TAN_PI_8**2), 4, 12),
    ('Erf', 'erf(x) / x of x^2, |x| <= 1', erf_ratio, (0, 1), 6, 12),
    (
        'Erfcx',
        '(1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4), x >= 0',
        erfcx_mapped,
        (-1, 1),
        14,
        25,
    ),
    (
        'Mills',
        '(a + 2) Phi(-a) exp(a^2 / 2) of a / (a + 2), 0 <= a <= 16',
        mills(mp.mpf(2)),
        (0, mp.mpf(16) / 18),
        12,
        0,
    ),
    (
        'Mills',
        '(a + 3) Phi(-a) exp(a^2 / 2) of a / (a + 3), 0 <= a <= 42',
        mills(mp.mpf(3)),
        (0, mp.mpf(42) / 45),
        0,
        25,
    ),
]


def emit(name, comment, coefficients, dtype):
    digits, suffix = (10, 'F') if dtype == 'float' else (18, '')
    print(f'// {comment}')
    print(f'CHAINERX_INLINE {dtype} {name}Polynomial({dtype} x) {{')

    def number(c):
        return mp.nstr(c, digits, strip_zeros=False, min_fixed=-2, max_fixed=2) + suffix

    print(f'    {dtype} y = {number(coefficients[0])};')
    for c in coefficients[1:]:
        print(f'    y = y * x + {number(c)};'.replace('+ -', '- '))
    print('    return y;')
    print('}\n')


def main():
    print('#pragma once\n')
    print('// Made by tools/make_polynomials.py; not to be edited.\n')
    print('#include "chainerx/core/macro.h"\n')
    print('namespace chainerx::math {\n')
    for name, comment, f, interval, float_count, double_count in POLYNOMIALS:
        for dtype, count in (('float', float_count), ('double', double_count)):
            if count:
                coefficients, error = mp.chebyfit(f, interval, count, error=True)
                emit(name, f'{comment}; error {mp.nstr(error, 2)}', coefficients, dtype)
    print('}  // namespace chainerx::math')


if __name__ == '__main__':
    main()
