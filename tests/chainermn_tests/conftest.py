"""What tests of several ranks get: a communicator, a folder that they share, and no hangs."""

import os
import shutil
import sys
import tempfile

import pytest
from helpers import mpi

import chainermn
from chainermn import _checks, _mpi, means
from chainermn._tcp import rendezvous


@pytest.fixture
def world():
    """The communicator of MPI."""
    if rendezvous.VARIABLE not in os.environ and mpi.reason_to_skip():
        pytest.skip(mpi.reason_to_skip())
    return _mpi.mpi().COMM_WORLD


@pytest.fixture
def comm(world):
    comm = chainermn.create_communicator('naive', world)
    yield comm
    comm.finalize()


@pytest.fixture
def make_channel(world):
    """Makes channels of means, for ranks on one host or not, or by hosts."""
    comms = []

    def make(is_one_host, hosts=None):
        comms.append(world.Dup())
        checker = _checks.Checker(world)
        comms.append(checker.mpi_comm)
        return means.Channel(comms[-2], checker, is_one_host, hosts)

    yield make
    world.Barrier()
    for comm in comms:
        comm.Free()


@pytest.fixture
def folder(world):
    """Folder that all ranks share."""
    path = world.bcast(tempfile.mkdtemp() if world.rank == 0 else None)
    yield path
    world.Barrier()
    if world.rank == 0:
        shutil.rmtree(path)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure on one rank ends all of them, which would wait for ever."""
    report = (yield).get_result()
    if report.failed and _has_started():
        world = _mpi.mpi().COMM_WORLD
        if world.size > 1:
            print(f'\nrank {world.rank}: {item.nodeid}\n{report.longreprtext}', file=sys.stderr)
            sys.stderr.flush()
            world.Abort(1)


def _has_started():
    return rendezvous.VARIABLE in os.environ or 'mpi4py.MPI' in sys.modules
