"""Declaration of converters: a short function of a builder, and all that follows from it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from onnx_chainer import onnx_helper
from onnx_chainer._builder import Builder
from onnx_chainer._schemas import schemas_of
from onnx_chainer._trace import Call

if TYPE_CHECKING:
    from onnx import NodeProto

    from chainer.function import Function
    from chainer.function_node import FunctionNode
    from onnx_chainer.context import Context


#: A converter as programs call it. It gives the nodes of a function.
Convert = Callable[
    ['FunctionNode | Function', int, Sequence[str], Sequence[str], 'Context'],
    'tuple[NodeProto, ...]',
]


@dataclasses.dataclass(frozen=True)
class Converter:
    """A converter.

    Attributes:
        since: First version of the operator set that it can convert to.
        body: The function that makes the nodes. Its docstring, if any, is a note for users.
        convert: The converter as programs call it.

    """

    since: int
    body: Callable[..., Any]
    convert: Convert


#: Converters by the name of the function.
CONVERTERS: dict[str, Converter] = {}


def converts(since: int = 9) -> Callable[[Callable[..., Any]], Convert]:
    """Decorator that makes ``convert_X`` the converter of functions of the name ``X``.

    It gets a :class:`~onnx_chainer._builder.Builder`, the function and the names of the inputs, and
    returns the names of the outputs. The decorator gives the converter as programs call it.
    """
    return lambda body: _enter(body.__name__.removeprefix('convert_'), body, since)


def _enter(name, body, since):
    def convert(func, opset_version, input_names, output_names, context):
        call = context.call
        if call is None or call.func is not func:
            call = _call_of(func)
            onnx_helper.set_func_name(context.unique(call.name))
        g = Builder(call, opset_version, input_names, context)
        g.need(since)
        return g.finish(body(g, g.func, *input_names), output_names)

    convert.__name__ = convert.__qualname__ = f'convert_{name}'
    convert.__module__ = body.__module__
    convert.__doc__ = f'Converts {name}. {body.__doc__ or ""}'.strip()
    CONVERTERS[name] = Converter(since, body, convert)
    return convert


def _call_of(func):
    """The call of a function of the graph, for programs that call a converter themselves."""
    outputs = [y() for y in func.outputs]
    return Call(
        func,
        [x.get_variable().array for x in func.inputs],
        [None if y is None else y.get_variable().array for y in outputs],
    )


def formulas(since: int = 9, /, **bodies: Callable[..., Any]) -> None:
    """Declares converters by the names of the functions, as :func:`converts` does."""
    for name, body in bodies.items():
        _enter(name, body, since)


def one_to_one(**operators: str) -> None:
    """Declares converters of functions that are one operator each, with the same inputs."""
    for name, operator in operators.items():

        def body(g, f, *xs, operator=operator):
            return getattr(g, operator)(*xs)

        body.__module__ = sys._getframe(1).f_globals['__name__']
        _enter(name, body, max(9, schemas_of('', operator)[0].since))
