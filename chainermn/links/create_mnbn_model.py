"""Conversion of models to batch normalization over all processes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from chainer import links
from chainermn.functions.batch_normalization import MultiNodeBNImplSelector
from chainermn.links.batch_normalization import MultiNodeBatchNormalization

if TYPE_CHECKING:
    from chainer.link import Link
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


def create_mnbn_model(
    link: Link, comm: MpiCommunicatorBase, communication_backend: str = 'auto'
) -> Any:
    """Copies a model and replaces batch normalization by one over all processes.

    Args:
        link (chainer.Link): Model, which does not change.
        comm (CommunicatorBase): Communicator.
        communication_backend (str): How the statistics are sent, see
            :func:`~chainermn.functions.batch_normalization.get_communication_backend`.

    Returns:
        chainer.Link: Copy of the model.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3), F.relu)
        >>> type(chainermn.links.create_mnbn_model(model, comm)[1]).__name__
        'MultiNodeBatchNormalization'

    """
    selector = MultiNodeBNImplSelector(comm, communication_backend)
    memo: dict[int, Any] = {}
    # With the replacements in the memo, each reference to such a link is copied to its replacement.
    for child in link.links():
        if type(child) is links.BatchNormalization:
            new = MultiNodeBatchNormalization.__new__(MultiNodeBatchNormalization)
            memo[id(child)] = new
            vars(new).update(copy.deepcopy(vars(child), memo), comm=comm, _selector=selector)
    return copy.deepcopy(link, memo)
