from __future__ import annotations

import collections
import typing as tp
from typing import Any, TextIO

from chainer import function_hook
from chainer._core.reports import profile_report
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray

_factors = {'TB': 2**-40, 'GB': 2**-30, 'MB': 2**-20, 'KB': 2**-10, 'B': 1}


class _Entry(tp.NamedTuple):
    function: str
    used: int
    acquired: int
    depth: int


class CupyMemoryProfileHook(function_hook.FunctionHook):
    """Hook that measures the device memory of functions in CuPy's memory pool.

    A function takes *used* bytes from the pool, and the pool takes *acquired* bytes from the
    device for it.

    Attributes:
        call_history: List of ``(function name, used bytes, acquired bytes, depth)``, ordered by
            the end of the calls.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> hook = chainer.function_hooks.CupyMemoryProfileHook()  # doctest: +SKIP
        >>> with hook:  # doctest: +SKIP
        ...     trainer.run()
        >>> hook.print_report()  # doctest: +SKIP

    """

    name = 'CupyMemoryProfileHook'

    def __init__(self) -> None:
        cuda.check_cuda_available()
        self.call_history: list[Any] = []
        self._memory_hook = CupyMemoryCumulativeHook()
        self._running_stack: list[Any] = []
        self._total_used_bytes = 0
        self._total_acquired_bytes = 0

    def added(self, function: FunctionNode | None = None) -> None:
        self._memory_hook._hook.__enter__()

    def deleted(self, function: FunctionNode | None = None) -> None:
        self._memory_hook._hook.__exit__()

    def _preprocess(self):
        hook = self._memory_hook
        self._running_stack.append((hook.used_bytes, hook.acquired_bytes))

    def _postprocess(self, function):
        hook = self._memory_hook
        start_used, start_acquired = self._running_stack.pop()
        used = hook.used_bytes - start_used
        acquired = hook.acquired_bytes - start_acquired
        depth = len(self._running_stack)
        self.call_history.append(_Entry(profile_report.get_name(function), used, acquired, depth))
        if depth == 0:
            self._total_used_bytes += used
            self._total_acquired_bytes += acquired

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._preprocess()

    def backward_preprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._preprocess()

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._postprocess(function)

    def backward_postprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._postprocess(function)

    def total_used_bytes(self) -> int:
        """Returns the total bytes that functions took from the pool."""
        return self._total_used_bytes

    def total_acquired_bytes(self) -> int:
        """Returns the total bytes that the pool took from the device."""
        return self._total_acquired_bytes

    def summary(self) -> dict[str, dict[str, int]]:
        """Returns the figures by function.

        Returns:
            dict: From names of functions to dictionaries of ``used_bytes``, ``acquired_bytes`` and
            ``occurrence``.

        """
        summary: dict[str, Any] = collections.OrderedDict()
        for name, used, acquired, _ in self.call_history:
            record = summary.setdefault(
                name, {'used_bytes': 0, 'acquired_bytes': 0, 'occurrence': 0}
            )
            record['used_bytes'] += used
            record['acquired_bytes'] += acquired
            record['occurrence'] += 1
        return summary

    def print_report(self, unit: str = 'auto', file: TextIO | None = None) -> None:
        """Prints the figures by function as a table.

        Args:
            unit (str): ``'B'``, ``'KB'``, ``'MB'``, ``'GB'``, ``'TB'``, ``'auto'`` for the
                unit suitable for the largest figure, or ``'auto_foreach'`` for a unit per figure.
            file: Text file to print to; standard output by default.

        """
        profile_report.print_table(
            'FunctionName',
            self.summary(),
            {'used_bytes': 'UsedBytes', 'acquired_bytes': 'AcquiredBytes'},
            _factors,
            unit,
            file,
        )


class CupyMemoryCumulativeHook:
    """CuPy memory hook that counts all bytes.

    Attributes:
        used_bytes (int): Bytes taken from the memory pool.
        acquired_bytes (int): Bytes the memory pool took from the device.

    .. seealso:: :class:`~chainer.function_hooks.CupyMemoryProfileHook`

    .. admonition:: Example

        >>> from chainer.function_hooks.cupy_memory_profile import CupyMemoryCumulativeHook
        >>> hook = CupyMemoryCumulativeHook()  # doctest: +SKIP
        >>> hook.used_bytes, hook.acquired_bytes  # doctest: +SKIP
        (0, 0)

    """

    name = 'CupyMemoryCumulativeHook'

    def __init__(self) -> None:
        self.used_bytes: int = 0
        self.acquired_bytes: int = 0
        cumulative = self

        # The base class exists only with CuPy.
        class Hook(cuda.cupy.cuda.MemoryHook):
            name = cumulative.name

            def alloc_preprocess(self, **kwargs):
                cumulative.alloc_preprocess(**kwargs)

            def malloc_preprocess(self, **kwargs):
                cumulative.malloc_preprocess(**kwargs)

        self._hook = Hook()

    def alloc_preprocess(self, **kwargs: Any) -> None:
        self.acquired_bytes += kwargs['mem_size']

    def malloc_preprocess(self, **kwargs: Any) -> None:
        self.used_bytes += kwargs['mem_size']
