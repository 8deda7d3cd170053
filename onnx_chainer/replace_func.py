"""Functions of arrays and variables that become one node."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import chainer
from chainer import FunctionNode, Variable
from chainer.utils import experimental

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def _is_value(x: Any) -> bool:
    return isinstance(x, (Variable, *chainer.get_array_types()))


class WrappedFunctionNode(FunctionNode):
    """Function node that calls a function of variables.

    Args:
        name (str): Name of the node.
        func (callable): Function.
        args (list): Its positional arguments.
        kwargs (dict): Its named arguments.
        arg_vars (list of ~chainer.Variable): The variables among the arguments, which are the
            inputs of this node.
        attributes (dict): Attributes that this node gets.

    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        arg_vars: Sequence[Variable],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.custom_function_node_name = name
        self.func = func
        self._arguments = list(args), dict(kwargs)
        self._variables = list(arg_vars)
        self._inner: tuple[list[Variable], list[Any]] | None = None
        self._result: Any = None
        for key, value in (attributes or {}).items():
            setattr(self, key, value)

    @property
    def label(self) -> str:
        return self.custom_function_node_name

    def forward(self, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        inner = [Variable(x, requires_grad=x.dtype.kind == 'f') for x in xs]
        inner_of = {id(var): x for var, x in zip(self._variables, inner)}

        def replace(value):
            if isinstance(value, (list, tuple)):
                return type(value)([replace(v) for v in value])
            return inner_of.get(id(value), value)

        args, kwargs = self._arguments
        with chainer.force_backprop_mode():
            result = self.func(
                *[replace(a) for a in args], **{k: replace(v) for k, v in kwargs.items()}
            )
        self._result = result
        outputs = _flatten(result, self.custom_function_node_name)
        self._inner = inner, outputs
        return tuple([getattr(y, 'array', y) for y in outputs])

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        if self._inner is None or not all(isinstance(y, Variable) for y in self._inner[1]):
            raise RuntimeError(
                f'{self.custom_function_node_name} has no gradient: its function gives arrays'
            )
        inner, outputs = self._inner
        pairs = [(y, gy) for y, gy in zip(outputs, grad_outputs) if gy is not None]
        return tuple(
            chainer.grad(
                [y for y, _ in pairs],
                [inner[i] for i in target_input_indexes],
                [gy for _, gy in pairs],
            )
        )

    def reconstruct_return_value(self, outputs: Sequence[Variable]) -> Any:
        """Arranges the outputs of this node as the function arranges them.

        Args:
            outputs (tuple of ~chainer.Variable): Outputs of the node.

        Returns:
            A variable, or tuples, lists and dictionaries of them.

        """
        rest = iter(outputs)

        def arrange(value):
            if _is_value(value):
                return next(rest)
            if isinstance(value, dict):
                return {k: arrange(v) for k, v in value.items()}
            return type(value)([arrange(v) for v in value])

        result = arrange(self._result)
        self._result = None
        return result


def _flatten(result: Any, name: str) -> list[Any]:
    if _is_value(result):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    if not isinstance(result, (list, tuple)):
        raise ValueError(f'{name} must return variables or arrays, but it returned {type(result)}')
    return [y for part in result for y in _flatten(part, name)]


def fake_as_funcnode(
    alt_func: Callable[..., Any],
    name: str,
    rename_attributes: Sequence[tuple[int | str, str]] | None = None,
    experimental_warning: bool = True,
) -> Callable[..., Any]:
    """Returns a function that calls ``alt_func`` as one node of the graph.

    The variables and arrays among the arguments, also in lists and tuples, are the inputs of the
    node. The other arguments are its attributes: a positional argument ``i`` is ``arg<i>``, a named
    one or a default value has the name of the parameter. The outputs are variables.

    Args:
        alt_func (callable): Function of variables. It gives variables or arrays.
        name (str): Name of the node, which chooses the converter.
        rename_attributes (list of tuple): Pairs of the position or the name of an argument, and the
            name that its attribute gets.
        experimental_warning (bool): Whether to warn that this is experimental.

    Returns:
        callable: The function.

    .. admonition:: Example

        >>> from onnx_chainer.replace_func import fake_as_funcnode
        >>> half = fake_as_funcnode(
        ...     lambda x, ratio: x * ratio, 'Half', [(1, 'ratio')], experimental_warning=False)
        >>> y = half(chainer.Variable(np.array([1., 2.], 'f')), 0.5)
        >>> y.array.tolist(), y.creator.label, y.creator.ratio
        ([0.5, 1.0], 'Half', 0.5)

    """
    names = dict(rename_attributes or ())
    signature = inspect.signature(alt_func)

    @functools.wraps(alt_func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if experimental_warning:
            experimental('onnx_chainer.replace_func.fake_as_funcnode')
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        positions = dict(zip(signature.parameters, range(len(args))))
        variables: list[Variable] = []
        attributes = {}

        def prepare(value):
            if isinstance(value, (list, tuple)) and any(map(_has_value, value)):
                return type(value)([prepare(v) for v in value])
            if _is_value(value):
                variables.append(chainer.as_variable(value))
                return variables[-1]
            return value

        def walk(key, position, value):
            prepared = prepare(value)
            if not _has_value(value):
                default = key if position is None else f'arg{position}'
                attributes[names.get(key, names.get(position, default))] = value
            return prepared

        new_args: list[Any] = []
        new_kwargs: dict[str, Any] = {}
        for key, value in bound.arguments.items():
            kind = signature.parameters[key].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                first = len(new_args)
                new_args += [walk(None, first + i, v) for i, v in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                new_kwargs.update({k: walk(k, None, v) for k, v in value.items()})
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                new_kwargs[key] = walk(key, None, value)
            else:
                new_args.append(walk(key, positions.get(key), value))
        if not variables:
            return alt_func(*args, **kwargs)
        node = WrappedFunctionNode(name, alt_func, new_args, new_kwargs, variables, attributes)
        return node.reconstruct_return_value(node.apply(tuple(variables)))

    return call


def _has_value(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_value, value))
    return _is_value(value)


def as_funcnode(
    name: str, rename_attributes: Sequence[tuple[int | str, str]] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator form of :func:`fake_as_funcnode`.

    Args:
        name (str): Name of the node.
        rename_attributes (list of tuple): See :func:`fake_as_funcnode`.

    """
    return lambda func: fake_as_funcnode(func, name, rename_attributes)
