from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import functions, initializers, link, variable
from chainer._core.settings.dtype import get_dtype
from chainer.utils import walker_alias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.types import DTypeSpec, VariableLike


class NegativeSampling(link.Link):
    """Negative sampling loss layer, for large numbers of labels.

    See T. Mikolov et al., `Distributed Representations of Words and Phrases and
    their Compositionality <https://arxiv.org/abs/1310.4546>`_.

    Args:
        in_size (int): Size of an input vector.
        counts (list of numbers): Label counts.
        sample_size (int): Number of negative samples.
        power (float): Exponent; sampling frequencies are proportional to ``counts ** power``.
        dtype: Data type of the weight.

    Raises:
        ~chainer.utils.type_check.InvalidType: The labels of a call are not integers, or not one for
            each vector.
        ValueError: The vectors are not of ``in_size``.

    Attributes:
        W (~chainer.Parameter): Weight of the shape ``(labels, in_size)``, initially
            zeros.

    .. seealso:: :func:`chainer.functions.negative_sampling`

    .. admonition:: Example

        >>> loss = L.NegativeSampling(3, counts=[5, 2, 1], sample_size=2)
        >>> x = np.ones((4, 3), np.float32)
        >>> t = np.array([0, 1, 2, 0], np.int32)
        >>> round(float(loss(x, t).array), 3)  # 4 * 3 log 2, with weights of zero
        8.318
        >>> loss(x, t, reduce='no').shape
        (4,)

    """

    def __init__(
        self,
        in_size: int,
        counts: Sequence[float],
        sample_size: int,
        power: float = 0.75,
        dtype: DTypeSpec = None,
    ) -> None:
        super().__init__()
        dtype = get_dtype(dtype, map_mixed16=numpy.float16)
        weights = numpy.array(counts, dtype=numpy.float32)
        weights **= weights.dtype.type(power)
        self.sampler: walker_alias.WalkerAlias = walker_alias.WalkerAlias(weights)
        self.sample_size = sample_size
        with self.init_scope():
            self.W = variable.Parameter(
                initializers.Constant(0, dtype=dtype), (len(counts), in_size)
            )

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.sampler.device_resident_accept(visitor)

    def forward(self, x: VariableLike, t: VariableLike, reduce: str = 'sum', **kwargs: Any) -> Any:
        """Computes the loss.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.
            t (~chainer.Variable or :ref:`ndarray`): Integer labels.
            reduce (str): ``'sum'``, or ``'no'`` for the loss of each input.
            return_samples (bool): If ``True``, also returns the samples.

        Returns:
            ~chainer.Variable or tuple: Loss, and with ``return_samples`` the
            array of the labels and samples.

        """
        return functions.negative_sampling(
            x, t, self.W, self.sampler.sample, self.sample_size, reduce=reduce, **kwargs
        )
