"""Traces: which functions a model calls on which arrays.

A trace identifies values by their arrays: a value that leaves the graph as ``y.array`` and comes
back is the same value still. It holds all arrays, so that no two have the same identity.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import chainer
from chainer import FunctionNode, Parameter, Variable
from chainer.function import FunctionAdapter
from onnx_chainer import mapping
from onnx_chainer.replace_func import WrappedFunctionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from chainer.types import VariableLike

    Arguments = VariableLike | Sequence['Arguments'] | Mapping[str, 'Arguments']


class Call:
    """One application of a function.

    Attributes:
        func: The function: an old-style one as users know it.
        name (str): Its name, which chooses the converter.
        inputs: Arrays that it got.
        outputs: Arrays that it gave.

    """

    def __init__(self, func: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.func: Any = func.function if isinstance(func, FunctionAdapter) else func
        self.inputs: list[Any] = list(inputs)
        self.outputs: list[Any] = list(outputs)
        self.name: str
        if isinstance(func, WrappedFunctionNode):
            self.name = func.custom_function_node_name
        else:
            self.name = type(self.func).__name__


class Trace:
    """What a model did with some arguments.

    Attributes:
        calls: Calls that the outputs depend on, in order.
        inputs: Arguments that are variables or arrays, in order.
        outputs: Variables that the model returned.
        result: What the model returned.

    """

    def __init__(self, calls: list[Call], inputs: list[Variable], result: Any) -> None:
        self.inputs = inputs
        self.result = result
        self.outputs: list[Variable] = list(_flatten_outputs(result))
        # A function may give the array that it got: an array has the results of several calls.
        self._producers: dict[int, list[int]] = {}
        for i, call in enumerate(calls):
            for y in call.outputs:
                self._producers.setdefault(id(y), []).append(i)
        needed = set()
        stack = [(id(y.array), len(calls)) for y in self.outputs]
        while stack:
            array_id, stop = stack.pop()
            i = max((i for i in self._producers.get(array_id, ()) if i < stop), default=-1)
            if i >= 0 and i not in needed:
                needed.add(i)
                call = calls[i]
                stack += [(id(x), i) for x in (*call.inputs, *_arrays_of(call.func))]
        self.calls: list[Call] = [call for i, call in enumerate(calls) if i in needed]

    def is_result(self, array: Any) -> bool:
        """Whether an array is the result of a function."""
        return id(array) in self._producers

    def parts(self) -> Iterator[Trace]:
        """This trace, and those of the bodies of its loops."""
        yield self
        for call in self.calls:
            if isinstance(call.func, Loop):
                yield from call.func.body.parts()

    def every_call(self) -> list[Call]:
        """All calls, with those in loops."""
        return [call for part in self.parts() for call in part.calls]


class Loop:
    """The function of a call that stands for a loop.

    Attributes:
        body: Trace of a step: its inputs are the carry and the elements, and its outputs the new
            carry and what the step adds to the results.
        n_carried (int): Number of variables of the carry.
        captured (list): Arrays from outside that the step reads.

    """

    def __init__(self, body: Trace, n_carried: int, captured: list[Any]) -> None:
        self.body = body
        self.n_carried = n_carried
        self.captured = captured


def _arrays_of(func: Any) -> Iterator[Any]:
    """Arrays among the attributes of a function, like the condition of ``F.where``."""
    for value in vars(func).values():
        yield from value if isinstance(value, (list, tuple)) else (value,)


def _flatten_outputs(result: Any) -> Iterator[Variable]:
    if isinstance(result, dict):
        result = list(result.values())
    kinds: Any = (Variable, *chainer.get_array_types())
    if isinstance(result, kinds):
        yield chainer.as_variable(result)
        return
    if not isinstance(result, (list, tuple)):
        raise TypeError(
            'the model must return variables or arrays, in lists, tuples or dictionaries, but it '
            f'returned {type(result)}'
        )
    for value in result:
        if value is not None:
            yield from _flatten_outputs(value)


class _Recorder(threading.local):
    calls: list[Call] | None = None


_recorder = _Recorder()
_apply: Callable[..., Any] = FunctionNode.apply
_lock = threading.RLock()


def _recording_apply(func: FunctionNode, inputs: Sequence[Any]) -> tuple[Variable, ...]:
    calls = _recorder.calls
    if calls is None:
        return _apply(func, inputs)
    variables = tuple([chainer.as_variable(x) for x in inputs])
    if isinstance(func, chainer.functions.util.forget.Forget):
        # What it forgets is what counts.
        return _apply(func, variables)
    _recorder.calls = None
    try:
        outputs = _apply(func, variables)
    finally:
        _recorder.calls = calls
    calls.append(Call(func, [x.array for x in variables], [y.array for y in outputs]))
    return outputs


def is_recording() -> bool:
    """Whether the calls of functions of this thread are recorded."""
    return _recorder.calls is not None


@contextlib.contextmanager
def instead(calls: list[Call] | None) -> Iterator[None]:
    """Records calls in another list, or not at all."""
    outer, _recorder.calls = _recorder.calls, calls
    try:
        yield
    finally:
        _recorder.calls = outer


def trace_step(step: Callable[..., Any], inputs: list[Variable]) -> Trace:
    """Records what a step of a loop does with its inputs."""
    calls: list[Call] = []
    with instead(calls):
        result = step(*inputs)
    return Trace(calls, inputs, result)


def add_loop(loop: Loop, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
    """Records a loop as a call."""
    assert _recorder.calls is not None
    call = Call(loop, [x.array for x in inputs], [y.array for y in outputs])
    call.name = 'Scan'
    _recorder.calls.append(call)


@contextlib.contextmanager
def _recording() -> Iterator[list[Call]]:
    """Records the calls of functions of this thread."""
    with _lock:
        calls: list[Call] = []
        FunctionNode.apply = _recording_apply  # type: ignore
        _recorder.calls = calls
        try:
            yield calls
        finally:
            _recorder.calls = None
            FunctionNode.apply = _apply  # type: ignore[method-assign]


def trace(model: Callable[..., Any], args: Arguments, train: bool) -> Trace:
    """Calls a model and records what it does.

    Args:
        model: Callable.
        args: Argument; list or tuple of arguments; or dictionary of named arguments.
        train (bool): Whether the model is in training mode.

    Returns:
        Trace: The trace.

    """
    args, inputs = _as_variables(args)
    with (
        _recording() as calls,
        mapping.patch_functions(),
        chainer.using_config('train', train),
        chainer.force_backprop_mode(),
    ):
        if isinstance(args, dict):
            result = model(**args)
        elif isinstance(args, (list, tuple)):
            result = model(*args)
        else:
            result = model(args)
    return Trace(calls, inputs, result)


def _as_variables(args: Any) -> tuple[Any, list[Variable]]:
    """Makes variables of the arrays in arguments; returns these, and all variables."""
    found: list[Variable] = []

    def convert(value):
        if isinstance(value, (list, tuple)):
            return type(value)([convert(v) for v in value])
        if isinstance(value, dict):
            return {k: convert(v) for k, v in value.items()}
        if isinstance(value, chainer.get_array_types()):
            value = Variable(value, requires_grad=value.dtype.kind == 'f')
        if isinstance(value, Variable):
            found.append(value)
        return value

    if not isinstance(args, (list, tuple, dict, Variable, *chainer.get_array_types())):
        raise TypeError(
            'args must be a list, tuple, dict, array or chainer.Variable of inputs, not '
            f'{type(args)}'
        )
    return convert(args), found


def map_arrays(function: Callable[[Any], Any], args: Any) -> Any:
    """Arguments whose arrays are replaced by ``function(array)``, in their order."""
    if isinstance(args, (list, tuple)):
        return type(args)([map_arrays(function, v) for v in args])
    if isinstance(args, dict):
        return {k: map_arrays(function, v) for k, v in args.items()}
    if isinstance(args, Variable):
        return Variable(function(args.array), name=args.name)
    if isinstance(args, chainer.get_array_types()):
        return function(args)
    return args


def reversed_values(x: Any) -> Any:
    """An array with the same elements in another order."""
    return x.ravel()[::-1].reshape(x.shape).copy()


def difference(first: Trace, second: Trace) -> str | None:
    """What differs in two traces of a model besides values that functions make, or ``None``."""
    names = [[call.name for call in t.every_call()] for t in (first, second)]
    if names[0] != names[1]:
        return 'the model calls other functions for other values of its inputs'
    parts = list(first.parts())
    known = {id(x.array) for part in parts for x in part.inputs}
    for call, other in zip(first.every_call(), second.every_call()):
        for (what, x), (_, y) in zip(constants_of(call), constants_of(other)):
            if x is y or id(x) in known or any(part.is_result(x) for part in parts):
                continue
            if x.shape != y.shape or not bool(((x == y) | (x != x) & (y != y)).all()):
                return (
                    f'{what} of {call.name} is random, or it is computed from an input of the '
                    'model outside of functions of Chainer'
                )
    return None


def constants_of(call: Call) -> Iterator[tuple[str, Any]]:
    """Arrays that a converter may read, and what they are."""
    for i, x in enumerate(call.inputs):
        yield f'input {i}', x
    kinds = chainer.get_array_types()
    for name, value in sorted(vars(call.func).items()):
        # Others are what a function keeps for its gradient.
        if not name.startswith('_') and name != 'mask':
            for x in value if isinstance(value, tuple) else (value,):
                if isinstance(x, kinds):
                    yield name, x


@contextlib.contextmanager
def unchanged(model: Any) -> Iterator[Callable[[], None]]:
    """Keeps the state of a model, except that uninitialized parameters may get arrays.

    Yields:
        callable: Goes back to the state at the start.

    """
    if not isinstance(model, chainer.Link):
        yield lambda: None
        return
    saved = [
        (link, dict(vars(link)), _contents(vars(link)), _is_uninitialized(link))
        for link in model.links()
    ]

    def restore():
        for link, attributes, contents, was_uninitialized in saved:
            now = dict(vars(link))
            vars(link).clear()
            vars(link).update(attributes)
            if was_uninitialized:
                # What initialization has made stays, but states go.
                vars(link).update({k: v for k, v in now.items() if not _is_state(v)})
            for array, content in contents:
                array[...] = content

    try:
        yield restore
    finally:
        restore()


def _is_uninitialized(link):
    return any(isinstance(v, Parameter) and v.array is None for v in vars(link).values())


def _is_state(value):
    return isinstance(value, Variable) and not isinstance(value, Parameter)


def _contents(attributes: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Copies of the arrays of a link that training changes: not of its parameters."""
    arrays = chainer.get_array_types()
    return [(value, value.copy()) for value in attributes.values() if isinstance(value, arrays)]


@contextlib.contextmanager
def off_chainerx(model: Any) -> Iterator[None]:
    """Has the arrays of a model of ChainerX seen by NumPy or CuPy, without copies."""
    if not isinstance(model, chainer.Link) or not _is_on_chainerx(model):
        yield
        return
    params = [(p, p.array, p.grad) for p in model.params()]
    attributes = [(link, dict(vars(link))) for link in model.links()]
    model.from_chx()
    try:
        yield
    finally:
        for link, values in attributes:
            vars(link).clear()
            vars(link).update(values)
        for param, array, grad in params:
            if array is None:
                param.to_chx()
            else:
                param.array = array
                param.grad = grad


def _is_on_chainerx(model: chainer.Link) -> bool:
    return any(isinstance(link.device, chainer.backend.ChainerxDevice) for link in model.links())
