"""``python -m chainermn.run``."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import mpi

from chainermn import _supervisor, run

needs_mpi = pytest.mark.skipif(
    bool(mpi.reason_to_skip()) or mpi.mpiexec() is None,
    reason=mpi.reason_to_skip() or 'needs mpiexec',
)


@pytest.mark.parametrize('version', ['HYDRA build details', 'mpiexec (Open MPI) 5.0'])
def test_command(version):
    command = run.make_command('mpiexec', version, 5, ['a', 'b'], ['train.py', '-x'])
    text = ' '.join(command)
    assert ('--host a:3,b:3' if 'Open' in version else '-hosts a,b -ppn 3') in text
    supervisor = f'{sys.executable} -IS {_supervisor.__file__}'
    assert text.endswith(f'-n 5 {supervisor} {sys.executable} -m chainermn._program train.py -x')


@pytest.mark.parametrize(
    'arguments, message',
    [
        (['-n', '0', __file__], 'must be at least 1'),
        (['-n', '2', '--min-n', '3', __file__], '--min-n at most -n'),
        (['--grace', '-1', __file__], '--grace must be at least 0'),
        (['--link-timeout', '0', __file__], '--link-timeout at least 1'),
        (['-n', '2'], 'the script is missing'),
        (['no_such_file.py'], 'there is no file no_such_file.py'),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit):
        run.main(arguments)
    assert message in capsys.readouterr().err


def test_without_mpiexec(monkeypatch, capsys):
    monkeypatch.setattr('shutil.which', lambda *args, **kwargs: None)
    with pytest.raises(SystemExit):
        run.main([__file__])
    assert "pip install 'chainer[mpi]' mpich" in capsys.readouterr().err


def launch(tmp_path, code, *options, arguments=()):
    script = tmp_path / 'script.py'
    script.write_text(code)
    (tmp_path / 'beside.py').write_text('name = "beside"\n')
    return subprocess.run(
        [sys.executable, '-m', 'chainermn.run', *options, str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env=mpi._environment({}),
    )


@needs_mpi
@pytest.mark.slow
def test_output_has_ranks(tmp_path):
    result = launch(
        tmp_path,
        'import sys, beside, chainermn\n'
        'comm = chainermn.create_communicator("naive")\n'
        'print(comm.rank, comm.size, sys.argv[1:], beside.name, __name__)\n',
        '-n', '2', arguments=('-a', '3'),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [
        f"[{i}] {i} 2 ['-a', '3'] beside __main__" for i in range(2)
    ]


@needs_mpi
@pytest.mark.slow
def test_exit_status_ends_all(tmp_path):
    result = launch(
        tmp_path,
        'import sys, time\nfrom mpi4py import MPI\n'
        'sys.exit(3) if MPI.COMM_WORLD.rank else time.sleep(50)',
        '-n', '2',
    )  # fmt: skip
    assert result.returncode == 3, result.stderr


@needs_mpi
@pytest.mark.slow
def test_restarts_with_fewer_ranks(tmp_path):
    result = launch(
        tmp_path,
        'import os\nfrom mpi4py import MPI\n'
        'restart = int(os.environ["CHAINERMN_RESTART"])\n'
        'print("restart", restart, MPI.COMM_WORLD.size, flush=True)\n'
        'MPI.COMM_WORLD.Barrier()\n'
        'assert restart == 2 or MPI.COMM_WORLD.rank, "fails"\nMPI.COMM_WORLD.Barrier()\n',
        '-n', '3', '--restarts', '5', '--min-n', '2',
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = [line.partition('] ')[2] for line in result.stdout.splitlines() if 'restart' in line]
    assert lines == ['restart 0 3'] * 3 + ['restart 1 2'] * 2 + ['restart 2 2'] * 2
    assert len(re.findall('restart . of 5 with 2 processes', result.stderr)) == 2
    assert 'AssertionError: fails' in result.stderr


ENDLESS = """
import os, subprocess, sys, time
import numpy
import chainermn
comm = chainermn.create_communicator('naive')
child = subprocess.Popen(['sleep', '1000'], start_new_session=True)
os.makedirs(f'.rank{comm.rank}.0123abcd.tmp')
os.open(f'.rank{comm.rank}.0123abcd.tmp', os.O_RDONLY)
memory = open('/proc/self/maps').read()
names = {line.split()[-1] for line in memory.splitlines() if 'mpich_shm' in line}
os.write(1, f'rank {comm.rank} {os.getpid()} {child.pid} {" ".join(names)}\\n'.encode())
while True:
    comm.allreduce(numpy.ones(2, 'float32'))
"""


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize('way', ['TERM', 'INT', 'HUP', 'KILL', 'rank', 'stop'])
def test_nothing_stays(tmp_path, way):
    """Processes, shared memory and incomplete files go, whatever ends a job."""
    script = tmp_path / 'script.py'
    script.write_text(ENDLESS)
    variables = {'CHAINERMN_TIMEOUT': '6'} if way == 'stop' else {}
    job = subprocess.Popen(
        [sys.executable, '-m', 'chainermn.run', '-n', '2', 'script.py'],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=mpi._environment(variables),
    )
    pids, names = {}, set()
    for _ in range(2):
        match = re.search(r'rank (\d) (\d+) (\d+) ?(.*)', job.stdout.readline())
        pids[int(match[1])] = int(match[2]), int(match[3])
        names.update(match[4].split())
    if way == 'rank':
        os.kill(pids[1][0], signal.SIGKILL)
    elif way == 'stop':
        os.kill(pids[1][0], signal.SIGSTOP)
    else:
        job.send_signal(getattr(signal, f'SIG{way}'))
    errors = job.communicate(timeout=60)[1]
    limit = time.monotonic() + 30
    folders = (
        {'.rank0.0123abcd.tmp'} if way == 'rank' else {f'.rank{i}.0123abcd.tmp' for i in (0, 1)}
    )
    while (
        any([is_there(pid) for pair in pids.values() for pid in pair])
        or any(map(os.path.exists, names))
        or folders & set(os.listdir(tmp_path))
    ):
        assert time.monotonic() < limit, (pids, names, os.listdir(tmp_path))
        time.sleep(0.05)
    if way == 'rank':
        assert re.search(r'rank 1 on \S+ was killed by signal 9 \(SIGKILL\)', errors), errors
    elif way == 'stop':
        assert re.search(r'rank 1 on \S+ is stopped', errors), errors
    else:
        assert job.returncode == {'TERM': 143, 'INT': 130, 'HUP': 129, 'KILL': -9}[way]


def is_there(pid):
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in 'XZ'
