"""Operators of expressions of the types of inputs, with comparisons that raise errors.

:mod:`chainer.utils.type_check` is the public module.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from chainer.utils._type_errors import InvalidAxis, InvalidType
from chainer.utils._type_expressions import Constant, Expr, GetAttr, parenthesize, str_value

if TYPE_CHECKING:
    from collections.abc import Callable


def _wrap(value: Any) -> Expr:
    """Returns an expression, or a value as one."""
    return value if isinstance(value, Expr) else Constant(value)


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
        return self.exp + parenthesize(self.term, self.priority)

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
        left_text = parenthesize(self.lhs, self.priority, right)
        right_text = parenthesize(self.rhs, self.priority, not right)
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
    return isinstance(expr, GetAttr) and str_value(expr.name) == 'ndim'


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

    for comparison in (
        ('__eq__', '==', '!='),
        ('__ne__', '!=', '=='),
        ('__lt__', '<', '>='),
        ('__le__', '<=', '>'),
        ('__gt__', '>', '<='),
        ('__ge__', '>=', '<'),
    ):
        add_comparison(*comparison)
    binaries: tuple[tuple[Any, ...], ...] = (
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
    )
    for binary in binaries:
        add_binary(*binary)
    for unary in (('__neg__', '-', 6), ('__pos__', '+', 6), ('__invert__', '~', 6)):
        add_unary(*unary)


_add_operators()
