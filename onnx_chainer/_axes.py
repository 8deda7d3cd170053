"""Dynamic axes: what depends on their lengths, found by runs with several lengths.

A traced size is a number. To know what it depends on, the model runs with several lengths of each
dynamic axis: a size that varies is a :class:`Dim`, which has its values in all the runs. Arithmetic
on it gives further ones. The builder of nodes finds an expression of lengths known to ONNX that has
the same values.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from onnx_chainer import _trace, onnx_helper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_chainer._trace import Call, Trace


class DynamicAxisError(RuntimeError):
    """What depends on the length of a dynamic axis has no form in ONNX."""


class Dim:
    """Size that varies with the dynamic axes.

    Attributes:
        sizes (tuple of int): Its value in each of the runs.

    """

    __slots__ = ('sizes',)

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and other.sizes == self.sizes

    def __hash__(self) -> int:
        return hash(self.sizes)

    def __repr__(self) -> str:
        return f'<a size that varies: {", ".join(map(str, self.sizes))}>'

    def __index__(self) -> int:
        raise DynamicAxisError(
            f'a size that must be fixed depends on a dynamic axis: its values are {self.sizes}'
        )

    __int__ = __index__

    def _apply(self, op: Callable[[int, int], int], other: Any, swapped: bool = False) -> Any:
        if not isinstance(other, (Dim, int)):
            return NotImplemented
        others = other.sizes if isinstance(other, Dim) else (other,) * len(self.sizes)
        pairs = zip(others, self.sizes) if swapped else zip(self.sizes, others)
        return merge([op(a, b) for a, b in pairs])

    def __add__(self, other: Any) -> Any:
        return self._apply(operator.add, other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._apply(operator.mul, other)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self._apply(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply(operator.sub, other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply(operator.floordiv, other)

    def __mod__(self, other: Any) -> Any:
        return self._apply(operator.mod, other)

    def __neg__(self) -> Any:
        return self * -1

    # A size is above a number if it is in all runs.
    def __lt__(self, other: Any) -> bool:
        return all(a < other for a in self.sizes)

    def __gt__(self, other: Any) -> bool:
        return all(a > other for a in self.sizes)

    def __le__(self, other: Any) -> bool:
        return all(a <= other for a in self.sizes)

    def __ge__(self, other: Any) -> bool:
        return all(a >= other for a in self.sizes)


class Varying:
    """Array or number that varies with the dynamic axes.

    Attributes:
        values (list): Its value in each of the runs.

    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)

    @property
    def dtype(self) -> Any:
        return numpy.asarray(self.values[0]).dtype

    @property
    def ndim(self) -> int:
        return self.values[0].ndim

    @property
    def shape(self) -> Any:
        return merge([v.shape for v in self.values])


def merge(values: Sequence[Any]) -> Any:
    """One value for those of all runs; a :class:`Dim` or :class:`Varying` where they differ."""
    first = values[0]
    if isinstance(first, chainer.get_array_types()):
        if all(v is first for v in values) or _are_equal(values):
            return first
        return Varying(values)
    if isinstance(first, (tuple, list)) and len({len(v) for v in values}) == 1:
        return type(first)([merge(parts) for parts in zip(*values)])
    if isinstance(first, slice):
        parts = [[getattr(v, name) for v in values] for name in ('start', 'stop', 'step')]
        return slice(*map(merge, parts))
    if isinstance(first, dict) and all(v.keys() == first.keys() for v in values):
        return {k: merge([v[k] for v in values]) for k in first}
    if all(v is first or v == first for v in values):
        return first
    if all(isinstance(v, (int, numpy.integer)) and not isinstance(v, bool) for v in values):
        return Dim([int(v) for v in values])
    if all(isinstance(v, (int, float, numpy.number)) for v in values):
        return Varying(values)
    raise DynamicAxisError(f'a value depends on the length of a dynamic axis: {values}')


def _are_equal(values):
    if len({(v.shape, v.dtype) for v in values}) > 1:
        return False
    first, *others = map(onnx_helper.as_numpy, values)
    return all(numpy.array_equal(first, v, equal_nan=first.dtype.kind == 'f') for v in others)


class View:
    """A function as it is in all runs: its attributes are merged."""

    def __init__(self, funcs: Sequence[Any]) -> None:
        self._funcs = funcs

    def __getattr__(self, name: str) -> Any:
        return merge([getattr(f, name) for f in self._funcs])


class Axes:
    """Dynamic axes of an export.

    Attributes:
        traces: One for each run. The first one is converted.
        names: Names of the axes, and the input and its axis that have each.
        sizes: Lengths of each axis in the runs, by name.

    """

    def __init__(self, traces: list[Trace], names: dict[str, tuple[int, int]]) -> None:
        self.traces = traces
        self.names = names
        self.sizes: dict[str, Dim] = {
            name: Dim([t.inputs[i].shape[axis] for t in traces])
            for name, (i, axis) in names.items()
        }
        self._check_alike()
        self._peers = {id(calls[0]): calls for calls in zip(*[t.every_call() for t in traces])}

    def peers(self, call: Call) -> Sequence[Call]:
        """The same call in all runs."""
        return self._peers[id(call)]

    def _check_alike(self):
        names = [[call.name for call in t.every_call()] for t in self.traces]
        for other, trace in zip(names[1:], self.traces[1:]):
            if other != names[0]:
                lengths = [
                    {name: t.inputs[i].shape[axis] for name, (i, axis) in self.names.items()}
                    for t in (self.traces[0], trace)
                ]
                raise DynamicAxisError(
                    f'the model calls {len(names[0])} functions if the axes have the lengths '
                    f'{lengths[0]}, but {len(other)} or other ones if they are {lengths[1]}: '
                    'a loop over an axis has a fixed number of steps: write it with '
                    'onnx_chainer.scan, or give that axis a number in input_shapes'
                )

    def name_of(self, dim: Any) -> Any:
        """Number, or name of the dynamic axis of this length, or ``None``."""
        if not isinstance(dim, Dim):
            return dim
        return next((name for name, sizes in self.sizes.items() if sizes == dim), None)


def find_names(
    arrays: Sequence[Any], shapes: Sequence[Any]
) -> tuple[dict[str, tuple[int, int]], list[tuple[Any, ...]]]:
    """Finds the named axes in shapes.

    Axes of one name have one length. If they do not, those of another length get another name.

    Returns:
        tuple: The first input and axis of each name, and the shapes with the names that differ.

    Raises:
        ValueError: If a shape does not fit its input.

    """
    names: dict[str, tuple[int, int]] = {}
    given_names = {name for shape in shapes for name in shape if isinstance(name, str)}
    renamed: dict[tuple[str, int], str] = {}
    result = []
    for i, (x, shape) in enumerate(zip(arrays, shapes)):
        if len(shape) != x.ndim:
            raise ValueError(
                f'input_shapes: {tuple(shape)} does not fit input {i} of shape {x.shape}'
            )
        new_shape = list(shape)
        for axis, (n, given) in enumerate(zip(x.shape, shape)):
            if isinstance(given, str):
                j, other = names.setdefault(given, (i, axis))
                if arrays[j].shape[other] != n:
                    given = _name_apart(given, n, arrays[j].shape[other], renamed, given_names)
                    names.setdefault(given, (i, axis))
                new_shape[axis] = given
            elif given is not None and given != n:
                raise ValueError(
                    f'input_shapes: axis {axis} of input {i} has the length {n}, not {given}'
                )
        result.append(tuple(new_shape))
    return names, result


def _name_apart(name, length, other, renamed, taken):
    """The name for the axes of another length than the first ones of their name have."""
    if (name, length) not in renamed:
        numbered = (f'{name}_{i}' for i in itertools.count(1))
        new = next(each for each in numbered if each not in taken)
        taken.add(new)
        renamed[name, length] = new
        warnings.warn(
            f'input_shapes: the axes named {name!r} have the lengths {other} and {length}: those '
            f'of the length {length} are named {new!r}',
            stacklevel=4,
        )
    return renamed[name, length]


def explore(
    run: Callable[[Any], Trace],
    main: Trace,
    args: Any,
    shapes: Sequence[Any],
    names: dict[str, tuple[int, int]],
) -> Axes:
    """Runs a model with several lengths of its dynamic axes.

    Args:
        run (callable): Runs the model with arguments.
        main: Trace with the arguments of the user.
        args: These arguments.
        shapes: Shapes of all inputs, with names of axes.
        names: Inputs and axes by name.

    Returns:
        Axes: What depends on the axes.

    """
    given = {name: main.inputs[i].shape[axis] for name, (i, axis) in names.items()}

    def attempt(lengths):
        return run(_resize(args, shapes, lengths))

    # An axis of length one would be broadcast.
    base = dict(given)
    base.update({name: 2 for name, n in given.items() if n < 2})
    trace = main
    if base != given:
        trace = _attempt_all(attempt, [base, {k: max(n, 3) for k, n in base.items()}], given)
    base = {name: trace.inputs[i].shape[axis] for name, (i, axis) in names.items()}
    traces, joint = [trace], dict(base)
    for name, n in base.items():
        lengths = [n + 1, 2 * n, n + 2, 3 * n, n - 1, n // 2]
        found: list[tuple[int, Trace]] = []
        error = None
        for length in dict.fromkeys(lengths):
            if length > 1 and length != n and len(found) < 2:
                try:
                    found.append((length, attempt({**base, name: length})))
                except Exception as e:
                    error = e
        if not found:
            raise DynamicAxisError(
                f'the model cannot run with another length of the axis {name!r} than {n}'
            ) from error
        joint[name] = found[0][0]
        traces += [t for _, t in found]
    if len(base) > 1:
        traces.append(attempt(joint))
    return Axes(traces, names)


def _attempt_all(attempt, candidates, given):
    error = None
    for lengths in candidates:
        try:
            return attempt(lengths)
        except Exception as e:
            error = e
    raise DynamicAxisError(
        f'the model cannot run with other lengths of the dynamic axes than {given}'
    ) from error


def _resize(args, shapes, lengths):
    """Repeats or cuts the arrays of arguments along their named axes."""
    rest = iter(shapes)

    def resize(x):
        for axis, name in enumerate(next(rest)):
            if isinstance(name, str) and x.shape[axis] != lengths[name]:
                xp = chainer.backend.get_array_module(x)
                x = x.take(xp.arange(lengths[name]) % x.shape[axis], axis)
        return x

    return _trace.map_arrays(resize, args)
