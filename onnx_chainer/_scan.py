"""Loops along an axis, which are ``Scan`` in exported models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
import chainer.functions as F
from onnx_chainer import _trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_chainer._trace import Trace


def scan(body: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any) -> tuple[Any, Any]:
    r"""Runs a function for each element along the first axis, with a carry from step to step.

    .. math:: c_{t + 1}, y_t = \mathrm{body}(c_t, x_t)

    It is a loop of Python, with gradients as always. :func:`export` makes an operator ``Scan`` of
    it, which runs for any length of the axis: a loop that is written out has the number of steps of
    the example. The steps must call the same functions. What they read from outside, such as
    parameters, does not change, and links in them must not keep a state: it is the carry.

    Args:
        body (callable): Function of the carry and of an element of ``xs``, which returns the new
            carry and :math:`y_t`. Variables of the carry keep their shapes and dtypes.
        carry: First carry :math:`c_0`: a variable or array, or a tuple or list of them.
        xs: Variable or array whose first axis has the steps, at least one, or a tuple or list of
            them. The elements :math:`x_t` do not have the axis.

    Returns:
        tuple: Last carry, and the :math:`y_t` stacked along a new first axis. They are variables,
        or tuples of them where ``body`` returns tuples or lists; :math:`y_t` may be an empty tuple.

    Raises:
        ValueError: There is no step, lengths differ, the carry changes its shape or dtype, or
            ``body`` does not return a pair.
        RuntimeError: In an export, steps call different functions.

    .. admonition:: Example

        >>> def step(total, x):
        ...     total = total + x
        ...     return total, total
        >>> x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
        >>> total, sums = onnx_chainer.scan(step, np.zeros(2, np.float32), x)
        >>> sums.array
        array([[ 1.,  2.],
               [ 4.,  6.],
               [ 9., 12.]], dtype=float32)
        >>> model = onnx_chainer.export(
        ...     lambda x: onnx_chainer.scan(step, np.zeros(2, np.float32), x)[1], x,
        ...     input_shapes=('time', 2))
        >>> [node.op_type for node in model.graph.node if node.op_type != 'Constant']
        ['Scan']

    """
    step = _Step(body, carry, xs)
    if not _trace.is_recording():
        return step.results(_loop(step, step))
    traces: list[Trace] = []

    def traced(*inputs):
        # Copies, which have no other names than those of the inputs of the step
        arrays = [x.array.copy() for x in inputs]
        copies = [chainer.Variable(x, requires_grad=x.dtype.kind == 'f') for x in arrays]
        traces.append(_trace.trace_step(step, copies))
        return traces[-1].outputs

    with _trace.instead(None):
        outputs = _loop(step, traced)
    captured = _check_alike(traces)
    loop = _trace.Loop(traces[0], len(step.carried), captured)
    _trace.add_loop(loop, [*step.carried, *step.sequences], outputs)
    return step.results(outputs)


class _Step:
    """The function of a step on flat lists of variables."""

    def __init__(self, body: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any) -> None:
        self.carried = [chainer.as_variable(x) for x in _flat('carry', carry)]
        self.sequences = [chainer.as_variable(x) for x in _flat('xs', xs)]
        lengths = {len(x) if x.ndim else None for x in self.sequences}
        if len(lengths) != 1 or not lengths.isdisjoint((None, 0)):
            shapes = [x.shape for x in self.sequences]
            raise ValueError(
                f'xs must have first axes of one length, at least one, but has the shapes {shapes}'
            )
        self._body, self._carry, self._xs = body, carry, xs
        self._y: Any = None

    def __call__(self, *inputs: Any) -> list[Any]:
        n = len(self.carried)
        result = self._body(_like(self._carry, inputs[:n]), _like(self._xs, inputs[n:]))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise ValueError(f'body must return the carry and a result, but returned {result!r}')
        carry, self._y = result
        carried = _flat('the carry that body returns', carry)
        kinds = [[(x.shape, x.dtype) for x in xs] for xs in (self.carried, carried)]
        if kinds[0] != kinds[1]:
            raise ValueError(f'body must keep the shapes and dtypes {kinds[0]}, not {kinds[1]}')
        return [chainer.as_variable(x) for x in (*carried, *_flat('the result', self._y))]

    def results(self, outputs: Sequence[Any]) -> tuple[Any, Any]:
        """The last carry and the results as the function has them."""
        n = len(self.carried)
        return _like(self._carry, outputs[:n]), _like(self._y, outputs[n:])


def _loop(step: _Step, call: Callable[..., Any]) -> list[Any]:
    """Last carry, and stacked results."""
    carried: Sequence[Any] = step.carried
    results = []
    for elements in zip(*[F.separate(x, axis=0) for x in step.sequences]):
        outputs = call(*carried, *elements)
        carried = outputs[: len(carried)]
        results.append(outputs[len(carried) :])
    return [*carried, *[F.stack(ys) for ys in zip(*results, strict=True)]]


def _flat(name: str, value: Any) -> list[Any]:
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    for x in values:
        if not isinstance(x, (chainer.Variable, *chainer.get_array_types())):
            raise ValueError(f'{name} must have variables or arrays, not {type(x).__name__}')
    return values


def _like(value: Any, flat: Sequence[Any]) -> Any:
    """Variables as they are in a value: alone or in a tuple."""
    return tuple(flat) if isinstance(value, (tuple, list)) else flat[0]


def _check_alike(traces: Sequence[Trace]) -> list[Any]:
    """Raises an error unless all steps do the same; returns the arrays from outside."""
    form, captured = _form(traces[0])
    for t, trace in enumerate(traces):
        other, arrays = _form(trace)
        if other != form:
            raise RuntimeError(f'scan: the steps 0 and {t} call different functions')
        if not all(x is y or _is_equal(x, y) for x, y in zip(captured, arrays)):
            raise RuntimeError(
                f'scan: an array from outside is another one in the steps 0 and {t}; it must be '
                'part of the carry or of xs'
            )
    return captured


def _is_equal(x, y):
    return x.shape == y.shape and x.dtype == y.dtype and bool((x == y).all())


def _form(trace: Trace) -> tuple[Any, list[Any]]:
    """What a step calls on what, in a form to compare, and the arrays from outside."""
    places: dict[int, Any] = {id(x.array): ('input', i) for i, x in enumerate(trace.inputs)}
    captured: list[Any] = []

    def place(x):
        if id(x) not in places:
            places[id(x)] = 'outside', len(captured)
            captured.append(x)
        return places[id(x)]

    calls = []
    for i, call in enumerate(trace.calls):
        arrays = [*call.inputs, *[x for _, x in _trace.constants_of(call)]]
        if isinstance(call.func, _trace.Loop):
            arrays += call.func.captured
        plain = {k: v for k, v in vars(call.func).items() if _is_plain(v)}
        calls.append((call.name, plain, [place(x) for x in arrays]))
        places.update({id(y): ('result', i, j) for j, y in enumerate(call.outputs)})
    return (calls, [place(y.array) for y in trace.outputs]), captured


def _is_plain(value: Any) -> bool:
    """Whether a value is no array, and can be compared."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    kinds = bool, int, float, str, slice, type, numpy.generic, numpy.dtype
    return value is None or isinstance(value, kinds)
