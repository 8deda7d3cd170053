"""Killed ranks of distributed trainings: all end soon, and the last checkpoint loads to the bit."""

from __future__ import annotations

import collections
import faulthandler
import functools
import hashlib
import importlib.util
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import iterators, training
from chainer.serializers import npz
from tools.stress import guard

N_ITERATIONS = 12
KEEPS = 2  # checkpoints
LIMIT = 100  # seconds after which a training hangs; a loaded machine takes long to start it
END_SECONDS = 5  # in which all ranks end after one was killed
PLACES = 'exchange', 'checkpoint', 'loader'
ITERATORS: dict[str, dict[str, Any]] = {
    'SerialIterator': {},
    'MultithreadIterator': {'n_threads': 2},
    'MultiprocessIterator': {'n_processes': 2},
}
MANIFEST = re.compile(r'run\.(\d+)\.of\.(\d+)\.json')
# Another process kills the rank, whatever that does, and notes when.
_KILLER = """
import os, sys, time
for line in sys.stdin:
    time.sleep(float(line))
    with open('killed', 'w') as file:
        file.write(str(time.time()))
    os.kill(os.getppid(), 9)
"""


class Model(chainer.Chain):
    """A network with random numbers, whose state has to be resumed, too."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(100, 1000)
            self.norm = L.BatchNormalization(1000)
            self.l2 = L.Linear(1000, 5)

    def forward(self, x: Any, t: Any) -> Any:
        h = F.dropout(F.relu(self.norm(self.l1(x))))
        return F.softmax_cross_entropy(self.l2(h), t)


class _Trap:
    """Has the rank killed during the ``n``-th call of a method.

    Args:
        owner: Class that has the method.
        name: Its name.
        n: Number of the call.
        part: Moment of the kill, as the part of the time that the call before took.

    """

    def __init__(self, owner: type, name: str, n: int, part: float) -> None:
        self._killer = subprocess.Popen(
            [sys.executable, '-ISc', _KILLER], stdin=subprocess.PIPE, text=True
        )
        self._n = n
        self._part = part
        self._seconds = 0.0
        method = getattr(owner, name)

        @functools.wraps(method)
        def trapped(*args: Any, **kwds: Any) -> Any:
            return self._call(method, *args, **kwds)

        setattr(owner, name, trapped)

    def _call(self, method: Any, *args: Any, **kwds: Any) -> Any:
        self._n -= 1
        if self._n == 0:
            assert self._killer.stdin is not None
            self._killer.stdin.write(f'{self._part * self._seconds}\n')
            self._killer.stdin.flush()
        start = time.perf_counter()
        result = method(*args, **kwds)
        self._seconds = time.perf_counter() - start
        return result

    def close(self) -> None:
        """Ends the process that would kill the rank."""
        assert self._killer.stdin is not None
        self._killer.stdin.close()
        self._killer.wait()


def train(options: dict[str, Any]) -> None:
    """The training of one rank: resumes, trains to the end and prints what came out."""
    faulthandler.dump_traceback_later(LIMIT - 5)
    import chainermn
    from chainermn._checkpoints.writer import Writer
    from chainermn.optimizers._multi_node import MultiNodeOptimizer
    from chainermn.optimizers._parameter_sharding import ParameterShardingOptimizer

    comm = chainermn.create_communicator('naive', allreduce_grad_dtype=options['dtype'])
    np.random.seed(comm.rank)
    draw = np.random.RandomState(1)
    data = chainer.datasets.TupleDataset(
        draw.rand(96, 100).astype('f'), draw.randint(5, size=96).astype('i')
    )
    model = Model()
    model.to_device(options['device'])
    optimizer = chainermn.create_multi_node_optimizer(
        getattr(chainer.optimizers, options['optimizer'])(), comm, sharded=options['sharded']
    )
    iterator_class = getattr(iterators, options['iterator'])
    part = chainermn.scatter_dataset(data, comm, shuffle=True, seed=0)
    iterator = iterator_class(part, 8, **ITERATORS[options['iterator']])
    updater = training.updaters.StandardUpdater(
        iterator, optimizer.setup(model), device=chainer.get_device(options['device'])
    )
    trainer = training.Trainer(updater, (N_ITERATIONS, 'iteration'), out='result')
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm, KEEPS, 2)
    trainer.extend(checkpointer, trigger=(1, 'iteration'))

    @training.make_extension(trigger=(1, 'iteration'), priority=-200)
    def note(trainer: Any) -> None:
        # A call of the extension waits for the checkpoint before.
        with open(f'saved.{comm.rank}', 'a') as file:
            file.write(f'{updater.iteration - 1}\n')

    trainer.extend(note, name='note')
    checkpointer.maybe_load(trainer)
    if comm.rank == 0:
        print('from', updater.iteration, flush=True)
    trap = None
    kill = options['kill']
    if kill is not None and comm.rank == kill['rank']:
        exchange: tuple[type, str] = MultiNodeOptimizer, '_mean_grad'
        if options['sharded'] == 'parameters':
            exchange = ParameterShardingOptimizer, '_compute_grads'
        owner, name = {
            'exchange': exchange,
            'checkpoint': (Writer, '_run'),
            'loader': (iterator_class, 'next'),
        }[kill['place']]
        if kill['place'] == 'loader':
            iterator_class.__next__ = lambda self: self.next()
        trap = _Trap(owner, name, kill['n'], kill['part'])
    trainer.run()
    iterator.finalize()
    if trap is not None:
        trap.close()
    with chainermn.gathered_parameters(model):
        arrays = [array for _, array in sorted(npz.serialize(model).items())]
    digest = hashlib.sha256(b''.join([array.tobytes() for array in arrays])).hexdigest()
    digests = comm.allgather_obj((digest, optimizer.t))
    if comm.rank == 0:
        print('end', json.dumps(digests), flush=True)


def _start(folder: Path, n_ranks: int, options: dict[str, Any], kill: Any) -> guard.Child:
    arguments = json.dumps({**options, 'kill': kill})
    launcher = '-m', 'chainermn.run', '-n', str(n_ranks)
    return guard.Child(*launcher, __file__, arguments, folder=folder)


def _complete(folder: Path) -> int:
    """The newest iteration that has a manifest."""
    matches = [MANIFEST.fullmatch(path.name) for path in folder.glob('result/*')]
    return max([int(match[1]) for match in matches if match is not None], default=0)


def _promised(folder: Path, n_ranks: int) -> int:
    """The newest iteration that all ranks have noted as saved."""
    paths = [folder / f'saved.{rank}' for rank in range(n_ranks)]
    notes = [set(map(int, path.read_text().split())) if path.exists() else set() for path in paths]
    return max(set.intersection(*notes), default=0)


def _check_loaded(child: guard.Child, newest: int, promised: int) -> None:
    """Checks that a training went on from the newest checkpoint, if it came as far as that."""
    match = re.search(r'from (\d+)$', child.output, re.MULTILINE)
    if match is not None and not int(match[1]) == newest >= promised:
        raise guard.Finding(
            f'iteration {match[1]} was loaded, {newest} is the newest, and {promised} had been '
            f'saved\n{child.describe()}'
        )


def _check_end(child: guard.Child, folder: Path, status: int) -> bool:
    """Checks how a training ended; tells whether a rank was killed."""
    note = folder / 'killed'
    if not note.exists():
        if status:
            raise guard.Finding(child.describe())
        return False
    seconds = time.time() - float(note.read_text())
    note.unlink()
    if seconds > END_SECONDS * guard.slowness():
        raise guard.Finding(f'the ranks ended {seconds:.1f} s after one\n{child.describe()}')
    print(f'all ended {seconds:.3f} s after the kill', flush=True)
    return True


def _end(child: guard.Child) -> str:
    return re.findall('end (.*)', child.output)[0]


def case(rng: random.Random) -> dict[str, int]:
    """Kills ranks of a training a few times, lets it end, and compares with an undisturbed one."""
    if importlib.util.find_spec('mpi4py') is None:
        print('mpi4py is not installed')
        return {'mpi4py is not installed': 1}
    n_ranks = rng.choice([2, 2, 3])
    options = {
        'device': rng.choice(['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy']),
        'dtype': rng.choice([None, None, 'bfloat16']),
        'iterator': rng.choice(list(ITERATORS)),
        'optimizer': rng.choice(['Adam', 'MomentumSGD']),
        'sharded': rng.choice([False, False, True, 'parameters', 'parameters']),
    }
    print(n_ranks, options, flush=True)
    counts = collections.Counter({'kills': 0})
    folders = Path('undisturbed'), Path('disturbed')
    for folder in folders:
        folder.mkdir()
    child = _start(folders[0], n_ranks, options, None)
    if child.wait(LIMIT):
        raise guard.Finding(child.describe())
    expected = _end(child)

    folder = folders[1]
    kills: list[Any] = [
        {
            'rank': rng.randrange(n_ranks),
            'place': rng.choice(PLACES),
            'n': rng.randint(1, 4),
            'part': rng.uniform(0, 1.2),
        }
        for _ in range(rng.randint(2, 4))
    ]
    for kill in [*kills, None]:
        print(kill, flush=True)
        newest, promised = _complete(folder), _promised(folder, n_ranks)
        child = _start(folder, n_ranks, options, kill)
        was_killed = _check_end(child, folder, child.wait(LIMIT))
        _check_loaded(child, newest, promised)
        if not was_killed:
            break  # the training is complete
        counts['kills'] += 1
        counts[f'in the {kill["place"]}'] += 1
    if _end(child) != expected:
        raise guard.Finding(f'the end is {_end(child)} instead of {expected}')
    return counts


if __name__ == '__main__':
    train(json.loads(sys.argv[1]))
