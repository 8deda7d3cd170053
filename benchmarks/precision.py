"""Training in several dtypes side by side: ``python benchmarks/precision.py [WORKLOAD ...]``.

The first table has the time of a step in each dtype, engines and dtypes in turn, with its multiple
of the same engine's time in float32. PyTorch uses ``torch.autocast``. The second table has the mean
loss of ``--updates`` updates, and how far it is from the engine's loss in float32.
"""

import argparse
import copy
import os
import statistics
import sys
import timeit

ENGINES = ('torch', 'chainerx', 'compiled')


def build_steps(workload, engines, precisions):
    """Returns a function that does one step for each engine and precision."""
    steps = {}
    for precision in precisions:
        variant = copy.copy(workload)
        variant.precision = precision
        for engine in engines:
            steps[engine, precision] = variant.build(engine)
    return steps


def print_times(harness, workload, engines, precisions, options):
    steps = build_steps(workload, engines, precisions)
    timers = {key: timeit.Timer(step, 'import gc; gc.enable()') for key, step in steps.items()}
    for step in steps.values():
        for _ in range(3):  # plans are made
            step()
    times = harness.measure(timers, options.rounds, options.seconds)
    rows = []
    for precision in precisions:
        cells = [f'`{workload.name}`, {precision}']
        for engine in engines:
            time, unit = times[engine, precision], times[engine, precisions[0]]
            cells.append(f'{harness.format_time(time)} ({time / unit:.2f}x)')
        for engine in engines[1:]:
            cells.append(f'{times[engine, precision] / times[engines[0], precision]:.2f}')
        rows.append(cells)
    names = [harness.ENGINES[engine][0] for engine in engines]
    ratios = [f'{name} / {names[0]}' for name in names[1:]]
    harness.print_table(['one step', *names, *ratios], rows)


def print_losses(harness, workload, engines, precisions, updates):
    losses = {}
    for key, step in build_steps(workload, engines, precisions).items():
        losses[key] = [step().item() for _ in range(updates)]
    rows = []
    for precision in precisions:
        cells = [f'`{workload.name}`, {precision}']
        for engine in engines:
            mean = statistics.fmean(losses[engine, precision])
            single = statistics.fmean(losses[engine, precisions[0]])
            last = losses[engine, precision][-1]
            cells.append(f'{mean:.4g} ({mean / single - 1:+.2%}), last {last:.3g}')
        rows.append(cells)
    names = [harness.ENGINES[engine][0] for engine in engines]
    harness.print_table([f'mean loss of {updates} updates', *names], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('workload', nargs='*', default=['mlp', 'gpt'])
    parser.add_argument('--precisions', default='mixed_bfloat16', help='besides float32')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--seconds', type=float, default=0.05, help='minimum time of one turn')
    parser.add_argument('--updates', type=int, default=0, help='also compare losses')
    options = parser.parse_args()
    for name in 'OPENBLAS', 'OMP', 'MKL', 'CHAINERX':  # read when the libraries are imported
        os.environ[f'{name}_NUM_THREADS'] = str(options.threads)

    import harness
    from workloads import WORKLOADS

    harness.print_machine(options.threads)
    engines = harness.select_engines(ENGINES)
    precisions = ['float32', *options.precisions.split(',')]
    for name in options.workload:
        print_times(harness, WORKLOADS[name], engines, precisions, options)
        if options.updates:
            print_losses(harness, WORKLOADS[name], engines, precisions, options.updates)


if __name__ == '__main__':
    sys.exit(main())
