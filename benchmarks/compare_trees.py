"""Time of one tree relative to another: ``python benchmarks/compare_trees.py OLD NEW``.

OLD and NEW are folders with a built Chainer. Each runs in a process of its own; the processes take
turns every few milliseconds, so that a change of the machine's speed meets both. The table gives
the least time of a step in each tree and the median of the ratios of neighbouring turns, which
resolves differences of a few percent where separate runs of ``run.py`` do not. The numbers are CPU
times. Repeat a row that stands out: memory layout differs between processes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
import timeit
from typing import Any

from harness import ENGINES, format_time, print_machine, print_table
from run import THREAD_VARIABLES
from workloads import WORKLOADS

SECONDS_OF_TURN = 0.06


def serve(workload, engine):
    """Answers each line of the standard input with the seconds of a step."""
    run = workload.build(engine)
    timer: Any = timeit.Timer(run, 'import gc; gc.enable()') if callable(run) else run
    timer.timer = time.process_time
    timer.timeit(3)
    count, elapsed = 1, timer.timeit(1)
    while elapsed < SECONDS_OF_TURN / 12:
        count *= 4
        elapsed = timer.timeit(count)
    count = max(1, round(count * SECONDS_OF_TURN / 3 / elapsed))
    for _ in sys.stdin:
        print(min(timer.repeat(3, count)) / count, flush=True)


def _start(tree, workload, engine):
    environment = dict(os.environ, PYTHONPATH=os.path.abspath(tree))
    environment.update(dict.fromkeys(THREAD_VARIABLES, '1'))
    return subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), '--serve', workload.name, engine],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _ask(process):
    process.stdin.write('\n')
    process.stdin.flush()
    return float(process.stdout.readline())


def compare(trees, workload, engine, rounds):
    """Returns the seconds of a step in the turns of each tree."""
    processes = [_start(tree, workload, engine) for tree in trees]
    times: tuple[list[float], list[float]] = [], []
    for i in range(rounds):
        for k in (0, 1) if i % 2 else (1, 0):  # neither tree always follows the other
            times[k].append(_ask(processes[k]))
    for process in processes:
        process.stdin.close()
        process.wait()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('old', help='folder of the tree to compare with')
    parser.add_argument('new', help='folder of the tree to measure')
    parser.add_argument('workload', nargs='*', help='names of run.py --list; all unless given')
    parser.add_argument('--engines', default='numpy,chainerx,bare', help='separated by commas')
    parser.add_argument('--rounds', type=int, default=30, help='number of turns of each tree')
    args = parser.parse_args()
    print_machine(1)
    rows = []
    for name in args.workload or WORKLOADS:
        workload = WORKLOADS[name]
        for engine in args.engines.split(','):
            if engine not in workload.engines:
                continue
            old, new = compare((args.old, args.new), workload, engine, args.rounds)
            ratio = statistics.median(b / a for a, b in zip(old, new))
            rows.append(
                [
                    f'`{name}`',
                    ENGINES[engine][0],
                    format_time(min(old)),
                    format_time(min(new)),
                    f'{ratio:.3f}',
                ]
            )
    print_table(['one step', 'engine', 'old', 'new', 'new / old'], rows)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--serve']:
        serve(WORKLOADS[sys.argv[2]], sys.argv[3])
    else:
        main()
