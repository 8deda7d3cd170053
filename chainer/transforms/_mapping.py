"""A call that :func:`chainer.vmap` maps: it computes each function for all samples."""

from __future__ import annotations

import copy
import itertools
import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.autograd.base_variable import from_array
from chainer._core.autograd.batched_array import BatchedArray
from chainer._core.names.set_module import set_module
from chainer.function_node import grad
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.separate import separate
from chainer.functions.array.stack import stack
from chainer.transforms._kinds import Operand
from chainer.transforms._rules import rule_of
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.base_function import BaseFunction

_depths = itertools.count()


@set_module('chainer.transforms')
class VmapLoopWarning(UserWarning):
    """A function has no rule for all samples at once, so :func:`chainer.vmap` calls it for each."""


class SampleMapping:
    """Computes functions for all samples by rules, or by a loop over the samples.

    Args:
        size (int): Number of samples.

    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.depth = next(_depths)
        self.is_open = True

    def wrap(self, variable: Variable) -> Variable:
        """Variable that stands for one sample of a variable."""
        return from_array(BatchedArray(variable, self), variable.requires_grad)

    def operand(self, variable: Any) -> Operand:
        """All samples of a variable, or the variable itself if this call does not map it."""
        array = variable.raw_array
        if type(array) is BatchedArray and array.mapping is self:
            return Operand(array.variable, True)
        return Operand(variable, False)

    def all_samples(self, variable: Variable) -> Variable:
        """All samples of a variable, equal ones if this call does not map it."""
        x, is_mapped = self.operand(variable)
        return x if is_mapped else broadcast_to(x, (self.size, *x.shape))

    def _check_open(self) -> None:
        if not self.is_open:
            raise RuntimeError(
                'a variable of a function that chainer.vmap mapped is used after its call: '
                'return it from the function'
            )

    def apply(self, func: BaseFunction, inputs: Sequence[Variable]) -> tuple[Variable, ...]:
        """Applies a function to variables of which some stand for samples."""
        self._check_open()
        operands = [self.operand(x) for x in inputs]
        rule = rule_of(func)
        outputs = None if rule is None else rule(func, operands, self.size)
        if outputs is None:
            outputs = self._loop(func, operands)
        return tuple([self.wrap(y) for y in outputs])

    def _loop(self, func: BaseFunction, operands: Sequence[Operand]) -> list[Variable]:
        """Calls a function for each sample."""
        warnings.warn(
            f'chainer.vmap calls {type(func).__name__} for each sample: it has no rule for all '
            'samples at once with these arguments',
            VmapLoopWarning,
            stacklevel=1,
        )
        parts = [separate(x) if m else [x] * self.size for x, m in operands]
        results = []
        for i in range(self.size):
            node = copy.copy(func)
            node.__dict__.update({k: self._sample(v, i) for k, v in func.__dict__.items()})
            results.append(node.apply(tuple([xs[i] for xs in parts])))
        return [stack(ys) for ys in zip(*results)]

    def _sample(self, value: Any, i: int) -> Any:
        """A sample of an attribute of a function, such as an index."""
        if isinstance(value, tuple):
            return tuple([self._sample(v, i) for v in value])
        if isinstance(value, Variable):
            x, is_mapped = self.operand(value)
            return x[i] if is_mapped else value
        if type(value) is BatchedArray and value.mapping is self:
            return value.variable[i].array
        return value

    def grad(
        self,
        outputs: Sequence[Variable],
        inputs: Sequence[Variable],
        grad_outputs: Sequence[Variable | None] | None = None,
        **options: Any,
    ) -> list[Variable | None]:
        """Gradients of each sample: samples do not depend on each other."""
        self._check_open()
        xs = [self.operand(x) for x in inputs]
        for i, x in enumerate(xs):
            if not x.is_mapped:
                raise ValueError(
                    f'inputs[{i}] is shared by all samples of chainer.vmap, so its gradients are '
                    'not those of samples: give it as an argument, repeated for each sample'
                )
        ys = [self.all_samples(y) for y in outputs]
        if grad_outputs is not None:
            grad_outputs = [None if gy is None else self.all_samples(gy) for gy in grad_outputs]
        gxs = grad(ys, [x.variable for x in xs], grad_outputs, **options)
        return [None if gx is None else self.wrap(gx) for gx in gxs]
