"""Converters: what turns functions into nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer import FunctionNode
    from onnx_chainer.context import Context


class FunctionConverterParams:
    """What a converter gets.

    Attributes:
        func (~chainer.FunctionNode): Function.
        opset_version (int): Version of the operator set.
        input_names (list of str): Names of the inputs.
        output_names (list of str): Names that the outputs take.
        context (onnx_chainer.context.Context): Names of arrays, parameters and constants.

    """

    def __init__(
        self,
        func: FunctionNode | None = None,
        opset_version: int | None = None,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        context: Context | None = None,
    ) -> None:
        self.func = func
        self.opset_version = opset_version
        self.input_names = input_names
        self.output_names = output_names
        self.context = context


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
