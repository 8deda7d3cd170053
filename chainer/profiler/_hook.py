"""Function hook that tells a recorder of functions, on all threads that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.autograd import thread_hooks
from chainer._core.reports import profile_report
from chainer.function_hook import FunctionHook

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer.profiler._spans import Recorder


class SpanHook(FunctionHook):
    """Records the forward and backward computations of functions.

    Args:
        recorder: What takes the spans.

    """

    name = 'chainer.profiler'

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._threads: list[dict[str, Any]] = []

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        name = profile_report.get_name(function)
        self._recorder.begin(function, 'forward', name, _forms(in_data))

    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        self._recorder.end(function)

    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        name = profile_report.get_name(function)
        self._recorder.begin(function, 'backward', name, _forms(out_grad))

    def backward_postprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        self._recorder.end(function)

    # -- threads

    def start(self) -> None:
        """Watches this thread and those that begin later."""
        hooks = thread_hooks.get_hooks()
        hooks[self.name] = self
        self._threads.append(hooks)
        thread_hooks.initial = self._begin_thread

    def _begin_thread(self) -> dict[str, Any]:
        hooks = {self.name: self}
        self._threads.append(hooks)
        return hooks

    def stop(self) -> None:
        """Watches no thread any more."""
        thread_hooks.initial = None
        for hooks in self._threads:
            hooks.pop(self.name, None)


def _forms(arrays: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(x.shape, x.dtype) for x in arrays if x is not None]
