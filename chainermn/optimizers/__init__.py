"""Optimizers that average gradients over the processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.engines import plan_data
from chainermn.optimizers._double_buffering import DoubleBufferingOptimizer
from chainermn.optimizers._gradient_sharding import GradientShardingOptimizer
from chainermn.optimizers._local_steps import LocalStepsOptimizer
from chainermn.optimizers._multi_node import MultiNodeOptimizer
from chainermn.optimizers._parameter_sharding import ParameterShardingOptimizer
from chainermn.optimizers._sharded import ShardedOptimizer

if TYPE_CHECKING:
    from chainer.optimizer import Optimizer
    from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

plan_data.refused[MultiNodeOptimizer] = (
    'whose update sends messages, which no plan repeats: compile a function that sets the '
    'gradients (model.cleargrads(), loss.backward()), and call optimizer.update() after it'
)

#: Default of ``bucket_bytes``.
BUCKET_BYTES = 1024 * 1024

#: Optimizers by the value of ``sharded``.
_SHARDED: dict[bool | str, type[MultiNodeOptimizer]] = {
    True: ShardedOptimizer,
    'gradients': GradientShardingOptimizer,
    'parameters': ParameterShardingOptimizer,
}


def create_multi_node_optimizer(
    actual_optimizer: Optimizer,
    communicator: MpiCommunicatorBase,
    double_buffering: bool = False,
    zero_fill: bool = True,
    *,
    sharded: bool | str = False,
    bucket_bytes: int | None = BUCKET_BYTES,
    local_steps: int | None = None,
    average_states: bool = False,
) -> Any:
    """Makes an optimizer average gradients over all processes before it uses them.

    The result has the attributes and methods of ``actual_optimizer``. Its ``update`` is collective.

    The first call of ``update`` gives all processes the parameters of rank 0 and updates nothing,
    and so does the first one after more parameters are initialized. After all processes have
    loaded a snapshot of the same update, ``update`` goes on at once.

    Args:
        actual_optimizer (chainer.Optimizer): Optimizer.
        communicator (CommunicatorBase): Communicator.
        double_buffering (bool): Whether gradients are sent while the next ones are computed. Each
            update then uses the gradients of the update before, and the first one with gradients
            changes nothing.
        zero_fill (bool): Whether to replace missing gradients by zeros. Otherwise the same
            gradients must be missing in all processes. Has no effect with ``local_steps``.
        sharded (bool or str): Whether each process keeps the state of the optimizer for its part of
            the parameters only. That divides the memory of the state by the number of processes. A
            snapshot then holds the part of its process;
            :func:`~chainermn.create_multi_node_checkpointer` saves all parts for any number.
            ``'gradients'`` divides the gradients, too: backward sends each one to the processes
            that update parts of it, and the parameters have none after the update.
            ``'parameters'`` divides the parameters as well: ``setup`` calls
            :func:`~chainermn.shard_parameters`, and gives all processes the parameters of rank 0,
            so that the first ``update`` updates them.
        bucket_bytes (int): ``update`` with a loss function sends complete gradients in buckets of
            at least this many bytes, while backward computes the others. Small buckets start
            earlier, large ones need fewer messages; the default is 1 MiB.
            ``None`` sends all of them at the end. Has no effect on sharded parameters, nor with
            ``local_steps``.
        local_steps (int or None): If given, each process updates by its own gradients (local SGD),
            and after each ``local_steps`` updates all parameters are replaced by their means
            :math:`\\frac{1}{N} \\sum_{i=1}^{N} \\theta_i` over the :math:`N` processes, computed in
            at least float32 and sent in their own dtypes. Float32 copies of parameters of half
            precision are averaged in their place. Persistent values, such as the statistics of
            batch normalization, and hooks, which see the gradients of the process, stay local. For
            SGD, ``1`` equals the mean of gradients. The attribute ``local_steps`` of the result
            can be changed between updates, in all processes alike, and its method
            ``average_params()``, which is collective, averages at once, for example before the
            parameters are saved. Snapshots hold the number of updates, so that a resumed training
            averages after the same ones.
        average_states (bool): Whether states of the optimizer, such as the momentum, are averaged
            with the parameters. By default each process keeps its own, because this sends half as
            much for momentum and a third for Adam. Averaged ones make the processes equal after
            each mean.

    Returns:
        Optimizer that averages gradients, or parameters with ``local_steps``.

    Raises:
        ValueError: If two of ``sharded``, ``double_buffering`` and ``local_steps`` are given,
            ``sharded`` is another text, ``local_steps`` no positive integer, or ``average_states``
            given without it. With ``sharded``, ``update`` raises it for update rules that do not
            work on each element, and for :class:`~chainer.optimizer_hooks.GradientLARS` if
            gradients are divided.

    .. admonition:: Example

        >>> comm = chainermn.create_communicator('naive')
        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.25), comm)
        >>> optimizer = optimizer.setup(model)
        >>> optimizer.update(lambda: F.sum(model.W ** 2))  # gives all the same parameters
        >>> optimizer.update(lambda: F.sum(model.W ** 2))
        >>> model.W
        variable W([[0.5]])

        With divided gradients, each process keeps none of the others' parts:

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainermn.create_multi_node_optimizer(
        ...     chainer.optimizers.SGD(0.25), comm, sharded='gradients'
        ... ).setup(model)
        >>> for _ in range(2):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> print(model.W, model.W.grad)
        variable W([[0.5]]) None

        With local steps, processes send nothing in most updates:

        >>> model = L.Linear(1, 1, nobias=True, initialW=1)
        >>> optimizer = chainermn.create_multi_node_optimizer(
        ...     chainer.optimizers.SGD(0.25), comm, local_steps=8
        ... ).setup(model)
        >>> for _ in range(3):
        ...     optimizer.update(lambda: F.sum(model.W ** 2))
        >>> optimizer.average_params()
        >>> model.W
        variable W([[0.25]])

    See: Stich, Local SGD converges fast and communicates little, ICLR 2019; Lin, Stich, Patel and
    Jaggi, Don't use large mini-batches, use local SGD, ICLR 2020.

    See: Rajbhandari, Rasley, Ruwase and He, ZeRO: memory optimizations toward training trillion
    parameter models, SC 2020, of which ``sharded=True`` is the first
    stage, ``'gradients'`` the second and ``'parameters'`` the third.

    """
    if sharded and double_buffering:
        raise ValueError('sharded and double_buffering exclude each other')
    if sharded not in (False, *_SHARDED):
        raise ValueError(
            f"sharded must be True, False, 'gradients' or 'parameters', not {sharded!r}"
        )
    if local_steps is not None:
        if sharded or double_buffering:
            raise ValueError('local_steps excludes sharded and double_buffering')
        return LocalStepsOptimizer(actual_optimizer, communicator, local_steps, average_states)
    if average_states:
        raise ValueError('average_states needs local_steps')
    if sharded:
        return _SHARDED[sharded](actual_optimizer, communicator, zero_fill, bucket_bytes)
    if double_buffering:
        return DoubleBufferingOptimizer(actual_optimizer, communicator, zero_fill, None)
    return MultiNodeOptimizer(actual_optimizer, communicator, zero_fill, bucket_bytes)
