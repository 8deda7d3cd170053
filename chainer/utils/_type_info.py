"""Shapes and dtypes of arrays, for type checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.names.set_module import set_module
from chainer._core.settings.half import FloatDtype, is_half
from chainer.utils._type_expressions import Expr, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.settings.types import DTypeSpec, NdArray


@set_module('chainer.utils.type_check')
class TypeInfo:
    """Shape and dtype of an array.

    Attributes:
        shape (tuple of int): Shape.
        dtype (numpy.dtype): Dtype.
        ndim (int): Number of dimensions.
        size (int): Number of elements.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> info = type_check.TypeInfo((2, 3), np.dtype(np.float32))
        >>> info.ndim, info.size
        (2, 6)

    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeSpec) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim: int = len(shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return product(self.shape)


@set_module('chainer.utils.type_check')
class TypeInfoTuple(tuple[Any, ...]):
    """Types of the inputs as expressions.

    Attributes:
        name (str): Name of the tuple in messages.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> types = type_check.get_types((np.zeros(2), np.zeros((3, 4))), 'in_types', False)
        >>> print(types.size() == 3)
        in_types.size == 3
        >>> types.size().eval()
        2

    """

    name = 'in_types'

    def size(self) -> Expr:
        """Returns the number of inputs as an expression."""
        return Variable(len(self), f'{self.name}.size')


@set_module('chainer.utils.type_check')
class LightTypeInfoTuple(tuple[Any, ...]):
    """Types of the inputs in light mode.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> types = type_check.get_light_types((np.zeros(2), np.zeros((3, 4))))
        >>> types.size(), types[1].shape
        (2, (3, 4))

    """

    def size(self) -> int:
        """Returns the number of inputs."""
        return len(self)


@set_module('chainer.utils.type_check')
def get_types(
    data: Sequence[NdArray],
    name: str,
    accept_none: bool,
    *,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> TypeInfoTuple:
    """Returns the types of arrays as expressions.

    Args:
        data (tuple): Arrays.
        name (str): Name of the tuple in messages.
        accept_none (bool): Ignored; every element is an array.
        shapes: Shapes to use instead of those of the arrays.

    Returns:
        TypeInfoTuple: Tuple of :class:`Variable`.

    Raises:
        TypeError: If ``data`` is not a tuple.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x_type, = type_check.get_types((np.zeros((3, 4)),), 'in_types', False)
        >>> str(x_type.shape[0] * 2), (x_type.shape[0] * 2).eval()
        ('in_types[0].shape[0] * 2', 6)

    """
    if not isinstance(data, tuple):
        raise TypeError(f'data must be a tuple, not {type(data)}')
    types = TypeInfoTuple(
        [Variable(_get_type(x, shapes and shapes[i]), f'{name}[{i}]') for i, x in enumerate(data)]
    )
    types.name = name
    return types


def _get_type(x, shape):
    dtype = x.dtype
    if dtype.kind == 'V' and is_half(dtype):
        dtype = FloatDtype(dtype)
    return TypeInfo(x.shape if shape is None else shape, dtype)


@set_module('chainer.utils.type_check')
def get_light_types(
    data: Sequence[NdArray | None], *, shapes: Sequence[tuple[int, ...]] | None = None
) -> LightTypeInfoTuple:
    """Returns the types of arrays for the light mode; see :func:`get_types`.

    Args:
        data (tuple): Arrays.
        shapes: Shapes of the arrays, if they are not their own.

    Returns:
        LightTypeInfoTuple: The arrays, or :class:`TypeInfo` objects if shapes are given.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x_type, = type_check.get_light_types((np.zeros((3, 4)),))
        >>> x_type.shape[0] * 2
        6

    """
    if shapes is None:
        return LightTypeInfoTuple(data)
    return LightTypeInfoTuple([_get_type(x, shape) for x, shape in zip(data, shapes)])


def product(xs):
    result = 1
    for x in xs:
        result *= x
    return result
