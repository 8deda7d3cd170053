"""Verifies the GPU code on a GPU: ``python tools/gpu_verify.py [PART ...]``.

It builds ChainerX with the CUDA backend, and first runs something of every library that it loads.
Then come the tests of ChainerX and Chainer on it and those of CuPy, rows of the benchmarks, each in
a process of its own, and the operations under ``compute-sanitizer``. Each part ends within nine
minutes, and adds its result to a report in ``docs/gpu_reports``, one file for a GPU and a day. A
part that runs again replaces its result. ``--budget`` limits all of it: what matters most comes
first, and no part begins after it. ``--resume`` leaves out what has passed in the report, where the
time of one command is short. ``--table`` makes the table in ``docs/gpu_verification.rst`` from all
reports. ``tools/gpu_carry.py`` makes a folder to carry to a machine without a network.

Without a GPU it says so and stops. ``--emulated`` tries this program on the emulation of CUDA that
``tools/build.py --test`` compiles, without the parts that build and sanitize; it writes no report
unless ``--report`` names a file.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from gpu_parts import PARTS

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / 'docs' / 'gpu_reports'
PAGE = ROOT / 'docs' / 'gpu_verification.rst'
EMULATION = ROOT / 'build' / 'chainerx' / 'cuda_emulation'
STAND_IN = ROOT / 'tests' / 'helpers' / 'cupy_emulation'
SECONDS = 530  # of a part: commands on a lent machine end after 600
EMULATED_SECONDS = 1800
LEAST_SECONDS = 20  # left of the budget, to begin a part
SUMMARY_SECONDS = 30  # for pytest to print its summary after an interrupt
_MARKED = re.compile(r'(\.\. The table is made.*?\n\n).*\Z', re.DOTALL)


def _is_benchmark(name):
    return name.startswith(('benchmark', 'bandwidth', 'gemm'))


def find_gpu():
    """Name, driver and compute capability of the first GPU; ``None`` without one."""
    query = 'nvidia-smi', '--query-gpu=name,driver_version,compute_cap', '--format=csv,noheader'
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    gpus = done.stdout.split('\n')
    return dict(zip(('device', 'driver', 'capability'), gpus[0].split(', '))) if gpus[0] else None


def _output_of(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip().splitlines()[-1]


def _versions():
    names = 'numpy', 'cupy-cuda13x', 'cupy-cuda12x', 'torch', 'pytest'
    versions = {'python': platform.python_version()}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    found = {
        'nvcc': _output_of(os.environ.get('CUDACXX') or 'nvcc', '--version'),
        'commit': _output_of('git', 'rev-parse', 'HEAD'),
    }
    return {**versions, **{name: value for name, value in found.items() if value}}


def _sanitizer_reports(output):
    """Number of errors that ``compute-sanitizer`` found in all processes.

    Summaries also count what is not printed; a process that was killed has none.
    """
    summaries = re.findall(r'ERROR SUMMARY: (\d+) error|\((\d+) errors?, \d+ warning', output)
    heads = re.findall(r'={9} (?!Warning|Info)\S.*\n={9} {2,}\S', output)
    return max(sum(int(a or b) for a, b in summaries), len(heads))


def summarize(output):
    """Counts and failed tests of an output of pytest or ``compute-sanitizer``."""
    counts = {}
    ends = re.findall(r'^=* ?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s', output, re.M)
    for number, what in re.findall(r'(\d+) (\w+)', ends[-1] if ends else ''):
        counts[what.removesuffix('s') if what == 'errors' else what] = int(number)
    if '= COMPUTE-SANITIZER' in output:
        counts['sanitizer reports'] = _sanitizer_reports(output)
    failures = re.findall(r'^(?:FAILED|ERROR) (\S+?::[\w:]+(?:\[.*?\](?= - |$))?)', output, re.M)
    return counts, failures


def _finish(process, seconds):
    """Output of a process, and whether it had to be ended after so many seconds.

    An interrupt comes first: pytest then counts what it ran, and names what failed.
    """
    try:
        return process.communicate(timeout=seconds)[0], False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=SUMMARY_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.communicate()[0], True


def run_part(name, extra, emulated, capability, seconds=SECONDS, logs=None):
    """Runs a part for so long at most; returns its result for the report.

    ``logs``: a folder for all that it prints.
    """
    command, variables = PARTS[name]
    # The tests of the backend alone run without CuPy, as in tools/build.py: the stand-in reads the
    # memory of emulated GPUs, whose streams therefore do their work at once.
    has_stand_in = emulated and name != 'cuda'
    paths = [ROOT, *([STAND_IN] if has_stand_in else []), os.environ.get('PYTHONPATH', '')]
    environment = {**os.environ, **variables, 'PYTHONPATH': os.pathsep.join(map(str, paths))}
    if has_stand_in:
        environment['CHAINER_TEST_CUPY'] = 'emulated'
        environment['CHAINERX_CUDA_EMULATION_SHARED'] = '1'
    if emulated:
        environment['CHAINERX_PATH'] = str(EMULATION)
        environment['PYTEST_TIMEOUT'] = '600'  # an emulated GPU is slow
    elif name == 'build' and 'CHAINERX_NVCC_GENERATE_CODE' not in environment:
        arch = capability.replace('.', '')
        environment['CHAINERX_NVCC_GENERATE_CODE'] = f'arch=compute_{arch},code=sm_{arch}'
    command = [*command, *(extra if 'pytest' in command else [])]
    shown = ['python' if word == sys.executable else word for word in command]
    result = {'command': shlex.join([Path(shown[0]).name, *shown[1:]])}
    if shutil.which(command[0]) is None:
        return {**result, 'status': f'skipped: there is no {command[0]}'}
    print('+', result['command'], flush=True)
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    output, is_late = _finish(process, seconds)
    status = 'passed' if process.returncode == 0 else f'failed: status {process.returncode}'
    if is_late:
        status = f'failed: more than {seconds:.0f} seconds'
    counts, failures = summarize(output)
    if status == 'passed' and counts.get('sanitizer reports'):
        status = 'failed: the sanitizer reports errors'
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
        (logs / f'{name}.log').write_text(output)
    print(output[-4000:])
    return {
        **result,
        'status': status,
        'seconds': round(time.monotonic() - start, 1),
        'counts': counts,
        'failures': failures,
        # What benchmarks print, or the end of what failed
        'output': output if _is_benchmark(name) else output[-4000:],
    }


def _result(part):
    counts = ', '.join(f'{n} {what}' for what, n in part.get('counts', {}).items())
    return f'{part["status"]} ({counts})' if counts else part['status']


def _tables(report):
    """Tables of the benchmarks, as lists of rows; those with the same head are one."""
    tables = {}
    for name, part in report['parts'].items():
        lines = [line for line in part.get('output', '').splitlines() if line.startswith('| ')]
        if lines and _is_benchmark(name):
            rows = [[cell.strip(' `') for cell in line.strip('|').split('|')] for line in lines]
            tables.setdefault(tuple(rows[0]), []).extend(rows[1:])
    return [[head, *rows] for head, rows in tables.items()]


def _list_table(rows, widths=None):
    lines = ['.. list-table::', '   :header-rows: 1']
    lines += [f'   :widths: {widths}'] if widths else []
    lines.append('')
    for row in rows:
        for i, cell in enumerate(row):
            lines.append(f'   {"* " if i == 0 else "  "}- {cell}'.rstrip())
    return '\n'.join(lines) + '\n'


def table(reports):
    """The text of the page below its introduction, made from reports."""
    head = ['date', 'GPU', 'driver', 'what ran', 'result']
    rows = [head]
    for report in reports:
        gpu = [report[key] for key in ('date', 'device', 'driver')]
        for name, part in report['parts'].items():
            if _is_benchmark(name) and part['status'] == 'passed':
                continue  # has a row of its own below
            rows.append([*gpu, name, _result(part)])
            gpu = [''] * 3
    if len(rows) == 1:
        rows.append(['no GPU run recorded yet', '', '', '', ''])
    text = _list_table(rows, '12 20 14 24 30')
    for report in reports:
        for rows in _tables(report):
            text += f'\n{report["device"]}, {report["date"]}:\n\n{_list_table(rows)}'
    return text


def write_page():
    reports = [json.loads(path.read_text()) for path in sorted(REPORTS.glob('*.json'))]
    text, n = _MARKED.subn(lambda m: m.group(1) + table(reports), PAGE.read_text())
    assert n == 1, f'{PAGE} has no place for the table'
    PAGE.write_text(text)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('part', nargs='*', help='parts to run; all unless given')
    parser.add_argument('--list', action='store_true', help='list the parts and their commands')
    parser.add_argument('--table', action='store_true', help='only write the page of results')
    parser.add_argument('--report', type=Path, help='file of the report')
    parser.add_argument('--logs', type=Path, help='folder for all that the parts print')
    parser.add_argument(
        '--budget', type=float, default=float('inf'), metavar='SECONDS', help='time for all parts'
    )
    parser.add_argument(
        '--resume', action='store_true', help='leave out parts that have passed in the report'
    )
    parser.add_argument('--emulated', action='store_true', help='try it on the emulation of CUDA')
    parser.add_argument('--select', metavar='EXPRESSION', help='only tests that match (-k)')
    args = parser.parse_args(arguments)
    unknown = [name for name in args.part if name not in PARTS]
    if unknown:
        parser.error(f'unknown part {", ".join(unknown)}; choose from {", ".join(PARTS)}')
    if args.list:
        for name, (command, variables) in PARTS.items():
            assigned = [f'{key}={value}' for key, value in variables.items()]
            print(f'{name}: {shlex.join(assigned + command)}')
        return None
    if args.table:
        return write_page()
    gpu = find_gpu()
    if args.emulated:
        if not EMULATION.exists():
            return 'there is no emulation of CUDA: run "python tools/build.py --test" first'
        gpu = {'device': 'emulated', 'driver': 'none', 'capability': ''}
    elif gpu is None:
        return 'there is no GPU here: nvidia-smi found none (--emulated tries this program)'

    today = datetime.date.today().isoformat()
    path = args.report
    if path is None and not args.emulated:
        device = re.sub(r'\W+', '-', gpu['device']).strip('-').lower()
        path = REPORTS / f'{today}-{device}.json'
    report = {'date': today, **gpu, 'versions': _versions(), 'parts': {}}
    if path is not None and path.exists():
        report['parts'] = json.loads(path.read_text())['parts']
    extra = ['-k', args.select] if args.select else []
    failed = []
    end = time.monotonic() + args.budget
    # What needs a GPU, or takes it for granted that it is fast
    left_out = 'build|[a-z]+check-|bandwidth|gemm|benchmark.*(?<!tiny)$'
    possible = [n for n in PARTS if not (args.emulated and re.match(left_out, n))]
    wanted = args.part or possible
    if args.resume:
        wanted = [n for n in wanted if report['parts'].get(n, {}).get('status') != 'passed']
    for name in wanted:
        seconds = min(EMULATED_SECONDS if args.emulated else SECONDS, end - time.monotonic())
        if seconds < LEAST_SECONDS:
            print(f'{name}: skipped: the budget is spent', flush=True)
            continue
        result = run_part(name, extra, args.emulated, gpu['capability'], seconds, args.logs)
        report['parts'][name] = result
        if result['status'] != 'passed':
            failed.append(name)
        print(f'{name}: {_result(result)}', flush=True)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(report, indent=1) + '\n')
        if name == 'build' and failed:
            break
    return f'not passed: {", ".join(failed)}' if failed else None


if __name__ == '__main__':
    sys.exit(main())
