"""Expressions of the types of inputs.

:mod:`chainer.utils.type_check` is the public module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Binding strengths as in Python, so that expressions are printed with the parentheses they need.
_PRIORITY_ATOM = 8


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

    if TYPE_CHECKING:  # `_type_operators.py` sets these, and others

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
        return f'{parenthesize(self.obj, self.priority)}.{str_value(self.name)}'

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
        return f'{parenthesize(self.obj, self.priority)}[{text}]'

    def eval(self) -> Any:
        return eval(self.obj)[_eval_index(self.key)]


def str_value(obj: Any) -> str:
    """Returns the text of a name, which may be a constant."""
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
        return f'{parenthesize(self.obj, self.priority)}({", ".join(map(str, self.args))})'

    def eval(self) -> Any:
        return eval(self.obj)(*[eval(arg) for arg in self.args])


def parenthesize(expr: Any, priority: int, strictly: bool = False) -> str:
    """Returns the text of an operand, in parentheses if it binds less than ``priority``."""
    if isinstance(expr, Expr) and (
        expr.priority < priority or strictly and expr.priority == priority
    ):
        return f'({expr})'
    return str(expr)
