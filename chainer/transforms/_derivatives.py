"""Products with Jacobians and Hessians, and whole Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.configuration import config as _config
from chainer.function import force_backprop_mode
from chainer.functions.array.reshape import reshape
from chainer.functions.array.stack import stack
from chainer.transforms._calls import check_tangents, record
from chainer.transforms._gradients import Pullback, differentiate, filled, zeros
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chainer.transforms._calls import Call


def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Product of a Jacobian with a vector: the derivative of a function along a direction.

    .. math:: y = f(x), \\quad \\dot y = \\frac{\\partial f}{\\partial x}(x) \\, \\dot x

    It differentiates the product :math:`u^\\top \\partial f / \\partial x` with respect to
    :math:`u`, and so takes any function that is twice differentiable in Chainer, at the cost of
    three to four calls of ``f``, however many outputs there are.

    Args:
        f (callable): Function of variables that returns a variable or a tuple of them.
        primals (:class:`~chainer.Variable`, array or tuple of them): Its arguments, floating
            point.
        tangents (:class:`~chainer.Variable`, array or tuple of them): Directions, of the shapes
            and dtypes of ``primals``.

    Returns:
        tuple: ``(y, dy)``: what ``f`` returns, and derivatives of the same structure, shapes and
        dtypes. Outside of :func:`chainer.no_backprop_mode` they can be differentiated again.

    Raises:
        TypeError: If dtypes do not fit, or ``f`` does not return variables.
        ValueError: If shapes or numbers of arguments do not fit.
        RuntimeError: If the gradient of a function in ``f`` cannot be differentiated.

    .. admonition:: Example

        >>> x = np.array([1, 2, 3], np.float32)
        >>> y, dy = chainer.jvp(lambda x: x ** 3, x, np.array([1, 0, 2], np.float32))
        >>> dy  # 3 x^2 times the tangent
        variable([ 3.,  0., 54.])

    """
    recorded = _config.enable_backprop
    with force_backprop_mode():
        call = record(f, primals)
        vs = check_tangents(call.xs, tangents)
        dys = Pullback(call).push(vs, recorded)
    return call.like_outputs(_results(call.ys, recorded)), call.like_outputs(dys)


def hvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Variable, Any]:
    """Product of the Hessian of a scalar function with a vector.

    .. math:: y = f(x), \\quad \\dot g = \\frac{\\partial^2 f}{\\partial x^2}(x) \\, \\dot x

    Args:
        f (callable): Function of variables that returns a variable without axes.
        primals (:class:`~chainer.Variable`, array or tuple of them): Its arguments, floating
            point.
        tangents (:class:`~chainer.Variable`, array or tuple of them): The vector, of the shapes
            and dtypes of ``primals``.

    Returns:
        tuple: ``(y, dg)``: the value of ``f``, and the product: a variable, or a tuple of them if
        ``primals`` is one. Outside of :func:`chainer.no_backprop_mode` they can be differentiated
        again.

    Raises:
        TypeError: If dtypes do not fit, or ``f`` does not return a variable.
        ValueError: If shapes or numbers of arguments do not fit, or ``f`` returns an array with
            axes.

    .. admonition:: Example

        >>> x = np.array([1, 2, 3], np.float32)
        >>> y, dg = chainer.hvp(lambda x: F.sum(x ** 3), x, np.array([1, 0, 2], np.float32))
        >>> y, dg  # the Hessian is diagonal: 6 x
        (variable(36.), variable([ 6.,  0., 36.]))

    """
    recorded = _config.enable_backprop
    with force_backprop_mode():
        call = record(f, primals)
        vs = check_tangents(call.xs, tangents)
        shapes = [y.shape for y in call.ys]
        if shapes != [()]:
            raise ValueError(f'f must return one variable of the shape (), not {shapes}')
        gxs = differentiate(call.ys, call.xs, None, True)
        products = filled(differentiate(gxs, call.xs, vs, recorded), call.xs)
    return _results(call.ys, recorded)[0], _like(primals, products)


def jacobian(f: Callable[..., Any], primals: Any, mode: str = 'reverse') -> Any:
    """Jacobian of a function.

    .. math:: J_{i j} = \\frac{\\partial f_i}{\\partial x_j}(x)

    Args:
        f (callable): Function of variables that returns a variable or a tuple of them.
        primals (:class:`~chainer.Variable`, array or tuple of them): Its arguments, floating
            point.
        mode (str): ``'reverse'`` computes it by rows, one backward pass for each element of the
            outputs; ``'forward'`` by columns, one :func:`jvp` for each element of the arguments.
            Take the one with fewer passes.

    Returns:
        Variable or tuple: For an output of shape ``s`` and an argument of shape ``t`` a variable
        of shape ``s + t``. It is in a tuple if ``primals`` is a tuple, and that is in another
        tuple if ``f`` returns one: ``jacobian(f, (x0, x1))[i][j]``. Outside of
        :func:`chainer.no_backprop_mode` it can be differentiated again.

    Raises:
        TypeError: If an argument is not floating point, or ``f`` does not return variables.
        ValueError: If ``mode`` is neither of both.
        RuntimeError: If the gradient of a function in ``f`` cannot be differentiated (mode
            ``'forward'``).

    .. admonition:: Example

        >>> x = np.array([1, 2], np.float32)
        >>> chainer.jacobian(lambda x: F.stack([x[0] * x[1], x[0] ** 2, x[1]]), x)
        variable([[2., 1.],
                  [2., 0.],
                  [0., 1.]])

    """
    if mode not in ('reverse', 'forward'):
        raise ValueError(f"mode must be 'reverse' or 'forward', not {mode!r}")
    recorded = _config.enable_backprop
    with force_backprop_mode():
        call = record(f, primals)
        jacobians = (_by_rows if mode == 'reverse' else _by_columns)(call, recorded)
    return call.like_outputs([_like(primals, _results(row, recorded)) for row in jacobians])


def _by_rows(call: Call, recorded: bool) -> list[list[Variable]]:
    """Gradients of each element of the outputs."""
    jacobians = []
    for y in call.ys:
        rows = [
            filled(differentiate([y], call.xs, [unit], recorded), call.xs) for unit in _units(y)
        ]
        jacobians.append(
            [_joined([row[j] for row in rows], 0, y, x) for j, x in enumerate(call.xs)]
        )
    return jacobians


def _by_columns(call: Call, recorded: bool) -> list[list[Variable]]:
    """Derivatives along each element of the arguments."""
    pullback = Pullback(call)
    jacobians: list[list[Variable]] = [[] for _ in call.ys]
    for j, x in enumerate(call.xs):
        vs = [zeros(other) for other in call.xs]
        columns = [pullback.push([*vs[:j], unit, *vs[j + 1 :]], recorded) for unit in _units(x)]
        for i, y in enumerate(call.ys):
            jacobians[i].append(_joined([column[i] for column in columns], -1, y, x))
    return jacobians


def _units(x: Variable) -> Iterator[Variable]:
    """Arrays of zeros with a one at each element in turn."""
    send = x.device.send
    for i in range(x.size):
        unit = numpy.zeros(x.size, numpy.float32)
        unit[i] = 1
        yield as_variable(send(unit.reshape(x.shape)).astype(x.dtype))


def _joined(parts: Sequence[Variable], axis: int, y: Variable, x: Variable) -> Variable:
    """Derivatives of ``y`` by ``x`` from those of, or by, each element."""
    shape = y.shape + x.shape
    if not parts:
        with backend.using_device(y.device):
            return as_variable(y.xp.zeros(shape, y.dtype))
    return reshape(stack(parts, axis), shape)


def _results(values: Sequence[Variable], recorded: bool) -> list[Variable]:
    """Results as the caller's mode wants them: without the graph in ``no_backprop_mode``."""
    return [value if recorded else as_variable(value.array) for value in values]


def _like(primals: Any, values: Sequence[Variable]) -> Any:
    """One value, or a tuple of them, as the arguments are."""
    return tuple(values) if isinstance(primals, (tuple, list)) else values[0]
