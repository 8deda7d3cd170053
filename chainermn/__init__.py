"""Training on several processes, of one host or many, by MPI and NCCL.

Each process runs the same program on its part of the data. A *communicator* connects them, and an
optimizer made by :func:`create_multi_node_optimizer` averages their gradients:

.. code-block:: python

    comm = chainermn.create_communicator('naive')
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    train = chainermn.scatter_dataset(train if comm.rank == 0 else None, comm, shuffle=True)

Run it by ``python -m chainermn.run -n 4 train.py`` or by ``mpiexec -n 4 python train.py``.
"""

from __future__ import annotations

from chainermn import (
    communicators as communicators,
    datasets as datasets,
    extensions as extensions,
    functions as functions,
    global_except_hook as global_except_hook,
    iterators as iterators,
    links as links,
    means as means,
    nccl as nccl,
    optimizers as optimizers,
    simulation as simulation,
)
from chainermn._elastic import run_elastic as run_elastic
from chainermn._tcp.engine import RankLostError as RankLostError
from chainermn.communicators import (
    CommunicatorBase as CommunicatorBase,
    create_communicator as create_communicator,
)
from chainermn.datasets import (
    DataSizeError as DataSizeError,
    scatter_dataset as scatter_dataset,
    scatter_index as scatter_index,
)
from chainermn.extensions import (
    create_multi_node_checkpointer as create_multi_node_checkpointer,
    create_multi_node_evaluator as create_multi_node_evaluator,
)
from chainermn.links import (
    MultiNodeChainList as MultiNodeChainList,
    gathered_parameters as gathered_parameters,
    shard_parameters as shard_parameters,
)
from chainermn.optimizers import create_multi_node_optimizer as create_multi_node_optimizer
from chainermn.simulation import simulate as simulate

global_except_hook._add_if_forced()
