"""Side-by-side timings: ``python benchmarks/run.py [WORKLOAD ...]``.

Every workload runs in each installed engine in turn (A B C A B C), in one process. The table gives
medians and their ratio to the unit, PyTorch on the same device: the CPU, or the GPU that
``--device cuda:0`` (ChainerX) or ``--device @cupy:0`` chooses. The engines start from the same
parameters and data, and their first losses must agree before the timing starts.
"""

import argparse
import os
import sys

THREAD_VARIABLES = (
    'OPENBLAS_NUM_THREADS',
    'OMP_NUM_THREADS',
    'MKL_NUM_THREADS',
    'CHAINERX_NUM_THREADS',
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        'workload', nargs='*', help='names to run; unless given, all that the device is made for'
    )
    parser.add_argument('--engines', help='engines to run, separated by commas; all unless given')
    parser.add_argument(
        '--compiled', action='store_true', help='also run steps under chainer.compile'
    )
    parser.add_argument('--device', help='run on a GPU: cuda:N (ChainerX) or @cupy:N')
    parser.add_argument('--threads', type=int, default=1, help='threads for every engine')
    parser.add_argument('--rounds', type=int, default=15, help='number of turns per engine')
    parser.add_argument('--seconds', type=float, default=0.05, help='minimum time of one turn')
    parser.add_argument(
        '--no-process',
        action='store_true',
        help='omit the tables of import times and peak memory',
    )
    parser.add_argument('--list', action='store_true', help='list the workloads and stop')
    parser.add_argument(
        '--memory-of', nargs=2, metavar=('WORKLOAD', 'ENGINE'), help=argparse.SUPPRESS
    )  # the harness runs itself with this
    args = parser.parse_args()
    for name in THREAD_VARIABLES:  # read when the libraries are imported
        os.environ[name] = str(args.threads)

    import devices
    import harness
    from workloads import WORKLOADS

    if args.memory_of:
        name, engine = args.memory_of
        harness.print_memory(WORKLOADS[name], engine)
        return
    if args.list:
        for workload in WORKLOADS.values():
            print(f'{workload.name:<14} {workload.about}')
        return
    unknown = [name for name in args.workload if name not in WORKLOADS]
    if unknown:
        parser.error(
            'unknown workload {}; choose from {}'.format(', '.join(unknown), ', '.join(WORKLOADS))
        )
    try:
        if args.device:
            devices.choose(args.device)
        names = args.engines and args.engines.split(',')
        engines = [
            engine
            for engine in harness.select_engines(names)
            if engine != 'compiled' or names or args.compiled
        ]
    except ValueError as error:
        parser.error(str(error))

    harness.print_machine(args.threads)
    names = args.workload or [w.name for w in WORKLOADS.values() if args.device or w.on_cpu]
    chosen = [WORKLOADS[name] for name in names]
    harness.print_timings(chosen, engines, args.rounds, args.seconds)
    if not (args.no_process or args.device):
        harness.print_imports(engines)
        for workload in chosen:
            if workload.measure_memory:
                harness.print_memory_table(workload, engines, args.threads)


if __name__ == '__main__':
    sys.exit(main())
