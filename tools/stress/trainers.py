"""Killed training programs: the newest whole snapshot loads, and nothing differs at the end."""

from __future__ import annotations

import json
import random
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from helpers.writers import WRITERS

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
from chainer import iterators, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers
from tools.stress import guard

N_ITERATIONS = 16
N_RETAINS = 3
NAME = re.compile(r'snapshot_iter_(\d+)')
LIMIT = 40  # seconds after which a training program hangs
ITERATORS: dict[str, dict[str, Any]] = {
    'SerialIterator': {},
    'MultithreadIterator': {'n_threads': 2},
    'MultiprocessIterator': {'n_processes': 2},
}


class Model(chainer.Chain):
    """A network with random numbers, whose state has to be resumed, too."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(30, 300)
            self.norm = L.BatchNormalization(300)
            self.l2 = L.Linear(300, 5)

    def forward(self, x: Any, t: Any) -> Any:
        h = F.dropout(F.relu(self.norm(self.l1(x))))
        loss = F.softmax_cross_entropy(self.l2(h), t)
        chainer.report({'loss': loss}, self)
        return loss


def train(device: str, iterator: str, writer: str, optimizer: str) -> None:
    """The training program: resumes, trains to the end and saves the model."""
    np.random.seed(0)
    draw = np.random.RandomState(1)
    data = chainer.datasets.TupleDataset(
        draw.rand(64, 30).astype('f'), draw.randint(5, size=64).astype('i')
    )
    model = Model()
    model.to_device(device)
    updater = training.updaters.StandardUpdater(
        getattr(iterators, iterator)(data, 8, **ITERATORS[iterator]),
        getattr(chainer.optimizers, optimizer)().setup(model),
        device=chainer.get_device(device),
    )
    trainer = training.Trainer(updater, (N_ITERATIONS, 'iteration'), out='result')
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    snapshot = extensions.snapshot(
        writer=getattr(snapshot_writers, writer)(), n_retains=N_RETAINS, autoload=True
    )
    trainer.extend(snapshot, trigger=(1, 'iteration'))
    trainer.run()
    chainer.serializers.save_npz('model.npz', model)


def _start(folder: Path, arguments: list[str]) -> guard.Child:
    return guard.Child('-m', 'tools.stress.trainers', *arguments, folder=folder)


def _snapshots(folder: Path) -> list[str]:
    names = [path.name for path in folder.glob('result/snapshot*')]
    return sorted(names, key=lambda name: int(NAME.fullmatch(name)[1]))


def _check_resumed(child: guard.Child, newest: str | None) -> None:
    """Checks that the program loaded the newest snapshot, if it came as far as that."""
    loaded = re.search(r'Snapshot loaded from (.*)|No snapshot file', child.output)
    if loaded is None:
        return
    name = loaded[1] and Path(loaded[1]).name
    if name != newest:
        raise guard.Finding(f'loaded {name} instead of {newest}\n{child.describe()}')


def _check_files(folder: Path) -> None:
    """Checks what a finished program leaves."""
    expected = {f'snapshot_iter_{N_ITERATIONS - i}' for i in range(N_RETAINS)} | {'log'}
    actual = {path.name for path in (folder / 'result').iterdir()}
    if actual != expected:
        raise guard.Finding(f'the result folder has {sorted(actual)}')


def _end(folder: Path) -> Any:
    log = json.loads((folder / 'result/log').read_text())
    with np.load(folder / 'model.npz') as arrays:
        return [entry['main/loss'] for entry in log], dict(arrays)


def case(rng: random.Random) -> dict[str, int]:
    """Kills a training program a few times, lets it end, and compares with an undisturbed one."""
    arguments = [
        rng.choice(['@numpy', 'native:0'] if chainerx.is_available() else ['@numpy']),
        rng.choice(list(ITERATORS)),
        rng.choice(WRITERS).__name__,
        rng.choice(['Adam', 'MomentumSGD', 'RMSprop']),
    ]
    print(' '.join(arguments), flush=True)
    counts = {arguments[2]: 1}
    folders = Path('undisturbed'), Path('disturbed')
    for folder in folders:
        folder.mkdir()
    start = time.monotonic()
    child = _start(folders[0], arguments)
    if child.wait(LIMIT):
        raise guard.Finding(child.describe())
    seconds = time.monotonic() - start

    folder = folders[1]
    for _ in range(rng.randint(1, 3)):
        signum = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        moment = rng.uniform(0.2, 1) * seconds
        print(f'{signum.name} after {moment:.3f} of {seconds:.3f} s', flush=True)
        newest = [None, *_snapshots(folder)][-1]
        child = _start(folder, arguments)
        time.sleep(moment)
        child.process.send_signal(signum)
        child.wait(LIMIT)
        _check_resumed(child, newest)
        counts[signum.name] = counts.get(signum.name, 0) + 1
        if (folder / 'model.npz').exists():
            break  # it was faster
    newest = [None, *_snapshots(folder)][-1]
    child = _start(folder, arguments)
    if child.wait(LIMIT):
        raise guard.Finding(child.describe())
    _check_resumed(child, newest)
    _check_files(folder)
    (log, model), (expected_log, expected) = map(_end, reversed(folders))
    if log != expected_log:
        raise guard.Finding(f'the log has the losses {log} instead of {expected_log}')
    for name, array in expected.items():
        if array.tobytes() != model[name].tobytes():
            raise guard.Finding(f'{name} differs from that of the undisturbed program')
    return counts


if __name__ == '__main__':
    train(*sys.argv[1:])
