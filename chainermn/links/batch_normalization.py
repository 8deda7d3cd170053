"""Batch normalization over all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import configuration, links
from chainer.functions.normalization.batch_normalization import BatchNormalization
from chainermn.functions.batch_normalization import MultiNodeBNImplSelector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import DTypeSpec, InitializerSpec, VariableLike
    from chainer.variable import Variable
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class MultiNodeBatchNormalization(links.BatchNormalization):
    """Batch normalization by the mean and variance of the batches of all processes.

    In training, calling it is collective, and so is backward. The batches must have equal sizes. In
    evaluation it equals :class:`chainer.links.BatchNormalization`.

    Args:
        size (int or tuple of ints): Shape of the parameters.
        comm (CommunicatorBase): Communicator.
        decay (float): Decay rate of the running averages.
        eps (float): Small value for numerical stability.
        dtype: Data type of the parameters and averages.
        use_gamma (bool): If ``False``, there is no scale.
        use_beta (bool): If ``False``, there is no shift.
        initial_gamma (initializer): Initializer of the scale, one by default.
        initial_beta (initializer): Initializer of the shift, zero by default.
        communication_backend (str): How the statistics are sent, see
            :func:`~chainermn.functions.batch_normalization.get_communication_backend`.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> bn = chainermn.links.MultiNodeBatchNormalization(2, comm)
        >>> bn(np.array([[1, 10], [3, 30]], np.float32)).array.round(2)
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)

    """

    def __init__(
        self,
        size: int | Sequence[int],
        comm: MpiCommunicatorBase,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeSpec = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        communication_backend: str = 'auto',
    ) -> None:
        super().__init__(size, decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta)
        self.comm = comm
        self._selector = MultiNodeBNImplSelector(comm, communication_backend)

    def __call__(  # type: ignore[override]
        self, x: VariableLike, finetune: bool = False
    ) -> Variable:
        """Normalizes a batch, see :meth:`chainer.links.BatchNormalization.forward`."""
        return super().__call__(x, finetune=finetune)

    def forward(self, x: VariableLike, **kwargs: Any) -> Variable:
        if not configuration.config.train:
            return super().forward(x, **kwargs)
        gamma, beta = self._prepare(x)
        decay = self._advance(kwargs.get('finetune', False))
        axis: Any = self.axis
        func = BatchNormalization(
            self.eps, self.avg_mean, self.avg_var, decay, axis, self._selector
        )
        return func.apply((x, gamma, beta))[0]
