"""Shared machinery of functions: one base class per kind of function.

A gradient rule is written once, and serves two callers. If the backward pass is recorded (double
backprop), it gets variables, and ``m`` has the functions of :mod:`chainer.functions`. Otherwise it
gets plain arrays, and ``m`` has the same functions for arrays. A rule therefore uses operators and
functions of ``m``, and ``m.apply(node, inputs)`` for function nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import utils
from chainer._core.autograd.tape import ArrayRule
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX, Kernels
from chainer._core.names.namespace import F
from chainer._core.reports.fallback import NO_NATIVE_PATH
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.functions._arguments import expect_axis, parse_axis
from chainer.functions._arrays import in_dtype
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.tape import Tape
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def call_chainerx(name, *args, **kwargs):
    """Outputs of a ChainerX routine with one output, or ``Fallback`` if ChainerX lacks it."""
    routine = getattr(chainerx, name, None)
    return NO_NATIVE_PATH if routine is None else (routine(*args, **kwargs),)


def kernels(**options):
    """How a class uses kernels: under NumPy arrays, too, where ChainerX is built."""
    return Kernels(under_numpy=chainerx.is_available(), **options)


class Operation(FunctionNode):
    """Function of this package.

    Subclasses state the gradient in :meth:`gradients`. Where ChainerX is built, its kernels serve
    NumPy arrays by ``forward_chainerx``, unless the class says no: ``_kernels = NO_KERNELS``.
    """

    _rule: Tape = ArrayRule
    _kernels = kernels()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        if 'gradients' in own and own.keys().isdisjoint(('_rule', 'backward')):
            cls._rule = ArrayRule

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        """Gradients of the inputs with the indexes ``targets``; by default there are none.

        Args:
            m: Namespace of functions for what follows.
            targets (tuple of int): Sorted indexes of inputs.
            xs: Retained inputs: variables or arrays.
            ys: Retained outputs.
            gys: Gradients of the outputs, ``None`` where an output has none.

        Returns:
            Sequence of gradients or ``None``, one per target.

        """
        return (None,) * len(targets)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        gxs: Sequence[Any] = self.gradients(
            F,
            target_input_indexes,
            self.get_retained_inputs(),
            self.get_retained_outputs(),
            grad_outputs,
        )
        return tuple(gxs)


class CallableFunction(Operation):
    """Function whose objects are callable with inputs, like old-style functions."""

    def __call__(self, *inputs: VariableLike) -> Any:
        outputs = self.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs


class _Routine(Operation):
    """Function that may have a ChainerX routine."""

    #: Name of the ChainerX routine that computes the same. It does not serve subclasses, which may
    #: compute something else: they name their own.
    chainerx_routine: str
    _chainerx_function: Any = None
    #: Which of the inputs (``'x'``) and the output (``'y'``) the gradient uses.
    retains: str
    _kernels = kernels(check=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if 'retains' in cls.__dict__:
            cls._kernels = cls._kernels._replace(
                retain=None if 'x' in cls.retains else (),
                rule_outputs=(0,) if 'y' in cls.retains else (),
            )
        cls._chainerx_function = None
        if 'chainerx_routine' in cls.__dict__ and chainerx.is_available():
            cls._chainerx_function = staticmethod(getattr(chainerx, cls.chainerx_routine))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        routine = self._chainerx_function
        return NO_NATIVE_PATH if routine is None else (routine(*inputs),)


class UnaryFunction(_Routine):
    """Elementwise function of one floating point array.

    Subclasses define ``compute(xp, x)`` and ``gradient(m, x, y, gy)``. :attr:`retains` names
    the arguments that the gradient uses: ``'x'``, ``'y'``, ``'xy'`` or ``''``; the others are
    ``None``.
    """

    # A call of NumPy on few elements costs less than views of its arrays.
    _kernels = kernels(retain=None, least_size=4096, check=True)
    is_elementwise = True
    retains = 'x'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        if 'x' in self.retains:
            self.retain_inputs((0,))
        if 'y' in self.retains:
            self.retain_outputs((0,))
        return (in_dtype(self.compute(cuda.get_array_module(x), x), x.dtype),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        x: Any = xs[0] if xs else None
        y: Any = ys[0] if ys else None
        return (self.gradient(m, x, y, gy),)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        raise NotImplementedError

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        raise NotImplementedError


class BinaryFunction(_Routine):
    """Elementwise function of two floating point arrays, with broadcasting.

    Subclasses define ``compute(xp, x0, x1)`` and ``gradient(m, i, x0, x1, y, gy)``, the
    gradient for input ``i`` in the shape of the output; this class sums it over the broadcast
    axes of the input. ``retains`` is a subset of ``'xy'``.
    """

    # NumPy's arithmetic is as fast.
    _kernels = CHECKED_BY_CHAINERX
    is_elementwise = True
    retains = 'x'
    arguments: tuple[str, ...] = ('lhs', 'rhs')

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, self.arguments)
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].dtype == in_types[1].dtype)
        type_check.expect_broadcast_shapes(in_types[0].shape, in_types[1].shape)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x0, x1 = inputs
        if 'x' in self.retains:
            self.retain_inputs((0, 1))
        if 'y' in self.retains:
            self.retain_outputs((0,))
        y = self.compute(cuda.get_array_module(x0), x0, x1)
        return ((y if type(y) is numpy.ndarray else utils.force_array(y)),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x0: Any
        x1: Any
        x0, x1 = xs or (None, None)
        y: Any = ys[0] if ys else None
        (gy,) = gys
        gradients = []
        for i in targets:
            gx = self.gradient(m, i, x0, x1, y, gy)
            shape = self.inputs[i].shape
            gradients.append(gx if gx is None or gx.shape == shape else m.sum_to(gx, shape))
        return gradients

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        raise NotImplementedError

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        raise NotImplementedError


class ReductionFunction(UnaryFunction):
    """Function that reduces axes of one floating point array.

    Subclasses give ``compute(xp, x)`` and ``gradient(m, x, y, gy)``, which gets ``y`` and ``gy``
    with the reduced axes.

    Args:
        axis (None, int or tuple of int): Axes to reduce (``None``: all).
        keepdims (bool): Whether reduced axes stay with length one.

    """

    is_elementwise = False
    retains = ''

    def __init__(self, axis: Axis = None, keepdims: bool = False) -> None:
        self.axis: tuple[int, ...] | None = parse_axis(axis)
        self.keepdims = keepdims

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        expect_axis(in_types[0], self.axis)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        routine = self._chainerx_function
        if routine is None:
            return NO_NATIVE_PATH
        return (routine(inputs[0], axis=self.axis, keepdims=self.keepdims),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        if not (self.keepdims or self.axis is None):
            shape = self._kept_shape()
            ys, gys = [[y.reshape(shape) for y in arrays] for arrays in (ys, gys)]
        return super().gradients(m, targets, xs, ys, gys)

    def _kept_shape(self):
        """Shape of the output if the reduced axes were kept with length one."""
        shape = self.inputs[0].shape
        if self.axis is None:
            return (1,) * len(shape)
        axes = {a % len(shape) for a in self.axis}
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
