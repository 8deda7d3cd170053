"""Times the overhead of a graph node: ``python benchmarks/node_cost.py``.

Functions of a 4x4 float32 array do almost no arithmetic, so their times show the overhead of
applying a function with and without recording, and of backpropagation. The time of a chain is
divided by its number of nodes. Engines take turns, and the minimum of each counts. All times are
processor times, which other work on the machine hardly affects.
"""

import argparse
import os
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

for _name in 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'CHAINERX_NUM_THREADS':
    os.environ.setdefault(_name, '1')

import harness  # noqa: E402
import numpy  # noqa: E402

CHAIN = 1000
DATA = numpy.zeros((4, 4), numpy.float32)


class Torch:
    def __init__(self):
        import torch

        torch.set_num_threads(1)
        self._torch = torch

        class Identity(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, gy):
                return gy

        self.functions = {
            'identity of a user': Identity.apply,
            'x + x': lambda x: x + x,
            'relu(x)': torch.relu,
        }

    def leaf(self):
        return self._torch.tensor(DATA, requires_grad=True)

    def backward(self, leaf, y, gy):
        leaf.grad = None
        y.backward(gy)

    def gradient(self):
        return self._torch.tensor(DATA)

    def no_graph(self):
        return self._torch.no_grad()


class Chainer:
    def __init__(self, device):
        import chainer
        import chainer.functions as F

        self._chainer = chainer
        self._device = chainer.get_device(device)

        class Identity(chainer.FunctionNode):
            def forward(self, inputs):
                return inputs

            def forward_chainerx(self, inputs):
                return (inputs[0].view(),)

            def backward(self, target_input_indexes, grad_outputs):
                return grad_outputs

        self.functions = {
            'identity of a user': lambda x: Identity().apply((x,))[0],
            'x + x': lambda x: F.add(x, x),
            'relu(x)': F.relu,
        }

    def leaf(self):
        return self._chainer.Variable(self._device.send(DATA.copy()))

    def backward(self, leaf, y, gy):
        leaf.cleargrad()
        y.grad = gy
        y.backward()

    def gradient(self):
        return self._device.send(DATA)

    def no_graph(self):
        return self._chainer.no_backprop_mode()


ENGINES: dict[str, Callable[[], Any]] = {
    'torch': Torch,
    'numpy': lambda: Chainer('@numpy'),
    'chainerx': lambda: Chainer('native:0'),
}


def _measurements(engine, function):
    """Returns pairs of a function to time and its number of nodes, by name."""
    f = engine.functions[function]
    leaf, gy = engine.leaf(), engine.gradient()

    def not_recorded():
        with engine.no_graph():
            for _ in range(CHAIN):
                f(leaf)

    def chain():
        y = leaf
        for _ in range(CHAIN):
            y = f(y)
        return y

    def round_trip():
        engine.backward(leaf, chain(), gy)

    return {
        'not recorded': (not_recorded, CHAIN),
        'recorded': (lambda: f(leaf), 1),
        f'chain of {CHAIN}, forward': (chain, CHAIN),
        f'chain of {CHAIN}, forward and backward': (round_trip, CHAIN),
    }


def _seconds(call):
    timer = timeit.Timer(call, timer=time.process_time)
    number = max(1, int(0.02 / max(timer.timeit(1), 1e-7)))
    return timer.timeit(number) / number


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--rounds', type=int, default=7, help='turns that each engine gets')
    parser.add_argument('--engines', help='engines to run, separated by commas; all unless given')
    args = parser.parse_args()
    try:
        names = harness.select_engines(args.engines.split(',') if args.engines else list(ENGINES))
    except ValueError as error:
        parser.error(str(error))
    names = [name for name in names if name in ENGINES]
    harness.print_machine(1)
    engines = {name: ENGINES[name]() for name in names}
    rows = []
    for function in next(iter(engines.values())).functions:
        calls = {name: _measurements(engine, function) for name, engine in engines.items()}
        for what in next(iter(calls.values())):
            best = dict.fromkeys(names, float('inf'))
            for _ in range(args.rounds):
                for name in names:
                    call, n_nodes = calls[name][what]
                    best[name] = min(best[name], _seconds(call) / n_nodes)
            unit = best.get('torch')
            row = [function, what]
            for name in names:
                ratio = '' if unit is None or name == 'torch' else f' ({best[name] / unit:.2f}x)'
                row.append(f'{best[name] * 1e9:.0f} ns{ratio}')
            rows.append(row)
    harness.print_table(['function', 'per node', *[harness.ENGINES[n][0] for n in names]], rows)


if __name__ == '__main__':
    sys.exit(main())
