"""Writes the table of speed in README.md and in the documentation.

``python tools/update_speed_table.py`` runs ``benchmarks/run.py --compiled``: it needs PyTorch and a
quiet machine, and takes some minutes. With an argument it reads a file with the output of a run.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / 'README.md'
PAGE = ROOT / 'docs' / 'guides' / 'speed.inc'
MARKED = re.compile(r'(<!-- speed -->\n).*?(<!-- end of speed -->)', re.DOTALL)

# Rows and columns of the benchmark, by the names that readers know.
WORKLOADS = {
    'mlp': 'perceptron, 784-1000-1000-10, batch of 100',
    'cnn': 'convolutional network, 32x32, batch of 32',
    'resnet18': 'ResNet-18, 64x64, batch of 8',
    'lstm': 'LSTM, 512 units, 20 steps, batch of 20',
    'mlp-tiny': 'small perceptron, batch of 1',
    'cnn-tiny': 'small convolutional network, batch of 1',
    'lstm-tiny': 'small LSTM, batch of 1',
}
ENGINES = {
    'PyTorch': 'PyTorch',
    'Chainer on NumPy': 'Chainer on NumPy',
    'Chainer on ChainerX': 'Chainer on ChainerX',
    'the same, compiled': 'compiled',
    'bare chainerx': 'ChainerX alone',
}
HEADER = ['one training step', *ENGINES.values()]
LEGEND = (
    'compiled: Chainer on ChainerX, the step under {}; ChainerX alone: the step written with '
    'ChainerX, without Chainer.'
)


def read(output):
    """Returns the description of the machine, and lists of a workload and its times."""
    lines = [line for line in output.splitlines() if line.strip()]
    tables = [[c.strip() for c in line.strip('|').split('|')] for line in lines if line[0] == '|']
    header = next((cells for cells in tables if cells[0] == 'one step'), [])
    if not set(ENGINES) <= set(header) or 'torch' not in lines[0]:
        raise ValueError(
            'the text is not the output of benchmarks/run.py --compiled with PyTorch and ChainerX'
        )
    times = {cells[0].strip('`'): dict(zip(header, cells)) for cells in tables}
    rows = [
        [text, *(times[name][engine] for engine in ENGINES)]
        for name, text in WORKLOADS.items()
        if name in times
    ]
    return lines[0].rstrip('.'), rows


def markdown(machine, rows):
    table = [HEADER, ['---', *['---:'] * len(ENGINES)], *rows]
    lines = ['| {} |'.format(' | '.join(row)) for row in table]
    legend = LEGEND.format('[`chainer.compile`](docs/guides/compile.rst)')
    return '\n'.join([*lines, '', legend, '', f'{machine}.', ''])


def restructured_text(machine, rows):
    widths = ' '.join(['30', *['14'] * len(ENGINES)])
    lines = ['.. list-table::', '   :header-rows: 1', f'   :widths: {widths}', '']
    for row in [HEADER, *rows]:
        lines += [f'   {"* " if i == 0 else "  "}- {cell}' for i, cell in enumerate(row)]
    legend = LEGEND.format(':doc:`chainer.compile </guides/compile>`')
    return '\n'.join([*lines, '', legend, '', f'Measured on: {machine}.', ''])


def main():
    if len(sys.argv) > 1:
        output = Path(sys.argv[1]).read_text()
    else:
        command = [sys.executable, 'benchmarks/run.py', '--compiled', '--no-process']
        output = subprocess.check_output([*command, *WORKLOADS], cwd=ROOT, text=True)
    machine, rows = read(output)
    text = markdown(machine, rows)
    README.write_text(MARKED.sub(lambda m: m.group(1) + text + m.group(2), README.read_text()))
    PAGE.write_text(restructured_text(machine, rows))


if __name__ == '__main__':
    main()
