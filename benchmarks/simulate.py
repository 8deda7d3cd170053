"""Steps as predicted and as measured: ``python benchmarks/simulate.py [WORKLOAD ...]``.

The ranks measure what connects them, and in turn the step of a process, while all of them compute
but do not know of each other, and the step of all ranks together. From the former,
``chainermn.simulate`` predicts the latter. ``--rate`` puts half of the ranks on each of two hosts,
see ``tools/two_hosts.py``:

    python benchmarks/simulate.py --ranks 2
    python benchmarks/simulate.py --ranks 4 --rate 100mbit --dtypes float32,bfloat16

The times are minima: on a machine that does other work, they are what the simulator is about.
"""

import argparse
import dataclasses
import functools
import sys
import time
from typing import Any

from distributed import start


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('workload', nargs='*', default=['mlp', 'resnet18', 'gpt'])
    parser.add_argument('--ranks', type=int, default=2, help='number of ranks (2)')
    parser.add_argument('--engine', default='numpy', choices=['numpy', 'chainerx'])
    parser.add_argument('--dtypes', default='float32', help='of gradients in messages')
    parser.add_argument('--sharded', action='store_true', help='Adam with a sharded state')
    parser.add_argument('--rate', help='put the ranks on two hosts with this connection: 1gbit')
    parser.add_argument('--threads', type=int, default=1, help='threads of each rank (1)')
    parser.add_argument('--rounds', type=int, default=15, help='number of turns')
    parser.add_argument('--steps', type=int, default=2, help='steps of a turn (2)')
    parser.add_argument('--on-ranks', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rate and args.ranks % 2:
        parser.error('--rate has two hosts, so it needs an even number of ranks')
    return args


class Pair:
    """The same step, of one process and of all ranks.

    Args:
        args: Options of the command line.
        comm: Communicator.
        workload: Workload.

    """

    def __init__(self, args, comm, workload):
        from ranks import DEVICES

        import chainermn
        from chainer import optimizers

        self._args = args
        self._world = comm.mpi_comm
        self._steps: list[Any] = []
        self._times: list[float] = []
        self._parts = []
        for is_alone in True, False:
            model, x, t = workload.chainer_parts(DEVICES[args.engine])
            optimizer: Any = optimizers.Adam() if args.sharded else optimizers.SGD(workload.lr)
            if not is_alone:
                optimizer = chainermn.create_multi_node_optimizer(
                    optimizer, comm, sharded=args.sharded
                )
            self._parts.append((optimizer.setup(model), self._loss_of(model), x, t))
        for _ in range(3):  # makes parameters equal, finds the order of gradients, uses it
            self._together()

    def _loss_of(self, model):
        import chainer.functions as F

        return lambda x, t: F.softmax_cross_entropy(model(x), t)

    def _together(self):
        optimizer, *arguments = self._parts[1]
        optimizer.update(*arguments)

    def measure(self):
        """Takes a turn of each."""
        from chainermn.simulation import measure_step

        self._world.Barrier()
        self._steps.append(measure_step(*self._parts[0], rounds=self._args.steps))
        self._world.Barrier()
        times = []
        for _ in range(self._args.steps):
            begin = time.perf_counter()
            self._together()
            times.append(time.perf_counter() - begin)
        # The fastest step of the mean rank, as predictions begin with fastest steps.
        means = [sum(each) / self._world.size for each in zip(*self._world.allgather(times))]
        self._times.append(min(means))

    def results(self):
        """Returns the step of the slowest process, and the seconds of the ranks together."""
        fastest = min(self._steps, key=lambda step: step.compute)
        steps = self._world.allgather(fastest)
        return max(steps, key=lambda step: step.compute), min(self._times)


def best_of(clusters):
    """Returns the cluster with the best numbers of all of them."""
    from chainermn.simulation import Coding, Connection

    def best(connections):
        latency = min(connection.latency for connection in connections)
        bandwidth = max(connection.bandwidth for connection in connections)
        return Connection(latency, bandwidth, min(c.overhead for c in connections))

    memory = best([cluster.memory for cluster in clusters])
    networks = [cluster.network for cluster in clusters if cluster.network is not None]
    network = best(networks) if networks else None
    codings = [cluster.coding for cluster in clusters]
    coding = Coding(max(c.encode for c in codings), max(c.decode for c in codings))
    return dataclasses.replace(clusters[0], memory=memory, network=network, coding=coding)


def describe(name, prediction, measured):
    import harness

    parts = [prediction.compute, prediction.hidden, prediction.exposed, prediction.total, measured]
    error = prediction.total / measured - 1
    return [name, *map(harness.format_time, parts), f'{error:+.0%}']


def main():
    args = parse()
    if not args.on_ranks:
        return start(args)

    import harness
    from workloads import WORKLOADS

    import chainermn
    from chainermn.simulation import measure_cluster

    dtypes = args.dtypes.split(',')
    comms = {
        dtype: chainermn.create_communicator('naive', allreduce_grad_dtype=dtype)
        for dtype in dtypes
    }
    comm = comms[dtypes[0]]
    clusters = []
    pairs = {
        (name, dtype): Pair(args, comms[dtype], WORKLOADS[name])
        for name in args.workload
        for dtype in dtypes
    }
    for _ in range(args.rounds):
        # Not at once: another program may disturb a whole measurement.
        clusters.append(measure_cluster(comm, rounds=3))
        for pair in pairs.values():
            pair.measure()
    cluster = best_of(clusters)
    rows = []
    for (name, dtype), pair in pairs.items():
        step, measured = pair.results()
        options: dict[str, Any] = {'bucket_bytes': None} if args.engine == 'chainerx' else {}
        predict = functools.partial(
            chainermn.simulate, step, cluster, sharded=args.sharded, **options
        )
        rows.append(describe(f'`{name}`, {dtype}', predict(allreduce_grad_dtype=dtype), measured))
    if comm.rank == 0:
        harness.print_machine(args.threads)
        print(f'{cluster}; rate {args.rate or "not limited"}')
        head = ['step', 'compute', 'hidden', 'exposed', 'predicted', 'measured', 'error']
        harness.print_table(head, rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
