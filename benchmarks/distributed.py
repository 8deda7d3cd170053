"""Training on several ranks, side by side: ``python benchmarks/distributed.py [WORKLOAD ...]``.

Every workload runs in turn (A B C A B C) with ChainerMN, on NumPy and on ChainerX, over MPI, and
with PyTorch's DistributedDataParallel (DDP) over gloo; each by one process alone, by as many
processes as there are ranks that do not know of each other ("apart"), and by the ranks together.
Each rank has the batch of the workload, or of ``--batch`` samples. The *overhead* is the time by
which the step of the ranks is longer than that of one process, the *efficiency* its inverse ratio.
What the communication itself costs is the time by which the step is longer than "apart"; the *mean*
is the time that averaging the gradients takes with nothing else to do, and in brackets, by how much
it is faster than the first way of its engine. The ranks start from the same parameters with
different data, and their first losses must agree between all ways.

Several dtypes of gradients, with overlap of backward and communication and without, and what is
sharded (the state of Adam, gradients with it, or parameters, too; PyTorch's way to the last two is
FSDP2) are compared by naming them with commas. How much faster a way is than PyTorch compares it
with PyTorch's way of the same sharding:

    python benchmarks/distributed.py --dtypes float32,bfloat16 --rate 1gbit
    python benchmarks/distributed.py mlp --batch 10 --dtypes float32,bfloat16 --rate 1gbit
    python benchmarks/distributed.py gpt --overlap overlap,after
    python benchmarks/distributed.py --states whole,sharded,gradients,parameters --ranks 4

``--rate`` puts half of the ranks on each of two hosts, see ``tools/two_hosts.py``.
"""

import argparse
import copy
import functools
import itertools
import os
import statistics
import subprocess
import sys
from typing import Any

from run import THREAD_VARIABLES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHOICES = {
    'dtypes': ('float32', 'bfloat16', 'float16', 'int8'),
    'overlap': ('overlap', 'after'),
    'states': ('whole', 'sharded', 'gradients', 'parameters'),
}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('workload', nargs='*', default=['mlp', 'resnet18', 'gpt'])
    parser.add_argument('--ranks', type=int, default=2, help='number of ranks (2)')
    parser.add_argument('--engines', default='torch,numpy,chainerx', help='engines to run')
    parser.add_argument('--communicator', default='naive', help='naive or flat')
    parser.add_argument('--dtypes', default='float32', help=' '.join(CHOICES['dtypes']))
    parser.add_argument('--overlap', default='overlap', help=' '.join(CHOICES['overlap']))
    parser.add_argument('--states', default='whole', help=' '.join(CHOICES['states']))
    parser.add_argument('--bucket-mib', type=float, default=1, help='size of buckets (1)')
    parser.add_argument('--adam', action='store_true', help='Adam in place of SGD')
    parser.add_argument('--batch', type=int, help='samples in the batch of a rank')
    parser.add_argument('--rate', help='put two ranks on two hosts with this connection: 1gbit')
    parser.add_argument('--threads', type=int, default=1, help='threads of each rank (1)')
    parser.add_argument('--rounds', type=int, default=15, help='number of turns of each way')
    parser.add_argument('--seconds', type=float, default=0.2, help='minimum time of one turn')
    parser.add_argument('--best', action='store_true', help='minima in place of medians')
    parser.add_argument('--on-ranks', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    for name, choices in CHOICES.items():
        values = getattr(args, name).split(',')
        if set(values) - set(choices):
            parser.error(f'--{name}: choose from {", ".join(choices)}')
        setattr(args, name, values)
    args.adam |= args.states != ['whole']
    if args.rate and args.ranks % 2:
        parser.error('--rate has two hosts, so it needs an even number of ranks')
    return args


def start(args):
    """Runs the script of this process on the ranks; returns the exit status."""
    from chainermn import run

    command, hosts = [run.find_mpiexec()], []
    if args.rate:
        two_hosts = os.path.join(ROOT, 'tools', 'two_hosts.py')
        command = [sys.executable, two_hosts, '--rate', args.rate, *command]
        hosts = ['-hosts', 'left,right', '-ppn', str(args.ranks // 2)]
    program = [sys.executable, *sys.argv, '--on-ranks']
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(args.threads))}
    if not args.rate:
        environment.setdefault('GLOO_SOCKET_IFNAME', 'lo')
    return subprocess.run(
        [*command, *hosts, '-n', str(args.ranks), *program], env=environment
    ).returncode


def measure_workload(args, engines, ranks, workload):
    """Returns the table of a workload as a heading and rows."""
    import harness
    from ranks import Way

    ways = [
        way
        for way in map(Way._make, itertools.product(engines, *(getattr(args, k) for k in CHOICES)))
        if way.exists
    ]
    alone = {engine: ranks.alone(workload, engine) for engine in engines}
    together = {way: ranks.together(workload, way) for way in ways}
    ranks.check(workload, together)
    for step in alone.values():
        step.run()
    timers: dict[object, Any] = {}
    for way, step in together.items():
        engine = way.engine
        if (engine, 1) not in timers:
            timers[engine, 1] = ranks.timer(alone[engine].run, 1)
            timers[engine, args.ranks] = ranks.timer(alone[engine].run)
        timers[way] = ranks.timer(step.run)
        if step.mean is not None:
            timers[way, 'mean'] = ranks.timer(step.mean)
    times = harness.measure(
        timers, args.rounds, args.seconds, min if args.best else statistics.median
    )
    state = {way: ranks.world.allgather(step.state_bytes()) for way, step in together.items()}
    counts = [len(getattr(args, name)) for name in CHOICES]
    rows = []
    first: dict[str, float] = {}  # of each engine
    first_mean: dict[str, float] = {}
    rivals: dict[str, float] = {}  # PyTorch's first way to each state
    first_overhead = None
    for way in ways:
        one, several = times[way.engine, 1], times[way]
        overhead = several - one
        first.setdefault(way.engine, several)
        if way.engine == 'torch':
            rivals.setdefault(way.state, several)
            first_overhead = first_overhead or overhead
        row = [way.title(counts), harness.format_time(one)]
        row += [harness.format_time(times[way.engine, args.ranks]), harness.format_time(several)]
        row += [f'{overhead * 1e3:.2f} ms', f'{one / several:.2f}']
        row.append('-' if first_overhead is None else f'{overhead / first_overhead:.2f}')
        rival = rivals.get(way.state)
        row.append('-' if rival is None else f'{rival / several:.2f}')
        row.append(f'{first[way.engine] / several:.2f}')
        mean = times.get((way, 'mean'))
        if mean is None:
            row.append('-')
        else:
            faster = first_mean.setdefault(way.engine, mean) / mean
            row.append(f'{harness.format_time(mean)} ({faster:.2f})')
        if args.adam:
            whole = alone[way.engine].state_bytes()
            row.append(f'{max(state[way]) / 2**20:.2f} MiB ({max(state[way]) / whole:.2f})')
        rows.append(row)
    heading = [f'`{workload.name}`', 'one process', 'apart', f'{args.ranks} ranks', 'overhead']
    heading += ['efficiency', "overhead / DDP's", 'faster than PyTorch', 'than the first way']
    heading.append('mean')
    return heading + ['state of a rank'] * args.adam, rows


def main():
    args = parse()
    if not args.on_ranks:
        return start(args)

    import harness
    import ranks as ranks_module
    from workloads import WORKLOADS

    ranks = ranks_module.Ranks(args)
    is_first = ranks.comm.rank == 0
    engines = harness.select_engines(args.engines.split(','))
    if is_first:
        harness.print_machine(args.threads)
        network = f'two hosts, {args.rate}' if args.rate else 'one host'
        print(
            f'{args.ranks} ranks, {network}; the times are {"minima" if args.best else "medians"}'
        )
    show = harness.print_table if is_first else functools.partial(lambda *_: None)
    with ranks_module.torch_started(ranks, 'torch' in engines):
        for name in args.workload:
            workload = copy.copy(WORKLOADS[name])
            if args.batch:
                if not hasattr(workload, 'batch'):
                    raise ValueError(f'{name} has no choice of batch')
                workload.batch = args.batch
            show(*measure_workload(args, engines, ranks, workload))
    return 0


if __name__ == '__main__':
    sys.exit(main())
