"""Bandwidth of elementwise functions on a GPU: ``python benchmarks/bandwidth.py --device cuda:0``.

The table gives the bytes read and written in a second, and their share of what a copy reaches.
"""

import argparse
import timeit

import devices
import harness
import numpy


def functions(xp, x, y):
    """Calls by name, and how many arrays each reads and writes."""
    return {
        'copy': (2, x.copy),
        'x + y': (3, lambda: x + y),
        'x * 2': (2, lambda: x * 2),
        'exp': (2, lambda: xp.exp(x)),
        'maximum': (3, lambda: xp.maximum(x, y)),
        'sum': (1, x.sum),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--device', default='cuda:0', help='cuda:N or @cupy:N')
    parser.add_argument('--elements', type=int, default=1 << 26, help='elements of each array')
    parser.add_argument('--dtype', default='float32', help='dtype of the arrays')
    parser.add_argument('--rounds', type=int, default=9, help='number of turns')
    parser.add_argument('--seconds', type=float, default=0.05, help='minimum time of one turn')
    args = parser.parse_args()
    try:
        devices.choose(args.device)
    except ValueError as error:
        parser.error(str(error))
    import chainer

    device = chainer.get_device(args.device)
    x, y = device.send(
        [numpy.random.default_rng(i).random(args.elements).astype(args.dtype) for i in range(2)]
    )
    calls = functions(device.xp, x, y)
    engine = 'cupy' if devices.kind() == '@cupy:' else 'chainerx'
    timers = {n: devices.Timer(timeit.Timer(f), engine) for n, (_, f) in calls.items()}
    times = harness.measure(timers, args.rounds, args.seconds)
    rates = {n: calls[n][0] * x.nbytes / seconds for n, seconds in times.items()}
    print(f'{devices.describe()}; {args.elements} elements of {args.dtype}')
    harness.print_table(
        [harness.ENGINES[engine][0], 'GB/s', 'of a copy'],
        [
            [f'`{n}`', f'{rate / 1e9:.0f}', f'{rate / rates["copy"]:.0%}']
            for n, rate in rates.items()
        ],
    )


if __name__ == '__main__':
    main()
