from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer import functions, initializers, link, variable
from chainer.links.connection import _bias

if TYPE_CHECKING:
    from chainer.types import InitializerSpec, NdArray, VariableLike
    from chainer.variable import Parameter, Variable


class SimplifiedDropconnect(link.Link):
    """Fully-connected layer that drops random weights in training.

    Simplified means that the test phase applies the linear layer without
    the sampling of the original method. See L. Wan et al.,
    `Regularization of Neural Networks using DropConnect
    <https://proceedings.mlr.press/v28/wan13.html>`_.

    Args:
        in_size (int or None): Size of an input vector. If ``None``, it is
            inferred from the first input.
        out_size (int): Size of an output vector.
        ratio (float): Ratio of dropped weights.
        nobias (bool): If ``True``, there is no bias.
        initialW (initializer or :ref:`ndarray`): Initializer of the weight. The
            default is :class:`~chainer.initializers.HeNormal` with the scale
            ``1 / sqrt(2)``.
        initial_bias (initializer or :ref:`ndarray`): Initializer of the bias.
            The default is zero.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not floating point, or has not
            ``in_size`` elements for each sample.

    Attributes:
        W (~chainer.Parameter): Weight of the shape ``(out_size, in_size)``.
        b (~chainer.Parameter): Bias of the shape ``(out_size,)``, or ``None``.

    .. seealso:: :func:`chainer.functions.simplified_dropconnect`

    .. admonition:: Example

        >>> layer = L.SimplifiedDropconnect(3, 2, initialW=1)
        >>> x = np.array([[1, 2, 3]], np.float32)
        >>> mask = np.array([[True, True, False], [False, True, True]])
        >>> layer(x, mask=mask, use_batchwise_mask=False)  # weights that are kept double
        variable([[ 6., 10.]])
        >>> layer(x, train=False)
        variable([[6., 6.]])

    """

    b: Parameter | None

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        ratio: float = 0.5,
        nobias: bool = False,
        initialW: InitializerSpec | None = None,
        initial_bias: InitializerSpec | None = None,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.ratio = ratio
        initialW = initializers.HeNormal(1.0 / math.sqrt(2)) if initialW is None else initialW
        with self.init_scope():
            self.W = variable.Parameter(initializers.get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = _bias.make_bias(nobias, initial_bias, out_size)

    def _initialize_params(self, in_size):
        self.W.initialize((self.out_size, in_size))

    def forward(
        self,
        x: VariableLike,
        train: bool = True,
        mask: NdArray | None = None,
        use_batchwise_mask: bool = True,
    ) -> Variable:
        """Applies the layer.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.
            train (bool): If ``False``, drops no weights.
            mask (None or :ref:`ndarray`): Boolean array of the weights to keep,
                with the shape of the weight and, with ``use_batchwise_mask``, a
                leading batch axis. If ``None``, drawn randomly.
            use_batchwise_mask (bool): If ``True``, uses a separate mask for
                every sample.

        Returns:
            ~chainer.Variable: Output of the shape ``(batch size, out_size)``.

        """
        if self.W.array is None:
            self._initialize_params(x.size // len(x))
        if mask is not None and hasattr(mask, 'array'):
            mask = mask.array
        return functions.simplified_dropconnect(
            x, self.W, self.b, self.ratio, train, mask, use_batchwise_mask
        )
