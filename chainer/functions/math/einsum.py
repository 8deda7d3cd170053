"""Einstein summation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend, utils
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import NO_NATIVE_PATH, Fallback
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable

_LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'


class EinSum(Operation):
    """Einstein summation of subscripts without ellipses.

    Args:
        in_subs (str): Subscripts of the inputs, separated by commas.
        out_sub (str): Subscript of the output, without repeated labels.

    """

    _kernels = kernels(retain=None)

    def __init__(self, in_subs: str, out_sub: str) -> None:
        self.in_subs = in_subs
        self.out_sub = out_sub

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        subs = self.in_subs.split(',')
        type_check.expect(in_types.size() == len(subs))
        for i, (in_type, sub) in enumerate(zip(in_types, subs)):
            type_check.expect_arguments((in_type,), (f'x{i}',))
            type_check.expect(in_type.dtype.kind == 'f', in_type.ndim == len(sub))
        lengths: dict[str, int] = {}
        for in_type, sub in zip(in_types, subs):
            for axis, label in enumerate(sub):
                n = type_check.eval(in_type.shape[axis])
                if n != 1 and lengths.setdefault(label, n) != n:
                    type_check.expect(in_type.shape[axis] == lengths[label])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        xp = backend.get_array_module(*inputs)
        return (utils.force_array(xp.einsum(f'{self.in_subs}->{self.out_sub}', *inputs)),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if any([x.dtype != inputs[0].dtype for x in inputs]):
            return Fallback('mixed dtypes')
        return (chainerx.einsum(f'{self.in_subs}->{self.out_sub}', *inputs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        subs = self.in_subs.split(',')
        gxs = []
        for i in targets:
            others = [s for j, s in enumerate(subs) if j != i]
            operands = [x for j, x in enumerate(xs) if j != i]
            func = DiagEinSum(','.join([self.out_sub, *others]), subs[i], xs[i].shape)
            (gx,) = m.apply(func, (*gys, *operands))
            gxs.append(m.cast(gx, xs[i].dtype))
        return gxs


class DiagEinSum(EinSum):
    """Einstein summation that allows repeated and new labels in the output.

    Elements off the diagonals of repeated labels are zero. The result repeats along new labels.
    This is the adjoint of taking a diagonal and of summing over an axis.

    Args:
        in_subs (str): Subscripts of the inputs, separated by commas.
        out_sub (str): Subscript of the output.
        out_shape (tuple of int): Shape of the output.

    """

    _kernels = NO_KERNELS

    def __init__(self, in_subs: str, out_sub: str, out_shape: tuple[int, ...]) -> None:
        super().__init__(in_subs, out_sub)
        self.out_shape = out_shape

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        xp = backend.get_array_module(*inputs)
        labels = ''.join(dict.fromkeys(self.out_sub))
        lengths = dict(zip(self.out_sub, self.out_shape))
        known = ''.join([c for c in labels if c in self.in_subs])
        y = xp.einsum(f'{self.in_subs}->{known}', *inputs)
        # The forward pass broadcast an input axis of length one.
        sums = tuple([i for i, c in enumerate(known) if lengths[c] == 1 and y.shape[i] != 1])
        if sums:
            y = y.sum(axis=sums, keepdims=True)
        y = y.reshape([y.shape[known.index(c)] if c in known else 1 for c in labels])
        y = xp.broadcast_to(y, [lengths[c] for c in labels])
        out = xp.zeros(self.out_shape, y.dtype)
        _diagonal_view(out, self.out_sub, xp)[...] = y
        return (out,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return NO_NATIVE_PATH


def _diagonal_view(x, sub, xp):
    """Writable view of the elements of ``x`` with equal indices for axes of equal labels."""
    labels = list(dict.fromkeys(sub))
    shape = [x.shape[sub.index(c)] for c in labels]
    strides = [sum(s for s, d in zip(x.strides, sub) if d == c) for c in labels]
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


def _parse(operands):
    """Returns input subscripts, the output subscript or ``None``, and the inputs."""
    if not operands:
        raise ValueError('must provide at least an operand')
    if isinstance(operands[0], str):
        text = operands[0].replace(' ', '')
        inputs = operands[1:]
        in_text, arrow, out_text = text.partition('->')
        return in_text.split(','), out_text if arrow else None, inputs
    # Pairs of an operand and a list of integer labels, and an optional list for the output.
    inputs, lists = list(operands[0::2]), list(operands[1::2])
    out = _from_labels(inputs.pop()) if len(operands) % 2 else None
    return [_from_labels(x) for x in lists], out, tuple(inputs)


def _from_labels(labels):
    return ''.join(['...' if c is Ellipsis else _LETTERS[c] for c in labels])


def _n_axes_of_ellipsis(sub, x):
    if '...' not in sub:
        return 0
    n = x.ndim - (len(sub) - 3)
    if n < 0:
        raise ValueError(
            f'subscript {sub!r} has more labels than the operand of shape {x.shape} has axes'
        )
    return n


def _expand_ellipses(subs, out, inputs):
    """Replaces each ellipsis with new labels, aligned at the last axis."""
    used = set(''.join([*subs, out or ''])) - {'.'}
    free = [c for c in _LETTERS if c not in used]
    expanded, longest = [], ''
    for sub, x in zip(subs, inputs):
        labels = ''.join(free[: _n_axes_of_ellipsis(sub, x)][::-1])
        longest = max(longest, labels, key=len)
        sub = sub.replace('...', labels)
        if '.' in sub:
            raise ValueError(
                f'einstein sum subscript {sub!r} contains a "." that is not part of an ellipsis'
            )
        expanded.append(sub)
    if out is None:
        return expanded, _implied_output(''.join(expanded), longest)
    return expanded, out.replace('...', longest)


def _implied_output(joined, ellipsis):
    """Labels that occur once, after those of the ellipsis."""
    once = [c for c in set(joined) - set(ellipsis) if joined.count(c) == 1]
    return ellipsis + ''.join(sorted(once))


def einsum(*operands: Any) -> Variable:
    """Einstein summation of variables.

    Args:
        operands: Subscripts as for :func:`numpy.einsum` followed by the operands, floating point
            variables or arrays; or operands alternating with lists of integer labels.

    Returns:
        ~chainer.Variable: Result in the common dtype of the operands, with an axis for each letter
        of the output.

    Raises:
        ValueError: If the subscripts are invalid or repeat a label in the output.
        ~chainer.utils.type_check.InvalidType: If shapes do not fit the subscripts.

    .. admonition:: Example

        >>> a = np.array([[1, 2], [3, 4]], np.float32)
        >>> F.einsum('ij,ij->i', a, a).array
        array([ 5., 25.], dtype=float32)
        >>> F.einsum('ij,jk->ik', np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)).shape
        (2, 4)

    """
    subs, out, inputs = _parse(operands)
    if len(subs) != len(inputs):
        raise ValueError(f'{len(subs)} subscripts are given for {len(inputs)} operands')
    inputs = [as_variable(x) for x in inputs]
    subs, out = _expand_ellipses(subs, out, inputs)
    for i, c in enumerate(out):
        if c in out[:i]:
            raise ValueError(
                f'einstein sum subscripts string includes output subscript {c!r} multiple times'
            )
        if not any(c in s for s in subs):
            raise ValueError(f'output subscript {c!r} is not in any input')
    return EinSum(','.join(subs), out).apply(inputs)[0]
