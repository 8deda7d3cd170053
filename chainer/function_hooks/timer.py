from __future__ import annotations

import collections
import time
import typing as tp
from typing import Any, TextIO

from chainer import function_hook
from chainer._core.reports import profile_report
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray, Xp


class _Entry(tp.NamedTuple):
    function: str
    elapsed_time: float


class TimerHook(function_hook.FunctionHook):
    """Hook that measures the forward and backward times of functions.

    On CuPy arrays, it measures GPU times with events.

    Attributes:
        call_history: List of ``(function name, seconds)``, ordered by the end of the calls.
        xp: Array module of the last call.

    .. admonition:: Example

        >>> hook = chainer.function_hooks.TimerHook()
        >>> x = chainer.Variable(np.ones(3, np.float32))
        >>> with hook:
        ...     y = x + x
        >>> [name for name, seconds in hook.call_history]
        ['Add']
        >>> hook.summary()['Add']['occurrence'], hook.total_time() > 0
        (1, True)

    """

    name = 'TimerHook'
    table: dict[str, int] = {'sec': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}

    def __init__(self) -> None:
        self.call_history: list[Any] = []
        self._running_stack: list[Any] = []
        self._total_time = 0

    def _preprocess(self, arrays):
        self.xp: Xp = cuda.get_array_module(*arrays)
        device = cuda.get_device_from_array(*arrays)
        if self.xp is cuda.cupy:
            with device:
                start = cuda.Event()
                start.record()
        else:
            start = time.perf_counter()
        self._running_stack.append((device, start))

    def _postprocess(self, function):
        device, start = self._running_stack.pop()
        if isinstance(start, cuda.Event):
            with device:
                stop = cuda.Event()
                stop.record()
                stop.synchronize()
                # CuPy gives milliseconds.
                elapsed = cuda.cupy.cuda.get_elapsed_time(start, stop) / 1000
        else:
            elapsed = time.perf_counter() - start
        self.call_history.append(_Entry(profile_report.get_name(function), elapsed))
        if not self._running_stack:
            self._total_time += elapsed

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._preprocess(in_data)

    def backward_preprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._preprocess((*in_data, *out_grad))

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._postprocess(function)

    def backward_postprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._postprocess(function)

    def total_time(self) -> float:
        """Returns the time in seconds; nested functions count once."""
        return self._total_time

    def summary(self) -> dict[str, dict[str, float]]:
        """Returns the figures by function.

        Returns:
            dict: From names of functions to dictionaries of ``elapsed_time`` in seconds and
            ``occurrence``.

        """
        summary: dict[str, Any] = collections.OrderedDict()
        for name, elapsed in self.call_history:
            record = summary.setdefault(name, {'elapsed_time': 0, 'occurrence': 0})
            record['elapsed_time'] += elapsed
            record['occurrence'] += 1
        return summary

    def print_report(self, unit: str = 'auto', file: TextIO | None = None) -> None:
        """Prints the figures by function as a table.

        Args:
            unit (str): ``'sec'``, ``'ms'``, ``'us'``, ``'ns'``, ``'auto'`` for the unit suitable
                for the largest figure, or ``'auto_foreach'`` for a unit per figure.
            file: Text file to print to; standard output by default.

        Raises:
            KeyError: If there is no such unit.

        """
        profile_report.print_table(
            'FunctionName', self.summary(), {'elapsed_time': 'ElapsedTime'}, self.table, unit, file
        )
