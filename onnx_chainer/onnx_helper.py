"""Small helpers that make nodes, tensors and names of ONNX."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy

from chainer.backend import from_chx
from chainer.backends import cuda
from chainer.quantization import _packing

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from onnx import NodeProto, TensorProto

    from chainer.types import VariableLike

#: Documentation of initializers that training leaves as they are, when the file is loaded.
CONSTANT = 'constant'

_thread_local = threading.local()


def set_func_name(func_name: str) -> None:
    """Sets the name of the function whose nodes are made next.

    Args:
        func_name (str): Name, which starts the names of nodes and constants.

    """
    _thread_local.func_name = func_name


def get_func_name() -> str:
    """Returns the name that :func:`set_func_name` set, or ``'Func'``."""
    return getattr(_thread_local, 'func_name', 'Func')


def make_node(*args: Any, **kwargs: Any) -> NodeProto:
    """Makes a node as ``onnx.helper.make_node``; attributes that are ``None`` are left out."""
    from onnx import helper

    return helper.make_node(*args, **{k: v for k, v in kwargs.items() if v is not None})


class GraphBuilder:
    """Collects the nodes that one function becomes.

    .. admonition:: Example

        >>> gb = onnx_chainer.onnx_helper.GraphBuilder()
        >>> _ = gb.op('Relu', ['x'])
        >>> nodes = gb.nodes(output_names=['y'])
        >>> nodes[0].op_type, list(nodes[0].input), list(nodes[0].output)
        ('Relu', ['x'], ['y'])

    """

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._func_name = get_func_name()

    def node_name(self) -> str:
        """Returns an unused name for the next node."""
        return f'{self._func_name}_tmp_{len(self._nodes)}'

    def op(
        self, op_name: str, input_names: Sequence[str], num_outputs: int = 1, **kwargs: Any
    ) -> Any:
        """Adds a node.

        Args:
            op_name (str): Type of the node.
            input_names (list of str): Names of its inputs.
            num_outputs (int): Number of its outputs.
            kwargs: Attributes.

        Returns:
            str or tuple of str: Names of the outputs.

        """
        name = self.node_name()
        if num_outputs == 1:
            outputs = [name]
        else:
            outputs = [f'{name}_{i}' for i in range(num_outputs)]
        return self.op_output_named(op_name, input_names, outputs, **kwargs)

    def op_output_named(
        self, op_name: str, input_names: Sequence[str], output_names: Sequence[str], **kwargs: Any
    ) -> Any:
        """Adds a node whose outputs have given names.

        Args:
            op_name (str): Type of the node.
            input_names (list of str): Names of its inputs.
            output_names (list of str): Names of its outputs.
            kwargs: Attributes.

        Returns:
            str or tuple of str: Names of the outputs.

        """
        node = make_node(
            op_name, list(input_names), list(output_names), name=self.node_name(), **kwargs
        )
        self._nodes.append(node)
        return output_names[0] if len(output_names) == 1 else tuple(output_names)

    def nodes(self, output_names: Sequence[str] | None = None) -> tuple[NodeProto, ...]:
        """Returns the nodes.

        Args:
            output_names (list of str): Names that the outputs of the last node take.

        """
        if output_names is not None:
            last = self._nodes[-1].output
            if len(output_names) != len(last):
                raise ValueError(
                    f'the last node has {len(last)} outputs, but {len(output_names)} names are '
                    f'given: {list(output_names)}'
                )
            last[:] = output_names
        return tuple(self._nodes)


def as_numpy(value: VariableLike | numpy.generic) -> numpy.ndarray:
    """Returns a variable, or an array of any device, as a NumPy array."""
    return numpy.asarray(cuda.to_cpu(from_chx(getattr(value, 'array', value))))


def fill_tensor(tensor: TensorProto, name: str, value: VariableLike) -> None:
    """Sets a tensor to a variable or array of any device.

    A tensor of more than 2 GB cannot be copied into a model, only filled there.
    """
    from onnx import helper

    array = numpy.ascontiguousarray(as_numpy(value))
    tensor.name = name
    tensor.data_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor.dims.extend(value.shape)
    if array.dtype == ml_dtypes.int4:
        array = _packing.pack(array.astype(numpy.int8))
    tensor.raw_data = array.astype(array.dtype.newbyteorder('<'), copy=False).tobytes()


def make_tensor(name: str, value: VariableLike) -> TensorProto:
    """Makes a tensor of a variable or array of any device."""
    from onnx import TensorProto

    tensor = TensorProto()
    fill_tensor(tensor, name, value)
    return tensor


def write_tensor_pb(filename: str | os.PathLike[str], name: str, value: VariableLike) -> None:
    """Writes a tensor to a file.

    Args:
        filename (str): Path of the file.
        name (str): Name of the tensor.
        value (:class:`~chainer.Variable` or array): Its value, on any device.

    """
    with open(filename, 'wb') as f:
        f.write(make_tensor(name, value).SerializeToString())


def cleanse_param_name(name: str) -> str:
    """Returns the path of a parameter as a name: ``'/l1/W'`` becomes ``'param_l1_W'``.

    >>> onnx_chainer.onnx_helper.cleanse_param_name('/l1/W')
    'param_l1_W'

    """
    return f'param{name.replace("/", "_")}'


def is_support_non_standard_domain() -> bool:
    """Whether the checker of the installed onnx accepts operators of other domains: always."""
    return True
