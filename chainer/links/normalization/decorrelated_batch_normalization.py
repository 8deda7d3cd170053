from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, configuration, functions, link, serializer as serializer_module
from chainer._core.models import saving
from chainer.utils import argument

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.variable import Variable


def fix_avg_mean(avg_mean: NdArray, groups: int) -> NdArray:
    """Converts a running mean saved by Chainer v6, which all groups shared.

    Args:
        avg_mean (:ref:`ndarray`): Loaded array.
        groups (int): Number of groups.

    Returns:
        :ref:`ndarray`: Array of the shape ``(groups, C)``.

    Raises:
        ValueError: The number of axes is unknown.

    .. admonition:: Example

        >>> from chainer.links.normalization import decorrelated_batch_normalization as module
        >>> module.fix_avg_mean(np.array([1., 2.]), groups=1)
        array([[1., 2.]])

    """
    return _split_groups('avg_mean', avg_mean, 1, groups)


def fix_avg_projection(avg_projection: NdArray, groups: int) -> NdArray:
    """Converts a running projection saved by Chainer v6, which all groups shared.

    Args:
        avg_projection (:ref:`ndarray`): Loaded array.
        groups (int): Number of groups.

    Returns:
        :ref:`ndarray`: Array of the shape ``(groups, C, C)``.

    Raises:
        ValueError: The number of axes is unknown.

    .. admonition:: Example

        >>> from chainer.links.normalization import decorrelated_batch_normalization as module
        >>> module.fix_avg_projection(np.identity(3), groups=1).shape
        (1, 3, 3)

    """
    return _split_groups('avg_projection', avg_projection, 2, groups)


def _split_groups(name, array, ndim, groups):
    if array.ndim == ndim + 1:
        return array
    if array.ndim != ndim:
        raise ValueError(
            f'{name} of DecorrelatedBatchNormalization must have {ndim + 1} axes, but has the '
            f'shape {array.shape}'
        )
    if groups != 1:
        warnings.warn(
            f'{name} of DecorrelatedBatchNormalization was saved by Chainer v6, whose groups '
            'shared one set of statistics: they are copied to all groups.'
        )
    xp = backend.get_array_module(array)
    return xp.broadcast_to(array, (groups, *array.shape))


class DecorrelatedBatchNormalization(link.Link):
    """Decorrelated batch normalization layer: whitens the features of a batch.

    See L. Huang et al., `Decorrelated Batch Normalization
    <https://arxiv.org/abs/1804.08450>`_.

    Args:
        size (int): Number of features (channels).
        groups (int): Number of groups of features, each whitened separately.
        decay (float): Decay rate of the running averages.
        eps (float): Small value for numerical stability.
        dtype: Data type of the running averages, float32 by default.

    Raises:
        ValueError: ``size`` is not a multiple of ``groups``.

    Attributes:
        avg_mean (:ref:`ndarray`): Running mean of the shape
            ``(groups, size / groups)``, a persistent value.
        avg_projection (:ref:`ndarray`): Running whitening matrix of the shape
            ``(groups, size / groups, size / groups)``, a persistent value.
        N (int): Number of batches of the fine-tuning, a persistent value.

    .. seealso:: :func:`chainer.functions.decorrelated_batch_normalization`

    .. admonition:: Example

        >>> x = np.random.RandomState(0).rand(100, 2).astype(np.float32)
        >>> x[:, 1] += x[:, 0]  # two correlated features
        >>> y = L.DecorrelatedBatchNormalization(2, groups=1)(x).array
        >>> bool(np.allclose(np.cov(y.T, bias=True), np.identity(2), atol=1e-2))
        True

    """

    def __init__(
        self,
        size: int,
        groups: int = 16,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeSpec = numpy.float32,
    ) -> None:
        super().__init__()
        if size % groups != 0:
            raise ValueError(f'size must be a multiple of groups: {size} and {groups} were given')
        n = size // groups
        self.add_persistent('avg_mean', numpy.zeros((groups, n), dtype))
        self.add_persistent('avg_projection', numpy.tile(numpy.identity(n, dtype), (groups, 1, 1)))
        self.N: int
        self.add_persistent('N', 0)
        self.decay = decay
        self.eps = eps
        self.groups = groups

    def serialize(self, serializer: AbstractSerializer) -> None:
        if not isinstance(serializer, serializer_module.Deserializer):
            super().serialize(serializer)
            return
        saving.remember(serializer, self)
        self.N = serializer('N', self.N)
        for name, fix in (('avg_mean', fix_avg_mean), ('avg_projection', fix_avg_projection)):
            current = getattr(self, name)
            loaded = serializer(name, None)
            if loaded is None:  # not in the file, and not strict
                continue
            loaded = fix(loaded, self.groups)
            if loaded.shape != current.shape:
                raise ValueError(
                    f"shape mismatch for '{name}': the stored array has shape {loaded.shape}, "
                    f'but {current.shape} is expected'
                )
            setattr(self, name, self.device.send(loaded.astype(str(current.dtype))))

    def forward(self, x: VariableLike, **kwargs: Any) -> Variable:
        """Normalizes a batch.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of the shape
                ``(batch size, size, ...)``.
            finetune (bool): If ``True``, the running averages become those of
                all batches since :meth:`start_finetuning`.

        Returns:
            ~chainer.Variable: Array of the shape of ``x``.

        """
        (finetune,) = argument.parse_kwargs(kwargs, ('finetune', False))
        if not configuration.config.train:
            return functions.fixed_decorrelated_batch_normalization(
                x, self.avg_mean, self.avg_projection, groups=self.groups
            )
        avg_mean, avg_projection = self.avg_mean, self.avg_projection
        decay = self.decay
        if configuration.config.in_recomputing:
            avg_mean = avg_projection = None
        elif finetune:
            self.N += 1
            decay = 1.0 - 1.0 / self.N
        return functions.decorrelated_batch_normalization(
            x,
            groups=self.groups,
            eps=self.eps,
            running_mean=avg_mean,
            running_projection=avg_projection,
            decay=decay,
        )

    def start_finetuning(self) -> None:
        """Resets the batch count, so that averages restart with the next batch."""
        self.N = 0
