import io
import platform
import re

import numpy
import pytest

import chainer
import chainerx
from chainer.backends import cuda


def test_print_runtime_info():
    out = io.StringIO()
    chainer.print_runtime_info(out)
    lines = out.getvalue().splitlines()
    names = ['Platform', 'Chainer', 'ChainerX', 'NumPy', 'CuPy', 'iDeep']
    assert [line.split(':')[0] for line in lines if not line.startswith(' ')] == names
    assert lines[0] == f'Platform: {platform.platform()} (Python {platform.python_version()})'
    assert f'Chainer: {chainer.__version__}' in lines
    assert f'NumPy: {numpy.__version__}' in lines
    assert out.getvalue().endswith('\n')


def test_print_to_stdout(capsys):
    chainer.print_runtime_info()
    assert f'Chainer: {chainer.__version__}\n' in capsys.readouterr().out


@pytest.mark.parametrize(
    'name, available',
    [('CuPy', cuda.available), ('ChainerX', chainerx.is_available()), ('iDeep', False)],
)
def test_reasons(capsys, name, available):
    chainer.print_runtime_info()
    lines = capsys.readouterr().out.splitlines()
    if available:
        assert any(line.startswith(f'{name}:') and 'Not Available' not in line for line in lines)
    else:
        (line,) = [line for line in lines if line.startswith(f'{name}:')]
        assert re.fullmatch(rf'{name}: Not Available \(.+\)', line)


@pytest.mark.chainerx
@pytest.mark.parametrize(
    'error, shown',
    [
        ("unknown backend 'cuda' (available: native)", 'no cuda;'),
        ('no driver', 'no cuda: .*no driver;'),
    ],
)
def test_missing_cuda(capsys, monkeypatch, error, shown):
    class Context:
        def get_backend(self, name):
            if name == 'cuda':
                raise chainerx.BackendError(error)
            return chainerx.get_backend(name)

    monkeypatch.setattr(chainerx, 'get_default_context', Context)
    chainer.print_runtime_info()
    assert re.search(rf'ChainerX: .*native: \d+ device\(s\); {shown} ', capsys.readouterr().out)
