"""Steps of optimizers: what an update runs, one by one, for many parameters, or in a plan."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import chainerx
from chainer import configuration
from chainer._core.engines import cupy_views
from chainer._core.settings.half import is_half
from chainer.backends import cuda
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_config = configuration.config
# Elements of a block: half a megabyte of float32 for each array of a step.
_BLOCK = 131072
# Up to this size it is cheaper to join arrays than to update them one by one.
_SMALL = 2048


class Step(NamedTuple):
    """What an update runs: a kernel, the arrays and the hyperparameters.

    An update rule makes it, for one parameter or for all of a group. Eager updates run it, plans of
    :func:`chainer.compile` record its kernel and then give it the scalars of each update.

    Attributes:
        kernel (str): Name of the update in ChainerX.
        compute (callable): The same on NumPy and CuPy arrays, in place:
            ``compute(param, grad, *states, *scalars)``. Both round alike.
        columns (list of lists of arrays): Parameters, their gradients, and each kind of state.
        scalars (list): Python floats, or arrays with a value for each element.

    """

    kernel: str
    compute: Callable[..., None]
    columns: list[list[Any]]
    scalars: list[Any]

    def run_on_chainerx(self) -> bool:
        """Updates all parameters at once; returns ``False`` if ChainerX cannot."""
        return run_kernel(self.kernel, [*itertools.chain(*self.columns)], self.scalars)

    def run_on_numpy(self, indices: Iterable[int]) -> None:
        """Updates some one by one: by the kernel, or in blocks for the cache and for memory."""
        has_kernels = chainerx.is_available() and _config.use_native_kernels != 'never'
        for i in indices:
            arrays = [column[i] for column in self.columns]
            if has_kernels:
                # There are no views of unusual arrays, such as empty or mirrored ones, and no
                # kernels of integers. NumPy's operations serve all.
                views = _internal.numpy_views(arrays, [False] * len(arrays))
                if views is not None and run_kernel(self.kernel, views, self.scalars):
                    continue
            size = arrays[0].size
            # NumPy's operations make temporary arrays of the size of what they get: blocks keep
            # those in the cache; below some blocks the loop costs more than it saves.
            if size > 8 * _BLOCK and all([array.flags.c_contiguous for array in arrays]):
                arrays = [array.reshape(-1) for array in arrays]
                for start in range(0, size, _BLOCK):
                    self._compute_wide([a[start : start + _BLOCK] for a in arrays], self.scalars)
            else:
                self._compute_wide(arrays, self.scalars)

    def run_on_cupy(self) -> None:
        """Updates all at once by the kernel, or one by one on the current device."""
        has_kernels = _config.use_native_kernels != 'never' and cupy_views.serve(self.columns[0])
        if has_kernels and self._run_kernel_on_cupy():
            return
        # A hyperparameter may have a value for each element, in an array on the host.
        scalars = [cuda.to_gpu(v) if isinstance(v, numpy.ndarray) else v for v in self.scalars]
        for row in zip(*self.columns):
            self._compute_wide(list(row), scalars)

    def _run_kernel_on_cupy(self) -> bool:
        # Empty arrays have no views, and nothing to update.
        rows = [row for row in zip(*self.columns) if row[0].size]
        if not rows:
            return True
        arrays = [*itertools.chain(*zip(*rows))]
        with cupy_views.stream_of(arrays[:1]):
            views = cupy_views.inputs(arrays, [False] * len(arrays))
            return views is not None and run_kernel(self.kernel, list(views), self.scalars)

    def _compute_wide(self, arrays: list[Any], scalars: list[Any]) -> None:
        """Computes with at least one axis and single precision."""
        if arrays[0].ndim == 0:  # NumPy 1 would compute in float64
            arrays = [array.reshape(1) for array in arrays]
        if not is_half(arrays[0].dtype):
            self.compute(*arrays, *scalars)
            return
        # Small gradients squared would vanish in half precision.
        wide = [array.astype(numpy.float32) for array in arrays]
        self.compute(*wide, *scalars)
        for k, array in enumerate(arrays):
            if k != 1:  # the gradient is unchanged
                array[...] = wide[k]


class Buffers:
    """Memory in which small NumPy arrays are joined, so that one step updates all of them.

    It belongs to an optimizer, but not to its state: copies of it are empty.
    """

    def __init__(self) -> None:
        self._joined: dict[tuple[int, ...], _Joined] = {}
        self._before: dict[tuple[int, ...], _Joined] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Buffers, ()

    def start(self) -> None:
        """Forgets the buffers that the previous update did not use."""
        # A model that replaces its arrays would otherwise collect memory of all it ever had.
        self._joined, self._before = {}, self._joined

    def run(self, step: Step, rules: Sequence[Any]) -> None:
        """Runs the step of rules on NumPy arrays."""
        columns = step.columns
        arrays = columns[0]
        # Pieces would be written back one after the other, so memory in two parameters would keep
        # one of its two updates. Arrays that own their memory do not overlap.
        small = [i for i, a in enumerate(arrays) if a.size <= _SMALL and a.base is None]
        has_shared = len({*map(id, arrays)}) < len(arrays)
        # An array of scalars, with a value for each element, fits one parameter and not all joined.
        if len(small) < 2 or has_shared or not are_numbers(step.scalars):
            step.run_on_numpy(range(len(arrays)))
            return
        if len(small) < len(arrays):
            joined = set(small)
            step.run_on_numpy([i for i in range(len(arrays)) if i not in joined])
            columns = [[column[i] for i in small] for column in columns]
            rules = [rules[i] for i in small]
        self._run_joined(step, columns, rules)

    def _run_joined(self, step: Step, columns: list[list[Any]], rules: Sequence[Any]) -> None:
        """Runs a step on columns of arrays, joined.

        The states of the rules become views of the joined memory, which saves
        copies in later updates.
        """
        arrays = columns[0]
        # The arrays of parameters stay from update to update, so their ids find their memory.
        key = tuple(map(id, arrays))
        joined = self._before.pop(key, None)
        # Another rule, or another variant of it, has another number of states.
        if joined is None or len(joined.flat) != len(columns):
            joined = _Joined(arrays, len(columns))
        self._joined[key] = joined
        # Other code may write to parameters and gradients, whose arrays are not pieces. States are
        # pieces since the first update, unless somebody has replaced them.
        copied = [
            k
            for k, pieces in enumerate(joined.pieces)
            if k < 2 or not all(map(operator.is_, pieces, columns[k]))
        ]
        for k in copied:
            for piece, array in zip(joined.pieces[k], columns[k]):
                piece[...] = array
        step.compute(*joined.flat, *step.scalars)
        # Pieces of float32 cannot be the states of float16 parameters.
        keeps_states = arrays[0].dtype == joined.flat[0].dtype
        for k in copied:
            if k == 1:  # the gradient is unchanged
                continue
            if k > 1 and keeps_states:
                for rule, piece in zip(rules, joined.pieces[k]):
                    rule._replace_state(k - 2, piece)
            else:
                for piece, array in zip(joined.pieces[k], columns[k]):
                    array[...] = piece


class _Joined:
    """Flat arrays, and their pieces in the shapes of the arrays that they represent."""

    def __init__(self, arrays: Sequence[Any], n: int) -> None:
        self.arrays = arrays  # identified by ids, so they must stay alive
        size = sum(array.size for array in arrays)
        # Float16 is computed in float32, as in `Step._compute_wide`. The copies convert it anyway.
        dtype = numpy.promote_types(arrays[0].dtype, numpy.float32)
        self.flat = [numpy.empty(size, dtype) for _ in range(n)]
        self.pieces: list[list[numpy.ndarray[Any, Any]]] = [[] for _ in range(n)]
        start = 0
        for array in arrays:
            stop = start + array.size
            for flat, pieces in zip(self.flat, self.pieces):
                pieces.append(flat[start:stop].reshape(array.shape))
            start = stop


def are_numbers(scalars: Sequence[Any]) -> bool:
    """Tells whether all scalars of a step are scalars, not arrays of values per element."""
    return all([type(value) is float for value in scalars])


def run_kernel(name: str, arrays: list[Any], scalars: Sequence[Any]) -> bool:
    """Runs an update rule of ChainerX; returns ``False`` if it does not support the arguments."""
    kernel = _find_kernel(name, arrays[0].device)
    if kernel is None or not are_numbers(scalars):
        return False
    try:
        kernel(arrays, scalars)
    except chainerx.DtypeError:  # a stored state may have another dtype
        return False
    return True


@functools.cache
def _find_kernel(name: str, device: chainerx.Device) -> Callable[..., None] | None:
    """Returns ChainerX's function for an update rule, or ``None`` if a device has none."""
    # Cached, because each call makes a list of all kernels.
    if (name, True) not in _internal.kernels(device.backend.name):
        return None
    return _internal.update_kernel(name)
