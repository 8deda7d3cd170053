"""Means of gradients over the ranks.

A :class:`Reducer` replaces the gradients of parameters by their means. It joins gradients in
*buckets* (:mod:`~chainermn.means.buckets`), adds them in a *dtype* (:mod:`~chainermn.means.dtypes`)
and sends each bucket by a *transport*:

================== ==============================================================
``SharedRows``     memory that the ranks of one host share
``Staging``        the same, for means of which each rank keeps its part
``Messages``       MPI, between the memory of hosts
``HostMessages``   the same, first between the ranks of each host
``OverHost``       from GPUs to the memory of hosts, and on as one of these
``OverPinnedHost`` the same by pinned memory
``CudaAware``      MPI, between GPUs
``Nccl``           NCCL, between GPUs
================== ==============================================================

The reducer uses one of the first four for gradients on the host; a communicator chooses
the transport for those on GPUs. A gradient passes four functions: ``Bucket.pack``, the transport's
generator, :func:`~chainermn.means.kernels.mean` and ``Bucket.unpack``.
"""

from __future__ import annotations

from chainermn.means.buckets import (
    ALONE as ALONE,
    Bucket as Bucket,
    group as group,
)
from chainermn.means.gpu import (
    CudaAware as CudaAware,
    OverHost as OverHost,
    OverPinnedHost as OverPinnedHost,
)
from chainermn.means.gradients import (
    initialized_params as initialized_params,
    params_with_grad as params_with_grad,
)
from chainermn.means.host_messages import HostMessages as HostMessages
from chainermn.means.messages import Messages as Messages
from chainermn.means.nccl import Nccl as Nccl
from chainermn.means.own_means import OwnMeans as OwnMeans
from chainermn.means.reducer import Reducer as Reducer
from chainermn.means.shared_rows import SharedRows as SharedRows
from chainermn.means.transport import (
    Channel as Channel,
    Pending as Pending,
    Transport as Transport,
)
