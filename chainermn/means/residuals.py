"""What messages have left out of gradients, which the next ones make up for."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.autograd import variable_gradient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.variable import Parameter

    _Array = numpy.ndarray[Any, Any]


class _Residual:
    """The residual of a parameter.

    Args:
        param: Parameter.
        array: Flat array, a piece of what its bucket has.
        loss_scale: Factor in the array, as in the gradient that it is left from.

    """

    def __init__(self, param: Parameter, array: _Array, loss_scale: float) -> None:
        self.param = weakref.ref(param)
        self.array = array
        self.loss_scale = loss_scale


class Residuals:
    """The residuals of parameters on this rank, see :mod:`~chainermn.means.int8`.

    They belong to parameters and not to buckets, which may change.
    """

    def __init__(self) -> None:
        self._residuals: dict[int, _Residual] = {}

    def get(self, param: Parameter) -> _Array | None:
        """Returns the residual of a parameter without its loss scale, if it has one."""
        residual = self._find(param)
        return None if residual is None else residual.array / numpy.float32(residual.loss_scale)

    def set(self, param: Parameter, array: _Array | None) -> None:
        """Replaces the residual of a parameter by one without a loss scale, or none."""
        self._residuals.pop(id(param), None)
        if array is not None:
            self._residuals[id(param)] = _Residual(param, array, 1.0)

    def join(self, params: Sequence[Parameter], pieces: Sequence[_Array]) -> None:
        """Moves the residuals of parameters, with the loss scales of their gradients now.

        Args:
            params: Parameters.
            pieces: For each of them, flat memory of float32, which may be where it has its residual
                already.

        """
        if any([self._find(param) is None for param in params]):
            self._drop_dead()
        for param, piece in zip(params, pieces):
            residual = self._find(param)
            scale = variable_gradient.loss_scale_of(param)
            if residual is None:
                piece[...] = 0
                residual = self._residuals[id(param)] = _Residual(param, piece, scale)
            if residual.array is not piece:
                piece[...] = residual.array
                residual.array = piece
            if residual.loss_scale != scale:
                piece *= numpy.float32(scale / residual.loss_scale)
                residual.loss_scale = scale

    def clear(self) -> None:
        """Forgets all residuals."""
        self._residuals.clear()

    def _find(self, param: Parameter) -> _Residual | None:
        # Another parameter may have the id of one that is gone.
        residual = self._residuals.get(id(param))
        return residual if residual is not None and residual.param() is param else None

    def _drop_dead(self) -> None:
        self._residuals = {
            i: residual for i, residual in self._residuals.items() if residual.param() is not None
        }
