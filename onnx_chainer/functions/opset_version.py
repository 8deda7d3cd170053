"""Versions of the operator set that converters know."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_C = TypeVar('_C', bound='Callable[..., Any]')


def support(opset_versions: tuple[int, ...]) -> Callable[[_C], _C]:
    """Decorator of converters that treat some versions of the operator set differently.

    The converter gets the largest of these versions that is not above the one of the export.

    Args:
        opset_versions (tuple of int): First version of each form of the converter.

    .. admonition:: Example

        >>> @onnx_chainer.functions.opset_version.support((9, 13))
        ... def convert(func, opset_version, input_names, output_names, context):
        ...     return opset_version
        >>> convert(None, 12, [], [], None), convert(None, 17, [], [], None)
        (9, 13)

    """
    versions = sorted(opset_versions, reverse=True)

    def decorate(converter: Any) -> Any:
        @functools.wraps(converter)
        def convert(
            func: Any, opset_version: int, input_names: Any, output_names: Any, context: Any
        ) -> Any:
            for version in versions:
                if version <= opset_version:
                    return converter(func, version, input_names, output_names, context)
            raise RuntimeError(
                f'{type(func).__name__} needs opset {versions[-1]} or newer, but the export is to '
                f'opset {opset_version}'
            )

        return convert

    return decorate
