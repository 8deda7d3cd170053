"""Supervisors of commands, and jobs of them, without MPI: nothing outlives its launcher."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chainer._core.data import temporary_folder
from chainermn import _job, _supervisor

pytestmark = pytest.mark.skipif(sys.platform != 'linux', reason='orphans are adopted on Linux only')

SUPERVISOR = [sys.executable, '-IS', _supervisor.__file__]
SECONDS = 30  # in which anything happens on a machine that does much else
# Has a child in a session of its own, and tells both numbers.
PROGRAM = """
import os, signal, subprocess, sys, time
child = subprocess.Popen(['sleep', '1000'], start_new_session=True)
os.write(1, f'{os.getpid()} {child.pid} {os.environ.get("PMI_RANK", 0)}\\n'.encode())
"""
WAIT = PROGRAM + 'time.sleep(1000)\n'


def wait_for(condition):
    limit = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def is_there(pid):
    return _supervisor._status(pid)[1] not in 'XZ'


def start(code, *arguments, **variables):
    return subprocess.Popen(
        [*SUPERVISOR, sys.executable, '-ISc', code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )


def read_pids(process):
    return [int(text) for text in process.stdout.readline().split()]


def end(process):
    """Waits for a process and those that it told of; returns what it printed as errors."""
    errors = process.communicate(timeout=SECONDS)[1]
    return errors


@pytest.mark.parametrize(
    'code, status',
    [
        ('pass', 0),
        ('import sys; sys.exit(3)', 3),
        ('import os; os.kill(os.getpid(), 9)', -9),
        ('import os; os.kill(os.getpid(), 15)', -15),
    ],
)
def test_status(code, status):
    process = start(code)
    assert end(process) == '' and process.returncode == status


def test_missing_command():
    process = subprocess.run([*SUPERVISOR, '/no/such/command'], capture_output=True, text=True)
    assert process.returncode == 127 and '/no/such/command' in process.stderr


def test_file_descriptors_reach_the_command():
    read, write = os.pipe()
    code = f'import os; os.write({write}, b"reached")'
    subprocess.run([*SUPERVISOR, sys.executable, '-c', code], pass_fds=[write], check=True)
    assert os.read(read, 100) == b'reached'
    os.close(read)
    os.close(write)


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize('is_stopped', [False, True])
def test_signal_to_the_front(number, is_stopped):
    process = start(WAIT)
    pids = read_pids(process)[:2]
    if is_stopped:
        os.kill(pids[0], signal.SIGSTOP)
        wait_for(lambda: _supervisor._status(pids[0])[1] == 'T')
    process.send_signal(number)
    end(process)
    assert process.returncode == (1 if number == signal.SIGINT else -number) or (
        process.returncode == -signal.SIGINT == -number
    )
    wait_for(lambda: not any(map(is_there, pids)))


def test_command_that_handles_signals():
    process = start(
        'import os, signal\n'
        'def handle(number, frame):\n    os.write(1, f"{number}\\n".encode())\n'
        'for number in 10, 12, 15:\n    signal.signal(number, handle)\n' + WAIT
    )
    pids = read_pids(process)[:2]
    for number in 10, 12, 15:
        process.send_signal(number)
        assert process.stdout.readline() == f'{number}\n'
    assert all(map(is_there, pids))
    process.send_signal(signal.SIGINT)  # the second that asks to end
    end(process)
    wait_for(lambda: not any(map(is_there, pids)))
    assert process.returncode == -signal.SIGKILL


def test_end_of_the_command_ends_its_children():
    process = start(PROGRAM)
    pids = read_pids(process)[:2]
    end(process)
    assert process.returncode == 0 and not any(map(is_there, pids))


def test_incomplete_files(tmp_path):
    code = (
        'import os, sys, time\n'
        'for name in sys.argv[1:]:\n    os.mkdir(name)\n    os.open(name, os.O_RDONLY)\n'
        'os.write(1, f"{os.getpid()}\\n".encode())\ntime.sleep(1000)\n'
    )
    names = '.model.npz.0123abcd.tmp', 'folder'
    process = start(code, *[str(tmp_path / name) for name in names])
    read_pids(process)
    process.kill()
    end(process)
    wait_for(lambda: os.listdir(tmp_path) == ['folder'])


def test_folders_that_are_not_locked_yet(tmp_path):
    """A process that makes an incomplete folder has the one around it open; others use theirs."""
    code = (
        'import os, sys, time\n'
        'os.open(sys.argv[1], os.O_RDONLY)\nos.mkdir(sys.argv[1] + "/.a.npz.0123abcd.tmp")\n'
        'os.write(1, f"{os.getpid()}\\n".encode())\ntime.sleep(1000)\n'
    )
    (tmp_path / 'other').mkdir()
    with temporary_folder.temporary_folder(str(tmp_path), 'b.npz') as used:
        process = start(code, str(tmp_path))
        read_pids(process)
        process.kill()
        end(process)
        wait_for(lambda: sorted(os.listdir(tmp_path)) == sorted([os.path.basename(used), 'other']))


MAP = """
import mmap, sys, time
with open(sys.argv[1], 'r+b') as file:
    memory = mmap.mmap(file.fileno(), 0)
print('mapped', flush=True)
time.sleep(1000)
"""


def test_shared_memory(monkeypatch):
    """Only what the job made and nobody uses goes."""
    # Jobs of tests beside this one clean up, too, but not under these names.
    monkeypatch.setattr(_supervisor, '_PREFIXES', ('test_a_', 'test_b_'))
    old, new, used, other = paths = [
        f'/dev/shm/{prefix}{os.getpid()}_{i}'
        for i, prefix in enumerate(['test_a_', 'test_b_', 'test_a_', 'another_'])
    ]
    user = None
    try:
        with open(old, 'wb'):
            pass
        time.sleep(0.1)
        begin = time.time() + 1  # a second is the tolerance
        for path in new, used, other:
            with open(path, 'wb') as file:
                file.write(bytes(4096))
        user = start(MAP, used)
        assert user.stdout.readline() == 'mapped\n'
        _supervisor.remove_shared_memory(begin)
        assert [os.path.exists(path) for path in paths] == [True, False, True, True]
    finally:
        if user is not None:
            user.kill()
            end(user)
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)


class Launcher:
    """Stand-in for the launcher: what a supervisor connects to."""

    def __init__(self):
        self._server = socket.create_server(('127.0.0.1', 0))
        self._server.settimeout(SECONDS)

    def environment(self, **settings):
        settings = {
            'addresses': ['127.0.0.1'],
            'host': socket.gethostname(),
            'port': self._server.getsockname()[1],
            'token': 'secret',
            'grace': 5,
            'link_timeout': 5,
            'timeout': 60,
            **settings,
        }
        return {_supervisor.VARIABLE: json.dumps(settings), 'PMI_RANK': '3'}

    def accept(self):
        self.connection = self._server.accept()[0]
        self.connection.settimeout(SECONDS)
        self._file = self.connection.makefile()

    def read(self):
        line = self._file.readline()
        return json.loads(line) if line else None

    def close(self):
        self._server.close()
        self.connection.close()
        self._file.close()


@pytest.fixture
def launcher():
    launcher = Launcher()
    yield launcher
    launcher.close()


def test_connection(launcher):
    process = start(WAIT, **launcher.environment())
    launcher.accept()
    hello = {'token': 'secret', 'rank': '3', 'host': socket.gethostname()}
    assert launcher.read() == hello
    pids = read_pids(process)[:2]
    os.kill(pids[0], signal.SIGSTOP)
    assert 'is stopped' in launcher.read()['text']
    os.kill(pids[0], signal.SIGKILL)
    assert launcher.read() == {'status': -9}
    assert launcher.read() is None
    end(process)
    assert not any(map(is_there, pids))


@pytest.mark.parametrize('is_stopped', [False, True])
def test_end_of_the_launcher(launcher, is_stopped):
    process = start(WAIT, **launcher.environment())
    launcher.accept()
    pids = read_pids(process)[:2]
    if is_stopped:
        os.kill(process.pid, signal.SIGSTOP)
    launcher.connection.shutdown(socket.SHUT_RDWR)
    end(process)
    assert not any(map(is_there, pids))


@pytest.mark.parametrize('grace', [0, 1000])
def test_signal_of_the_launcher(launcher, grace):
    process = start(
        'import signal, time\nsignal.signal(15, signal.SIG_IGN)\n' + WAIT,
        **launcher.environment(grace=grace),
    )
    launcher.accept()
    pids = read_pids(process)[:2]
    launcher.connection.send(b'15\n')
    if grace:
        os.kill(pids[0], signal.SIGKILL)
    end(process)
    assert process.returncode == -signal.SIGKILL and not any(map(is_there, pids))


BEATS = """
import json, os
pipe = int(os.environ['CHAINERMN_BEATS'].split(':')[0])
for text in sys.argv[1:]:
    os.write(pipe, os.fsencode(text) + b'\\n')
"""


@pytest.mark.parametrize(
    'texts, beat',
    [
        ([], None),
        (['{"rank": 1}', '{"rank": 2}'], {'rank': 2}),
        (['{"rank": 1}', 'rubbish'], None),
        (['[' * 3000], None),
        (['3'], None),
        ([json.dumps({'rank': 'x' * 5000})], None),
        (['\udcff'], None),
    ],
)
def test_reports(launcher, texts, beat):
    """The launcher asks what the command does; whatever comes through the pipe, it gets a report."""
    process = start('import sys' + BEATS + WAIT, *texts, **launcher.environment())
    launcher.accept()
    launcher.read()
    pids = read_pids(process)[:2]
    for expected in beat, None:  # the second time, there is no new one
        launcher.connection.send(b'0\n')
        report = launcher.read()['report']
        assert report.pop('cpu') >= 0 and report.pop('state') in 'RSD'
        assert report == {'beat': expected}
    os.kill(pids[0], signal.SIGSTOP)
    assert 'is stopped' in launcher.read()['text']
    launcher.connection.send(b'0\n')
    assert launcher.read()['report']['state'] == 'T'
    process.kill()
    end(process)
    wait_for(lambda: not any(map(is_there, pids)))


@pytest.mark.parametrize('own, expected', [({}, '7.0'), ({'CHAINERMN_TIMEOUT': '3'}, '3')])
def test_limit_reaches_other_hosts(launcher, monkeypatch, own, expected):
    monkeypatch.delenv('CHAINERMN_TIMEOUT', raising=False)
    code = 'import os; print(os.environ["CHAINERMN_TIMEOUT"])'
    process = start(code, **launcher.environment(timeout=7.0), **own)
    launcher.accept()
    assert process.communicate(timeout=SECONDS)[0] == f'{expected}\n'


@pytest.mark.parametrize('host, is_killed', [(socket.gethostname(), True), ('other', False)])
def test_no_launcher(host, is_killed):
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
    settings = {'addresses': ['127.0.0.1'], 'host': host, 'port': port, 'token': ''}
    settings |= {'grace': 1, 'link_timeout': 1, 'timeout': 60}
    variables = {_supervisor.VARIABLE: json.dumps(settings)}
    process = start('import time\ntime.sleep(1000)' if is_killed else 'pass', **variables)
    assert f'rank ? on {socket.gethostname()} does not reach the launcher' in end(process)
    assert process.returncode == (-signal.SIGKILL if is_killed else 0)


# -- jobs


# Stands in for mpiexec; the program of a job is in the main thread, which gets the signals.
MPIEXEC = 'for i in 0 1; do PMI_RANK=$i "$@" & done; wait; exit 7'
JOB = """
import os, signal, sys
from chainermn import _hosts, _job, _supervisor
signals = _supervisor.SignalReader((*_supervisor.FORWARDED, signal.SIGCHLD))
job = _job.Job({(): _hosts.Start(sys.argv[2:])}, os.environ, [], float(sys.argv[1]), 5, signals)
sys.exit(job.run())
"""


def start_job(code, grace=0.5):
    """Starts a job of two processes; returns its process, and those of the ranks."""
    mpiexec = ['sh', '-c', MPIEXEC, 'sh', *SUPERVISOR, sys.executable, '-ISc', code]
    job = subprocess.Popen(
        [sys.executable, '-c', JOB, str(grace), *mpiexec],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return job, sorted([read_pids(job) for _ in range(2)], key=lambda pids: pids[2])


@pytest.mark.slow
@pytest.mark.parametrize('way', ['signal', 'kill', 'rank', 'guard', 'front', 'stopped'])
def test_job(way):
    job, ranks = start_job(WAIT)
    pid = ranks[1][0]
    guard = _supervisor._status(pid)[0]
    number = signal.SIGKILL
    if way == 'stopped':
        os.kill(guard, signal.SIGSTOP)
    if way in ('signal', 'stopped'):
        number = signal.SIGTERM
        job.terminate()
    elif way == 'kill':
        job.kill()
    else:
        front = _supervisor._status(guard)[0]
        os.kill({'rank': pid, 'guard': guard, 'front': front}[way], number)
    if way == 'front':
        time.sleep(0.1)
        assert is_there(ranks[0][0])  # mpiexec would end it
        job.terminate()
    errors = end(job)
    wait_for(lambda: not any(map(is_there, sum([pids[:2] for pids in ranks], []))))
    name = f'chainermn.run: rank 1 on {socket.gethostname()} '
    assert job.returncode == {
        'signal': 128 + 15, 'stopped': 128 + 15, 'front': 128 + 15, 'kill': -9, 'rank': 7, 'guard': 7,
    }[way]  # fmt: skip
    assert (f'{name}was killed by signal 9 (SIGKILL)\n' in errors) == (way == 'rank')
    assert (f'{name}is lost' in errors) == (way == 'guard')
    if way in ('signal', 'kill'):
        assert errors == ''


@pytest.mark.slow
def test_job_of_processes_that_ignore_signals():
    job, ranks = start_job('import signal\nsignal.signal(15, signal.SIG_IGN)\n' + WAIT, grace=0.1)
    job.terminate()
    end(job)
    assert job.returncode == 128 + 15
    assert not any(map(is_there, sum([pids[:2] for pids in ranks], [])))


@pytest.mark.slow
def test_job_whose_processes_end():
    job, _ = start_job(PROGRAM)
    assert end(job) == '' and job.returncode == 7


@pytest.mark.slow
def test_job_of_which_one_fails():
    code = PROGRAM + 'sys.exit(5) if os.environ["PMI_RANK"] == "0" else time.sleep(1000)\n'
    job, ranks = start_job(code, grace=0.1)
    assert 'rank 0 on' in (errors := end(job)) and 'ended with exit status 5' in errors
    assert job.returncode == 7 or job.returncode == 5
    assert not any(map(is_there, sum([pids[:2] for pids in ranks], [])))


@pytest.mark.slow
def test_strangers():
    """What connects to a job without its token changes nothing."""
    job, _ = start_job(WAIT)
    [mpiexec] = Path(f'/proc/{job.pid}/task/{job.pid}/children').read_text().split()
    variables = Path(f'/proc/{mpiexec}/environ').read_text().split('\0')
    settings = json.loads(dict([v.split('=', 1) for v in variables if v])[_supervisor.VARIABLE])
    lines = b'\n', b'[]\n', b'3\n', b'{}\n', b'{"token": 3}\n', b'{"token": "x"}\n'
    lines += b'{"report": {"beat": null, "state": "T", "cpu": 0}}\n', b'{"status": 1, "text": ""}\n'
    for data in (b'', b'x' * 5000, b'[' * 4000 + b'\n', b'\xff' * 10 + b'\n', *lines):
        with socket.create_connection(('127.0.0.1', settings['port'])) as stranger:
            stranger.settimeout(SECONDS)
            stranger.sendall(data)
            stranger.shutdown(socket.SHUT_WR)
            try:
                assert stranger.recv(100) == b''
            except ConnectionResetError:
                pass  # it has not read all
        assert job.poll() is None
    job.terminate()
    assert end(job) == '' and job.returncode == 128 + 15


def test_addresses():
    """Other hosts get every address of this one, those that only this host reaches last."""
    for hosts in [], ['127.0.0.1', '127.0.0.1'], ['no such host']:
        found = _job._addresses(hosts)
        assert len(set(found)) == len(found)
        assert found == sorted(found, key=lambda address: address.startswith('127.'))
    assert '127.0.0.1' in _job._addresses(['127.0.0.1'])


@pytest.mark.parametrize('hosts', [[], ['127.0.0.2']])
@pytest.mark.parametrize('name', ['SLURM_NODELIST', 'HYDRA_HOST_FILE', 'OTHER'])
def test_job_on_hosts_that_mpiexec_chooses(monkeypatch, hosts, name):
    monkeypatch.setattr(_job, '_addresses', lambda hosts: ['10.0.0.7', *hosts])
    job = _job.Job({}, {name: 'x'}, hosts, 5, 5, None)
    is_alone = name == 'OTHER' and not hosts
    assert job._addresses == (['127.0.0.1'] if is_alone else ['10.0.0.7', *hosts])
    with job._listen() as server:
        assert server.getsockname()[0] == ('127.0.0.1' if is_alone else '0.0.0.0')
    job._selector.close()
