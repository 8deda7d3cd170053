"""chainerx beside NumPy and PyTorch, one operation at a time: ``python benchmarks/single_ops.py``.

Every operation runs in each library in turn (A B C A B C), in one process, after the results have
been compared. The table gives the least time of a call in all turns, since other programs can only
add to it; with one thread it is the processor's time, which they disturb less. The ratio is
chainerx's time to the bar's unit: the faster of the two for large arrays, NumPy for small ones
(PyTorch where NumPy has no such operation). Rows over the bar are marked.
"""

import argparse
import os
import sys
import time

from run import THREAD_VARIABLES

# Kind of rows: (title, the most that chainerx may take in units)
BARS = {'small': ('small: the cost of a call', 1.3), 'large': ('large', 1.1)}


def _cells(harness, kind, label, times):
    others = [times[engine] for engine in ('numpy', 'torch') if engine in times]
    if kind == 'small':
        others = others[:1]
    ratio = times['bare'] / min(others)
    cells = [
        harness.format_time(times[engine]) if engine in times else '-'
        for engine in ('numpy', 'torch', 'bare')
    ]
    over = ratio > BARS[kind][1]
    return [f'`{label}`', *cells, '{:.2f}x{}'.format(ratio, ' **over**' * over)], over


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        'text', nargs='*', help='run these ops, and the rows whose label starts with one of these'
    )
    parser.add_argument('--kind', choices=list(BARS), help='small or large only')
    parser.add_argument('--threads', type=int, default=1, help='threads for every library')
    parser.add_argument('--rounds', type=int, default=20, help='turns that each library gets')
    parser.add_argument('--seconds', type=float, default=0.01, help='least time for one turn')
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = str(args.threads)

    import harness
    import ops
    from ops.timers import make_timers

    clock = time.process_time if args.threads == 1 else time.perf_counter
    harness.print_machine(args.threads)
    for kind, (title, bar) in BARS.items():
        if args.kind not in (None, kind):
            continue
        cells = []
        misses = 0
        for bench in ops.select(kind, args.text):
            times = harness.measure(make_timers(bench, clock), args.rounds, args.seconds, min)
            row_cells, over = _cells(harness, kind, bench.label, times)
            cells.append(row_cells)
            misses += over
            print('measured', *row_cells, file=sys.stderr)
        if cells:
            harness.print_table([title, 'NumPy', 'PyTorch', 'chainerx', 'ratio'], cells)
            print(f'\n{misses} of {len(cells)} rows are over the bar of {bar:.1f}.')


if __name__ == '__main__':
    sys.exit(main())
