"""MPI by mpi4py, which is imported when the first communicator is made."""

from __future__ import annotations

from typing import Any


def mpi() -> Any:
    """Returns the module :mod:`mpi4py.MPI`, which starts MPI when it is imported first.

    Raises:
        ImportError: If mpi4py or an MPI library is missing.

    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # a RuntimeError if there is no MPI library
        raise ImportError(
            "chainermn needs mpi4py and an MPI library: pip install 'chainer[mpi]' mpich "
            f'({type(error).__name__}: {error})'
        ) from error
    return MPI
