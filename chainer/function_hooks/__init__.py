"""Function hooks."""

from chainer.function_hooks.cuda_profile import CUDAProfileHook as CUDAProfileHook  # noqa: F401
from chainer.function_hooks.cupy_memory_profile import (
    CupyMemoryProfileHook as CupyMemoryProfileHook,  # noqa: F401
)
from chainer.function_hooks.debug_print import PrintHook as PrintHook  # noqa: F401
from chainer.function_hooks.timer import TimerHook as TimerHook  # noqa: F401
