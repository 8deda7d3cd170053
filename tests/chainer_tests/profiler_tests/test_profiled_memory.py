"""Memory over time, its peak and the lines of the program."""

import inspect
import tracemalloc

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import profiler
from chainer.backends import cuda
from tests.helpers import trace_format

MIB = 2**20


def test_peak_and_lines(tmp_path):
    path = tmp_path / 'trace.json'
    assert not tracemalloc.is_tracing()
    with profiler.profile(path, memory=True) as prof:
        small = F.exp(np.zeros(2 * MIB // 4, 'f'))
        big = F.exp(np.zeros(64 * MIB // 4, 'f'))
        del big
        F.exp(small)
    assert not tracemalloc.is_tracing()
    lines, first = inspect.getsourcelines(test_peak_and_lines)
    line = first + next(i for i, text in enumerate(lines) if 'big =' in text)
    peak = prof.peaks['Python and NumPy']
    assert peak.line == f'{__file__}:{line}'
    # The result is there at the end of the function, and its argument.
    assert 130 * MIB <= peak.size < 140 * MIB
    assert 128 * MIB <= prof.lines[f'{__file__}:{line}'] < 130 * MIB
    assert 2 * MIB <= prof.lines[f'{__file__}:{line - 1}'] < 5 * MIB
    sizes = list(prof.lines.values())
    assert sizes == sorted(sizes, reverse=True)
    assert f'{line}' in str(prof)
    events = [e for e in trace_format.read(path) if e['ph'] == 'C']
    used = [e['args']['Python and NumPy'] for e in events]
    assert max(used) == peak.size
    assert used[-1] < 10 * MIB
    assert [e['ts'] for e in events] == sorted(e['ts'] for e in events)
    assert sum(row.own for row in prof.rows) == pytest.approx(prof.wall)


def test_counting_of_the_program_goes_on():
    tracemalloc.start()
    try:
        with profiler.profile(memory=True) as prof:
            F.exp(np.zeros(MIB, 'f'))
        assert tracemalloc.is_tracing()
        assert prof.peaks['Python and NumPy'].size > 4 * MIB
    finally:
        tracemalloc.stop()


def test_functions_of_the_gradient_belong_to_the_call_of_backward():
    x = chainer.Variable(np.zeros(8 * MIB // 4, 'f'))
    with profiler.profile(memory=True) as prof:
        F.sum(F.exp(x)).backward()
    lines, first = inspect.getsourcelines(
        test_functions_of_the_gradient_belong_to_the_call_of_backward
    )
    line = first + next(
        i for i, text in enumerate(lines) if 'backward()' in text and 'def' not in text
    )
    assert prof.lines[f'{__file__}:{line}'] >= 16 * MIB


@pytest.mark.gpu
def test_memory_of_cupy():
    x = cuda.cupy.zeros(MIB, 'f')
    with profiler.profile(memory=True) as prof:
        y = F.exp(x)
    assert y.shape == x.shape
    assert prof.peaks['CuPy'].size >= 8 * MIB
