"""Functions around the call of a link whose parameters are gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import configuration
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation
from chainermn import _arrays
from chainermn._sharding import parts
from chainermn._sharding.step import current

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray
    from chainer.variable import Parameter
    from chainermn._sharding.step import Step


class Whole:
    """Parameters of a link during one of its calls, and again in its backward.

    Args:
        label: Name of the link, for reports.
        params: Parameters of which each rank has its part.

    Attributes:
        own: Parts of this rank.
        step: Step of the call.
        number: Number of the call in its step.
        is_kept: Whether the parameters stay from the call to its backward, which comes soon.

    """

    def __init__(self, label: str, params: Sequence[Parameter]) -> None:
        self.label = label
        self.params = params
        self.own = [part for part in map(parts.part_of, params) if part is not None]
        self.step: Step = current(self.own[0].comm)
        self.number = self.step.number()
        self.memory: Any = None
        self.is_kept = False
        self._arrays: Sequence[NdArray] = ()

    def pairs(self) -> list[tuple[parts.Part, NdArray]]:
        """Parts with their arrays."""
        return list(zip(self.own, self._arrays))

    def gather(self, arrays: Sequence[NdArray]) -> list[NdArray]:
        """Gathers parameters from the parts; collective."""
        self._arrays = arrays
        self.memory = self.step.take(self, False) or parts.memory_of(self.own, arrays)
        self._fill()
        gathers_again = self.memory.can_release and configuration.config.enable_backprop
        self.step.entered(self if gathers_again else None)
        return self.memory.arrays

    def keep(self, array: Any) -> Any:
        """Copies an array that would go away with the parameters; returns others as they are."""
        is_in_memory = array is not None and self.memory.holds(_arrays.address(array))
        return array.copy() if is_in_memory and self.memory.can_release else array

    def leave(self) -> None:
        """Releases the parameters after the call."""
        if not self.is_kept:
            self.memory.release()

    def refill(self) -> None:
        """Gathers them again, for backward; collective."""
        self.step.take(self, True)
        self._fill()
        self.step.go_on()

    def _fill(self) -> None:
        if not self.memory.is_filled:
            parts.gather(self.label, self.pairs(), self.memory.arrays)
            self.memory.is_filled = True


class Enter(Operation):
    """Parameters from parts, and the inputs of the link as they are.

    The inputs let backward come here after all functions of the link, and before others. The
    gradients of the parts are the means over the ranks.
    """

    _kernels = NO_KERNELS

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._n = len(whole.own)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        self.retain_inputs(())
        return (*self._whole.gather(inputs[: self._n]), *inputs[self._n :])

    def gradients(self, m: Any, targets: Sequence[int], xs: Any, ys: Any, gys: Any) -> Any:
        _refuse_double_backprop()
        whole = self._whole
        if not whole.memory.is_filled:
            raise RuntimeError(
                f'backward came to {whole.label} by a result that the link did not return in a '
                'variable, or in tuples, lists and dictionaries of variables, so that its '
                'parameters were not there. Shard a larger link: '
                'shard_parameters(link, comm, whole=True)'
            )
        grads = [whole.keep(gys[i]) for i in targets]
        indexes = [i for i in targets if i < self._n]
        for k, i in enumerate(indexes):
            # The others wait for the gradient of a parameter that this rank did not use.
            if grads[k] is None:
                grads[k] = numpy.zeros_like(whole.memory.arrays[i])
        whole.memory.release()
        if indexes:
            known = [(whole.params[i], whole.own[i], grad) for i, grad in zip(indexes, grads)]
            grads[: len(indexes)] = whole.step.gradients.means(whole.label, known)
        return grads


class Leave(Operation):
    """Results of the link as they are; its backward gathers the parameters again."""

    _kernels = NO_KERNELS

    def __init__(self, whole: Whole) -> None:
        self._whole = whole

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        self.retain_inputs(())
        return tuple([self._whole.keep(x) for x in inputs])

    def gradients(self, m: Any, targets: Sequence[int], xs: Any, ys: Any, gys: Any) -> Any:
        _refuse_double_backprop()
        self._whole.refill()
        return [gys[i] for i in targets]


def _refuse_double_backprop() -> None:
    if configuration.config.enable_backprop:
        raise RuntimeError('double backpropagation of sharded parameters is not possible')
