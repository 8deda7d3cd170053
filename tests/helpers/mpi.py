"""MPI for tests: whether it is there, and programs on several ranks."""

import functools
import os
import shutil
import subprocess
import sys
import textwrap

from helpers.programs import _environment


@functools.cache
def reason_to_skip():
    """Why there is no MPI; None where there is one."""
    try:
        from mpi4py import MPI  # noqa: F401
    except (ImportError, RuntimeError) as error:
        return f'needs mpi4py and an MPI library, such as mpich from PyPI ({error})'
    return None


def mpiexec():
    """Path of the launcher that belongs to this Python, or None."""
    return shutil.which('mpiexec', path=os.path.dirname(sys.executable)) or shutil.which('mpiexec')


def start_ranks(n, *arguments, **variables):
    """Starts Python on several ranks, in a session of its own.

    Args:
        n (int): Number of ranks.
        *arguments: Arguments of the interpreter.
        **variables: Environment variables to set.

    Returns:
        subprocess.Popen: The process of the launcher.

    """
    variables = {
        **dict.fromkeys(('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'), '1'),
        **variables,
    }
    # What tests are run by is not what those of the ranks are run by.
    environment = {
        name: value
        for name, value in _environment(variables).items()
        if not name.startswith('PYTEST_')
    }
    return subprocess.Popen(
        [mpiexec(), '-n', str(n), sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=environment,
    )


def run_ranks(n, code, status=0, timeout=100, **variables):
    """Runs a program on several ranks to its end.

    Args:
        n (int): Number of ranks.
        code (str): The program, which may be indented.
        status (int): Exit status that it must have; ``None`` for any but 0.
        timeout (float): Seconds after which it hangs.
        **variables: Environment variables to set.

    Returns:
        str: What it printed.

    """
    process = start_ranks(n, '-c', textwrap.dedent(code), **variables)
    try:
        output = process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        raise AssertionError(f'hangs; it printed\n{process.communicate()[0]}') from None
    ok = process.returncode != 0 if status is None else process.returncode == status
    assert ok, f'exit status {process.returncode}\n{output}'
    return output
