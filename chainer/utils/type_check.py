"""Checks of the types of function inputs, with readable messages.

A function checks its inputs in ``check_type_forward(in_types)``::

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 2)
        x_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.shape[1] == w_type.shape[1],
        )

It first runs in *light mode*, where ``in_types`` holds the arrays and Python evaluates all
expressions immediately, at almost no cost. If a check fails, it runs again with :class:`Expr`
trees as ``in_types``. They know their source text and their values, which make up the message.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.backends import cuda
from chainer.utils import _type_info
from chainer.utils._type_expressions import (
    Atom as Atom,
    BinaryOperator as BinaryOperator,
    BoolBinaryOperator as BoolBinaryOperator,
    Call as Call,
    Constant as Constant,
    Expr as Expr,
    GetAttr as GetAttr,
    GetItem as GetItem,
    InvalidAxis as InvalidAxis,
    InvalidType as InvalidType,
    Testable as Testable,
    UnaryOperator as UnaryOperator,
    Variable as Variable,
    _thread_local,
    eval as eval,
)
from chainer.utils._type_info import (
    LightTypeInfoTuple as LightTypeInfoTuple,
    TypeInfo as TypeInfo,
    TypeInfoTuple as TypeInfoTuple,
    get_light_types as get_light_types,
    get_types as get_types,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chainer._core.settings.types import NdArray


# -- modes --------------------------------------------------------------------


class LightMode:
    """Context manager of the light mode.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> with type_check.light_mode:
        ...     type_check.in_light_mode()
        True

    """

    def __enter__(self) -> None:
        _thread_local.light_mode = True

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        _thread_local.light_mode = False


light_mode: LightMode = LightMode()


def in_light_mode() -> bool:
    """Returns whether the current thread is in light mode.

    Returns:
        bool: Whether it is in light mode.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> type_check.in_light_mode()
        False

    """
    return getattr(_thread_local, 'light_mode', False)


@contextlib.contextmanager
def get_function_check_context(f: Any) -> Iterator[None]:
    """Sets the function that messages of :class:`InvalidType` name.

    Args:
        f (~chainer.FunctionNode): Function.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> y = F.exp(chainer.Variable(np.zeros(2)))
        >>> with type_check.get_function_check_context(y.creator_node):
        ...     print(type_check.InvalidType('1 argument', '2 arguments'))
        <BLANKLINE>
        Invalid operation is performed in: exp (Forward)
        <BLANKLINE>
        Expect: 1 argument
        Actual: 2 arguments

    """
    previous = getattr(_thread_local, 'current_function', None)
    _thread_local.current_function = f
    try:
        yield
    finally:
        _thread_local.current_function = previous


# -- type information ---------------------------------------------------------


def expect_arguments(in_types: Any, names: Sequence[str]) -> None:
    """Names the inputs for messages and checks their number.

    Args:
        in_types: Types of the inputs.
        names (tuple of str): Names of the arguments.

    Raises:
        InvalidType: If the numbers differ.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> in_types = type_check.get_types((np.ones((2, 3)),), 'in_types', False)
        >>> type_check.expect_arguments(in_types, ('x',))
        >>> print(in_types[0].ndim == 2)
        x.ndim == 2

    """
    if len(in_types) != len(names):
        raise InvalidType(f'{len(names)} argument(s)', f'{len(in_types)} argument(s)')
    if type(in_types) is LightTypeInfoTuple:
        return
    for in_type, name in zip(in_types, names):
        if isinstance(in_type, Variable):
            in_type.name = name


_argname = expect_arguments  # the name in Chainer 7


def make_variable(value: Any, name: str) -> Any:
    """Returns a named expression for a value; in light mode, the value itself.

    Args:
        value: Value.
        name (str): Name in messages.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> print(type_check.make_variable(3, 'groups') * 2)
        groups * 2

    """
    return value if in_light_mode() else Variable(value, name)


_prod_variable = Variable(_type_info.product, 'prod')


def prod(xs: Any) -> Any:
    """Returns the product of the elements of ``xs``, an expression unless in light mode.

    Args:
        xs: Sequence of numbers, or an expression of one.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), 'x')
        >>> str(type_check.prod(x.shape)), type_check.prod(x.shape).eval()
        ('prod(x.shape)', 6)

    """
    return _type_info.product(xs) if in_light_mode() else _prod_variable(xs)


def expect(*bool_exprs: Any) -> None:
    """Checks that all expressions are true.

    Args:
        bool_exprs: Comparisons of expressions, or their values in light mode.

    Raises:
        InvalidType: If one is not true.
        TypeError: If an expression is not a comparison.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x_type, = type_check.get_types((np.zeros((2, 3)),), 'in_types', False)
        >>> type_check.expect(x_type.ndim == 2, x_type.shape[0] > 3)
        Traceback (most recent call last):
            ...
        chainer.utils.type_check.InvalidType: Expect: in_types[0].shape[0] > 3
        Actual: 2 <= 3

    """
    for expr in bool_exprs:
        if expr is True:
            continue
        if isinstance(expr, Testable):
            expr.expect()
        elif isinstance(expr, Expr):
            raise TypeError(f'expect takes comparisons, but got: {expr}')
        elif not expr:
            # In light mode, whose caller makes the message by a second run.
            raise InvalidType('True', str(expr))


def expect_broadcast_shapes(*shape_types: Any) -> None:
    """Checks that shapes can be broadcast together.

    Args:
        shape_types: Expressions of shapes, or shapes in light mode.

    Raises:
        InvalidType: If they cannot.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> type_check.expect_broadcast_shapes((2, 3), (3,))
        >>> type_check.expect_broadcast_shapes((2, 3), (2,))
        Traceback (most recent call last):
            ...
        chainer.utils.type_check.InvalidType: Expect: (2, 3), (2,) can be broadcast together
        Actual: (2, 3), (2,)

    """
    shapes = [eval(shape) for shape in shape_types]
    if all([shape == shapes[0] for shape in shapes]):
        return
    try:
        numpy.broadcast_shapes(*shapes)
    except ValueError:
        names = ', '.join(map(str, shape_types))
        values = ', '.join(map(str, shapes))
        raise InvalidType(f'{names} can be broadcast together', values) from None


def same_types(*arrays: NdArray) -> bool:
    """Returns whether all arguments are arrays of the same module.

    Args:
        arrays: Arrays.

    Returns:
        bool: Whether they share a module.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> type_check.same_types(np.zeros(2), np.ones(3)), type_check.same_types(np.zeros(2), 1)
        (True, False)

    """
    return (
        all(isinstance(x, numpy.ndarray) for x in arrays)
        or all(isinstance(x, cuda.ndarray) for x in arrays)
        or all(isinstance(x, chainerx.ndarray) for x in arrays)
    )
