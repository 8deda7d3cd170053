"""What is public outside of chainer.functions has a description with an example."""

import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

# Objects of CuPy or what stands for them, and names of Chainer 6 that only forward.
OTHERS = {
    'chainer.backends.cuda': {'Device', 'Event', 'Stream', 'ndarray'},
    'chainer.optimizer': {
        'GradientClipping',
        'GradientHardClipping',
        'GradientNoise',
        'Lasso',
        'WeightDecay',
    },
}


def _load_reference():
    path = Path(__file__).resolve().parent.parent.parent / 'docs' / '_ext' / 'reference.py'
    spec = importlib.util.spec_from_file_location('reference', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = _load_reference()


@pytest.mark.parametrize(
    'namespace',
    [
        name
        for name in REFERENCE.NAMESPACES
        if name.startswith('chainer.') and name != 'chainer.functions' or name == 'chainer'
    ],
)
def test_description(namespace):
    module = importlib.import_module(namespace)
    classes, functions = REFERENCE._members(module)
    for name in sorted(set(classes + functions) - OTHERS.get(namespace, set())):
        value = getattr(module, name)
        text = value.__dict__.get('__doc__') if inspect.isclass(value) else value.__doc__
        assert text and '>>> ' in text, f'{name} needs a description with an example'
