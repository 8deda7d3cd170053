"""Expressions of the types of inputs, and the errors of false ones.

:mod:`chainer.utils.type_check` is the public module.
"""

from __future__ import annotations

import operator
import threading
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable

# The mode of a thread, and the function whose inputs it checks.
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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

    def __str__(self) -> str:
        return self.args[0]  # NumPy's error has its text elsewhere


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

    __module__ = 'chainer.utils.type_check'

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

    if TYPE_CHECKING:  # the loop below sets these, and others

        def __lt__(self, other: object) -> Expr: ...
        def __le__(self, other: object) -> Expr: ...
        def __gt__(self, other: object) -> Expr: ...
        def __ge__(self, other: object) -> Expr: ...
    else:
        __hash__ = object.__hash__


class Atom(Expr):
    """Expression that never needs parentheses.

    .. admonition:: Example

        >>> from chainer.utils import type_check
        >>> n = type_check.Variable(3, 'n')
        >>> isinstance(n, type_check.Atom), isinstance(n + 1, type_check.Atom)
        (True, False)

    """

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

    def __init__(self, value: Any, name: str) -> None:
        super().__init__()
        self.value = value
        self.name = name

    def __str__(self) -> str:
        return self.name

    def eval(self) -> Any:
        return self.value


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


eval.__module__ = 'chainer.utils.type_check'


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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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

    __module__ = 'chainer.utils.type_check'

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
