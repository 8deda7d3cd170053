"""Converters: what turns functions into nodes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer import Function, FunctionNode
    from onnx_chainer.context import Context


@dataclasses.dataclass(eq=False)
class FunctionConverterParams:
    """What a converter gets.

    Attributes:
        func (~chainer.FunctionNode or ~chainer.Function): Function.
        opset_version (int): Version of the operator set.
        input_names (list of str): Names of the inputs.
        output_names (list of str): Names that the outputs take.
        context (onnx_chainer.context.Context): Names of arrays, parameters and constants.

    """

    func: FunctionNode | Function | None = None
    opset_version: int | None = None
    input_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None
    context: Context | None = None


class FunctionConverter:
    """Calls a converter of this package with parameters as external converters take them.

    Args:
        converter (callable): ``converter(func, opset_version, input_names, output_names,
            context)`` returns nodes.

    """

    def __init__(self, converter: Callable[..., Any]) -> None:
        self.converter = converter

    def __call__(self, params: FunctionConverterParams) -> Any:
        return self.converter(
            params.func,
            params.opset_version,
            params.input_names,
            params.output_names,
            params.context,
        )


def as_converter(name: str, converter: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a converter of a program the form ``converter(params)``.

    Args:
        name (str): Name of the function that it converts.
        converter (callable): ``converter(params)``, or one of older programs:
            ``converter(func, opset_version, input_names, output_names)``, where a parameter
            ``context`` may follow.

    Raises:
        TypeError: If it takes other arguments.

    """
    try:
        signature = inspect.signature(converter)
    except ValueError:  # it is compiled and does not say
        return converter
    if _takes(signature, 1):
        return converter
    if _takes(signature, 5):
        return FunctionConverter(converter)
    if _takes(signature, 4):
        return FunctionConverter(lambda *args: converter(*args[:4]))
    raise TypeError(
        f'external_converters: the converter of {name} must take one argument, the parameters, or '
        'four: the function, the version of the operator set, and the names of the inputs and '
        f'outputs; but it takes {signature}'
    )


def _takes(signature, n):
    try:
        signature.bind(*[None] * n)
    except TypeError:
        return False
    return True
