"""Measuring and printing, independent of the workloads."""

import importlib.util
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import timeit
from importlib import metadata

import devices

# name: (title in the tables, package that it imports)
ENGINES = {
    'torch': ('PyTorch', 'torch'),
    'hand': ('hand-written NumPy', 'numpy'),
    'numpy': ('Chainer on NumPy', 'chainer'),
    'chainerx': ('Chainer on ChainerX', 'chainer'),
    'compiled': ('the same, compiled', 'chainer'),
    'bare': ('bare chainerx', 'chainerx'),
    'cupy': ('Chainer on CuPy', 'cupy'),
}

# Seconds until the threads of a library sleep, which spin for a while after their last work.
SETTLE = 0.05


def _reason_not_to_run(engine):
    package = ENGINES[engine][1]
    if importlib.util.find_spec(package) is None:
        return f'{package} is not installed'
    if engine in ('chainerx', 'compiled', 'bare'):
        import chainerx

        if not chainerx.is_available():
            return 'ChainerX is not built'
    if engine == 'torch' and devices.kind():
        import torch

        if not torch.cuda.is_available():
            return 'it sees no GPU'
    return None


def select_engines(names):
    """Returns the available engines; names the skipped ones on stderr."""
    possible = devices.ENGINES[devices.kind()]
    unknown = [name for name in names or () if name not in possible]
    if unknown:
        raise ValueError(
            'unknown engine {}; choose from {}'.format(', '.join(unknown), ', '.join(possible))
        )
    chosen = []
    for name in names or possible:
        reason = _reason_not_to_run(name)
        if reason:
            print(f'{ENGINES[name][0]} is skipped: {reason}', file=sys.stderr)
        else:
            chosen.append(name)
    return chosen


def print_table(head, rows):
    print('\n| {} |'.format(' | '.join(head)))
    print('|{}'.format('---|' * len(head)))
    for row in rows:
        print('| {} |'.format(' | '.join(row)))
    sys.stdout.flush()


def format_time(seconds):
    for unit, scale in ('s', 1), ('ms', 1e3), ('us', 1e6):
        if seconds * scale >= 1:
            return f'{seconds * scale:.3g} {unit}'
    return f'{seconds * 1000000000.0:.0f} ns'


def print_machine(threads):
    model = platform.processor()
    if os.path.exists('/proc/cpuinfo'):
        with open('/proc/cpuinfo') as file:
            names = [line.split(': ')[1].strip() for line in file if line.startswith('model name')]
        model = names[0] if names else model
    versions = []
    for package in 'numpy', 'torch', 'chainer':
        try:
            versions.append(f'{package} {metadata.version(package)}')
        except metadata.PackageNotFoundError:
            continue
    print(
        '{}, {} cores, load {:.1f}; {} thread{}; Python {}, {}'.format(
            model,
            os.cpu_count() or 1,
            os.getloadavg()[0],
            threads,
            's' * (threads != 1),
            platform.python_version(),
            ', '.join(versions),
        )
    )
    if devices.kind():
        print(devices.describe())


def _check_losses(workload, steps):
    """Runs a few steps as a warm-up, and compares the losses between the engines."""
    losses = {engine: [step().item() for _ in range(3)] for engine, step in steps.items()}
    reference_engine, reference = next(iter(losses.items()))
    for engine, values in losses.items():
        for value, wanted in zip(values, reference):
            if not abs(value - wanted) <= workload.tolerance * abs(wanted):
                raise RuntimeError(
                    f'{workload.name}: the losses differ, {reference_engine} has '
                    f'{reference}, {engine} has {values}'
                )


def measure(timers, rounds, seconds, summarize=statistics.median):
    """Times each timer in turn; returns the seconds of one execution, the median by default."""
    counts = {}
    for name, timer in timers.items():
        count, elapsed = 1, timer.timeit(1)
        while elapsed < seconds / 4:
            count *= 4
            elapsed = timer.timeit(count)
        counts[name] = max(1, round(count * seconds / elapsed))
    times: dict[str, list[float]] = {name: [] for name in timers}
    pause = 0 if os.environ.get('OMP_NUM_THREADS') == '1' else SETTLE
    for _ in range(rounds):
        for name, timer in timers.items():
            time.sleep(pause)
            times[name].append(timer.timeit(counts[name]) / counts[name])
    return {name: summarize(values) for name, values in times.items()}


def print_timings(workloads, engines, rounds, seconds):
    rows = []
    for workload in workloads:
        if devices.kind():
            devices.set_precision(workload.precision)
        runs = {e: workload.build(e) for e in engines if e in workload.engines}
        steps = {engine: run for engine, run in runs.items() if callable(run)}
        if steps:
            _check_losses(workload, steps)
        # The garbage collector stays on, as in real use.
        timers = {
            engine: timeit.Timer(run, 'import gc; gc.enable()') if callable(run) else run
            for engine, run in runs.items()
        }
        if devices.kind():
            timers = {engine: devices.Timer(timer, engine) for engine, timer in timers.items()}
        times = measure(timers, rounds, seconds)
        unit = times.get('torch' if devices.kind() else workload.unit)
        cells = []
        for engine in engines:
            if engine not in times:
                cells.append('-')
            elif unit is None:
                cells.append(format_time(times[engine]))
            else:
                cells.append(f'{format_time(times[engine])} ({times[engine] / unit:.2f}x)')
        rows.append([f'`{workload.name}`', *cells])
        print(f'measured {workload.name}', file=sys.stderr)
    print_table(['one step', *(ENGINES[engine][0] for engine in engines)], rows)
    print(f"\n(x: multiples of PyTorch's time{'' if devices.kind() else '; for `add` of NumPy'}.)")


def print_imports(engines, rounds=5):
    packages = list(dict.fromkeys(['numpy', *(ENGINES[engine][1] for engine in engines)]))
    code = (
        'import sys, time; before = len(sys.modules); start = time.perf_counter(); import %s; '
        'print(time.perf_counter() - start, len(sys.modules) - before)'
    )
    results: dict[str, list[tuple[float, int]]] = {package: [] for package in packages}
    for _ in range(rounds):
        for package in packages:
            output = subprocess.check_output([sys.executable, '-c', code % package], text=True)
            seconds, modules = output.split()
            results[package].append((float(seconds), int(modules)))
    print_table(
        ['`import`', 'time', 'modules loaded'],
        [
            [
                f'`{package}`',
                format_time(statistics.median(t for t, _ in values)),
                str(values[0][1]),
            ]
            for package, values in results.items()
        ],
    )


def _peak_mib():
    # Not getrusage's ru_maxrss: a new process inherits its parent's.
    with open('/proc/self/status') as file:
        sizes = re.findall(r'VmHWM:\s+(\d+) kB', file.read())
    return int(sizes[0]) / 1024


def _forget_peak():
    with open('/proc/self/clear_refs', 'w') as file:
        file.write('5')


def print_memory(workload, engine):
    """Prints peaks of the resident memory of a new process: import, first steps, a later step."""
    importlib.import_module(ENGINES[engine][1])
    imported = _peak_mib()
    step = workload.build(engine)
    deadline = time.monotonic() + 2
    for i in range(20):
        step()
        if i >= 5 and time.monotonic() > deadline:  # compiled steps run a plan by then
            break
    peak = _peak_mib()
    _forget_peak()
    step()
    print(imported, peak, _peak_mib())


def print_memory_table(workload, engines, threads):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'run.py')
    rows = []
    for engine in engines:
        if engine not in workload.engines:
            continue
        output = subprocess.check_output(
            [
                sys.executable,
                script,
                '--threads',
                str(threads),
                '--memory-of',
                workload.name,
                engine,
            ],
            text=True,
        )
        imported, peak, later = map(float, output.split())
        rows.append(
            [
                ENGINES[engine][0],
                f'{imported:.0f} MiB',
                f'{peak - imported:.0f} MiB',
                f'{later - imported:.0f} MiB',
                f'{peak:.0f} MiB',
            ]
        )
    head = f'memory, `{workload.name}`', 'after import', 'training', 'of it in a later step', 'peak'
    print_table(head, rows)
