"""Products of square matrices on a GPU: ``python benchmarks/gemm.py --device cuda:0``.

The table gives operations in a second, by the precision of the factors. PyTorch multiplies matrices
of that dtype; ChainerX and CuPy have no bfloat16, and TF32 and bfloat16 mean that ChainerX rounds
factors of float32 in the product.
"""

import argparse
import timeit

import devices
import harness
import numpy

#: Dtype of the arrays, and the compute mode, by the precision of factors.
PRECISIONS = {
    'float64': ('float64', 'float32'),
    'float32': ('float32', 'float32'),
    'tf32': ('float32', 'tf32'),
    'bfloat16': ('float32', 'bfloat16'),
    'float16': ('float16', 'float32'),
}


def _timer(engine, precision, arrays):
    """Timer of a product; ``None`` if the engine has none of that precision."""
    dtype, mode = PRECISIONS[precision]
    if engine == 'torch':
        import torch

        kind = getattr(torch, 'float32' if precision == 'tf32' else precision)
        x, y = (torch.from_numpy(a).to(devices.torch_device(), kind) for a in arrays)
        return timeit.Timer(lambda: x @ y)
    import chainer

    if engine == 'cupy' and mode != 'float32':
        return None
    x, y = chainer.get_device(devices.name).send([a.astype(dtype) for a in arrays])
    return timeit.Timer(lambda: x @ y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--device', default='cuda:0', help='cuda:N or @cupy:N')
    parser.add_argument('--size', type=int, default=8192, help='rows and columns')
    parser.add_argument('--rounds', type=int, default=9, help='number of turns')
    parser.add_argument('--seconds', type=float, default=0.05, help='minimum time of one turn')
    args = parser.parse_args()
    try:
        devices.choose(args.device)
        engines = [e for e in harness.select_engines(None) if e != 'bare']
    except ValueError as error:
        parser.error(str(error))
    import chainerx

    arrays = [
        numpy.random.default_rng(i).standard_normal((args.size, args.size), 'float32')
        for i in range(2)
    ]
    rows = []
    for precision, (_, mode) in PRECISIONS.items():
        devices.set_precision(precision)
        if devices.kind() == 'cuda:':
            chainerx.set_compute_mode(mode)
        found = {engine: _timer(engine, precision, arrays) for engine in engines}
        timers = {e: devices.Timer(timer, e) for e, timer in found.items() if timer is not None}
        times = harness.measure(timers, args.rounds, args.seconds)
        rates = {e: 2e-12 * args.size**3 / seconds for e, seconds in times.items()}
        rows.append(
            [f'`{precision}`', *(f'{rates[e]:.3g}' if e in rates else '-' for e in engines)]
        )
    print(f'{devices.describe()}; matrices of {args.size} x {args.size}')
    harness.print_table(['TFLOP/s', *(harness.ENGINES[e][0] for e in engines)], rows)


if __name__ == '__main__':
    main()
