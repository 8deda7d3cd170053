from chainer import configuration, functions
from chainer.links.normalization import batch_normalization


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
        size,
        rmax=1,
        dmax=0,
        decay=0.9,
        eps=2e-5,
        dtype=None,
        use_gamma=True,
        use_beta=True,
        initial_gamma=None,
        initial_beta=None,
        initial_avg_mean=None,
        initial_avg_var=None,
    ):
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

    def forward(self, x, finetune=False):
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
        return functions.batch_renormalization(
            x,
            gamma,
            beta,
            self.rmax,
            self.dmax,
            self.eps,
            self.avg_mean,
            self.avg_var,
            self._advance(finetune),
            update_statistics=not configuration.config.in_recomputing,
        )
