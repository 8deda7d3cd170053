"""Which of OpenBLAS's kernels multiply matrices, and what the choice leaves alone."""

import io
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import chainer
import chainerx

pytestmark = [
    pytest.mark.chainerx,
    pytest.mark.skipif(
        platform.machine() not in ('x86_64', 'AMD64') or not Path('/proc/cpuinfo').exists(),
        reason='needs Linux on x86-64',
    ),
]

AVX512 = {'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'}


def run(code, **variables):
    """Runs Python without the variables that matter here, but for those given."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith('OPENBLAS_') and name not in ('OMP_NUM_THREADS', 'CHAINERX_ISA')
    }
    return subprocess.check_output(
        [sys.executable, '-c', code], text=True, env={**env, **variables}, stderr=subprocess.PIPE
    ).strip()


def core(**variables):
    code = 'import chainerx; print(*chainerx._core._get_blas_core()[:2], sep=";")'
    return tuple(run(code, **variables).split(';'))


def cpu_flags():
    text = Path('/proc/cpuinfo').read_text()
    return set(next(line for line in text.splitlines() if line.startswith('flags')).split())


def test_chosen_by_features():
    flags = cpu_flags()
    if not flags >= AVX512:
        assert core()[1] == 'detected by OpenBLAS'
    else:
        amx = flags >= {'amx_tile', 'amx_bf16'}
        assert core() == ('SapphireRapids' if amx else 'SkylakeX', 'chosen by ChainerX')


@pytest.mark.parametrize('name', ['Nehalem', 'Sandybridge', 'nehalem'])
def test_users_setting_wins(name):
    assert core(OPENBLAS_CORETYPE=name) == (name.capitalize(), f'OPENBLAS_CORETYPE={name}')


def test_empty_setting_is_none():
    assert core(OPENBLAS_CORETYPE='') == core()


def test_unknown_setting_shows():
    name, reason = core(OPENBLAS_CORETYPE='Z80')
    assert name != 'Z80'
    assert reason == 'OPENBLAS_CORETYPE=Z80'


@pytest.mark.parametrize('isa', ['base', 'v3'])
def test_no_choice_without_avx512(isa):
    assert core(CHAINERX_ISA=isa)[1] == 'detected by OpenBLAS'


@pytest.mark.parametrize(
    'variables', [{}, {'OPENBLAS_CORETYPE': 'Haswell', 'OPENBLAS_NUM_THREADS': '2'}]
)
def test_processes_started_later_see_no_change(variables):
    """Nor do libraries loaded later, which read the same environment."""
    code = """
import chainerx, subprocess
lines = subprocess.check_output(['env'], text=True).splitlines()
print(sorted(line for line in lines if line.startswith('OPENBLAS')))
"""
    assert run(code, **variables) == str(sorted(f'{k}={v}' for k, v in variables.items()))


def test_starts_no_threads():
    code = """
import os
import numpy
count = lambda: len(os.listdir('/proc/self/task'))
before = count()
import chainerx
assert chainerx.is_available()
print(count() - before)
"""
    assert run(code, OPENBLAS_NUM_THREADS='4') == '0'


def test_results_do_not_depend_on_the_choice():
    code = """
import numpy, chainerx
a = numpy.arange(96 * 200).reshape(96, 200) % 7
print(chainerx.dot(chainerx.array(a, 'float32'), chainerx.array(a.T, 'float32')).sum())
"""
    assert run(code) == run(code, OPENBLAS_CORETYPE='Nehalem')


def test_kernels_with_avx512_have_one_order():
    """The kernels that `test_reproducible.py` finds to sum in one order on any number of threads."""
    code = 'import chainerx; print(chainerx._core._get_blas_core()[2])'
    assert run(code) == str(cpu_flags() >= AVX512)
    assert run(code, OPENBLAS_CORETYPE='Nehalem') == 'False'


def test_report():
    out = io.StringIO()
    chainer.print_runtime_info(out)
    name, reason, _ = chainerx._core._get_blas_core()
    assert f'; OpenBLAS for {name}, {reason})\n' in out.getvalue()
