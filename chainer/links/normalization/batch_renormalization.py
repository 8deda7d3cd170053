from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import configuration, functions
from chainer.functions.util import forget
from chainer.links.normalization import batch_normalization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import DTypeSpec, InitializerSpec, VariableLike
    from chainer.variable import Variable


class BatchRenormalization(batch_normalization.BatchNormalization):
    """Batch renormalization layer.

    In training, it corrects the statistics of the batch towards the running
    averages, within limits. See S. Ioffe, `Batch Renormalization
    <https://arxiv.org/abs/1702.03275>`_.

    Args:
        size (int or tuple of ints): Shape of the parameters.
        rmax (float): Limit of the correction of the standard deviation.
        dmax (float): Limit of the correction of the mean.
        decay, eps, dtype, use_gamma, use_beta, initial_gamma, initial_beta, \
    initial_avg_mean, initial_avg_var: See :class:`~chainer.links.BatchNormalization`.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or the
            shape of its reduced part is not ``size``.

    .. seealso:: :func:`chainer.functions.batch_renormalization`

    .. admonition:: Example

        >>> brn = L.BatchRenormalization(2, rmax=3, dmax=5)
        >>> brn(np.array([[1, 10], [3, 30]], np.float32)).shape
        (2, 2)
        >>> brn.avg_mean.shape, brn.avg_var.shape
        ((2,), (2,))

    """

    def __init__(
        self,
        size: int | Sequence[int],
        rmax: float = 1,
        dmax: float = 0,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeSpec = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        initial_avg_mean: InitializerSpec | None = None,
        initial_avg_var: InitializerSpec | None = None,
    ) -> None:
        super().__init__(
            size,
            decay,
            eps,
            dtype,
            use_gamma,
            use_beta,
            initial_gamma,
            initial_beta,
            None,
            initial_avg_mean,
            initial_avg_var,
        )
        self.rmax = rmax
        self.dmax = dmax
        # Chainer 7 has these two without using them.
        self.r: Any = None
        self.d: Any = None

    def forward(  # type: ignore[override]  # has no fixed place for gamma and beta
        self, x: VariableLike, finetune: bool = False
    ) -> Variable:
        """Normalizes a batch; see :class:`~chainer.links.BatchNormalization`.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch. In evaluation
                (``chainer.config.train`` is ``False``), the running statistics
                normalize it.
            finetune (bool): If ``True``, the running statistics become the mean
                over the batches since the last call of
                :meth:`start_finetuning`.

        Returns:
            ~chainer.Variable: Normalized batch of the shape of ``x``.

        """
        gamma, beta = self._prepare(x)
        if not configuration.config.train:
            return functions.fixed_batch_normalization(
                x, gamma, beta, self.avg_mean, self.avg_var, self.eps
            )
        recomputing = configuration.config.in_recomputing
        statistics = self.avg_mean, self.avg_var
        # The update changes the statistics, which the output depends on.
        before = forget.remember(lambda: tuple([a.copy() for a in statistics]))
        mean, var = before if recomputing else statistics
        limits = self.rmax, self.dmax, self.eps
        running = mean, var, self._advance(finetune)
        return functions.batch_renormalization(
            x, gamma, beta, *limits, *running, update_statistics=not recomputing
        )
