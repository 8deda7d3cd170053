"""Predictions of how long a step takes on any number of hosts, without them.

:func:`chainermn.simulate` predicts the step of a data-parallel training from three things: the
:class:`Step` of a single process, and the :class:`Connection` between the hosts and the memory of
each host, which make a :class:`Cluster`, with the :class:`Coding` of 8-bit messages. All of them
are plain numbers, measured by :func:`measure_step` and :func:`measure_cluster` or taken from a data
sheet; a simulation needs no MPI.
"""

from __future__ import annotations

from chainermn.simulation.algorithms import ALGORITHMS as ALGORITHMS
from chainermn.simulation.cluster import (
    Cluster as Cluster,
    Coding as Coding,
    Connection as Connection,
)
from chainermn.simulation.measure import (
    measure_cluster as measure_cluster,
    measure_connection as measure_connection,
    measure_step as measure_step,
)
from chainermn.simulation.simulator import Prediction as Prediction, simulate as simulate
from chainermn.simulation.step import Step as Step
