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
import operator
import threading
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chainer.types import DTypeSpec, NdArray

_thread_local = threading.local()


class InvalidType(ValueError, RuntimeError):
    """Raised when the inputs of a function do not meet its expectations.

    It is a :class:`ValueError`, which NumPy raises for shapes that do not fit: a handler of either
    works, whichever looks at the inputs first. It is a :class:`RuntimeError`, too, which the
    functions around softmax raised in its place in Chainer 7.

    Args:
        expect (str): Expectation.
        actual (str): Actual value.
        msg (str): Message. The default contains both and the name of the function.

    Attributes:
        expect (str): Expectation.
        actual (str): Actual value.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> try:
        ...     F.linear(np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32))
        ... except type_check.InvalidType as e:
        ...     print(e.expect, '|', e.actual)
        x.shape[1] == W.shape[1] | 3 != 5

    """

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        if msg is None:
            msg = f'Expect: {expect}\nActual: {actual}'
            function = getattr(_thread_local, 'current_function', None)
            if function is not None:
                msg = f'\nInvalid operation is performed in: {function.label} (Forward)\n\n{msg}'
        super().__init__(msg)
        self.args: tuple[Any, ...] = (msg,)
        self.expect = expect
        self.actual = actual

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.expect, self.actual, self.args[0])


class InvalidAxis(InvalidType, numpy.exceptions.AxisError):
    """Raised when an input lacks an axis that a function needs.

    It is also NumPy's error for this, and so an :class:`IndexError`.

    .. admonition:: Example

        >>> try:
        ...     F.normalize(np.zeros(3, np.float32), axis=1)
        ... except IndexError as e:
        ...     print(e.expect, '|', e.actual)
        x.ndim > 1 | 1 <= 1

    """


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
        return _prod(self.shape)


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
    return TypeInfo(x.shape if shape is None else shape, x.dtype)


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


def _argname(in_types, names):
    """Names the inputs for messages and checks their number.

    Args:
        in_types: Types of the inputs.
        names (tuple of str): Names of the arguments.

    Raises:
        InvalidType: If the numbers differ.

    """
    if len(in_types) != len(names):
        raise InvalidType(f'{len(names)} argument(s)', f'{len(in_types)} argument(s)')
    if type(in_types) is LightTypeInfoTuple:
        return
    for in_type, name in zip(in_types, names):
        if isinstance(in_type, Variable):
            in_type.name = name


# -- expressions --------------------------------------------------------------

# Binding strengths as in Python, so that expressions are printed with the parentheses they need.
_PRIORITY_ATOM = 8


def _wrap(value):
    return value if isinstance(value, Expr) else Constant(value)


class Expr:
    """Base class of expressions. Operators and calls on them make larger ones.

    Attributes:
        priority (int): Precedence of the expression.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> exp = (n + 1) * 2
        >>> str(exp), exp.eval()
        ('(n + 1) * 2', 8)

    """

    def __init__(self, priority: int) -> None:
        self.priority = priority

    def eval(self) -> Any:
        """Returns the value of the expression."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__') and name.endswith('__'):
            # Protocols of Python, such as copying, are no part of expressions.
            raise AttributeError(name)
        return GetAttr(self, name)

    def __getitem__(self, key: Any) -> GetItem:
        return GetItem(self, key)

    def __call__(self, *args: Any) -> Call:
        return Call(self, args)

    def __bool__(self) -> bool:
        raise RuntimeError(
            "Don't convert Expr to bool. Please call Expr.eval method to evaluate expression."
        )

    if not TYPE_CHECKING:  # which takes it from object anyway
        __hash__ = object.__hash__


class Atom(Expr):
    """Expression that never needs parentheses.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> isinstance(n, type_check.Atom), isinstance(n + 1, type_check.Atom)
        (True, False)

    """

    def __init__(self) -> None:
        super().__init__(_PRIORITY_ATOM)


class Constant(Atom):
    """Constant.

    Args:
        value: Value.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> print(type_check.Constant(3) + 4)
        3 + 4

    """

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def __str__(self) -> str:
        return repr(self.value) if isinstance(self.value, str) else str(self.value)

    def eval(self) -> Any:
        return self.value


class Variable(Atom):
    """Value with a name.

    Args:
        value: Value.
        name (str): Name in messages.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> str(n), n.eval()
        ('n', 3)

    """

    def __init__(self, value: Any, name: str) -> None:
        super().__init__()
        self.value = value
        self.name = name

    def __str__(self) -> str:
        return self.name

    def eval(self) -> Any:
        return self.value


class GetAttr(Atom):
    """Attribute of an expression.

    Args:
        obj (Expr): Expression.
        name: Name of the attribute.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), 'x')
        >>> str(x.ndim), x.ndim.eval()
        ('x.ndim', 2)

    """

    def __init__(self, obj: Expr, name: str) -> None:
        super().__init__()
        self.obj = obj
        self.name = name

    def __str__(self) -> str:
        return f'{_parenthesize(self.obj, self.priority)}.{_str_value(self.name)}'

    def eval(self) -> Any:
        return getattr(eval(self.obj), eval(self.name))


class GetItem(Atom):
    """Item of an expression.

    Args:
        obj (Expr): Expression.
        key: Index, slice or tuple of them.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> x = type_check.Variable(np.zeros((2, 3)), 'x')
        >>> str(x.shape[1:]), x.shape[1:].eval()
        ('x.shape[1:]', (3,))

    """

    def __init__(self, obj: Expr, key: Any) -> None:
        super().__init__()
        self.obj = obj
        self.key = key

    def __str__(self) -> str:
        key = eval(self.key)
        if isinstance(key, tuple):
            text = ', '.join(map(_str_index, key)) + (',' if len(key) == 1 else '')
        else:
            text = _str_index(self.key)
        return f'{_parenthesize(self.obj, self.priority)}[{text}]'

    def eval(self) -> Any:
        return eval(self.obj)[_eval_index(self.key)]


def _str_value(obj):
    return str(obj.value if isinstance(obj, Constant) else obj)


def _str_index(index):
    if index is Ellipsis:
        return '...'
    if isinstance(index, slice):
        parts = [index.start, index.stop] + ([] if index.step is None else [index.step])
        return ':'.join('' if part is None else str(part) for part in parts)
    return repr(index) if isinstance(index, str) else str(index)


def _eval_index(index):
    if isinstance(index, tuple):
        return tuple(map(_eval_index, index))
    if isinstance(index, slice):
        return slice(eval(index.start), eval(index.stop), eval(index.step))
    return eval(index)


class Call(Atom):
    """Call of an expression.

    Args:
        obj (Expr): Expression of the function.
        args (tuple): Arguments.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> length = type_check.Variable(len, 'len')
        >>> str(length([1, 2])), length([1, 2]).eval()
        ('len([1, 2])', 2)

    """

    def __init__(self, obj: Expr, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.obj = obj
        self.args = args

    def __str__(self) -> str:
        return f'{_parenthesize(self.obj, self.priority)}({", ".join(map(str, self.args))})'

    def eval(self) -> Any:
        return eval(self.obj)(*[eval(arg) for arg in self.args])


def _parenthesize(expr, priority, strictly=False):
    if isinstance(expr, Expr) and (
        expr.priority < priority or strictly and expr.priority == priority
    ):
        return f'({expr})'
    return str(expr)


class UnaryOperator(Expr):
    """Expression of a unary operator.

    Args:
        priority (int): How strongly the operator binds.
        term: Operand.
        exp (str): Symbol of the operator.
        func: Function that computes it.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> str(-(n + 1)), (-(n + 1)).eval()
        ('-(n + 1)', -4)

    """

    def __init__(self, priority: int, term: Any, exp: str, func: Callable[..., Any]) -> None:
        super().__init__(priority)
        self.term: Expr = _wrap(term)
        self.exp = exp
        self.func = func

    def __str__(self) -> str:
        return self.exp + _parenthesize(self.term, self.priority)

    def eval(self) -> Any:
        return self.func(self.term.eval())


class BinaryOperator(Expr):
    """Expression of a binary operator.

    Args:
        priority (int): How strongly the operator binds.
        lhs: Left operand.
        rhs: Right operand.
        exp (str): Symbol of the operator.
        func: Function that computes it.
        right_associative (bool): Whether ``a * b * c`` means ``a * (b * c)``.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> str(2 ** n - 1), (2 ** n - 1).eval()
        ('2 ** n - 1', 7)

    """

    def __init__(
        self,
        priority: int,
        lhs: Any,
        rhs: Any,
        exp: str,
        func: Callable[..., Any],
        right_associative: bool = False,
    ) -> None:
        super().__init__(priority)
        self.lhs: Expr = _wrap(lhs)
        self.rhs: Expr = _wrap(rhs)
        self.exp = exp
        self.func = func
        self.right_associative = right_associative

    def __str__(self) -> str:
        right = self.right_associative
        left_text = _parenthesize(self.lhs, self.priority, right)
        right_text = _parenthesize(self.rhs, self.priority, not right)
        return f'{left_text} {self.exp} {right_text}'

    def eval(self) -> Any:
        return self.func(self.lhs.eval(), self.rhs.eval())


class Testable:
    """Mix-in of expressions that :func:`expect` takes.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> isinstance(n == 3, type_check.Testable), isinstance(n + 3, type_check.Testable)
        (True, False)

    """

    def expect(self) -> None:
        """Raises :class:`InvalidType` if the expression is false."""
        raise NotImplementedError


class BoolBinaryOperator(BinaryOperator, Testable):
    """Expression of a comparison.

    Args:
        lhs: Left operand.
        rhs: Right operand.
        exp (str): Symbol of the operator.
        inv (str): The inverse operator, for messages.
        func: Function that computes it.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> str(n < 2), (n < 2).eval()
        ('n < 2', False)
        >>> (n < 2).expect()
        Traceback (most recent call last):
            ...
        chainer.utils.type_check.InvalidType: Expect: n < 2
        Actual: 3 >= 2

    """

    def __init__(self, lhs: Any, rhs: Any, exp: str, inv: str, func: Callable[..., Any]) -> None:
        super().__init__(-1, lhs, rhs, exp, func)
        self.inv = inv

    def expect(self) -> None:
        left = self.lhs.eval()
        right = self.rhs.eval()
        if not self.func(left, right):
            lacks_axis = (_is_ndim(self.lhs) and left <= right) or (
                _is_ndim(self.rhs) and right <= left
            )
            error = InvalidAxis if lacks_axis else InvalidType
            raise error(f'{self.lhs} {self.exp} {self.rhs}', f'{left} {self.inv} {right}')


def _is_ndim(expr):
    return isinstance(expr, GetAttr) and _str_value(expr.name) == 'ndim'


def _add_operators():
    def add_comparison(name, exp, inv):
        func = getattr(operator, name)
        setattr(Expr, name, lambda x, y: BoolBinaryOperator(x, y, exp, inv, func))

    def add_binary(name, exp, priority, right_associative=False):
        func = getattr(operator, f'__{name}__')

        def make(x, y):
            return BinaryOperator(priority, x, y, exp, func, right_associative)

        setattr(Expr, f'__{name}__', make)
        setattr(Expr, f'__r{name}__', lambda x, y: make(y, x))

    def add_unary(name, exp, priority):
        func = getattr(operator, name)
        setattr(Expr, name, lambda x: UnaryOperator(priority, x, exp, func))

    for row in (
        ('__eq__', '==', '!='),
        ('__ne__', '!=', '=='),
        ('__lt__', '<', '>='),
        ('__le__', '<=', '>'),
        ('__gt__', '>', '<='),
        ('__ge__', '>=', '<'),
    ):
        add_comparison(*row)
    for row in (
        ('pow', '**', 7, True),
        ('mul', '*', 5),
        ('truediv', '/', 5),
        ('floordiv', '//', 5),
        ('mod', '%', 5),
        ('add', '+', 4),
        ('sub', '-', 4),
        ('lshift', '<<', 3),
        ('rshift', '>>', 3),
        ('and', '&', 2),
        ('xor', '^', 1),
        ('or', '|', 0),
    ):
        add_binary(*row)
    for row in (('__neg__', '-', 6), ('__pos__', '+', 6), ('__invert__', '~', 6)):
        add_unary(*row)


_add_operators()


def eval(exp: Any) -> Any:
    """Returns the value of an expression; anything else is its own value.

    Args:
        exp: Expression, or a value.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> type_check.eval(type_check.Variable(3, 'n') + 1), type_check.eval('x')
        (4, 'x')

    """
    return exp.eval() if isinstance(exp, Expr) else exp


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


def _prod(xs):
    result = 1
    for x in xs:
        result *= x
    return result


_prod_variable = Variable(_prod, 'prod')


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
    return _prod(xs) if in_light_mode() else _prod_variable(xs)


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
