"""Starts a script in several processes, of one host or many.

.. code-block:: bash

    python -m chainermn.run -n 4 train.py --epoch 3
    python -m chainermn.run -n 8 --hosts left,right train.py
    python -m chainermn.run -n 4 --restarts 10 --min-n 2 train.py
    python -m chainermn.run -n 4 --transport tcp train.py
    python -m chainermn.run -n 4 --transport tcp --hosts left,right --on-loss shrink train.py

Each line that a process prints begins with its rank. A process that fails ends all of them, and its
rank and host are printed. The launcher passes ``SIGTERM`` and ``SIGINT`` on to all processes, and
``SIGHUP`` as ``SIGTERM``; after ``--grace`` seconds, or at a second signal, it kills them. It also
passes ``SIGUSR1`` and ``SIGUSR2`` on. However the launcher ends, even by ``SIGKILL``, it leaves no
processes, worker processes or shared memory behind. A host that does not answer for
``--link-timeout`` seconds is lost: the job ends on both sides.

With ``--restarts`` the launcher restarts the processes after a failure, so a script that loads its
latest checkpoint, see :func:`chainermn.create_multi_node_checkpointer`, continues; with ``--min-n``
each time with one process fewer. The variable ``CHAINERMN_RESTART`` counts the restarts.

``--transport tcp`` connects the processes without MPI, so neither mpi4py nor an MPI library is
needed; programs that import mpi4py themselves keep to MPI. On other hosts, ``ssh`` starts them.

If nobody can go on, see :doc:`the guide </guides/chainermn>`, the job ends, and the last calls of
each rank are written to ``chainermn_calls.<rank>.txt`` in the folder ``--record``.

If the script gets no number of threads by ``OMP_NUM_THREADS``, the processes of a host share its
cores.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from chainermn import _checks, _hosts, _job, _losses, _supervisor

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS: dict[str, dict[str, Any]] = {
    '-n': {'type': int, 'default': 1, 'help': 'number of processes'},
    '--transport': {
        'choices': ('mpi', 'tcp'),
        'default': 'mpi',
        'help': 'what connects the processes: MPI, or TCP, which needs no MPI library (mpi)',
    },
    '--hosts': {'default': '', 'help': 'names of hosts, such as a,b'},
    '--ssh': {
        'default': 'ssh',
        'metavar': 'COMMAND',
        'help': 'what runs a command line on another host for --transport tcp (ssh)',
    },
    '--restarts': {'type': int, 'default': 0, 'help': 'how often to restart after a failure'},
    '--min-n': {
        'type': int,
        'help': 'restart with one process fewer each time, down to this number',
    },
    '--on-loss': {
        'choices': ('end', 'shrink', 'replace'),
        'default': 'end',
        'help': 'what happens if a rank over TCP is lost: the job ends; the others go on, down to '
        '--min-n; or another process takes its place, up to --restarts times (end)',
    },
    '--rejoin-after': {
        'type': float,
        'metavar': 'SECONDS',
        'help': 'with --on-loss shrink, another process joins so many seconds after a loss, up to '
        '--restarts times',
    },
    '--grace': {
        'type': float,
        'default': 5,
        'help': 'seconds that processes have to end after a signal or a failure (5)',
    },
    '--link-timeout': {
        'type': float,
        'default': 5,
        'help': 'seconds without an answer after which a host is lost (5)',
    },
    '--record': {
        'metavar': 'FOLDER',
        'default': '.',
        'help': 'where the last calls of each rank are written if nobody can go on (.)',
    },
}


def find_mpiexec() -> str:
    """Returns the path of the launcher that belongs to this Python, or else of any.

    Raises:
        FileNotFoundError: If there is none.

    """
    path = shutil.which('mpiexec', path=os.path.dirname(sys.executable)) or shutil.which('mpiexec')
    if path is None:
        raise FileNotFoundError(
            "mpiexec was not found: pip install 'chainer[mpi]' mpich, or install another MPI"
        )
    return path


def make_command(
    mpiexec: str, version: str, n: int, hosts: list[str], program: list[str]
) -> list[str]:
    """Returns the command that starts the processes.

    Args:
        mpiexec (str): Path of the launcher.
        version (str): What it prints about itself.
        n (int): Number of processes.
        hosts (list of str): Names of the hosts, among which the processes are divided.
        program (list of str): Script and its arguments.

    .. admonition:: Example

        >>> from chainermn import run
        >>> run.make_command('mpiexec', 'HYDRA', 4, ['a', 'b'], ['train.py'])[:7]
        ['mpiexec', '-l', '-hosts', 'a,b', '-ppn', '2', '-n']

    """
    per_host = -(-n // max(len(hosts), 1))
    if 'Open MPI' in version or 'OpenRTE' in version or 'PRTE' in version:
        command = [mpiexec, '--tag-output', '--oversubscribe']
        if hasattr(os, 'geteuid') and os.geteuid() == 0:
            command.append('--allow-run-as-root')
        if hosts:
            command += ['--host', ','.join([f'{host}:{per_host}' for host in hosts])]
            names = 'CHAINERMN_RESTART', _supervisor.VARIABLE
            command += [word for name in names for word in ('-x', name)]
    else:
        command = [mpiexec, '-l']
        if hosts:
            command += ['-hosts', ','.join(hosts), '-ppn', str(per_host)]
    return [*command, '-n', str(n), *_rank_command(program)]


def _rank_command(program: list[str]) -> list[str]:
    guard = sys.executable, '-IS', _supervisor.__file__
    return [*guard, sys.executable, '-m', 'chainermn._program', *program]


def main(arguments: list[str] | None = None) -> int:
    """Starts the processes, as the command line says.

    Args:
        arguments (list of str): Arguments; those of the command line by default.

    Returns:
        int: Exit status: 0 if all processes ended well.

    """
    args = _parse(arguments)
    hosts = [host for host in args.hosts.split(',') if host]
    version = ''
    if args.mpiexec is not None:
        words = [args.mpiexec, '--version']
        version = subprocess.run(words, capture_output=True, text=True).stdout
    n = args.n
    reader = _supervisor.SignalReader((*_supervisor.FORWARDED, signal.SIGCHLD))
    with contextlib.closing(reader) as signals:
        for restart in range(args.restarts + 1):
            if args.mpiexec is None:
                places = _hosts.Hosts(hosts, n, args.ssh, _rank_command(args.program))
                limits = args.min_n or 1, args.restarts, args.rejoin_after
                plan = _losses.Plan(n, args.on_loss, *limits, places)
                starts = places.starts(range(n))
            else:
                command = make_command(args.mpiexec, version, n, hosts, args.program)
                plan, starts = None, {(): _hosts.Start(command)}
            options = hosts, args.grace, args.link_timeout, signals, args.record
            environment = _environment(n, hosts, restart, args.on_loss)
            job = _job.Job(starts, environment, *options, plan)
            status = job.run()
            is_last = restart == args.restarts or args.on_loss != 'end'
            if status == 0 or job.signal is not None or is_last:
                break
            if args.min_n is not None:
                n = max(n - 1, args.min_n)
            _report_restart(status, restart + 1, args.restarts, n)
    return status


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='python -m chainermn.run',
        description='Starts a script in several processes, of one host or many.',
    )
    for name, options in _OPTIONS.items():
        parser.add_argument(name, **options)
    parser.add_argument('program', nargs=argparse.REMAINDER, help='script and its arguments')
    args = parser.parse_args(arguments)
    try:
        _check(args)
        args.mpiexec = None if args.transport == 'tcp' else find_mpiexec()
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    return args


def _check(args: argparse.Namespace) -> None:
    if args.n < 1 or not 1 <= (args.min_n or 1) <= args.n or args.restarts < 0:
        raise ValueError(
            '-n and --min-n must be at least 1, --min-n at most -n, --restarts at least 0'
        )
    if not (args.grace >= 0 and args.link_timeout >= 1):
        raise ValueError('--grace must be at least 0, --link-timeout at least 1')
    if args.on_loss != 'end' and args.transport != 'tcp':
        raise ValueError('--on-loss shrink and replace need --transport tcp')
    if args.rejoin_after is not None:
        if not (args.rejoin_after >= 0 and args.restarts and args.on_loss == 'shrink'):
            raise ValueError(
                '--rejoin-after must be at least 0, and needs --on-loss shrink and --restarts'
            )
    if not args.program:
        raise ValueError('the script is missing')
    if not os.path.isfile(args.program[0]):
        raise FileNotFoundError(f'there is no file {args.program[0]}')
    _checks.timeout()  # raises an error if it is none


def _environment(n: int, hosts: Sequence[str], restart: int, on_loss: str) -> dict[str, str]:
    # A process gets its share of the cores, unless the user has chosen.
    n_threads = max(1, (os.cpu_count() or 1) * max(len(hosts), 1) // n)
    return {
        'OMP_NUM_THREADS': str(n_threads),
        **os.environ,
        'CHAINERMN_RESTART': str(restart),
        _losses.VARIABLE: on_loss,
    }


def _report_restart(status: int, restart: int, n_restarts: int, n: int) -> None:
    print(
        f'chainermn.run: exit status {status}, restart {restart} of {n_restarts} '
        f'with {n} processes',
        file=sys.stderr,
        flush=True,
    )


if __name__ == '__main__':
    sys.exit(main())
