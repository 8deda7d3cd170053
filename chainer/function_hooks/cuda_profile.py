from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import function_hook
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray


class CUDAProfileHook(function_hook.FunctionHook):
    """Hook that marks functions as ranges for NVIDIA's profiler.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> with chainer.function_hooks.CUDAProfileHook():  # doctest: +SKIP
        ...     trainer.run()

    """

    name = 'CUDAProfileHook'

    def __init__(self) -> None:
        cuda.check_cuda_available()
        self._nvtx = cuda.cupy.cuda.nvtx

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._nvtx.RangePush(function.label + '.forward')

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[NdArray, ...]) -> None:
        self._nvtx.RangePop()

    def backward_preprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._nvtx.RangePush(function.label + '.backward')

    def backward_postprocess(
        self,
        function: FunctionNode,
        in_data: tuple[NdArray, ...],
        out_grad: tuple[NdArray | None, ...],
    ) -> None:
        self._nvtx.RangePop()
