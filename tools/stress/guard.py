"""Child processes that may crash, hang or leave things behind without harm to those who watch.

Linux only: it reads ``/proc``.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARED_MEMORY = Path('/dev/shm')
_TOKEN = 'CHAINER_STRESS'  # in the environment of a child and of all that it starts
_GRACE = 10  # seconds in which whatever a dead process started has to end


class Finding(Exception):
    """Something that must not happen."""


class Child:
    """A Python process with a folder of its own, which collects what it prints and leaves.

    Args:
        arguments: Arguments of the interpreter.
        folder: Working folder, which also holds the output and temporary files.

    """

    def __init__(self, *arguments: str, folder: Path) -> None:
        self._folder = folder
        self._token = f'{os.environ.get(_TOKEN, "")}/{uuid.uuid4().hex}'
        self._temporary = folder / 'tmp'
        self._temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            _TOKEN: self._token,
            'CHAINER_DATASET_ROOT': str(folder / 'datasets'),
            'PYTHONHASHSEED': '0',
            # What is there comes first: the package of a sanitizer.
            'PYTHONPATH': os.pathsep.join(filter(None, [os.environ.get('PYTHONPATH'), str(ROOT)])),
            'TMPDIR': str(self._temporary),
        }
        # Files, not pipes: an orphan that keeps a pipe open would stop its reader.
        with open(folder / 'stdout', 'wb') as out, open(folder / 'stderr', 'wb') as err:
            self.process = subprocess.Popen(
                [sys.executable, '-X', 'faulthandler', *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        """What it has printed to the standard output."""
        return (self._folder / 'stdout').read_text(errors='replace')

    @property
    def errors(self) -> str:
        """What it has printed to the standard error."""
        return (self._folder / 'stderr').read_text(errors='replace')

    def wait(self, seconds: float) -> int:
        """Waits for the end of the process and of all that it started.

        Args:
            seconds: Time limit.

        Returns:
            Exit status, negative for a signal.

        Raises:
            Finding: If it hangs, or if it leaves processes or temporary files.

        """
        limit = time.monotonic() + seconds
        while (status := self.process.poll()) is None:
            if time.monotonic() > limit:
                self._kill_with_traceback()
                raise Finding(f'hangs, ended after {seconds:g} seconds\n{self.describe()}')
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
        deadline = time.monotonic() + _GRACE
        while (orphans := self.members()) and time.monotonic() < deadline:
            time.sleep(0.02)
        if orphans:
            commands = [describe_process(pid) for pid in orphans]
            self.kill()
            raise Finding(f'leaves processes: {commands}\n{self.describe()}')
        # A killed process can remove no files; the next user of the folder does.
        leftover = [] if status < 0 else sorted(path.name for path in self._temporary.iterdir())
        if leftover:
            raise Finding(f'leaves {leftover}\n{self.describe()}')
        return status

    def kill(self) -> None:
        """Kills the process and all that it started."""
        while members := self.members():
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.process.wait()

    def describe(self) -> str:
        """Describes how it went: the ends of what it printed."""
        texts = [
            '\n'.join((self._folder / name).read_text(errors='replace').splitlines()[-40:])
            for name in ('stdout', 'stderr')
        ]
        status = self.process.returncode
        return f'exit status {status}\n--- stdout\n{texts[0]}\n--- stderr\n{texts[1]}'

    def _kill_with_traceback(self) -> None:
        self.process.send_signal(signal.SIGABRT)  # prints where all threads are
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.kill()

    def members(self) -> list[int]:
        """Returns the process and all that it started, as far as they have not ended."""
        token = f'{_TOKEN}={self._token}'
        return [
            int(entry)
            for entry in os.listdir('/proc')
            if entry.isdigit() and token in _read(int(entry), 'environ')
        ]


def _read(pid: int, name: str) -> str:
    try:
        return Path(f'/proc/{pid}/{name}').read_text(errors='replace')
    except OSError:  # it has ended, or belongs to another user
        return ''


def shared_memory() -> set[str]:
    """Returns the names of the files in shared memory."""
    return {path.name for path in SHARED_MEMORY.iterdir()}


def new_shared_memory(before: set[str]) -> list[str]:
    """Returns the names of new files in shared memory that no process uses: others have some."""
    if not (new := shared_memory() - before):
        return []
    used = ''.join(map(_used_files, os.listdir('/proc')))
    return sorted([name for name in new if name not in used])


def _used_files(entry: str) -> str:
    texts = []
    with contextlib.suppress(OSError):
        texts.append(Path(f'/proc/{entry}/maps').read_text(errors='replace'))
        texts += [os.readlink(path) for path in Path(f'/proc/{entry}/fd').iterdir()]
    return ''.join(texts)


def describe_process(pid: int) -> str:
    """Returns the command line of a process."""
    return _read(pid, 'cmdline').replace('\0', ' ')


def slowness() -> float:
    """How much longer things take on this loaded machine, at most 4 times."""
    return min(4.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yields the path of a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix='chainer-stress-', ignore_cleanup_errors=True) as name:
        yield Path(name)


def limit_memory(more: int) -> None:
    """Lets this process allocate some bytes more than it has, and no others.

    A sanitizer needs terabytes of addresses, and limits allocations itself.

    Args:
        more: Number of bytes.

    """
    if 'CHAINER_SANITIZER' in os.environ:
        return
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def forbid_network() -> None:
    """Makes connections of this process fail."""

    def refuse(*args: Any, **kwds: Any) -> None:
        raise OSError('the stress has no network')

    socket.socket.connect = socket.getaddrinfo = refuse
