"""Gradients of recorded calls, and derivatives forward by differentiating them once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import backend
from chainer._core.devices.array_kinds import KINDS
from chainer._core.settings.half import FLOAT_KINDS
from chainer.function_node import grad
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer.transforms._calls import Call


def differentiate(
    ys: Sequence[Variable | None],
    xs: Sequence[Variable],
    gys: Sequence[Variable] | None,
    recorded: bool,
) -> list[Variable | None]:
    """Gradients of those outputs that exist and are floating point."""
    used = {i: y for i, y in enumerate(ys) if y is not None and y.dtype.kind in FLOAT_KINDS}
    if not used:
        return [None] * len(xs)
    gys = None if gys is None else [gys[i] for i in used]
    return grad(list(used.values()), xs, gys, enable_double_backprop=recorded)


def filled(values: Iterable[Variable | None], like: Iterable[Variable]) -> list[Variable]:
    """Values with zeros where there is none."""
    return [zeros(x) if value is None else value for value, x in zip(values, like)]


def zeros(x: Variable) -> Variable:
    """Zeros of the shape, dtype and device of a variable."""
    array = x.raw_array
    lift = KINDS[type(array)].lift
    if lift is not None:
        return lift(zeros, array)
    device = x.device
    with backend.using_device(device):
        return Variable(device.xp.zeros(x.shape, x.dtype))


class Pullback:
    r"""The product :math:`u^\top J` of a recorded call, as a function of :math:`u`."""

    def __init__(self, call: Call) -> None:
        self._call = call
        # The product is linear in `u`, so its derivative does not depend on the value.
        self._us = [zeros(y) for y in call.ys]
        self._products = differentiate(call.ys, call.xs, self._us, True)

    def push(self, vs: Sequence[Variable], recorded: bool) -> list[Variable]:
        """Derivatives of the outputs along ``vs``."""
        dys = differentiate(self._products, self._us, vs, recorded)
        for i, dy in enumerate(dys):
            if dy is None:
                self._check_independent(i)
        return filled(dys, self._us)

    def _check_independent(self, i: int) -> None:
        """Raises an error if an output has a gradient that does not depend on ``u``."""
        gxs = differentiate(self._call.ys[i : i + 1], self._call.xs, self._us[i : i + 1], True)
        if any(gx is not None for gx in gxs):
            raise RuntimeError(
                f'output {i} of f cannot be differentiated twice, which forward derivatives need: '
                'a function in f computes its gradient from arrays, not from variables'
            )
