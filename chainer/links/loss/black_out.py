from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import functions, link, variable
from chainer.utils import walker_alias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.types import VariableLike
    from chainer.variable import Variable


class BlackOut(link.Link):
    """BlackOut loss layer, an approximation of softmax for large vocabularies.

    See S. Ji et al., `BlackOut: Speeding up Recurrent Neural Network Language
    Models With Very Large Vocabularies <https://arxiv.org/abs/1511.06909>`_.

    Args:
        in_size (int): Size of an input vector.
        counts (list of numbers): Label counts, the relative
            frequencies of negative samples.
        sample_size (int): Number of negative samples.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call has no vectors of ``in_size``, or
            not one for each label.

    Attributes:
        W (~chainer.Parameter): Weight of the shape ``(labels, in_size)``, initially
            zeros.
        sample_data (:ref:`ndarray`): If not ``None``, the negative samples to
            use instead of random ones.

    .. seealso:: :func:`chainer.functions.black_out`

    .. admonition:: Example

        >>> loss = L.BlackOut(3, counts=[5, 2, 1], sample_size=2)
        >>> x = np.ones((4, 3), np.float32)
        >>> t = np.array([0, 1, 2, 0], np.int32)
        >>> round(float(loss(x, t).array), 3)  # log 3 + 2 log 1.5, with weights of zero
        1.91

    """

    sample_data = None

    def __init__(self, in_size: int, counts: Sequence[float], sample_size: int) -> None:
        super().__init__()
        self.sampler: walker_alias.WalkerAlias = walker_alias.WalkerAlias(
            numpy.array(counts, dtype=numpy.float32)
        )
        self.sample_size = sample_size
        with self.init_scope():
            self.W = variable.Parameter(0, (len(counts), in_size))

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.sampler.device_resident_accept(visitor)

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """Computes the loss.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.
            t (~chainer.Variable or :ref:`ndarray`): Integer labels.

        Returns:
            ~chainer.Variable: Mean loss, a scalar.

        """
        samples = self.sample_data
        if samples is None:
            samples = self.sampler.sample((x.shape[0], self.sample_size))
        return functions.black_out(x, t, self.W, samples)
