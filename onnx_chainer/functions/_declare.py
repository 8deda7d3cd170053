"""Declaration of converters: a short function of a builder, and all that follows from it."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Protocol

from onnx_chainer import onnx_helper
from onnx_chainer._builder import Builder
from onnx_chainer._schemas import schemas_of
from onnx_chainer._trace import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from chainer.function import Function
    from chainer.function_node import FunctionNode
    from onnx_chainer.context import Context


class Convert(Protocol):
    """A converter as programs call it."""

    __name__: str

    def __call__(
        self,
        func: FunctionNode | Function,
        opset_version: int,
        input_names: Sequence[str],
        output_names: Sequence[str],
        context: Context,
    ) -> tuple[NodeProto, ...]:
        """Returns the nodes of a function."""


@dataclasses.dataclass(frozen=True)
class Converter:
    """A converter.

    Attributes:
        name: Name of the functions that it converts.
        since: First version of the operator set that it can convert to.
        description: What it makes.
        convert: The converter.

    """

    name: str
    since: int
    description: str
    convert: Convert


#: Converters by the name of the function.
CONVERTERS: dict[str, Converter] = {}


def converts(name: str, since: int = 9) -> Callable[[Callable[..., Any]], Convert]:
    """Decorator that declares the converter of functions of a name, for opsets from ``since`` on.

    It gets a :class:`~onnx_chainer._builder.Builder`, the function and the names of the inputs, and
    returns the names of the outputs. The decorator gives the converter as programs call it.
    """

    def decorate(body):
        def convert(func, opset_version, input_names, output_names, context):
            call = context.call
            if call is None or call.func is not func:
                call = _call_of(func)
                onnx_helper.set_func_name(context.unique(call.name))
            g = Builder(call, opset_version, input_names, context)
            g.need(since)
            return g.finish(body(g, g.func, *input_names), output_names)

        description = (body.__doc__ or '').strip()
        convert.__name__ = convert.__qualname__ = f'convert_{name}'
        convert.__module__ = body.__module__
        convert.__doc__ = f'Converts {name}: {description}'
        CONVERTERS[name] = Converter(name, since, description, convert)
        return convert

    return decorate


def _call_of(func):
    """The call of a function of the graph, for programs that call a converter themselves."""
    outputs = [y() for y in func.outputs]
    return Call(
        func,
        [x.get_variable().array for x in func.inputs],
        [None if y is None else y.get_variable().array for y in outputs],
    )


def row(names: str, description: str, body: Callable[..., Any], since: int = 9) -> None:
    """Declares a formula as the converter of functions, whose names spaces separate."""
    body.__doc__ = description
    for name in names.split():
        converts(name, since)(body)


def one_to_one(**operators: str) -> None:
    """Declares converters of functions that are one operator each, with the same inputs."""
    for name, operator in operators.items():

        def body(g, f, *xs, operator=operator):
            return getattr(g, operator)(*xs)

        body.__module__ = sys._getframe(1).f_globals['__name__']
        row(name, f'``{operator}``.', body, max(9, schemas_of('', operator)[0].since))
