"""Paths from the root of a tree to its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from chainer.types import DTypeSpec


@set_module('chainer.links.loss.hierarchical_softmax')
class TreeParser:
    """Numbers the inner nodes of a binary tree and finds the paths to its leaves.

    Inner nodes are pairs, leaves are integers.

    Args:
        dtype: Data type of the codes.

    .. admonition:: Example

        >>> from chainer.links.loss.hierarchical_softmax import TreeParser
        >>> parser = TreeParser(np.float32)
        >>> parser.parse(((0, 1), 2))
        >>> parser.size()
        2
        >>> parser.get_paths()[1], parser.get_codes()[1]  # left, then right
        (array([0, 1], dtype=int32), array([ 1., -1.], dtype=float32))

    """

    next_id: int
    paths: Any
    codes: Any

    def __init__(self, dtype: DTypeSpec) -> None:
        self.dtype = dtype
        self.next_id = 0
        self.paths = {}
        self.codes = {}

    def size(self) -> int:
        """Returns the number of inner nodes."""
        return self.next_id

    def get_paths(self) -> dict[int, numpy.ndarray]:
        """Returns the inner nodes on the path to each leaf, int32 arrays by leaf."""
        return self.paths

    def get_codes(self) -> dict[int, numpy.ndarray]:
        """Returns 1 for left and -1 for right on the path to each leaf, arrays by leaf."""
        return self.codes

    def parse(self, tree: Any) -> None:
        """Reads a tree.

        Args:
            tree: Tree of nested pairs with integers as its leaves.

        Raises:
            ValueError: An inner node does not have two children.

        """
        self.next_id = 0
        self.paths = {}
        self.codes = {}
        # A stack of its own: trees of rare words are deeper than Python's.
        stack: list[tuple[Any, tuple[int, ...], tuple[int, ...]]] = [(tree, (), ())]
        while stack:
            node, path, code = stack.pop()
            if not isinstance(node, tuple):
                self.paths[node] = numpy.array(path, numpy.int32)
                self.codes[node] = numpy.array(code, self.dtype)
                continue
            left, right = _children(node)
            path += (self.next_id,)
            self.next_id += 1
            stack.append((right, path, code + (-1,)))
            stack.append((left, path, code + (1,)))


def _children(node):
    if len(node) != 2:
        raise ValueError(
            f'All internal nodes must have two child nodes, but one has {len(node)}: {node!r}'
        )
    return node
