"""Builder of nodes: one form of each operation for all versions of the operator set."""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from onnx_chainer import _sizes, onnx_helper
from onnx_chainer._axes import Dim, Varying
from onnx_chainer._known import KnownCall, Unsupported as Unsupported
from onnx_chainer._schemas import schema_at, schemas_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


#: The number of bfloat16 in ONNX.
_BFLOAT16 = 16


def onnx_type(dtype: Any) -> int:
    """Number of a dtype in ONNX."""
    from onnx import helper

    return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))


class Builder(KnownCall):
    """Makes the nodes of one call.

    A method in capitals adds the node of that name: ``g.Add(x, y)``. Its inputs are names, arrays
    or numbers, which get the dtype of the first input of the call; ``None`` is an input left out.

    """

    _dtype_of_numbers: Any = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name[:1].isupper():
            raise AttributeError(name)
        return functools.partial(self._node, name)

    def _node(self, op_name: str, *inputs: Any, n: int = 1, **attributes: Any) -> Any:
        """Adds a node. Some attributes of old opsets are inputs of new ones: both are keywords."""
        given = list(inputs)
        schemas = schemas_of('', op_name)
        if schemas:
            self.need(schemas[0].since)
            form = schema_at(schemas, self.opset)
            for place, name in enumerate(form.inputs):
                x = attributes.pop(name, None)
                if x is not None:
                    given += [None] * (place + 1 - len(given))
                    given[place] = self._input(x, form.types[place])
            self._check_bfloat16(op_name, given, attributes)
        names = ['' if x is None else self.const(x) for x in given]
        while names and not names[-1]:
            names.pop()
        return self.op(op_name, names, n, **attributes)

    def _check_bfloat16(self, op_name: str, given: Sequence[Any], attributes: Any) -> None:
        """Raises an error if the opset does not have an operator for bfloat16, which is young."""
        schemas = schemas_of('', op_name)
        takes_it = bool(given) and self._is_bfloat16(given[0])
        makes_it = op_name == 'Cast' and attributes['to'] == _BFLOAT16
        if not (takes_it or makes_it):
            return
        takes = [form.since for form in schemas if not form.types[0] or 'w' in form.types[0]]
        if not takes:
            raise Unsupported(f'{op_name} takes no bfloat16')
        self.need(takes[0], f'{op_name} of bfloat16')

    def _is_bfloat16(self, x: Any) -> bool:
        """Whether a name is that of an input of bfloat16."""
        if not isinstance(x, str) or x not in self.names:
            return False
        given = self._call.inputs[self.names.index(x)]
        # Converters of programs may call others without arrays.
        return given is not None and _letter(given.dtype) == 'w'

    def _input(self, x: Any, types: str) -> Any:
        if isinstance(x, (list, tuple)):
            return self.ints(x)
        return self.const(x, numpy.int64) if 'q' in types and 'f' not in types else x

    def has(self, op_name: str, dtype: Any = None) -> bool:
        """Whether the opset has an operator, for a dtype if it is one of NumPy's numbers."""
        schemas = schemas_of('', op_name)
        types = schema_at(schemas, self.opset).types[0]
        return schemas[0].since <= self.opset and (dtype is None or _letter(dtype) in types)

    def const(self, x: Any, dtype: Any = None) -> str:
        """Name of a value: a name stays, numbers and arrays become constants."""
        if isinstance(x, str):
            return x
        if isinstance(x, Dim):
            return self.Cast(self.as_scalar(self.size(x)), to=onnx_type(dtype or self.dtype()))
        if isinstance(x, Varying):
            if is_number(x.values[0]):
                x = Varying([numpy.array(v, dtype or self.dtype()) for v in x.values])
            return _sizes.varying(self, x)
        if isinstance(x, (*chainer.get_array_types(), chainer.Variable, numpy.generic)):
            value: Any = x
            if not isinstance(value, numpy.generic) and self.context.knows(value):
                return self.context.get_name(value)
            array = onnx_helper.as_numpy(value)
            return self.context.add_const(array if dtype is None else array.astype(dtype))
        dtype = dtype or self._dtype_of_numbers or self.dtype()
        return self.context.add_const(numpy.array(x, dtype))

    @contextlib.contextmanager
    def numbers_of(self, dtype: Any) -> Iterator[None]:
        """Here numbers among the inputs of nodes have this dtype, not that of the first input."""
        self._dtype_of_numbers = dtype
        yield
        self._dtype_of_numbers = None

    def ints(self, values: Sequence[Any]) -> str:
        """Name of a vector of int64, of numbers and sizes."""
        if not any(isinstance(v, Dim) for v in values):
            return self.context.add_const(numpy.array([int(v) for v in values], numpy.int64))
        parts: list[str] = []
        fixed: list[int] = []
        for v in values:
            if isinstance(v, Dim):
                if fixed:
                    parts.append(self.ints(fixed))
                    fixed = []
                parts.append(self.size(v))
            else:
                fixed.append(v)
        if fixed:
            parts.append(self.ints(fixed))
        return self.joined(parts, 0)

    def size(self, dim: Any) -> str:
        """Name of a vector of int64 with one size."""
        return _sizes.size(self, dim) if isinstance(dim, Dim) else self.ints([dim])

    # -- operations whose form depends on the version -------------------------------------------

    def cast(self, x: Any, dtype: Any) -> Any:
        """``x`` as an array of ``dtype``."""
        return self.Cast(x, to=onnx_type(dtype))

    def squeeze(self, x: Any, axes: Sequence[int]) -> Any:
        """Removes axes of length one."""
        return self.Squeeze(x, axes=list(axes)) if len(axes) else x

    def as_scalar(self, x: Any) -> Any:
        """The scalar of a vector with one element."""
        return self.squeeze(x, [0])

    def unsqueeze(self, x: Any, axes: Sequence[int]) -> Any:
        """Inserts axes of length one, at positions of the result."""
        return self.Unsqueeze(x, axes=list(axes)) if len(axes) else x

    def reduce(
        self, kind: str, x: Any, axes: Sequence[int] | None = None, keepdims: bool = False
    ) -> Any:
        """Reduces axes, ``None`` for all, by an operator such as ``'ReduceSum'``."""
        if axes is not None and not len(axes):
            return x
        axes = None if axes is None else list(axes)
        return self._node(kind, x, axes=axes, keepdims=int(keepdims))

    def slice(
        self,
        x: Any,
        starts: Sequence[Any],
        ends: Sequence[Any],
        axes: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> Any:
        """Slices of axes."""
        if steps is not None and all(s == 1 for s in steps) and self.opset < 10:
            steps = None
        if steps is not None:
            self.need(10, 'a slice with a step')
        return self.Slice(
            x,
            starts=list(starts),
            ends=list(ends),
            axes=list(axes),
            steps=None if steps is None else list(steps),
        )

    def joined(self, parts: Sequence[Any], axis: int) -> Any:
        """Values one after another along an axis."""
        return parts[0] if len(parts) == 1 else self.Concat(*parts, axis=axis)

    def split(self, x: Any, sizes: Sequence[Any], axis: int) -> list[str]:
        """Parts of an axis with given lengths."""
        if len(sizes) == 1:
            return [self.Identity(x)]
        sizes = [s if isinstance(s, Dim) else int(s) for s in sizes]
        return list(self.Split(x, split=sizes, axis=axis, n=len(sizes)))

    def pad(self, x: Any, pads: Sequence[Any], mode: str = 'constant', value: Any = None) -> Any:
        """Pads axes: ``pads`` has the widths before all axes, then those behind them."""
        options = {'constant_value': value}
        if self.opset < 11:
            options = {'value': None if value is None else float(value)}
        return self.Pad(x, pads=list(pads), mode=mode, **options)

    def clip(self, x: Any, low: Any = None, high: Any = None) -> Any:
        """Elementwise clip."""
        if self.opset < 11:
            return self.Clip(
                x,
                min=None if low is None else float(low),
                max=None if high is None else float(high),
            )
        return self.Clip(x, low, high)

    def softmax(self, x: Any, axis: int, ndim: int, kind: str) -> Any:
        """``Softmax`` or ``LogSoftmax`` along one axis of a value with ``ndim`` axes."""
        axis %= ndim
        if self.opset >= 13 or axis == ndim - 1:
            return getattr(self, kind)(x, axis=axis)
        # Before, these took the later axes together with this one.
        function = functools.partial(getattr(self, kind), axis=ndim - 1)
        return self.along_last_axis(function, x, axis, ndim)

    def along_last_axis(self, function: Callable[[Any], Any], x: Any, axis: int, ndim: int) -> Any:
        """A function of ``x`` with an axis moved behind the others, and back in the result."""
        order = [i for i in range(ndim) if i != axis] + [axis]
        y = function(self.Transpose(x, perm=order))
        return self.Transpose(y, perm=[order.index(i) for i in range(ndim)])

    def reshape(self, x: Any, shape: Sequence[Any], old_shape: Sequence[Any] = ()) -> Any:
        """Reshapes; ``old_shape`` is the shape of ``x`` where it is known."""
        shape = list(shape)
        if any(isinstance(n, Dim) for n in shape) and -1 not in shape:
            kept = [
                i
                for i, (new, old) in enumerate(zip(shape, old_shape))
                if isinstance(new, Dim) and new == old
            ]
            moving = [i for i, n in enumerate(shape) if isinstance(n, Dim) and i not in kept]
            for i in kept:
                shape[i] = 0
            if moving:
                shape[max(moving, key=lambda i: _sizes.cost(self, shape[i]))] = -1
        return self.Reshape(x, self.ints(shape))

    def swapped(self, x: Any, ndim: int, transpose: bool = True) -> Any:
        """Swaps the last two axes of ``ndim``, if there are two."""
        if not transpose or ndim < 2:
            return x
        return self.Transpose(x, perm=[*range(ndim - 2), ndim - 1, ndim - 2])

    def expand(self, x: Any, shape: Sequence[Any]) -> Any:
        """Broadcasts to a shape."""
        return self.Expand(x, self.ints(shape))

    def equal(self, x: Any, y: Any, dtype: Any) -> Any:
        """Elementwise equality of values of ``dtype``."""
        if not self.has('Equal', dtype):
            return self.Not(self.Or(self.Less(x, y), self.Greater(x, y)))
        return self.Equal(x, self.const(y, dtype))

    def arange(self, n: Any, dtype: Any = numpy.int64) -> str:
        """Vector of the numbers below a size."""
        if not isinstance(n, Dim):
            return self.const(numpy.arange(n, dtype=dtype))
        if self.has('Range'):
            y = self.Range(self.const(0, numpy.int64), self.as_scalar(self.size(n)), self.one)
        else:
            ones = self.ConstantOfShape(self.size(n), value=_int_tensor(1))
            y = self.squeeze(self.Transpose(self.NonZero(ones), perm=[1, 0]), [1])
        return y if dtype == numpy.int64 else self.cast(y, dtype)

    @property
    def one(self) -> str:
        """The scalar one, of int64."""
        return self.const(1, numpy.int64)

    def full(self, shape: Sequence[Any], value: Any) -> str:
        """Array of one value, a NumPy scalar, in a shape with sizes."""
        if not any(isinstance(n, Dim) for n in shape):
            return self.const(numpy.full(shape, value, value.dtype))
        return self.expand(self.const(value), shape)

    def take_along(self, x: Any, index: Any, axis: int, length: int, dtype: Any) -> Any:
        """Elements of ``x`` along an axis; ``index``, of int64, has it with length one."""
        if self.has('GatherElements'):
            return self.GatherElements(x, index, axis=axis)
        depth, values = self.const([length], numpy.int64), self.const([0, 1], numpy.float32)
        chosen = self.cast(self.OneHot(self.squeeze(index, [axis]), depth, values, axis=axis), bool)
        return self.reduce('ReduceSum', self.Where(chosen, x, self.const(0, dtype)), [axis], True)

    def counted(self, labels: Any, ignored: Any) -> Any:
        """Whether labels, which are input 1, are others than the one to ignore."""
        return self.Not(self.Equal(labels, self.const(ignored, self.dtype(1))))

    def at_labels(self, x: Any, labels: Any, length: int) -> Any:
        """For each label, the element of ``x`` there along axis 1, which has this length."""
        index = self.unsqueeze(labels, [1])
        return self.squeeze(self.take_along(x, index, 1, length, self.dtype()), [1])

    def square(self, x: Any) -> Any:
        """The product of a value and itself."""
        return self.Mul(x, x)

    def ndtr(self, x: Any) -> Any:
        """The distribution function of the normal distribution."""
        return self.Add(self.Mul(self.Erf(self.Mul(x, math.sqrt(0.5))), 0.5), 0.5)

    def softplus(self, x: Any) -> Any:
        """``log(1 + exp(x))`` without overflow."""
        return self.Add(
            self.Relu(x), self.Log(self.Add(self.Exp(self.Neg(self.Abs(x))), self.const(1)))
        )

    def subgraph(self) -> Any:
        """Graph of a step of the call, which is a loop."""
        assert self.context.graph is not None
        return self.context.graph.subgraph(self._call.func.body)

    def finish(self, outputs: Any, output_names: Sequence[str]) -> tuple[Any, ...]:
        """Gives the outputs their names; returns the nodes."""
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        if len(outputs) != len(output_names):
            raise RuntimeError(
                f'the converter of {self._call.name} gives {len(outputs)} outputs, not '
                f'{len(output_names)}'
            )
        made = {name for node in self._nodes for name in node.output}
        new: dict[str, str] = {}
        for old, name in zip(outputs, output_names):
            if old in made and old not in new:
                new[old] = name
            else:
                self.op_output_named('Identity', [new.get(old, old)], [name])
        for node in self._nodes:
            node.input[:] = [new.get(name, name) for name in node.input]
            node.output[:] = [new.get(name, name) for name in node.output]
        return tuple(self._nodes)


def _int_tensor(value):
    return onnx_helper.make_tensor('value', numpy.array([value], numpy.int64))


def _letter(dtype: Any) -> str:
    """The letter of a dtype in the table of schemas."""
    char = numpy.dtype(dtype).char
    return {'l': 'q', 'L': 'Q', '?': '1', 'E': 'w'}.get(char, char)  # E is bfloat16


def is_number(value: Any) -> bool:
    """Whether a value is one number."""
    return isinstance(value, (numbers.Number, numpy.generic))
