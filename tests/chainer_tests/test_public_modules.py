"""Pickles and messages name the public modules of Chainer 7, not the files of the core."""

import inspect
import pickle

import pytest

import chainer

NAMES = [
    'as_array', 'as_variable', 'backward', 'DebugMode', 'get_array_types', 'get_compute_mode',
    'get_cpu_array_types', 'get_dtype', 'grad', 'is_arrays_compatible', 'is_debug', 'set_debug',
    'mixed16', 'Variable', 'Parameter', 'Link', 'Chain', 'ChainList', 'UpdateRule',
    'optimizer.Hyperparameter', 'optimizer.HyperparameterProxy', 'variable.VariableNode',
    'variable._create_variable', 'variable._recover_parameter', 'backend.Device',
    'print_runtime_info', 'FallbackReport', 'summary', 'types.CupyArray', 'types.Dataset',
    'types.AbstractInitializer', 'no_backprop_mode', 'force_backprop_mode',
    'gradient_check.numerical_grad', 'gradient_check.NondifferentiableError',
]  # fmt: skip


def _find(name):
    value = chainer
    for part in name.split('.'):
        value = getattr(value, part)
    return value


def test_names_are_complete():
    """Every function and class of the core that `chainer` exports is one of the names."""
    exported = {name for name in dir(chainer) if not name.startswith('_')}
    files = {
        name: inspect.getsourcefile(getattr(chainer, name).__code__)
        for name in exported
        if inspect.isfunction(getattr(chainer, name))
    }
    assert {name for name, file in files.items() if '_core' in file} <= set(NAMES)
    classes = {name for name in exported if inspect.isclass(getattr(chainer, name))}
    assert not {n for n in classes if '_core' in getattr(chainer, n).__module__}


@pytest.mark.parametrize('name', NAMES)
def test_pickle_names_a_public_module(name):
    data = pickle.dumps(_find(name), protocol=0)
    assert b'._core' not in data
    assert pickle.loads(data) is _find(name)


@pytest.mark.parametrize(
    'name, module',
    [
        ('DebugMode', 'chainer'),
        ('get_dtype', 'chainer'),
        ('as_variable', 'chainer.variable'),
        ('grad', 'chainer.function_node'),
        ('backend.Device', 'chainer._backend'),
        ('Link', 'chainer.link'),
    ],
)
def test_module_is_that_of_chainer_7(name, module):
    assert _find(name).__module__ == module


def test_pickle_of_mixed16_before_folders():
    assert pickle.loads(b'cchainer._core.mixed16\nmixed16\n.') is chainer.mixed16
