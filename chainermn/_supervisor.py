"""Runs a command and ensures that no process it starts outlives it or the launcher.

:mod:`chainermn.run` starts each rank as ``python -IS _supervisor.py COMMAND ...``, and
``tools/two_hosts.py`` its command. This file imports nothing else of the package, so it starts fast
and takes little memory. It runs two processes:

- ``mpiexec`` knows the *front* and may kill it at any time, even by ``SIGKILL``.
- The *guard*, in a session of its own, is the parent of the command. It ends the command when the
  front ends, when the connection to :mod:`chainermn.run` ends, or when the command does not end in
  time after a signal. Then it ends all that the command has started, and removes the shared memory
  and the incomplete files of killed processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

#: The variable that tells the guards where and how to connect: JSON of :class:`chainermn._job.Job`.
VARIABLE = 'CHAINERMN_LAUNCHER'
#: The variable that tells a rank which file descriptor is the pipe to its guard, and its identity.
BEATS = 'CHAINERMN_BEATS'
#: What the launcher sends in place of the number of a signal, to ask for a report.
ASK = 0
#: Signals that ask a job to end.
ENDING = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
#: Signals that are forwarded to the processes of a job.
FORWARDED = (*ENDING, signal.SIGUSR1, signal.SIGUSR2)
_GRACE = 5.0  # seconds between a signal and SIGKILL, unless the launcher says another number
_REST_GRACE = 1.0  # the same for what a command that has ended leaves
_SAME_SIGNAL = 1.0  # seconds; Ctrl-C comes from the launcher and from mpiexec
#: Variables with the number of a rank, by who starts it.
RANKS = 'CHAINERMN_RANK', 'PMI_RANK', 'PMIX_RANK', 'OMPI_COMM_WORLD_RANK'
_PROXIES = 'hydra_pmi_proxy', 'prted', 'orted'
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
# Folders of chainer._core.data.temporary_folder; those that hold one have it open.
_INCOMPLETE = re.compile(r'\..+\.[0-9a-f]{8}\.tmp', re.DOTALL)
_SHARED_MEMORY = '/dev/shm'
_PREFIXES = 'mpich_shm_', 'ucx_shm_posix_', 'chainermn-'


def _prctl(option: int, value: int) -> None:
    """Changes a setting of this process on Linux; does nothing on other systems."""
    if sys.platform == 'linux':
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of all descendants that lose theirs."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Has the system kill this process when its parent ends; called between fork and exec."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill(pid: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _status(pid: int | str) -> tuple[int, str]:
    """Parent and state of a process; ``(0, 'X')`` if there is none."""
    try:
        with open(f'/proc/{pid}/stat', errors='replace') as file:
            state, parent = file.read().rpartition(')')[2].split()[:2]
        return int(parent), state
    except (OSError, ValueError):
        return 0, 'X'


def _cpu_ticks(pid: int) -> int:
    """Time that a process has computed; 0 if that is not known."""
    try:
        with open(f'/proc/{pid}/stat', errors='replace') as file:
            return sum(map(int, file.read().rpartition(')')[2].split()[11:13]))
    except (OSError, ValueError):
        return 0


def _name(pid: int) -> str:
    """First 15 letters of the name of a process; '' if there is none."""
    try:
        with open(f'/proc/{pid}/comm', errors='replace') as file:
            return file.read().strip()
    except OSError:
        return ''


def _all_processes() -> list[int]:
    try:
        return [int(entry) for entry in os.listdir('/proc') if entry.isdigit()]
    except OSError:  # this system has no /proc
        return []


def descendants() -> list[int]:
    """Processes that this process has started, directly or not, and that have not ended."""
    children: dict[int, list[int]] = {}
    states = {}
    for pid in _all_processes():
        parent, states[pid] = _status(pid)
        children.setdefault(parent, []).append(pid)
    found = []
    pending = [os.getpid()]
    while pending:
        new = children.get(pending.pop(), [])
        found += new
        pending += new
    return [pid for pid in found if states[pid] not in 'ZX']


def reap(besides: int = 0) -> None:
    """Takes the exit statuses of adopted processes."""
    for pid in _all_processes():
        parent, state = _status(pid)
        if parent == os.getpid() and state == 'Z' and pid != besides:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def kill_descendants(besides: int = 0) -> None:
    """Kills all that this process has started, and takes the statuses of all but one of them."""
    limit = time.monotonic() + 5  # the system may hold a process for longer
    while (pids := descendants()) and time.monotonic() < limit:
        for pid in pids:
            kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        reap(besides)
    reap(besides)


# -- leftovers


def remove_shared_memory(since: float) -> None:
    """Removes the shared memory that killed processes have left.

    These are files with the names that MPICH, UCX and ChainerMN use. They belong to this user, have
    changed since the job began, and are neither open nor mapped in any process. Files of other jobs
    are mapped, so they stay.

    Args:
        since: When the job began, in seconds since the epoch.

    """
    files = {}
    with contextlib.suppress(OSError):
        for entry in os.scandir(_SHARED_MEMORY):
            if entry.name.startswith(_PREFIXES):
                with contextlib.suppress(FileNotFoundError):
                    stat = entry.stat(follow_symlinks=False)
                    if stat.st_uid == os.getuid() and stat.st_ctime >= since - 1:  # a coarse clock
                        files[stat.st_dev, stat.st_ino] = entry.path
    if not files:
        return
    # After the list was made: the maker of a file has it open until it is mapped.
    used = {identity for pid in _all_processes() for identity in _used_files(pid)}
    for identity in files.keys() - used:
        with contextlib.suppress(OSError):
            os.unlink(files[identity])


def _used_files(pid: int) -> Iterable[tuple[int, int]]:
    """Devices and numbers of the files that a process has open or mapped."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f'/proc/{pid}/fd'):
            with contextlib.suppress(OSError):
                stat = os.stat(f'/proc/{pid}/fd/{name}')
                yield stat.st_dev, stat.st_ino
    with contextlib.suppress(OSError), open(f'/proc/{pid}/maps', errors='replace') as file:
        for line in file:
            device, number = line.split(None, 5)[3:5]
            if number != '0':
                major, minor = (int(text, 16) for text in device.split(':'))
                yield os.makedev(major, minor), int(number)


def _incomplete_folders(pid: int) -> dict[str, bool]:
    """Folders in which a process makes files that are not yet complete, and whether it has each.

    Before it has one, it opens the folder around it, where other processes may have some, too: see
    ``chainer/_core/data/temporary_folder.py``.
    """
    found: dict[str, bool] = {}
    with contextlib.suppress(OSError):
        for number in os.listdir(f'/proc/{pid}/fd'):
            with contextlib.suppress(OSError):
                path = os.readlink(f'/proc/{pid}/fd/{number}')
                if _INCOMPLETE.fullmatch(os.path.basename(path)):
                    found[path] = True
                elif os.path.isdir(path):
                    for name in filter(_INCOMPLETE.fullmatch, os.listdir(path)):
                        found.setdefault(os.path.join(path, name), False)
    return found


def _remove_folder(path: str, is_own: bool) -> None:
    """Removes a folder of incomplete files, unless another process has locked it.

    Args:
        path: The folder.
        is_own: Whether a process had it that has ended.

    """
    import fcntl
    import shutil

    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if not is_own:  # an error where there are no locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(file)


# -- connection to the launcher


def limit_silence(connection: socket.socket, seconds: float) -> None:
    """Makes a connection fail if the other host does not answer for some time.

    The operating systems exchange the keep-alive messages, so busy or stopped processes do not
    matter.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    first = max(int(seconds // 2), 1)
    for name, value in (
        ('TCP_KEEPIDLE', first),
        ('TCP_KEEPINTVL', 1),
        ('TCP_KEEPCNT', max(round(seconds) - first, 1)),
        ('TCP_USER_TIMEOUT', int(seconds * 1000)),  # of data that are not acknowledged
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class _Launcher:
    """Connection of a guard to :class:`chainermn._job.Job`.

    Args:
        text: Value of the environment variable.

    """

    def __init__(self, text: str) -> None:
        self._settings = json.loads(text)
        self.grace: float = self._settings['grace']
        self.timeout = str(self._settings['timeout'])
        rank = next((os.environ[name] for name in RANKS if name in os.environ), '?')
        self._hello = {
            'token': self._settings['token'],
            'rank': rank,
            'host': socket.gethostname(),
        }
        self._buffer = b''

    def connect(self) -> socket.socket | None:
        """Connects, or warns that this is not possible."""
        errors = []
        for address in self._settings['addresses']:
            try:
                connection = socket.create_connection(
                    (address, self._settings['port']), self._settings['link_timeout']
                )
            except OSError as error:
                errors.append(f'{address}: {error}')
                continue
            limit_silence(connection, self._settings['link_timeout'])
            connection.setblocking(False)
            self.send(connection, **self._hello)
            return connection
        self._warn('; '.join(errors))
        return None

    def _warn(self, errors: str) -> None:
        print(
            f'chainermn.run: rank {self._hello["rank"]} on {self._hello["host"]} does not reach '
            f'the launcher, so it does not notice a cut link ({errors})',
            file=sys.stderr,
            flush=True,
        )

    @property
    def is_here(self) -> bool:
        """Tells whether the launcher is on this host."""
        return self._settings['host'] == self._hello['host']

    @staticmethod
    def send(connection: socket.socket, **values: object) -> None:
        """Sends a line. If the connection is broken, the next ``read`` raises."""
        with contextlib.suppress(OSError):
            connection.send(json.dumps(values).encode() + b'\n')

    def read(self, connection: socket.socket) -> list[int]:
        """Reads numbers of signals.

        Raises:
            EOFError: If the launcher has closed the connection.
            OSError: If the connection is broken.

        """
        try:
            data = connection.recv(4096)
        except BlockingIOError:
            return []
        if not data:
            raise EOFError
        *lines, self._buffer = (self._buffer + data).split(b'\n')
        return [int(line) for line in lines]


def interval(limit: float) -> float:
    """Seconds between two looks at a rank that may wait as long as ``limit``."""
    return min(max(limit / 20, 0.05), 1.0)


class _Beats:
    """Pipe by which the watchdog of a rank tells what the rank does, see :mod:`~._watchdog`."""

    def __init__(self) -> None:
        self._ends = os.pipe()
        for end in self._ends:
            os.set_blocking(end, False)
        os.set_inheritable(self._ends[1], True)
        os.environ[BEATS] = f'{self._ends[1]}:{os.fstat(self._ends[1]).st_ino}'

    def close_writer(self) -> None:
        """Leaves the writing end to the rank."""
        os.close(self._ends[1])
        del os.environ[BEATS]

    def close(self) -> None:
        """Makes the rank write no more: there is nobody to tell."""
        os.close(self._ends[0])

    def latest(self) -> dict[str, object] | None:
        """Returns the latest beat since the last call, if there is one."""
        data = b''
        with contextlib.suppress(OSError):
            while new := os.read(self._ends[0], 65536):
                data += new
        lines = data.splitlines()
        try:
            beat = json.loads(lines[-1]) if lines else None
        except (ValueError, RecursionError):  # something else of the rank has written
            return None
        return beat if isinstance(beat, dict) and len(lines[-1]) < 3600 else None


# -- the two processes


class SignalReader:
    """Signals as a file that a selector can wait for.

    Args:
        numbers: Signals to read.

    """

    def __init__(self, numbers: Collection[int]) -> None:
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self._previous = {
            number: signal.signal(number, lambda number, frame: None) for number in numbers
        }

    def fileno(self) -> int:
        return self._pipe[0]

    def read(self) -> list[int]:
        """Returns the numbers of the signals that have come."""
        try:
            return list(os.read(self._pipe[0], 4096))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Restores the previous handlers."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        for end in self._pipe:
            os.close(end)


class _Guard:
    """Runs the command and ends it.

    Args:
        command: Command and its arguments.
        front: File descriptor that is at its end when the front has ended.
        proxy: Process that started the front.

    """

    def __init__(self, command: list[str], front: int, proxy: int) -> None:
        self._start = time.time()
        self._front = front
        self._proxy = proxy
        self._folders: dict[str, bool] = {}
        self._signals: dict[int, float] = {}  # when they came
        self._limits: dict[str, float] = {}  # when to kill the command, and why
        self._is_stopped = False
        self._is_killed = False
        self._is_cut = False
        self._connection: socket.socket | None = None
        text = os.environ.pop(VARIABLE, None)
        self._launcher = None if text is None else _Launcher(text)
        if self._launcher is not None:  # not every mpiexec passes variables on to other hosts
            os.environ.setdefault('CHAINERMN_TIMEOUT', self._launcher.timeout)
        os.setsid()
        adopt_orphans()
        self._reader = SignalReader((*FORWARDED, signal.SIGCHLD))
        self._beats = _Beats()
        # The command needs file descriptors of mpiexec.
        self._process = subprocess.Popen(command, close_fds=False, preexec_fn=die_with_parent)
        self._beats.close_writer()

    def run(self) -> int:
        """Returns the exit status of the command, negative for a signal."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ, self._read_signals)
            selector.register(self._front, selectors.EVENT_READ, self._kill)
            self._connect(selector)
            while self._process.poll() is None:
                wait = min(self._limits.values()) - time.monotonic() if self._limits else None
                for key, _ in selector.select(wait):
                    key.data()
                self._check_limits()
                if self._is_killed:
                    break
        status = self._process.wait()
        # A command that the guard has killed did not fail by itself.
        self._send(status=0 if self._is_killed else status)
        self._clean_up()
        return status

    def _connect(self, selector: selectors.BaseSelector) -> None:
        if self._launcher is not None:
            self._connection = self._launcher.connect()
        if self._connection is not None:
            selector.register(self._connection, selectors.EVENT_READ, self._read_launcher)
            return
        self._beats.close()
        if self._launcher is not None and self._launcher.is_here:
            self._kill()  # it has ended

    def _check_limits(self) -> None:
        for reason, limit in tuple(self._limits.items()):
            if time.monotonic() >= limit:
                self._send(text=reason, status=-signal.SIGKILL)
                self._kill()

    def _send(self, **values: object) -> None:
        if self._launcher is not None and self._connection is not None:
            self._launcher.send(self._connection, **values)

    def _read_launcher(self) -> None:
        assert self._launcher is not None and self._connection is not None
        try:
            numbers = self._launcher.read(self._connection)
        except (EOFError, OSError) as error:
            self._is_cut = isinstance(error, OSError)
            self._kill()
        else:
            self._forward(numbers)

    def _read_signals(self) -> None:
        numbers = self._reader.read()
        if signal.SIGCHLD in numbers:
            reap(self._process.pid)
            self._watch_stop()
        self._forward([number for number in numbers if number != signal.SIGCHLD])

    def _watch_stop(self) -> None:
        """Reports that the command is stopped."""
        was_stopped, self._is_stopped = self._is_stopped, _status(self._process.pid)[1] == 'T'
        if self._is_stopped and not was_stopped:
            self._send(text='is stopped, so the others wait for it')

    def _report(self) -> None:
        pid = self._process.pid
        report = {'beat': self._beats.latest(), 'state': _status(pid)[1], 'cpu': _cpu_ticks(pid)}
        self._send(report=report)

    def _forward(self, numbers: Iterable[int]) -> None:
        now = time.monotonic()
        for number in numbers:
            if number == ASK:
                self._report()
            elif number not in ENDING:
                kill(self._process.pid, number)
            elif now - self._signals.get(number, -_SAME_SIGNAL) < _SAME_SIGNAL:
                continue
            elif self._signals:
                self._kill()
            else:
                self._signals[number] = now
                grace = _GRACE if self._launcher is None else self._launcher.grace
                self._limits['did not end in time, so it was killed'] = now + grace
                self._end([self._process.pid], number)

    def _kill(self) -> None:
        if not self._is_killed and self._process.poll() is None:
            self._is_killed = True
            self._end([self._process.pid], signal.SIGKILL)

    def _end(self, pids: Collection[int], number: int) -> None:
        """Sends processes a signal that may end them; first notes their incomplete files."""
        for pid in pids:
            kill(pid, signal.SIGSTOP)
        limit = time.monotonic() + 0.2
        while any([_status(pid)[1] in 'RSD' for pid in pids]) and time.monotonic() < limit:
            time.sleep(0.001)
        for pid in pids:
            for path, is_own in _incomplete_folders(pid).items():
                self._folders[path] = is_own or self._folders.get(path, False)
            kill(pid, number)
            kill(pid, signal.SIGCONT)

    def _clean_up(self) -> None:
        """Ends the processes, and removes the files, that the command has left behind."""
        limit = time.monotonic() + _REST_GRACE
        asked: set[int] = set()
        while (pids := descendants()) and time.monotonic() < limit:
            # SIGTERM first: multiprocessing's resource tracker then removes shared memory.
            self._end([pid for pid in pids if pid not in asked], signal.SIGTERM)
            asked.update(pids)
            time.sleep(0.01)
            reap()
        self._end(pids, signal.SIGKILL)
        kill_descendants()
        for folder, is_own in self._folders.items():
            _remove_folder(folder, is_own)
        remove_shared_memory(self._start)
        if self._is_cut and _name(self._proxy) in _PROXIES:
            kill(self._proxy, signal.SIGKILL)  # it would wait for its launcher forever


def _leave(status: int) -> NoReturn:
    """Ends this process with the exit status, or by the signal, of another one."""
    if status < 0 and -status not in (signal.SIGSTOP, signal.SIGCHLD):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status % 256)


def main(command: list[str]) -> NoReturn:
    """Runs a command and ends with its status."""
    proxy = os.getppid()
    front, held = os.pipe()
    status = 127
    if (pid := os.fork()) == 0:
        try:
            os.close(held)
            status = _Guard(command, front, proxy).run()
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
        finally:
            kill(os.getppid(), signal.SIGCONT)  # the front may be stopped
            _leave(status)
    for number in FORWARDED:
        signal.signal(number, lambda number, frame: kill(pid, number))
    _leave(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == '__main__':
    main(sys.argv[1:])
