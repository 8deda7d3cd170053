"""Measures what a user waits for and stores: ``python benchmarks/budgets.py``.

The table has the size of an installation, the time and memory of ``import chainer``, the first
calls of a compiled step, and the C++ runner of ONNX files. Times are those of the processor, which
other work on the machine hardly affects. ``--build`` adds the time of a build of ChainerX on two
cores, without ccache. ``--readme`` writes the table into README.md. The status is 1 if the size,
which depends on no machine, is over its budget.
"""

import argparse
import importlib
import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / 'README.md'
MARKED = re.compile(r'(<!-- budgets -->\n).*?(<!-- end of budgets -->)', re.DOTALL)
PACKAGES = 'chainer', 'chainermn', 'chainerx', 'onnx_chainer'
DEPENDENCIES = 'numpy', 'six', 'typing_extensions'
MEGABYTE = 1e6
HEAD = ['what', 'budget', 'measured']

IMPORT = """
import time
def memory():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * 4096
before, start = memory(), time.process_time()
import chainer
print(time.process_time() - start, memory() - before)
"""
FIRST_STEP = """
import time
import numpy as np
import chainer, chainer.functions as F, chainer.links as L
model = chainer.Sequential(L.Linear(64, 100), F.relu, L.Linear(100, 10))
device = chainer.get_device('native:0')
model.to_device(device)
optimizer = chainer.optimizers.Adam().setup(model)
x, t = device.send((np.ones((100, 64), 'f'), np.zeros(100, 'i')))
def step(x, t):
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
step(x, t)  # imports, and the first touch of kernels and memory
compiled = chainer.compile(step)
start = time.process_time()
while compiled.replays == 0:
    compiled(x, t)
print(time.process_time() - start)
"""
MODEL = """
import sys
import numpy as np
import chainer, chainer.functions as F, chainer.links as L, onnx_chainer
model = chainer.Sequential(L.Linear(784, 1000), F.relu, L.Linear(1000, 10), F.softmax)
onnx_chainer.export(model, np.zeros((1, 784), 'f'), filename=sys.argv[1])
np.ones(784, 'f').tofile(sys.argv[2])
"""


def python(program, *arguments):
    """Returns the numbers that a program prints in an interpreter of its own."""
    paths = filter(None, [str(ROOT), os.environ.get('PYTHONPATH')])
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(paths), 'OMP_NUM_THREADS': '1'}
    command = [sys.executable, '-c', program, *map(str, arguments)]
    result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [float(word) for word in result.stdout.split()]


def best(measure, repeats):
    """Returns the least of several measurements: other work on the machine only adds to it."""
    return min(measure() for _ in range(repeats))


def _suffixes():
    """Returns what files of other interpreters, as developers have them, do not end with."""
    tag = f'.cpython-{sys.version_info.major}{sys.version_info.minor}'
    return lambda name: '.cpython-' in name and tag not in name


def installed_size():
    """Returns the bytes of the packages and what they need, without compiled Python files."""
    is_foreign = _suffixes()
    files = [
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob('*')
        if '__pycache__' not in path.parts and not is_foreign(path.name)
    ]
    for name in DEPENDENCIES:
        files += [
            Path(path.locate()) for path in metadata.files(name) or () if path.suffix != '.pyc'
        ]
    return sum(path.stat().st_size for path in files if path.is_file())


def processor_time(*command):
    """Returns the processor time of a program, with the start of its process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def runner_time(folder, repeats):
    """Returns the seconds in which a C++ program starts, loads a model and answers."""
    source, program = ROOT / 'examples' / 'onnx' / 'cpp' / 'main.cc', folder / 'classify'
    command = ['c++', '-O2', '-std=c++17', f'-I{ROOT / "chainerx_cc"}', source, '-o', program]
    libraries = ROOT / 'chainerx'
    command += [f'-L{libraries}', '-lchainerx_onnx', '-lchainerx', f'-Wl,-rpath,{libraries}']
    subprocess.run(list(map(str, command)), check=True)
    model, image = folder / 'model.onnx', folder / 'image'
    python(MODEL, model, image)
    return best(lambda: processor_time(program, model, image), repeats)


def build_time(folder):
    """Returns the seconds of a build of ChainerX on two cores with nothing built before."""
    sys.path.insert(0, str(ROOT / 'tools'))
    build = importlib.import_module('build')

    os.environ.update(CCACHE_DISABLE='1', CMAKE_BUILD_PARALLEL_LEVEL='2')
    start = time.perf_counter()
    build.configure(folder)
    build.compile_all(folder)
    return time.perf_counter() - start


def rows(repeats, with_build):
    """Yields the rows of the table, as they are measured."""
    import chainerx

    yield (
        'installed, with NumPy, without caches of Python',
        '130 MB',
        f'{installed_size() / MEGABYTE:.0f} MB',
    )
    imports = [python(IMPORT) for _ in range(repeats)]
    yield '`import chainer`, with NumPy', '350 ms', harness.format_time(min(imports)[0])
    yield 'memory of that', '40 MB', f'{min(row[1] for row in imports) / MEGABYTE:.0f} MB'
    if not chainerx.is_available():
        return
    first = best(lambda: python(FIRST_STEP)[0], repeats)
    yield 'compiling a small step, until a plan runs', '10 ms', harness.format_time(first)
    if importlib.util.find_spec('onnx') and shutil.which('c++'):
        with tempfile.TemporaryDirectory() as folder:
            seconds = harness.format_time(runner_time(Path(folder), repeats))
        yield 'C++ program: start, load an ONNX model, answer', '50 ms', seconds
    if with_build:
        with tempfile.TemporaryDirectory() as folder:
            yield 'building ChainerX on two cores', '180 s', f'{build_time(Path(folder)):.0f} s'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--repeats', type=int, default=7, help='measurements, of which the least counts'
    )
    parser.add_argument('--build', action='store_true', help='also build ChainerX, in minutes')
    parser.add_argument('--readme', action='store_true', help='write the table into README.md')
    options = parser.parse_args()
    table = [list(row) for row in rows(options.repeats, options.build)]
    harness.print_machine(1)
    harness.print_table(HEAD, table)
    if options.readme:
        lines = [HEAD, ['---', '---:', '---:'], *table]
        text = ''.join(f'| {" | ".join(cells)} |\n' for cells in lines)
        readme = MARKED.sub(lambda found: found[1] + text + found[2], README.read_text())
        README.write_text(readme)
    return int(installed_size() > 130 * MEGABYTE)


if __name__ == '__main__':
    sys.exit(main())
