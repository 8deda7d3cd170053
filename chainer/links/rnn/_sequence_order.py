"""Sequences by descending length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike


@set_module('chainer.links.rnn.n_step_rnn')
def argsort_list_descent(lst: Sequence[VariableLike]) -> numpy.ndarray:
    """Returns the indices that sort a list of arrays by descending length.

    Arrays of equal lengths keep their order.

    Args:
        lst (list of arrays): Arrays to sort.

    Returns:
        numpy.ndarray: int32 indices.

    .. admonition:: Example

        >>> from chainer.links.rnn import n_step_rnn
        >>> [int(i) for i in n_step_rnn.argsort_list_descent([[1], [2, 3, 4], [5, 6]])]
        [1, 2, 0]

    """
    return numpy.argsort([-len(x) for x in lst], kind='stable').astype(numpy.int32)


@set_module('chainer.links.rnn.n_step_rnn')
def permutate_list(
    lst: Sequence[Any], indices: Sequence[int] | numpy.ndarray, inv: bool
) -> list[Any]:
    """Permutes a list by indices, or inverts the permutation.

    Args:
        lst (list): List to permute.
        indices (sequence of ints): Source indices of the elements of the result.
        inv (bool): If ``True``, inverts the permutation.

    Returns:
        list: Permuted list.

    .. admonition:: Example

        >>> from chainer.links.rnn import n_step_rnn
        >>> n_step_rnn.permutate_list(['a', 'b', 'c'], [2, 0, 1], inv=False)
        ['c', 'a', 'b']
        >>> n_step_rnn.permutate_list(['c', 'a', 'b'], [2, 0, 1], inv=True)
        ['a', 'b', 'c']

    """
    if not inv:
        return [lst[i] for i in indices]
    ret = [None] * len(lst)
    for value, i in zip(lst, indices):
        ret[i] = value
    return ret
