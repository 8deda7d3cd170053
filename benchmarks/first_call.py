"""Times the calls that make a plan: ``python benchmarks/first_call.py [WORKLOAD ...]``.

The first call of a compiled function is traced and the next ones are recorded, until one runs a
plan. The table has their times as multiples of an eager call: the median of each over
some functions. All times are processor times, which other work on the machine hardly affects.
"""

import argparse
import os
import statistics
import time

for _name in 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'CHAINERX_NUM_THREADS':
    os.environ.setdefault(_name, '1')

import harness  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

WORKLOADS_BY_DEFAULT = 'mlp-tiny', 'cnn-tiny', 'lstm-tiny', 'gpt-tiny', 'mlp', 'cnn', 'lstm', 'gpt'
MAX_CALLS = 8


def measure(step):
    """Returns the processor time of a call."""
    start = time.process_time()
    step()
    return time.process_time() - start


def first_calls(workload):
    """Returns the times of the first calls, up to the first one that ran a plan."""
    step = workload.compiled()
    times: list[float] = []
    while step.replays == 0 and len(times) < MAX_CALLS:
        times.append(measure(step))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('workloads', nargs='*', default=WORKLOADS_BY_DEFAULT)
    parser.add_argument('--repeats', type=int, default=7)
    options = parser.parse_args()
    rows = []
    for name in options.workloads:
        workload = WORKLOADS[name]
        usual_step = workload.chainerx()
        usual_step()
        usual, calls = [], []
        for _ in range(options.repeats):
            usual += [measure(usual_step) for _ in range(3)]
            calls.append(first_calls(workload))
        unit = statistics.median(usual)
        multiples = [statistics.median(times) / unit for times in zip(*calls)]
        cells = [f'{multiple:.2f}x' for multiple in multiples]
        rows.append([f'`{name}`', harness.format_time(unit), *cells])
    n_calls = max(map(len, rows)) - 2
    head = ['one step', 'eager', *(f'call {i + 1}' for i in range(n_calls))]
    harness.print_table(head, [row + ['-'] * (len(head) - len(row)) for row in rows])


if __name__ == '__main__':
    main()
