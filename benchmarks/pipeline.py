"""Schedules of a model whose stages are on several ranks: ``mpiexec -n 4 python pipeline.py``.

Each rank has a stage of linear layers. The batch passes the stages as a whole, as micro-batches one
after the other, and in the 1F1B schedule, in turn. For each way: the median time of a step, and the
most graphs that each rank keeps, in examples.
"""

import argparse
import functools
import statistics
import time
import weakref

import numpy

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn


class Tap(chainer.FunctionNode):
    """Identity that lives as long as the graph of its examples."""

    live: weakref.WeakSet = weakref.WeakSet()

    def forward(self, inputs):
        self.n_examples = len(inputs[0])
        self.live.add(self)
        return tuple([x.copy() for x in inputs])

    def backward(self, indexes, gys):
        return gys


class Stage(chainer.ChainList):
    """Linear layers, which note the examples whose graphs there are."""

    def __init__(self, n_layers, n_units):
        super().__init__(*[L.Linear(n_units, n_units) for _ in range(n_layers)])
        self.peak = 0

    def forward(self, x):
        (x,) = Tap().apply((x,))
        self.peak = max(self.peak, sum([tap.n_examples for tap in Tap.live]))
        for layer in self:
            x = F.relu(layer(x))
        return x


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--batch', type=int, default=1024, help='examples of a step (1024)')
    parser.add_argument('--micro-batches', type=int, default=8, help='parts of the batch (8)')
    parser.add_argument('--layers', type=int, default=4, help='layers of a stage (4)')
    parser.add_argument('--units', type=int, default=512, help='units of a layer (512)')
    parser.add_argument('--rounds', type=int, default=7, help='turns of each way (7)')
    return parser.parse_args()


def ways(comm, chain, args):
    """Returns functions that compute gradients, by name."""
    rng = numpy.random.RandomState(0)
    x = rng.standard_normal((args.batch, args.units)).astype('float32')
    is_first, is_last = comm.rank == 0, comm.rank == comm.size - 1
    data = {**({'x': x} if is_first else {}), **({'t': x} if is_last else {})}
    n = args.micro_batches

    def loss(x=None, t=None):
        y = chain(x) if is_first else chain()
        return F.mean_squared_error(y, t) if is_last else y

    def one_after_the_other():
        for part in numpy.split(numpy.arange(args.batch), n):
            own_data = {key: value[part[0] : part[-1] + 1] for key, value in data.items()}
            (loss(**own_data) * (1 / n)).backward()

    return {
        'whole batch': lambda: loss(**data).backward(),
        'micro-batches in turn': one_after_the_other,
        '1F1B': functools.partial(chain.run_1f1b, n, loss, **data),
    }


def main():
    args = parse()
    comm = chainermn.create_communicator('naive')
    stage = Stage(args.layers, args.units)
    chain = chainermn.MultiNodeChainList(comm)
    chain.add_link(
        stage,
        comm.rank - 1 if comm.rank else None,
        comm.rank + 1 if comm.rank < comm.size - 1 else None,
    )
    times: dict[str, list[float]] = {}
    peaks = {}
    for _ in range(args.rounds + 1):
        for name, compute in ways(comm, chain, args).items():
            chain.cleargrads()
            stage.peak = 0
            comm.allgather_obj(None)
            start = time.perf_counter()
            compute()
            comm.allgather_obj(None)
            times.setdefault(name, []).append(time.perf_counter() - start)
            peaks[name] = comm.allgather_obj(stage.peak)
    if comm.rank == 0:
        print('\n| schedule              | step, ms | examples in graphs of each rank')
        for name, seconds in times.items():
            median = 1e3 * statistics.median(seconds[1:])
            print(f'| {name:21} | {median:8.1f} | {" ".join(map(str, peaks[name]))}')


if __name__ == '__main__':
    main()
