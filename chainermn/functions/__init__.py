"""Differentiable communication: backward sends gradients the other way."""

from chainermn.functions.collective_communication import (
    allgather as allgather,
    alltoall as alltoall,
    bcast as bcast,
    gather as gather,
    scatter as scatter,
)
from chainermn.functions.point_to_point_communication import recv as recv, send as send
from chainermn.functions.pseudo_connect import pseudo_connect as pseudo_connect
