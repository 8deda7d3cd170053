"""Killed ranks of jobs that go on: the losses are those of a run of the same numbers of ranks."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import chainer
import chainer.links as L
import chainermn
from chainer import iterators, training
from chainermn._checkpoints import files, memory
from chainermn._tcp import rendezvous
from tools.stress import guard, jobs

N_RANKS = 4
N_ITERATIONS = 16
CHECKPOINTS = 3  # iterations between them, at least
LIMIT = 90  # seconds after which a job hangs; a loaded machine takes long to start it
#: When a rank is killed. The numbers are the most seconds after the moment begins.
MOMENTS = {
    **{'start': 2.0, 'connecting': 0.01, 'training': 0.3},
    **{'checkpoint': 0.01, 'copy': 0.01, 'end': 0.01},
}
_STEP_SECONDS = 0.01  # that a step takes at least, so that moments differ
_JOINS_AT = 12  # iteration at which fewer ranks wait for others to join, if these may
_JOIN_SECONDS = 30


class _Log:
    """What all ranks write to one file, a line at a time."""

    def __init__(self, path: str) -> None:
        self._path = path

    def write(self, *words: object) -> None:
        with open(self._path, 'a') as file:
            file.write(' '.join(map(str, [*words, time.time()])) + '\n')


def _kill(log: _Log, moment: str, seconds: float) -> None:
    """Kills this process in a while."""

    def wait() -> None:
        time.sleep(seconds)
        log.write('kill', os.environ['CHAINERMN_RANK'], moment)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def _wait_for_others(comm: Any) -> None:
    """Waits until another rank joins, of which the launcher tells, or until none comes."""
    limit = time.monotonic() + _JOIN_SECONDS
    while comm.rank == 0 and time.monotonic() < limit:
        comm.mpi_comm.Iprobe()
        time.sleep(_STEP_SECONDS)


class _Intervals(NamedTuple):
    """Iterations between copies in memory, none if it is 0, and between checkpoints on disk."""

    memory: int
    disk: int


def _train(comm: Any, log: _Log, kill: Any, grows: bool, intervals: _Intervals, stop: int) -> None:
    """Trains from the latest checkpoint; the first rank logs the losses."""
    np.random.seed(comm.rank)
    draw = np.random.RandomState(1)
    data = chainer.datasets.TupleDataset(
        draw.rand(97, 40).astype('f'), draw.randint(5, size=97).astype('i')
    )
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
    optimizer.setup(L.Classifier(L.Linear(40, 5)))
    part = chainermn.scatter_dataset(data, comm, shuffle=True, seed=0)
    updater = training.updaters.StandardUpdater(iterators.SerialIterator(part, 6), optimizer)
    trainer = training.Trainer(updater, (stop, 'iteration'), out='result')
    checkpointer = chainermn.create_multi_node_checkpointer('run', comm, 100)
    trainer.extend(checkpointer, trigger=(intervals.disk, 'iteration'))
    if intervals.memory:
        trainer.extend(checkpointer.in_memory, trigger=(intervals.memory, 'iteration'))

    def note(trainer: Any) -> None:
        loss = comm.allreduce_obj(float(trainer.observation['main/loss']))
        if comm.rank == 0:
            log.write('loss', trainer.updater.iteration, loss.hex())
        kill('training', trainer.updater.iteration)
        if grows and trainer.updater.iteration == _JOINS_AT and comm.size < N_RANKS:
            _wait_for_others(comm)
        time.sleep(_STEP_SECONDS)

    trainer.extend(note, trigger=(1, 'iteration'), priority=500)
    checkpointer.maybe_load(trainer)
    if comm.rank == 0:
        log.write('begin', trainer.updater.iteration, comm.size)
    trainer.run(show_loop_exception_msg=False)
    kill('end', N_ITERATIONS)
    if comm.rank == 0:
        log.write('end')


def run_rank(grows: bool, intervals: list[int], kills: list[Any]) -> None:
    """A rank that may be killed.

    Args:
        grows: Whether others join in the place of lost ones.
        intervals: Fields of :class:`_Intervals`.
        kills: Number of the rank, how many of that number were killed before, the moment, which of
            these moments, and seconds after it, of each kill.

    """
    log = _Log('log')
    counts: dict[str, int] = {}
    rank = os.environ['CHAINERMN_RANK']
    n_before = len([line for line in _lines(Path()) if line[:2] == ['kill', rank]])
    mine = [kill[2:] for kill in kills if kill[:2] == [int(rank), n_before]]

    def reach(moment: str, number: int | None = None) -> None:
        counts[moment] = counts.get(moment, 0) + 1
        for name, n, seconds in mine:
            if name == moment and (counts[moment] if number is None else number) == n:
                _kill(log, moment, seconds)

    def trap(owner: Any, name: str, moment: str) -> None:
        function = getattr(owner, name)

        def trapped(*args: Any) -> Any:
            reach(moment)
            return function(*args)

        setattr(owner, name, trapped)

    hear = rendezvous._hear

    def hear_slowly(*args: Any) -> Any:
        reach('connecting')
        places = hear(*args)
        reach('connecting')
        time.sleep(random.random() * MOMENTS['connecting'])  # some are there, and others not yet
        return places

    rendezvous._hear = hear_slowly
    trap(files, 'write_part', 'checkpoint')
    trap(files, 'write_manifest', 'checkpoint')
    trap(memory.MemoryWriter, '_exchange', 'copy')
    trap(memory.MemoryWriter, '_finish', 'copy')
    chainermn.run_elastic(
        lambda comm: _train(comm, log, reach, grows, _Intervals(*intervals), N_ITERATIONS), 'naive'
    )


def run_reference(phases: list[list[int]]) -> None:
    """Trains as a job did, whose ranks are parts of all ranks here.

    Args:
        phases: From which iteration to which one how many ranks train.

    """
    log = _Log('log')
    comm = chainermn.create_communicator('naive')
    for begin, end, n_ranks in phases:
        if comm.rank == 0:
            for path in Path().glob('result/run.*'):
                if int(path.name.split('.')[1]) > begin:
                    path.unlink()
        part = comm.split(int(comm.rank < n_ranks), comm.rank)
        if comm.rank < n_ranks:
            _train(part, log, lambda *args: None, False, _Intervals(0, 1), end)


def _start(folder: Path, action: str, *argument: Any, options: Any = ()) -> guard.Child:
    folder.mkdir()
    options = '-n', str(N_RANKS), '--transport', 'tcp', '--on-loss', 'shrink', *options
    return guard.Child(
        '-m', 'chainermn.run', *options, __file__, action, json.dumps(argument), folder=folder
    )


def _lines(folder: Path) -> list[list[str]]:
    path = folder / 'log'
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


class _Phase(NamedTuple):
    """What a number of ranks did."""

    begin: int
    n_ranks: int
    losses: dict[int, str]


def _phases(lines: list[list[str]]) -> list[_Phase]:
    phases: list[_Phase] = []
    for line in lines:
        if line[0] == 'begin':
            phases.append(_Phase(int(line[1]), int(line[2]), {}))
        elif line[0] == 'loss':
            phases[-1].losses[int(line[1])] = line[2]
    return phases


def _seconds_lost(lines: list[list[str]]) -> list[float]:
    """Seconds from the last kill before the training went on to the first step after it."""
    found: list[float] = []
    killed = None
    names = [line[0] for line in lines]
    for i, line in enumerate(lines):
        if line[0] == 'kill' and 'begin' in names[:i] and 'begin' in names[i:]:
            killed = i
        elif line[0] == 'loss' and killed is not None and 'begin' in names[killed:i]:
            found.append(float(line[-1]) - float(lines[killed][-1]))
            killed = None
    return found


def _draw_kills(rng: random.Random, grows: bool, intervals: _Intervals) -> list[list[Any]]:
    """Draws whom to kill and when: one rank at least is left."""
    counts = {'connecting': 2, 'training': N_ITERATIONS}
    if intervals.memory:
        counts['copy'] = 2 * (N_ITERATIONS // intervals.memory)
    if intervals.disk <= N_ITERATIONS:
        counts['checkpoint'] = N_ITERATIONS // intervals.disk
    moments = [*counts, 'end']
    ranks = rng.sample(range(N_RANKS), N_RANKS - 1)
    if grows:
        ranks = rng.choices(ranks, k=N_RANKS)
    kills: list[list[Any]] = []
    for rank in ranks:
        n_before = len([kill for kill in kills if kill[0] == rank])
        moment = rng.choice(moments if kills else ['start', *moments])
        n = N_ITERATIONS if moment == 'end' else rng.randint(1, counts.get(moment, 1))
        if moment == 'connecting' and not n_before:
            n += 2 * rng.randint(0, len(kills))  # which the rank reaches after a loss
        kills.append([rank, n_before, moment, n, rng.uniform(0, MOMENTS[moment])])
    return kills


def _wait(child: guard.Child, before: set[str]) -> int:
    status = child.wait(LIMIT * guard.slowness())
    new = guard.new_shared_memory(before)
    # The job has no MPI: such files are of others.
    if left := [name for name in new if name.startswith('chainermn-')]:
        raise guard.Finding(f'leaves {left} in {guard.SHARED_MEMORY}\n{child.describe()}')
    return status


def _check(child: guard.Child, lines: list[list[str]], status: int) -> None:
    """Checks that a job came to its end, named all that it had lost, and left nothing."""
    # A rank that is killed when all others have ended is the failure of the job.
    is_good = status == 0 or (status == 137 and lines[-1][0] == 'kill' and lines[-1][2] == 'end')
    if not is_good or 'end' not in [line[0] for line in lines]:
        raise guard.Finding(child.describe())
    for _, rank, moment, _ in [line for line in lines if line[0] == 'kill']:
        if moment != 'end' and not re.search(rf'rank {rank} on \S+ was killed', child.errors):
            raise guard.Finding(f'rank {rank} is not named\n{child.describe()}')
    if lines[-1][0] == 'end':  # no rank was killed that would have had to remove them
        if left := [path.name for path in Path('job/result').iterdir() if _is_incomplete(path)]:
            raise guard.Finding(f'leaves {left}\n{child.describe()}')


def _is_incomplete(path: Path) -> bool:
    return jobs.INCOMPLETE.fullmatch(path.name) is not None


def _check_losses(phases: list[_Phase]) -> None:
    """Checks that all losses are those of a run of the same numbers of ranks."""
    before = guard.shared_memory()
    ends = [max(phase.losses, default=phase.begin) for phase in phases]
    argument = [[p.begin, end, p.n_ranks] for p, end in zip(phases, ends)]
    reference = _start(Path('reference'), 'reference', argument)
    if _wait(reference, before):
        raise guard.Finding(reference.describe())
    expected = _phases(_lines(Path('reference')))
    if phases != expected:
        raise guard.Finding(f'the job did {phases} instead of {expected}')


def case(rng: random.Random) -> dict[str, int]:
    """Kills ranks of a job that goes on, and compares it with a reference."""
    grows = rng.random() < 0.5
    has_copies = rng.random() < 0.6
    intervals = _Intervals(0, CHECKPOINTS)
    if has_copies:  # with few checkpoints on disk, or none
        intervals = _Intervals(rng.randint(1, 4), rng.choice([CHECKPOINTS, 7, N_ITERATIONS + 1]))
    kills = _draw_kills(rng, grows, intervals)
    options = ['--restarts', '9', '--rejoin-after', f'{rng.random():.3f}'] if grows else []
    print(kills, intervals, options, flush=True)
    before = guard.shared_memory()
    child = _start(Path('job'), 'rank', grows, intervals, kills, options=options)
    if kills[0][2] == 'start':
        pid = jobs.wait_for_rank(child, kills[0][0])
        time.sleep(kills[0][4])
        _Log('job/log').write('kill', kills[0][0], 'start')
        os.kill(pid, signal.SIGKILL)
    status = _wait(child, before)
    lines = _lines(Path('job'))
    _check(child, lines, status)
    phases = _phases(lines)
    _check_losses(phases)
    sizes = [phase.n_ranks for phase in phases]
    counts = {'ranks killed': 0, 'jobs with copies in memory': int(has_copies)}
    counts['back to disk'] = child.errors.count('memory lacks the parts')
    counts['ranks joined'] = sum([after > one for one, after in zip(sizes, sizes[1:])])
    for line in lines:
        if line[0] == 'kill':
            counts['ranks killed'] += 1
            counts[f'at {line[2]}'] = counts.get(f'at {line[2]}', 0) + 1
    seconds = _seconds_lost(lines)
    print('seconds lost:', seconds, flush=True)
    for lost in seconds:
        text = next((f'{s:g} s' for s in (0.5, 1, 2, 5) if lost < s), 'more than 5 s')
        counts[f'back in {text}'] = counts.get(f'back in {text}', 0) + 1
    counts['milliseconds lost'] = round(1000 * sum(seconds))
    return counts


if __name__ == '__main__':
    {'rank': run_rank, 'reference': run_reference}[sys.argv[1]](*json.loads(sys.argv[2]))
