"""Comparison of arrays within tolerances."""

from __future__ import annotations

from typing import Any

import numpy

from chainer import backend
from chainer.variable import Variable


def _to_numpy(x):
    if isinstance(x, Variable):
        raise TypeError(f'arrays are compared: pass the array of a variable, not {type(x)}')
    if isinstance(x, numpy.ndarray):
        return x
    try:
        x = backend.CpuDevice().send(x)
    except TypeError:  # other sequences
        pass
    return numpy.asarray(x)


def _worst_element(x, y, atol, rtol):
    """Describes the element that exceeds its tolerance most."""
    with numpy.errstate(all='ignore'):
        err = numpy.abs(x - y)
        excess = numpy.where(numpy.isnan(err), numpy.inf, err - rtol * numpy.abs(y))
        i = numpy.unravel_index(numpy.argmax(excess), excess.shape)
        x, y = numpy.broadcast_arrays(x, y)
        y_abs = abs(y[i])
        return [
            ('i', i),
            ('x[i]', x[i]),
            ('y[i]', y[i]),
            ('relative error[i]', err[i] / y_abs if y_abs else numpy.float64('inf')),
            ('absolute error[i]', err[i]),
            ('relative tolerance * |y[i]|', rtol * y_abs),
            ('absolute tolerance', atol),
            ('total tolerance', atol + rtol * y_abs),
        ]


def assert_allclose(
    x: Any, y: Any, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    r"""Asserts that two arrays are element-wise equal within a tolerance.

    Fails unless the shapes agree (a scalar fits any shape) and
    :math:`|x_i - y_i| \le atol + rtol \cdot |y_i|` for all elements. NaNs equal each other.

    Args:
        x: Actual array: of NumPy, CuPy or ChainerX, a sequence or a number.
        y: Expected array, of any of those kinds.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        verbose (bool): If ``True``, the values are part of the message.

    Raises:
        AssertionError: If they are not close. The message shows the worst element.
        TypeError: If one is a variable.

    .. admonition:: Example

        >>> from chainer import testing
        >>> testing.assert_allclose([1., 2.], [1.00001, 2.])
        >>> testing.assert_allclose([1., 2.], [1.1, 2.])
        Traceback (most recent call last):
            ...
        AssertionError: ...

    """
    x = _to_numpy(x)
    y = _to_numpy(y)
    try:
        numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)
    except AssertionError as e:
        rows = [('shape', f'{x.shape} {y.shape}'), ('dtype', f'{x.dtype} {y.dtype}')]
        if x.shape == y.shape and x.size:
            rows += _worst_element(x, y, atol, rtol)
        lines = [str(e), '', 'assert_allclose failed:']
        lines += [f'  {name}: {value}' for name, value in rows]
        if verbose:
            with numpy.printoptions(precision=6, threshold=200):
                lines += [f'x: {x}', f'y: {y}']
        raise AssertionError('\n'.join(lines)) from None
