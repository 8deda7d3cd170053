#!/usr/bin/env python3
"""Makes two hosts of this machine and runs a command on the first: ``left``, beside ``right``.

.. code-block:: bash

    python tools/two_hosts.py python -m chainermn.run -n 2 --hosts left,right train.py
    python tools/two_hosts.py --rate 1gbit python -m chainermn.run -n 2 --hosts left,right train.py

Each host is a network namespace with a name of its own; a pair of virtual network devices, ``eth0``
on each, connects them. ``mpiexec`` of MPICH reaches ``right`` by its launcher for ssh, in whose
place this file stands. The namespaces have no names on the machine, so any number of pairs can be
there at a time. They, the command and all that it starts end with this process, whatever ends it.
Signals reach the command. Needs Linux, root, and the programs of iproute2 and util-linux.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HOSTS = {'left': '10.0.0.1', 'right': '10.0.0.2'}
_PROCESSES = 'TWO_HOSTS'  # the variable that tells which process holds the namespaces of each host
_VARIABLES = {
    'HYDRA_LAUNCHER': 'ssh',
    'HYDRA_LAUNCHER_EXEC': os.path.abspath(__file__),
    # MPI libraries take the network, although the memory of both hosts is the same.
    'UCX_TLS': 'tcp,self',
    'UCX_NET_DEVICES': 'eth0',
    'FI_PROVIDER': 'tcp',
    'FI_TCP_IFACE': 'eth0',
    'GLOO_SOCKET_IFNAME': 'eth0',
}
_SUPERVISOR = Path(__file__).resolve().parents[1] / 'chainermn' / '_supervisor.py'
_SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
# cat ends with this process, which holds the other end of the pipe that it reads.
_HOLDER = 'mount --bind "$1" /etc/hosts && hostname "$2" && echo ready && exec cat'


class Unavailable(RuntimeError):
    """There cannot be two hosts here; the message says why."""


def _enter(pid: int | str, *command: str) -> list[str]:
    """Command that runs another one on a host."""
    return ['nsenter', '-t', str(pid), '--net', '--uts', '--mount', *command]


def _do(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise Unavailable(f'{" ".join(command)}: {result.stderr.strip()}')


def _start_host(name: str, hosts_file: str) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        ['unshare', '--net', '--uts', '--mount', 'sh', '-c', _HOLDER, 'sh', hosts_file, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is not for it
    )
    assert holder.stdout is not None
    if holder.stdout.readline() != 'ready\n':
        raise Unavailable(f'no namespaces: {holder.communicate()[1].strip()}')
    return holder


@contextlib.contextmanager
def two_hosts(rate: str | None = None) -> Iterator[dict[str, int]]:
    """Context in which two hosts are there.

    Args:
        rate: Bits per second of the connection in each direction, as ``tc`` takes it.

    Yields:
        The process that holds the namespaces of each host.

    Raises:
        Unavailable: If that is not possible here.

    """
    missing = [
        name
        for name in ('unshare', 'nsenter', 'setpriv', 'mount', 'hostname', 'ip', 'tc')
        if not shutil.which(name)
    ]
    if missing:
        raise Unavailable(f'needs {", ".join(missing)}')
    with contextlib.ExitStack() as stack:
        with tempfile.NamedTemporaryFile('w') as file:  # a mounted file need not have a name
            lines = [f'{address} {name}\n' for name, address in HOSTS.items()]
            file.writelines(['127.0.0.1 localhost\n', *lines])
            file.flush()
            pids = {}
            for name in HOSTS:
                holder = stack.enter_context(_start_host(name, file.name))
                stack.callback(holder.kill)
                pids[name] = holder.pid
        left, right = map(str, pids.values())
        _do(
            ['ip', 'link', 'add', 'eth0', 'netns', left, 'type', 'veth']
            + ['peer', 'name', 'eth0', 'netns', right]
        )
        for name, address in HOSTS.items():
            setup = [['ip', 'link', 'set', 'lo', 'up'], ['ip', 'link', 'set', 'eth0', 'up']]
            setup.append(['ip', 'address', 'add', f'{address}/24', 'dev', 'eth0'])
            if rate is not None:
                limits = ['rate', rate, 'burst', '256kb', 'latency', '20ms']
                setup.append(['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', *limits])
            for command in setup:
                _do(_enter(pids[name], *command))
        yield pids


def run(command: list[str], rate: str | None = None) -> int:
    """Runs a command on the first host, in the working folder of this process.

    Args:
        command: Command and its arguments.
        rate: See :func:`two_hosts`.

    Returns:
        Its exit status, 128 more than the number of a signal that ended it.

    """
    process: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: object) -> None:
        if process is None:
            sys.exit(128 + number)
        process.send_signal(number)

    for number in _SIGNALS:
        signal.signal(number, forward)
    with two_hosts(rate) as pids:
        text = ','.join(f'{name}={pid}' for name, pid in pids.items())
        # Entering a namespace of mounts changes the working folder.
        there = ['sh', '-c', 'cd "$0" && exec "$@"', os.getcwd(), *command]
        supervisor = ['setpriv', '--pdeathsig', 'TERM', sys.executable, '-IS', str(_SUPERVISOR)]
        process = subprocess.Popen(
            _enter(pids['left'], *supervisor, *there),
            env={**os.environ, **_VARIABLES, _PROCESSES: text},
            start_new_session=True,  # Ctrl-C reaches it once
        )
        status = process.wait()
    return status if status >= 0 else 128 - status


def launch(arguments: list[str]) -> None:
    """Stands in for ssh: runs a command line on the host that is the first word of it."""
    while arguments[0].startswith('-'):
        arguments = arguments[1:]
    host, *words = arguments
    pids = dict(pair.split('=') for pair in os.environ[_PROCESSES].split(','))
    if host not in pids:
        sys.exit(f'there is no host {host}, only {", ".join(pids)}')
    command = _enter(pids[host], 'sh', '-c', ' '.join(words))
    os.execvp(command[0], command)


def main() -> int:
    """Runs the command that the arguments give; returns its exit status."""
    if _PROCESSES in os.environ:
        launch(sys.argv[1:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--rate', help='speed of the connection, such as 1gbit')
    parser.add_argument('command', nargs=argparse.REMAINDER, help='command to run on left')
    options = parser.parse_args()
    try:
        return run(options.command or ['true'], options.rate)
    except Unavailable as error:
        print(f'no two hosts here: {error}', file=sys.stderr)
        return 77


if __name__ == '__main__':
    sys.exit(main())
