from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import configuration, functions, initializers, link
from chainer._core.names import hints
from chainer._core.settings.dtype import get_dtype
from chainer.backend import using_device
from chainer.links.normalization import _parameters
from chainer.utils import _old_arguments, argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chainer.types import AnyArray, DTypeSpec, InitializerSpec, VariableLike
    from chainer.variable import Parameter, Variable


@hints.explain_arguments
class BatchNormalization(link.Link):
    r"""Batch normalization layer.

    In training, it normalizes with the mean and variance of the batch and updates
    their running averages. In evaluation (``chainer.config.train`` is
    ``False``), it normalizes with the running averages:

    .. math::

        y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

    To replace the running averages with those of the whole training set after
    training, call :meth:`start_finetuning` and then forward with
    ``finetune=True`` for each batch. See S. Ioffe and C. Szegedy, `Batch
    Normalization <https://arxiv.org/abs/1502.03167>`_.

    Args:
        size (int or tuple of ints): Shape of the parameters, the sizes of the
            axes that are not aggregated. If ``None``, it is inferred from the
            first input, and ``axis`` is required.
        decay (float): Decay rate of the running averages.
        eps (float): Small value for numerical stability.
        dtype: Data type of the parameters and averages. If ``None``,
            ``chainer.config.dtype``, with ``mixed16`` meaning float32.
        use_gamma (bool): If ``False``, there is no scale.
        use_beta (bool): If ``False``, there is no shift.
        initial_gamma (initializer): Initializer of the scale, one by default.
        initial_beta (initializer): Initializer of the shift, zero by default.
        axis (int or tuple of ints): Axes to aggregate. If ``None``, all but the
            second axis and, with a tuple ``size``, the following ones.
        initial_avg_mean (initializer): Initializer of the running mean, zero by
            default.
        initial_avg_var (initializer): Initializer of the running variance, one
            by default.

    Raises:
        RuntimeError: Neither ``size`` nor ``axis`` is given.

    Attributes:
        gamma (~chainer.Parameter): Scale, or ``None``.
        beta (~chainer.Parameter): Shift, or ``None``.
        avg_mean (:ref:`ndarray`): Running mean, a persistent value.
        avg_var (:ref:`ndarray`): Running variance, a persistent value.
        N (int): Number of batches of the fine-tuning, a persistent value.
        decay (float): Decay rate of the running averages.
        eps (float): Small value for numerical stability.

    .. seealso::
        :func:`chainer.functions.batch_normalization`,
        :func:`chainer.functions.fixed_batch_normalization`

    .. admonition:: Example

        >>> bn = L.BatchNormalization(2)
        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> bn(x).array.round(2)
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)
        >>> bn.avg_mean  # a tenth of the way from zero to the mean
        array([0.2, 2. ], dtype=float32)
        >>> with chainer.using_config('train', False):
        ...     y = bn(x)
        >>> bool(np.allclose(y.array, (x - bn.avg_mean) / np.sqrt(bn.avg_var + bn.eps), rtol=1e-4))
        True

    """

    gamma: Parameter | None = None
    beta: Parameter | None = None
    avg_mean: AnyArray = None
    avg_var: AnyArray = None

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeSpec = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerSpec | None = None,
        initial_beta: InitializerSpec | None = None,
        axis: int | Sequence[int] | None = None,
        initial_avg_mean: InitializerSpec | None = None,
        initial_avg_var: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        if size is None and axis is None:
            raise RuntimeError('size or axis is required')
        self._initial_avg_mean = initial_avg_mean
        self._initial_avg_var = initial_avg_var
        self._highprec_dtype = get_dtype(dtype, map_mixed16=numpy.float32)
        self.N = 0
        self.decay = decay
        self.eps = eps
        self.axis: Any = (axis,) if isinstance(axis, int) else axis
        self.register_persistent('N')
        for name in 'avg_mean', 'avg_var':
            self.add_persistent(name, None)
        with self.init_scope():
            if use_gamma:
                self.gamma = _parameters.make_parameter(
                    initial_gamma, 1, dtype=self._highprec_dtype
                )
            if use_beta:
                self.beta = _parameters.make_parameter(initial_beta, 0, dtype=self._highprec_dtype)
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, shape):
        self.avg_mean = self._make_array(self._initial_avg_mean, 0, shape)
        self.avg_var = self._make_array(self._initial_avg_var, 1, shape)
        self._initial_avg_mean = self._initial_avg_var = None
        for param in self.gamma, self.beta:
            # A loaded model has its parameters already.
            if param is not None and param.array is None:
                param.initialize(shape)

    def _make_array(self, initializer, default, shape):
        initializer = initializers.get_initializer(default if initializer is None else initializer)
        return initializers.generate_array(
            initializer, shape, self.xp, dtype=self._highprec_dtype, device=self.device
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        shape = None if self.avg_mean is None else tuple(self.avg_mean.shape)
        yield 'size', shape[0] if shape is not None and len(shape) == 1 else shape
        yield 'decay', self.decay
        yield 'eps', self.eps
        yield 'dtype', self._highprec_dtype
        yield 'use_gamma', self.gamma is not None
        yield 'use_beta', self.beta is not None

    def _prepare(self, x):
        """Returns gamma and beta; the input determines their shape."""
        if self.avg_mean is None:
            self._initialize_params(tuple([n for i, n in enumerate(x.shape) if i not in self.axis]))
        gamma, beta = self.gamma, self.beta
        if gamma is None or beta is None:
            with using_device(self.device):
                shape, dtype = self.avg_mean.shape, self._highprec_dtype
                if gamma is None:
                    gamma = self.xp.ones(shape, dtype=dtype)
                if beta is None:
                    beta = self.xp.zeros(shape, dtype=dtype)
        return gamma, beta

    def _advance(self, finetune):
        """Returns the decay rate of this batch and counts the batch in fine-tuning."""
        # A recomputed batch was counted when it was computed first.
        if not finetune:
            return self.decay
        if not configuration.config.in_recomputing:
            self.N += 1
        return 1.0 - 1.0 / self.N

    def forward(self, x: VariableLike, **kwargs: Any) -> Variable:
        """Normalizes a batch.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch.
            finetune (bool): If ``True``, the running averages become those of
                all batches since :meth:`start_finetuning`.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        (finetune,) = argument.parse_kwargs(kwargs, ('finetune', False), test=_old_arguments.TEST)
        gamma, beta = self._prepare(x)
        if not configuration.config.train:
            return functions.fixed_batch_normalization(
                x, gamma, beta, self.avg_mean, self.avg_var, self.eps, axis=self.axis
            )
        options = {'eps': self.eps, 'decay': self._advance(finetune), 'axis': self.axis}
        if not configuration.config.in_recomputing:
            options.update(running_mean=self.avg_mean, running_var=self.avg_var)
        return functions.batch_normalization(x, gamma, beta, **options)

    def start_finetuning(self) -> None:
        """Resets the batch count, so that averages restart with the next batch."""
        self.N = 0
