"""Jobs of several ranks that end in all ways: nothing of them stays, and who failed is named."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from chainermn import _supervisor
from tools import two_hosts
from tools.stress import guard

START_SECONDS = 120  # in which all ranks are there; a loaded machine takes long to start them
END_SECONDS = 10  # in which all is gone
TIMEOUT = 6  # seconds that a rank waits for one that does not come
TRAIN_SECONDS = 60  # in which the ranks come to the iteration of a wrong call
N_RANKS = 4
WAYS = {
    'signal to the launcher': 4,
    'kill of the launcher': 1,
    'kill of a rank': 1,
    'stop of a rank': 4,
    'skipped call': 4,
    'other order of parameters': 4,
    'unequal shapes': 4,
    'cut link': 4,
}
#: Calls of all ranks in which one does something else.
WRONG_CALLS = {
    'skipped call': ('none', 'recv', 'end'),
    'other order of parameters': ('order',),
    'unequal shapes': ('shape',),
}
HANGS = 'stop of a rank', *WRONG_CALLS  # what the watchdog ends, unless MPI does
#: What may happen before the ranks train.
EARLY = 'signal to the launcher', 'kill of the launcher', 'kill of a rank', 'stop of a rank'
INCOMPLETE = re.compile(r'\..+\.[0-9a-f]{8}\.tmp')


def train(options: dict[str, Any]) -> None:
    """The training of one rank, which has workers and writes files all the time."""
    import numpy as np

    import chainer
    import chainer.links as L
    import chainermn
    from chainer import training

    if options['handler'] == 'ignores':
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif options['handler'] == 'raises':
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))
    comm = chainermn.create_communicator('naive')
    data = np.random.rand(96, 200).astype('f'), np.zeros(96, 'i')
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.Adam(), comm, sharded=options['sharded']
    )
    optimizer.setup(L.Classifier(L.Linear(200, 1000)))
    part = chainermn.scatter_dataset(chainer.datasets.TupleDataset(*data), comm)
    iterator = chainer.iterators.MultiprocessIterator(part, 8, n_processes=2)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (10**6, 'iteration'), out='result')
    trainer.extend(
        chainermn.create_multi_node_checkpointer('run', comm, 2, 2), trigger=(1, 'iteration')
    )
    writer = training.extensions.snapshot_writers.ProcessQueueWriter()
    snapshot = training.extensions.snapshot(filename=f'snapshot.{comm.rank}', writer=writer)
    if options['sharded'] != 'parameters':  # which snapshots refuse
        trainer.extend(snapshot, trigger=(3, 'iteration'))
    if options['wrong'] is not None:
        # At last, so that the next call is another one: equal ones would go on with wrong values.
        extension = _make_wrong_call(comm, *options['wrong'])
        trainer.extend(extension, trigger=(1, 'iteration'), priority=-1000)
    Path(f'ready.{comm.rank}').write_text(f'{os.getpid()} {comm.size}')
    trainer.run()


def _make_wrong_call(comm: Any, rank: int, iteration: int, call: str) -> Any:
    """Makes an extension in which one rank leaves out a call of all, or makes another one."""
    import numpy as np

    params = [np.ones((1000, 200), 'f'), np.ones(1000, 'f')]

    def extension(trainer: Any) -> None:
        is_wrong = comm.rank == rank and trainer.updater.iteration == iteration
        if is_wrong and call == 'end':
            sys.exit()
        if is_wrong and call == 'recv':
            comm.recv((rank + 1) % comm.size, 1)
        if is_wrong and call == 'none':
            return
        arrays = list(params)
        if is_wrong and call == 'order':
            arrays.reverse()
        if is_wrong and call == 'shape':
            arrays[1] = arrays[1][:-1]
        for array in arrays:
            comm.allreduce(array)

    return extension


def _start(folder: Path, way: str, options: dict[str, Any]) -> guard.Child:
    command = ['-m', 'chainermn.run', '-n', str(N_RANKS)]
    if way == 'cut link':
        tool = [str(Path(two_hosts.__file__)), sys.executable]
        command = [*tool, *command, '--hosts', 'left,right']
    with _variables(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1'):
        with _variables(**options['variables']):
            return guard.Child(*command, __file__, json.dumps(options), folder=folder)


@contextlib.contextmanager
def _variables(**variables: str) -> Any:
    os.environ.update(variables)
    yield
    for name in variables:
        del os.environ[name]


def _wait_for_ranks(child: guard.Child, folder: Path) -> list[int]:
    """Waits until all ranks train; returns their processes."""
    limit = time.monotonic() + START_SECONDS
    paths = [folder / f'ready.{rank}' for rank in range(N_RANKS)]
    while not all([path.exists() and path.read_text() for path in paths]):
        if child.process.poll() is not None or time.monotonic() > limit:
            raise guard.Finding(f'the ranks do not train\n{child.describe()}')
        time.sleep(0.02)
    return [int(path.read_text().split()[0]) for path in paths]


def wait_for_rank(child: guard.Child, rank: int) -> int:
    """Waits until a rank starts; returns its process."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        for pid in sorted(child.members()):  # it is the first of its processes
            command = guard.describe_process(pid)
            if '-m chainermn._program' in command and '_supervisor' not in command:
                with contextlib.suppress(OSError):
                    environment = Path(f'/proc/{pid}/environ').read_text().split('\0')
                    if {f'{name}={rank}' for name in _supervisor.RANKS} & {*environment}:
                        return pid
    raise guard.Finding(f'rank {rank} does not start\n{child.describe()}')


def _cut(pid: int) -> None:
    """Cuts the link between the hosts of a job."""
    environment = Path(f'/proc/{pid}/environ').read_text()
    left = re.findall(r'TWO_HOSTS=left=(\d+)', environment)[0]
    down = 'ip', 'link', 'set', 'eth0', 'down'
    subprocess.run(['nsenter', '-t', left, '--net', *down], check=True)


def _leftovers(child: guard.Child, folder: Path, way: str, before: set[str]) -> list[str]:
    """What has stayed of a job."""
    found = [guard.describe_process(pid) for pid in child.members()]
    # Incomplete files of a rank that another process, or MPI, ends go when the job starts again.
    if way != 'kill of a rank' and way not in WRONG_CALLS:
        folders = [path for path, _, _ in os.walk(folder)]
        found += [path for path in folders if INCOMPLETE.fullmatch(os.path.basename(path))]
    found += [str(path) for path in (folder / 'tmp').iterdir()]
    return found + guard.new_shared_memory(before)


def _wait_for_nothing(
    child: guard.Child, folder: Path, way: str, before: set[str], seconds: float
) -> None:
    """Checks that all of a job is gone in time."""
    start = time.monotonic()
    # The launcher leaves out the seconds in which it does not run itself.
    seconds *= guard.slowness()
    while (found := _leftovers(child, folder, way, before)) or child.process.poll() is None:
        if time.monotonic() > start + seconds:
            text = '\n'.join(found)
            child.kill()
            raise guard.Finding(f'after {seconds:g} s there is\n{text}\n{child.describe()}')
        time.sleep(0.05)
    print(f'all was gone after {time.monotonic() - start:.2f} s', flush=True)


def case(rng: random.Random) -> dict[str, int]:
    """Starts a job and ends it at a random moment in one of the ways."""
    if importlib.util.find_spec('mpi4py') is None:
        print('mpi4py is not installed')
        return {'mpi4py is not installed': 1}
    way = rng.choices(list(WAYS), list(WAYS.values()))[0]
    if way == 'cut link':
        try:
            with two_hosts.two_hosts():
                pass
        except two_hosts.Unavailable as error:
            print(error)
            return {'no two hosts here': 1}
    options = {
        'handler': rng.choice(['none', 'none', 'ignores', 'raises']),
        'variables': {'CHAINERMN_TIMEOUT': str(TIMEOUT)} if way in HANGS else {},
        'wrong': None,
        'sharded': rng.choice([False, False, 'parameters']),
    }
    is_early = way in EARLY and rng.random() < 0.4
    moment = rng.uniform(0, 3 if is_early else 0.5)
    number = rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    rank = rng.randrange(N_RANKS)
    if way in WRONG_CALLS:
        options['wrong'] = rank, rng.randrange(1, 20), rng.choice(WRONG_CALLS[way])
    print(way, options, is_early, moment, number, rank, flush=True)
    folder = Path('job')
    folder.mkdir()
    before = guard.shared_memory()
    child = _start(folder.resolve(), way, options)
    if not is_early:
        pid = _wait_for_ranks(child, folder)[rank]
    elif 'of a rank' in way:
        pid = wait_for_rank(child, rank)
    time.sleep(moment)
    seconds: float = END_SECONDS
    if way == 'signal to the launcher':
        child.process.send_signal(number)
    elif way == 'kill of the launcher':
        child.process.kill()
    elif way == 'kill of a rank':
        os.kill(pid, signal.SIGKILL)
    elif way == 'stop of a rank':
        os.kill(pid, signal.SIGSTOP)
    elif way == 'cut link':
        _cut(pid)
    if way in HANGS:
        seconds += TIMEOUT
    if way in WRONG_CALLS:
        seconds += TRAIN_SECONDS
    _wait_for_nothing(child, folder, way, before, seconds)
    pattern = r'was killed by signal 9 \(SIGKILL\)' if way == 'kill of a rank' else ''
    name = rf'rank {rank} on \S+ ?{pattern}'
    if way in WRONG_CALLS:  # the error of MPI
        name += rf'|\(rank {rank} in comm'
    if way in ('kill of a rank', *HANGS) and not re.search(name, child.output + child.errors):
        raise guard.Finding(f'rank {rank} is not named\n{child.describe()}')
    if child.process.returncode == 0:
        raise guard.Finding(f'the exit status is 0\n{child.describe()}')
    return {way: 1}


if __name__ == '__main__':
    train(json.loads(sys.argv[1]))
