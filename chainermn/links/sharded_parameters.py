"""Models whose parameters are divided between the processes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

from chainer import backend
from chainermn import _arrays
from chainermn._sharding import hook, parts, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer.link import Link
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

_L = TypeVar('_L', bound='Link')


def shard_parameters(link: _L, communicator: MpiCommunicatorBase, whole: bool = False) -> _L:
    """Divides the parameters of a link between the processes; collective.

    Each process then keeps an equal part of each parameter, an array of one axis, and gets the
    whole parameters from the others while the link is called, and in backward. The gradient of a
    part is the mean over the processes. All processes get the values of rank 0.

    All processes must call the same links in the same order. The parameters are whole only while
    their link is called: methods of the link other than ``forward`` need
    :func:`~chainermn.gathered_parameters`.

    :func:`~chainermn.create_multi_node_optimizer` with ``sharded='parameters'`` calls this function
    for the whole model. A model that is too large for a process is made link by link, each of
    which is divided before the next one is made.

    Args:
        link (chainer.Link): Link with initialized parameters on CPUs. Parts of parameters stay as
            they are.
        communicator (CommunicatorBase): Communicator.
        whole (bool): Whether to gather all parameters of the link when it is called. By default,
            each link inside gets those that it has itself. A link that uses the parameters of
            another one, or keeps a result for its next call, needs this.

    Returns:
        chainer.Link: The link.

    Raises:
        ValueError: If a parameter is not initialized, is on a GPU or has a memory layout.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = chainermn.shard_parameters(L.Linear(3, 2), comm)
        >>> model.W.shape, model(np.ones((1, 3), np.float32)).shape
        ((6,), (1, 2))

    See: Rajbhandari, Rasley, Ruwase and He, ZeRO: memory optimizations toward training trillion
    parameter models, SC 2020, of which this is the third stage.

    """
    named = sorted(link.namedparams())
    for name, param in named:
        _check(name, param)
    for _, param in named:
        if parts.part_of(param) is None:
            parts.divide(param, communicator)
    hook.add(link, whole)
    return link


def _check(name: str, param: Any) -> None:
    if param.array is None:
        raise ValueError(
            f'parameter {name} has no array yet, so it cannot be divided: give its link the size '
            'of the input, or call the link once before'
        )
    if param.layout is not None:
        raise ValueError(f'parameter {name} has the memory layout {param.layout}')
    device = backend.get_device_from_array(param.array).name
    if not device.startswith(('@numpy', 'native')):
        raise ValueError(f'parameter {name} is on {device}; only those on CPUs can be divided')


@contextlib.contextmanager
def gathered_parameters(link: Link) -> Iterator[None]:
    """Context in which the parameters of a link are whole in each process; collective.

    Use it to save and load models, to read parameters, and to call methods of links other than
    ``forward``. At the end, each process keeps its part of the parameters that it has then, and
    they have no gradients.

    Args:
        link (chainer.Link): Link, whose parameters :func:`~chainermn.shard_parameters` has divided.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = chainermn.shard_parameters(L.Linear(3, 2), comm)
        >>> with chainermn.gathered_parameters(model):
        ...     model.W.shape
        (2, 3)

    """
    named = [(name, param, parts.part_of(param)) for name, param in sorted(link.namedparams())]
    divided = [(name, param, part) for name, param, part in named if part is not None]
    if divided:
        step.stop(divided[0][2].comm)  # parameters may change
    for name, param, part in divided:
        array = _arrays.plain(param.array)
        whole = numpy.empty(part.shape, array.dtype)
        parts.gather(name, [(part, array)], [whole])
        parts.join(param, _arrays.like(whole, param.array))
    try:
        yield
    finally:
        for _, param, part in divided:
            parts.cut(param, part)
