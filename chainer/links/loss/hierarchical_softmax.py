from __future__ import annotations

import copy
import heapq
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import (
    backend,
    device_resident,
    initializers,
    link,
    utils,
    variable,
)
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.settings.dtype import get_dtype
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation, kernels
from chainer.functions.connection.embed_id import EmbedIDGrad
from chainer.links.loss._tree_parser import TreeParser as TreeParser
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class BinaryHierarchicalSoftmaxFunction(device_resident.DeviceResident, Operation):
    """Hierarchical softmax loss over a binary tree.

    Args:
        tree: Tree of nested pairs with labels as its leaves.
        dtype: Data type of the codes.

    .. admonition:: Example

        >>> from chainer.links.loss import hierarchical_softmax
        >>> func = hierarchical_softmax.BinaryHierarchicalSoftmaxFunction(((0, 1), 2), np.float32)
        >>> x, W = np.ones((1, 3), np.float32), np.zeros((2, 3), np.float32)
        >>> loss, = func.apply((x, np.array([1], np.int32), W))
        >>> round(float(loss.array), 3)  # two decisions: 2 log 2
        1.386

    """

    paths: Any
    codes: Any
    begins: Any

    _kernels = kernels(retain=(0, 1, 2))

    def __init__(self, tree: Any, dtype: DTypeSpec) -> None:
        device_resident.DeviceResident.__init__(self)
        parser = TreeParser(dtype)
        parser.parse(tree)
        paths, codes = parser.get_paths(), parser.get_codes()
        n_vocab = max(paths) + 1
        labels = [label for label in range(n_vocab) if label in paths]
        self.paths = numpy.concatenate([paths[label] for label in labels])
        self.codes = numpy.concatenate([codes[label] for label in labels])
        lengths = [len(paths.get(label, ())) for label in range(n_vocab)]
        self.begins = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int32)
        self.parser_size: int = parser.size()

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self.paths = visitor.visit_array(self.paths)
        self.codes = visitor.visit_array(self.codes)
        self.begins = visitor.visit_array(self.begins)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't', 'W'))
        x_type, t_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim == 2,
            t_type.dtype.kind == 'i',
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
            w_type.dtype == x_type.dtype,
            w_type.ndim == 2,
            w_type.shape[0] == self.parser_size,
            w_type.shape[1] == x_type.shape[1],
        )

    def _steps(self, t, dtype):
        """Returns the row, inner node and code of every step on the paths to the labels."""
        device = backend.get_device_from_array(t)
        xp = device.xp
        # CuPy has no views of bfloat16.
        paths, codes, begins = (
            device.send(backend.from_chx(a) if a.dtype.kind in 'if' else a)
            for a in (self.paths, self.codes, self.begins)
        )
        starts = begins[t]
        lengths = begins[t + 1] - starts
        ends = xp.cumsum(lengths)
        n_steps = int(ends[-1]) if len(t) else 0
        steps = xp.arange(n_steps)
        rows = xp.searchsorted(ends, steps, side='right')
        steps += (starts - (ends - lengths))[rows]
        return rows, paths[steps], codes[steps].astype(dtype, copy=False)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t, W = inputs
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(x)
        rows, nodes, codes = self._steps(t, x.dtype)
        scores = (W[nodes] * x[rows]).sum(axis=1) * codes
        loss = xp.logaddexp(x.dtype.type(0), -scores).sum(dtype=x.dtype)
        return (utils.force_array(loss, x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, t, W = inputs
        # The ways to the labels are found by NumPy.
        rows, nodes, codes = sent_like(x, self._steps(cuda.to_cpu(t), x.dtype))
        scores = (W[nodes] * x[rows]).sum(axis=1) * codes
        return (chainerx.softplus(-scores).sum(),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t, W = xs
        rows, nodes, codes = self._steps(as_array(t), x.dtype)
        x_steps, W_steps = x[rows], W[nodes]
        scores = m.sum(W_steps * x_steps, axis=1) * codes
        g = m.expand_dims(m.sigmoid(-scores) * (-codes * gys[0]), 1)

        def scatter(index, values, shape):
            return m.apply(EmbedIDGrad(index, shape, None), (values,))[0]

        rules = (
            lambda: scatter(rows, g * W_steps, x.shape),
            lambda: None,
            lambda: scatter(nodes, g * x_steps, W.shape),
        )
        return [rules[i]() for i in targets]

    def backward_cpu(
        self, inputs: tuple[NdArray, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[NdArray | None, ...]:
        """Returns the gradient arrays of ``x``, ``t`` (``None``) and ``W``."""
        m = arrays_like(inputs[0])
        gxs: Sequence[Any] = self.gradients(m, (0, 1, 2), inputs, (), grad_outputs)
        return tuple(gxs)

    backward_gpu = backward_cpu


class BinaryHierarchicalSoftmax(link.Link):
    r"""Hierarchical softmax loss layer over a binary tree of labels.

    The probability of a label is the probability of its path from the root of
    the tree, where :math:`v` is the code, 1 for left and -1 for right:

    .. math::

        L = -\log p(t \mid x) = \sum_{n \in path(t)} \log(1 + \exp(-v_n w_n^\top x))

    See F. Morin and Y. Bengio, Hierarchical Probabilistic Neural Network
    Language Model, AISTATS 2005.

    Args:
        in_size (int): Size of an input vector.
        tree: Tree of nested pairs with labels as its leaves, such as
            ``((1, 2), 3)``; see :meth:`create_huffman_tree`.
        dtype: Data type of the weight.

    Attributes:
        W (~chainer.Parameter): Weight of the shape
            ``(number of inner nodes, in_size)``.

    Raises:
        ValueError: An inner node does not have two children.

    .. admonition:: Example

        >>> tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4})
        >>> loss = L.BinaryHierarchicalSoftmax(3, tree)
        >>> loss.W.shape
        (3, 3)
        >>> loss(np.ones((2, 3), np.float32), np.array([0, 3], np.int32)).shape
        ()

    """

    def __init__(self, in_size: int, tree: Any, dtype: DTypeSpec = None) -> None:
        super().__init__()
        dtype = get_dtype(dtype, map_mixed16=numpy.float16)
        self._func = BinaryHierarchicalSoftmaxFunction(tree, dtype)
        with self.init_scope():
            self.W = variable.Parameter(
                initializers.Uniform(1, dtype=dtype), (self._func.parser_size, in_size)
            )

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        self._func.device_resident_accept(visitor)

    @staticmethod
    def create_huffman_tree(word_counts: dict[int, int]) -> Any:
        """Makes a tree with frequent labels near the root.

        Args:
            word_counts (dict): Counts by label.

        Returns:
            Tree of nested pairs with labels as its leaves.

        Raises:
            ValueError: ``word_counts`` is empty.

        .. admonition:: Example

            >>> import chainer.links as L
            >>> L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4})
            ((3, 1), (2, 0))

        """
        if not word_counts:
            raise ValueError('Empty vocabulary')
        # The order of insertion decides between equal counts.
        heap: list[tuple[int, int, Any]] = [
            (count, i, word) for i, (word, count) in enumerate(word_counts.items())
        ]
        heapq.heapify(heap)
        while len(heap) > 1:
            count1, i1, tree1 = heapq.heappop(heap)
            count2, i2, tree2 = heapq.heappop(heap)
            heapq.heappush(heap, (count1 + count2, min(i1, i2), (tree1, tree2)))
        return heap[0][2]

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """Computes the loss.

        Args:
            x (~chainer.Variable or :ref:`ndarray`): Batch of input vectors.
            t (~chainer.Variable or :ref:`ndarray`): Integer labels.

        Returns:
            ~chainer.Variable: Sum of the losses, a scalar.

        """
        (loss,) = copy.copy(self._func).apply((x, t, self.W))
        return loss
