"""Padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.functions._base import Operation
from chainer.functions.array.get_item import GetItemGrad
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable

# Modes in which each element of the output is an element of the input.
_COPYING_MODES = 'edge', 'reflect', 'symmetric', 'wrap'


class Pad(Operation):
    """Pads an array on all sides."""

    # Gradients are mostly views of that of the output, which kernels would copy.
    _kernels = NO_KERNELS

    def __init__(self, pad_width: Any, mode: str, **keywords: Any) -> None:
        self.pad_width = pad_width
        self.mode: Any = mode
        self.keywords = keywords

    @property
    def pad_bw(self) -> numpy.ndarray:
        """Numbers before and after, for all axes or for each: an array that exporters read."""
        widths = numpy.asarray(self.pad_width)
        return numpy.repeat(widths, 2) if widths.size == 1 else widths

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        xp = cuda.get_array_module(x)
        return (xp.pad(x, self.pad_width, mode=self.mode, **self.keywords),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        options = dict(self.keywords)
        supported = self.mode in _COPYING_MODES and options.pop('reflect_type', 'even') == 'even'
        if self.mode == 'constant':
            supported = options.keys() <= {'constant_values'}
        elif options:
            supported = False
        if not supported:
            return Fallback(f'mode {self.mode!r} with these options')
        return (chainerx.pad(inputs[0], self.pad_width, self.mode, **options),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        shape = self.inputs[0].shape
        if self.mode == 'constant':
            widths = numpy.broadcast_to(self.pad_width, (len(shape), 2)).tolist()
            return (gy[tuple([slice(w[0], w[0] + n) for w, n in zip(widths, shape)])],)
        if self.mode in _COPYING_MODES and self.keywords.get('reflect_type', 'even') == 'even':
            size = int(numpy.prod(shape))
            sources = numpy.pad(numpy.arange(size).reshape(shape), self.pad_width, self.mode)
            (gx,) = m.apply(GetItemGrad((sources,), (size,)), (gy,))
            return (gx.reshape(shape),)
        raise NotImplementedError(f'pad has no gradient in mode {self.mode!r} with {self.keywords}')


def pad(x: VariableLike, pad_width: Any, mode: str, **keywords: Any) -> Variable:
    """Pads an array on all sides.

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values.
        pad_width (int or array-like): Number of values on each side of each axis:
            ``((before, after), ...)`` per axis, ``(before, after)`` or one number for all.
        mode (str): ``'constant'`` or another mode of :func:`numpy.pad`. Modes ``'edge'``,
            ``'reflect'``, ``'symmetric'`` and ``'wrap'`` have gradients as well.
        keywords: Further arguments of :func:`numpy.pad`, such as ``constant_values``.

    Returns:
        ~chainer.Variable: Array of the dtype of ``x``, whose axes are longer by what is padded
        before and after them.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.
        ValueError: If ``pad_width`` or ``mode`` is invalid.
        NotImplementedError: In backward, if the mode has no gradient.

    .. admonition:: Example

        >>> F.pad(np.ones(2, np.float32), (1, 2), mode='constant', constant_values=5).array
        array([5., 1., 1., 5., 5.], dtype=float32)

    """
    return Pad(pad_width, mode, **keywords).apply((x,))[0]
