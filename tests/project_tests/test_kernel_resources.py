"""The check of the local memory of CUDA kernels reads what nvcc prints."""

import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / 'tools' / 'kernel_resources.py'))
SIN = '_ZN8chainerx4cuda10FlatKernelINS_3ops3SinEfEEvT_lNS0_12FlatOperandsIXsrS4_6kArityEEE'
SORT = '_ZN8chainerx4cuda51_GLOBAL__N__fc75cb72_12_attention_cu_d38e6998_117544SortIfEEvl'


def _kernel(name, architecture, frame=0, spilled=0, registers=8, stack=''):
    """What nvcc 13 prints of a kernel."""
    return f"""\
ptxas info    : Compiling entry function '{name}' for '{architecture}'
ptxas info    : Function properties for {name}
    {frame} bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads
ptxas info    : Used {registers} registers, used 0 barriers, {stack}392 bytes cmem[0]
ptxas info    : Compile time = 73.621 ms
"""


def _function(name, frame):
    """The same of a function that kernels call."""
    return f"""\
ptxas info    : Function properties for {name}
    {frame} bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""


REPORT = (
    '[3/31] Building CUDA object chainerx/cuda/attention.cu.o\nptxas info    : 24 bytes gmem\n'
    + _kernel(SIN, 'sm_80', registers=20)
    + _kernel(SIN, 'sm_90', frame=40, registers=22)
    + _kernel(SORT, 'sm_80', spilled=16)
    + _function('helper', 8)
    + _kernel('calls', 'sm_120', stack='64 bytes cumulative stack size, ')
)


def test_parse():
    found = [(u.function, u.architecture, u.local, u.registers) for u in TOOL['parse'](REPORT)]
    assert found == [
        (SIN, 'sm_80', 0, 20),
        (SIN, 'sm_90', 40, 22),
        (SORT, 'sm_80', 16, 8),
        ('helper', 'sm_80', 8, 0),
        ('calls', 'sm_120', 64, 8),
    ]


def test_unexpected(monkeypatch):
    uses = TOOL['parse'](REPORT)
    lines = list(TOOL['unexpected'](uses))
    assert len(lines) == 4
    assert lines[-1] == 'calls uses 64 bytes of local memory on sm_120'
    monkeypatch.setitem(TOOL['ALLOWED'], '^(helper|calls)$', 'a test')
    assert [line.split()[0] for line in TOOL['unexpected'](uses)] == [SIN, SORT]


def test_reasons():
    assert all(len(reason) > 20 for reason in TOOL['ALLOWED'].values())


@pytest.mark.skipif(shutil.which('c++filt') is None, reason='there is no c++filt')
def test_program(tmp_path, capsys):
    path = tmp_path / 'report.txt'
    path.write_text(_kernel(SORT, 'sm_80') * 2)
    assert TOOL['main']([str(path)]) is None
    assert capsys.readouterr().out.splitlines()[1].split() == ['Sort', '2', '8', '0']
    path.write_text(_kernel(SORT, 'sm_80', frame=4))
    assert TOOL['main']([str(path)]) == 'Sort<float> uses 4 bytes of local memory on sm_80'
    path.write_text('[1/2] Building CUDA object\n')
    assert 'there is no kernel' in TOOL['main']([str(path)])
