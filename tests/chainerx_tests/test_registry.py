"""Every op of the registry is complete: kernel, stub, row in the op table. See test_documentation.py for the rest."""

import importlib.util
import inspect
from pathlib import Path

import pytest
from op_table import OTHERS, ROWS

import chainerx
from chainerx import _core

ROOT = Path(__file__).resolve().parents[2]
OPS = _core._ops()
NAMES = [op['name'] for op in OPS]


def test_names_are_unique():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize('op', OPS, ids=NAMES)
def test_op_is_complete(op):
    module, _, name = op['name'].rpartition('.')
    home, face = _core, chainerx
    if module:
        home, face = getattr(_core, f'_{module}'), getattr(chainerx, module)
    function = getattr(home, name)
    assert op['native'], 'native lacks one of the kernels {}'.format(op['kernels'])
    assert inspect.signature(function) == eval(f'inspect.signature(lambda {op["signature"]}: 0)')
    assert hasattr(chainerx.ndarray, name) or not op['is_method']
    if not name.startswith('_'):
        assert getattr(face, name) is function


@pytest.mark.parametrize('name', NAMES)
def test_op_has_one_row(name):
    assert [row.name for row in ROWS + OTHERS].count(name) == 1


def test_table_has_no_other_rows():
    assert {row.name for row in ROWS + OTHERS} <= set(NAMES)


@pytest.mark.parametrize('name', sorted({row.tests for row in OTHERS}))
def test_files_of_other_rows(name):
    assert Path(__file__).with_name(name).exists()


def test_all_native_kernels_are_there():
    # Plans copy blocks only where devices record work, linear functions copy a bias first, and networks run by layers.
    missing = [name for name, present in _core._kernels('native') if not present]
    fused = {'fused_rnn_sizes', 'fused_rnn', 'fused_rnn_grad'}
    assert set(missing) == {'copy_blocks', 'matmul_bias', *fused}


def test_stubs_are_up_to_date():
    if not (ROOT / 'chainerx_cc' / 'tools').is_dir():
        pytest.skip('needs the source tree')
    path = ROOT / 'chainerx_cc' / 'tools' / 'make_stubs.py'
    spec = importlib.util.spec_from_file_location('make_stubs', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.make_stubs().items():
        path = ROOT / 'chainerx' / f'{name}.pyi'
        assert text == path.read_text(), 'run python chainerx_cc/tools/make_stubs.py'
