"""The link that computes what a file describes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

import chainer
from chainer import Chain, Variable

from . import _values as v
from ._graph import Planner, domain_of
from ._plan import Plan, Run
from ._source import read
from ._tensors import dtype_of
from .errors import ModelError, naming

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path
    from typing import IO

    from onnx import ModelProto, ValueInfoProto


class ImportedChain(Chain):
    """A model of an ONNX file. :func:`onnx_chainer.load` makes it.

    Calling it takes the inputs that the file names, in its order or by name, and gives the output,
    or a tuple if there are several. Numbers come as variables. Initializers of floating point are
    parameters; those without a dimension and those that training does not change, such as a
    running mean, are persistent values, and so are arrays of other types that are not shapes.

    Attributes:
        input_names: Names of the inputs that a call needs.
        output_names: Names of the outputs.
        attribute_names: For the name of each initializer in the file, the name of the attribute.
            They differ where the file's name is not a name in Python or has another meaning there.
        opset_imports: Versions of the operators by domain.
    """

    def __init__(self, model: ModelProto, folder: Path | None = None) -> None:
        super().__init__()
        self.attribute_names: dict[str, str] = {}
        self._constants: dict[str, Any] = {}
        self.opset_imports: dict[str, int] = {
            domain_of(o.domain): o.version for o in model.opset_import
        }
        self._inputs = {value.name: _Input(value) for value in model.graph.input}
        self.input_names: tuple[str, ...] = ()
        self.output_names: tuple[str, ...] = ()
        self._plan = Plan('', (), (), (), {}, set(), {})
        self._plan = Planner(model, folder, self._keep).main(model.graph)
        self.input_names = self._plan.inputs
        self.output_names = self._plan.outputs

    def _keep(self, name: str, array: np.ndarray[Any, Any], trained: bool) -> str:
        """Registers an initializer, and gives the name of its attribute."""
        attribute = re.sub(r'\W', '_', name) or '_'
        if attribute[0].isdigit():
            attribute = f'_{attribute}'
        while attribute in self._constants or hasattr(self, attribute):
            attribute += '_'
        self.attribute_names.setdefault(name, attribute)
        if trained:
            with self.init_scope():
                setattr(self, attribute, chainer.Parameter(array))
        elif v.is_float(array):
            self.add_persistent(attribute, array)
        else:
            # Shapes and indices stay on the host, where they are needed.
            self._constants[attribute] = array
        return attribute

    def _weight(self, key: str) -> Any:
        constant = self._constants.get(key)
        return getattr(self, key) if constant is None else constant

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs.

        Args:
            args: Inputs in the order of :attr:`input_names`.
            kwargs: Inputs by name. They may replace an initializer that the file also has as an
                input.

        Returns:
            The output, or a tuple of the outputs if there are several.

        Raises:
            ModelError: An input is missing, unknown, or has another type or number of dimensions
                than the file says; or a node fails. The message names it.
        """
        ys = self.run(self._named(args, kwargs))
        return ys[0] if len(ys) == 1 else tuple(ys)

    def run(self, inputs: dict[str, Any]) -> list[Any]:
        """Computes all outputs from inputs by name."""
        values = {
            name: v.send(self._inputs[name].checked(x), self.device) for name, x in inputs.items()
        }
        with chainer.using_device(self.device):
            ys = self._plan.run(Run(self._weight, self.device), values)
        return [_finished(v.send(y, self.device)) for y in ys]

    def _named(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = self.input_names
        if len(args) > len(names):
            raise ModelError(f'the model takes {len(names)} inputs {names} and gets {len(args)}')
        inputs = dict(zip(names, args))
        for name, x in kwargs.items():
            if name in inputs:
                raise ModelError(f'input {name!r} is given twice')
            if name not in self._inputs:
                raise ModelError(f'the model has no input {name!r}: it has {names}')
            inputs[name] = x
        for name in names:
            if name not in inputs:
                raise ModelError(f'input {name!r} is missing: the model takes {names}')
        return inputs


class _Input:
    """What a file says of an input."""

    def __init__(self, value: ValueInfoProto) -> None:
        self.name = value.name
        self.dtype = self.shape = None
        kind = value.type.WhichOneof('value')
        if kind == 'tensor_type':
            tensor = value.type.tensor_type
            if tensor.elem_type:
                self.dtype = dtype_of(tensor.elem_type)
            if tensor.HasField('shape'):
                self.shape = tuple(
                    each.dim_value if each.HasField('dim_value') else None
                    for each in tensor.shape.dim
                )

    def checked(self, x: Any) -> Any:
        """The input, made an array if it is a list or a number."""
        if self.dtype is None:
            return x
        if not hasattr(x, 'dtype'):
            with naming(f'input {self.name!r}'):
                x = np.asarray(x, self.dtype)
        elif isinstance(x, np.generic):
            x = np.asarray(x)
        if x.dtype != self.dtype and not (self.dtype.kind == 'O' and x.dtype.kind in 'SU'):
            raise ModelError(f'input {self.name!r} has the dtype {x.dtype}, not {self.dtype}')
        if self.shape is not None and (
            len(x.shape) != len(self.shape)
            or any(n not in (None, m) for n, m in zip(self.shape, x.shape))
        ):
            expected = ', '.join('?' if n is None else str(n) for n in self.shape)
            raise ModelError(f'input {self.name!r} has the shape {x.shape}, not ({expected})')
        return x


def _finished(y: Any) -> Any:
    """Arrays of numbers as variables."""
    if isinstance(y, list):
        return [_finished(each) for each in y]
    if y is None or isinstance(y, (Variable, dict)) or not v.is_number(y.dtype):
        return y
    return Variable(y, requires_grad=False)


def load(source: str | os.PathLike[str] | bytes | IO[bytes] | ModelProto) -> ImportedChain:
    """Loads an ONNX file as a link.

    Its parameters have the names of the initializers in the file, where characters that attributes
    cannot have become ``_``. It can be called, trained, copied, saved by the serializers, sent to
    any device, and exported again, like any other link. Random values and dropout are as the file
    says, whatever ``chainer.config.train`` is.

    Args:
        source: A path, the bytes of a file, a binary file, or an ``onnx.ModelProto``. Data outside
            of the file is read from the folder of the path, and from nowhere else.

    Returns:
        ImportedChain: The link, on the CPU.

    Raises:
        ModelError: The file is broken, or has an operator, a type or an attribute that is not
            supported. The message names the node.

    .. admonition:: Example

        >>> import onnx_chainer
        >>> model = onnx_chainer.load('model.onnx')  # doctest: +SKIP
        >>> y = model(x)  # doctest: +SKIP

    """
    try:
        return ImportedChain(*read(source))
    except (ModelError, OSError):
        raise
    except Exception as error:  # such as names that are no text
        raise ModelError(f'the model is damaged: {type(error).__name__}: {error}') from error
