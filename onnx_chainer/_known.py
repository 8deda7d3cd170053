"""What is known of a call while its nodes are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from onnx_chainer import onnx_helper
from onnx_chainer._axes import Varying, View, merge
from onnx_chainer.onnx_helper import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_chainer._trace import Call
    from onnx_chainer.context import Context


class Unsupported(RuntimeError):
    """A function, or a form of it, that has no nodes."""


class KnownCall(GraphBuilder):
    """A builder that knows the call of a function: its shapes, dtypes and constants.

    Attributes:
        opset (int): Version of the operator set.
        context: Names and constants.
        names: Names of the inputs of the call.

    """

    def __init__(self, call: Call, opset: int, names: Sequence[str], context: Context) -> None:
        super().__init__()
        self.opset = opset
        self.names: list[str] = list(names)
        self.context = context
        self._call = call
        axes = context.axes
        self._peers = [call] if axes is None else list(axes.peers(call))

    @property
    def func(self) -> Any:
        """The function, whose attributes may be :class:`Dim` objects."""
        funcs = [call.func for call in self._peers]
        return funcs[0] if len(funcs) == 1 else View(funcs)

    def shape(self, i: int = 0) -> tuple[Any, ...]:
        """Shape of input ``i``."""
        return merge([tuple(c.inputs[i].shape) for c in self._peers])

    def out_shape(self, i: int = 0) -> tuple[Any, ...]:
        """Shape of output ``i``."""
        return merge([tuple(c.outputs[i].shape) for c in self._peers])

    def ndim(self, i: int = 0) -> int:
        """Number of axes of input ``i``."""
        return self._call.inputs[i].ndim

    def dtype(self, i: int = 0) -> numpy.dtype[Any]:
        """Dtype of input ``i``."""
        return numpy.dtype(self._call.inputs[i].dtype)

    def out_dtype(self, i: int = 0) -> numpy.dtype[Any]:
        """Dtype of output ``i``."""
        return numpy.dtype(self._call.outputs[i].dtype)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self._call.outputs)

    def axis(self, axis: int, i: int = 0) -> int:
        """An axis of input ``i``, counted from the first one."""
        return axis % self.ndim(i)

    def axes(self, axis: int | Sequence[int] | None, i: int = 0) -> list[int]:
        """Axes of input ``i``, sorted; all for ``None``."""
        if axis is None:
            return list(range(self.ndim(i)))
        return sorted(a % self.ndim(i) for a in ((axis,) if isinstance(axis, int) else axis))

    def is_constant(self, x: Any) -> bool:
        """Whether an attribute depends neither on inputs nor on dynamic axes."""
        return not (isinstance(x, Varying) or self.context.knows(x))

    def array(self, x: Any) -> numpy.ndarray:
        """NumPy array of an attribute, which must be a constant."""
        if not self.is_constant(x):
            raise Unsupported('an argument that is not constant')
        return onnx_helper.as_numpy(x) if hasattr(x, 'dtype') else numpy.asarray(x)

    def arrays(self) -> list[numpy.ndarray]:
        """NumPy arrays of the inputs, for functions whose inputs are constants."""
        return [onnx_helper.as_numpy(x) for x in self._call.inputs]

    def need(self, opset: int, what: str | None = None) -> None:
        """Raises an error if the version of the operator set is less than ``opset``."""
        if self.opset < opset:
            name = self._call.name if what is None else what
            raise Unsupported(f'{name} needs opset {opset} or newer, not {self.opset}')
