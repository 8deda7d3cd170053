"""The examples in the docstrings of the packages run."""
import doctest
import importlib
from pathlib import Path

import numpy
import pytest

import chainer
import chainerx


def _modules():
    for package in chainer, chainerx:
        folder = Path(package.__file__).parent
        for path in folder.rglob('*.py'):
            parts = path.relative_to(folder.parent).with_suffix('').parts
            yield '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


@pytest.mark.parametrize('name', sorted(_modules()))
def test_examples(name):
    if name.startswith('chainerx') and not chainerx.is_available():
        pytest.skip('ChainerX is not built')
    module = importlib.import_module(name)
    names = {'np': numpy, 'numpy': numpy, 'chainer': chainer, 'chainerx': chainerx,
             'F': chainer.functions, 'L': chainer.links}
    result = doctest.testmod(module, extraglobs=names, report=True,
                             optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert not result.failed, '%d of %d examples failed' % (result.failed, result.attempted)
