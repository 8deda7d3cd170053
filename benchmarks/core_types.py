"""Matrix products by core type of OpenBLAS: ``python benchmarks/core_types.py``.

OpenBLAS multiplies with the kernels of a core type. This shows which types this processor accepts
and what each reaches, so that the choice in ``kernels/blas.cc`` can be checked on a new processor.
Every type runs in a process of its own; the processes take turns. The numbers are in units of 1e9
floating-point operations per second of CPU time, in one thread; more is better.
"""

import argparse
import os
import subprocess
import sys
import time

from harness import print_machine, print_table
from run import THREAD_VARIABLES

CORE_TYPES = ['', 'Haswell', 'Zen', 'SkylakeX', 'Cooperlake', 'SapphireRapids']
SIZES = [(128, 784, 1000), (256, 256, 256), (64, 512, 512), (1024, 1024, 1024)]
OPERATIONS_OF_TURN = 5e8


def serve():
    """Prints the core type, then answers each line of the standard input with a line of numbers."""
    import chainerx

    print(*chainerx._core._get_blas_core(), sep='; ', flush=True)
    operands = [(chainerx.ones((m, k), 'f'), chainerx.ones((k, n), 'f')) for m, k, n in SIZES]
    for _ in sys.stdin:
        rates = []
        for (m, k, n), (a, b) in zip(SIZES, operands):
            count = max(1, round(OPERATIONS_OF_TURN / (2 * m * k * n)))
            start = time.process_time()
            for _ in range(count):
                a.dot(b)
            rates.append(count * 2e-9 * m * k * n / (time.process_time() - start))
        print(*rates, flush=True)


def _start(core_type):
    return subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), '--serve'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, '1'), 'OPENBLAS_CORETYPE': core_type},
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--rounds', type=int, default=10, help='number of turns of each type')
    args = parser.parse_args()
    print_machine(1)
    processes, titles = {}, {}
    for name in CORE_TYPES:
        process = _start(name)
        core_type, reason = process.stdout.readline().strip().split('; ')
        if name and core_type != name:
            process.kill()  # OpenBLAS does not know the type, or the processor cannot be one
            process.wait()
        else:
            processes[name], titles[name] = process, f'{core_type} ({reason})'
    best = {name: [0.0] * len(SIZES) for name in processes}
    for _ in range(args.rounds):
        for name, process in processes.items():
            process.stdin.write('\n')
            process.stdin.flush()
            rates = map(float, process.stdout.readline().split())
            best[name] = [max(pair) for pair in zip(best[name], rates)]
    for process in processes.values():
        process.stdin.close()
        process.wait()
    rows = [[titles[name], *(f'{rate:.1f}' for rate in rates)] for name, rates in best.items()]
    print_table(['core type', *('x'.join(map(str, size)) for size in SIZES)], rows)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--serve']:
        serve()
    else:
        main()
