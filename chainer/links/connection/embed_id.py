from chainer import functions, initializers, link, variable


class EmbedID(link.Link):
    """A table of vectors, one for each ID, such as word embeddings.

    Args:
        in_size (int): Number of IDs.
        out_size (int): Size of a vector.
        initialW (initializer or :ref:`ndarray`): Initializer of the table, an
            array of the shape ``(in_size, out_size)``. The default is
            :class:`~chainer.initializers.Normal` with the scale one.
        ignore_label (int or None): ID whose vector is zero.

    Attributes:
        W (~chainer.Parameter): The table.

    .. seealso:: :func:`chainer.functions.embed_id`

    .. admonition:: Example

        >>> import chainer.links as L
        >>> import numpy as np
        >>> L.EmbedID(10, 3)(np.array([[1, 2], [0, 9]], 'i')).shape
        (2, 2, 3)

    """

    ignore_label = None

    def __init__(self, in_size, out_size, initialW=None, ignore_label=None):
        super().__init__()
        self.ignore_label = ignore_label
        with self.init_scope():
            if initialW is None:
                initialW = initializers.Normal(1.0)
            self.W = variable.Parameter(initialW, (in_size, out_size))

    @classmethod
    def from_params(cls, W, ignore_label=None):
        """Makes a link with a given table.

        Args:
            W (:ref:`ndarray` or ~chainer.Variable): The table.
            ignore_label (int or None): ID whose vector is zero.

        """
        in_size, out_size = W.shape
        return cls(in_size, out_size, variable.as_array(W), ignore_label)

    def forward(self, x):
        """Looks vectors up.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Integer array of IDs.

        Returns:
            ~chainer.Variable: Array of the shape of ``x`` and one more axis of
            ``out_size``.

        """
        return functions.embed_id(x, self.W, ignore_label=self.ignore_label)
