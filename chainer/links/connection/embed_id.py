from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import functions, initializers, link, variable
from chainer._core.names import hints

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer.types import InitializerSpec, VariableLike
    from chainer.variable import Variable


@hints.explain_arguments
class EmbedID(link.Link):
    """A table of vectors, one for each ID, such as word embeddings.

    Args:
        in_size (int): Number of IDs.
        out_size (int): Size of a vector.
        initialW (initializer or :ref:`ndarray`): Initializer of the table: a
            callable, a number, or an array of the shape ``(in_size, out_size)``.
            The default is :class:`~chainer.initializers.Normal` with the scale
            one.
        ignore_label (int or None): ID to ignore, such as padding. Its vector is
            zero, and it may be outside the table.

    Raises:
        ~chainer.utils.type_check.InvalidType: The input of a call is not of integers.
        IndexError: An integer is not less than ``in_size``.

    Attributes:
        W (~chainer.Parameter): The table of the shape ``(in_size, out_size)``.

    .. seealso:: :func:`chainer.functions.embed_id`

    .. admonition:: Example

        >>> table = np.array([[0, 0], [1, 10], [2, 20]], np.float32)
        >>> embed = L.EmbedID(3, 2, initialW=table, ignore_label=-1)
        >>> embed(np.array([[1, 2], [2, -1]]))
        variable([[[ 1., 10.],
                   [ 2., 20.]],
        <BLANKLINE>
                  [[ 2., 20.],
                   [ 0.,  0.]]])

    """

    ignore_label: int | None = None

    def __init__(
        self,
        in_size: int,
        out_size: int,
        initialW: InitializerSpec | None = None,
        ignore_label: int | None = None,
    ) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        with self.init_scope():
            if initialW is None:
                initialW = initializers.Normal(1.0)
            self.W = variable.Parameter(initialW, (in_size, out_size))

    @classmethod
    def from_params(cls, W: VariableLike, ignore_label: int | None = None) -> Self:
        """Makes a link with a given table.

        Args:
            W (:ref:`ndarray` or ~chainer.Variable): The table.
            ignore_label (int or None): ID whose vector is zero.

        Returns:
            ~chainer.links.EmbedID: New link with copies of the arrays.

        """
        in_size, out_size = W.shape
        return cls(in_size, out_size, variable.as_array(W), ignore_label)

    def forward(self, x: VariableLike) -> Variable:
        """Looks vectors up.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Integer array of IDs, of any
                shape.

        Returns:
            ~chainer.Variable: Array of the shape of ``x`` and one more axis of
            ``out_size``.

        Raises:
            ValueError: An ID is outside the table. On the CPU, only debug mode
                (``chainer.config.debug``) checks this.

        """
        return functions.embed_id(x, self.W, ignore_label=self.ignore_label)
