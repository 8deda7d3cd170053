import inspect
import json
import re

import pytest
from helpers.programs import run_python

import chainer
from chainer._core.names import lazy

HEAVY = [
    'multiprocessing',
    'concurrent',
    'asyncio',
    'socket',
    'ssl',
    'http',
    'urllib.request',
    'subprocess',
    'tempfile',
    'shutil',
    'zipfile',
    'gzip',
    'uuid',
    'unittest',
    'scipy',
    'h5py',
    'matplotlib',
    'PIL',
    'cupy',
    'pandas',
    'pytest',
]


def _run(code):
    return json.loads(run_python(code).stdout)


def test_import_is_light():
    code = """
import sys, numpy
before = set(sys.modules)
import chainer
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    loaded = _run(code)
    assert not set(HEAVY) & set(loaded)
    # The rest comes with its first use, except for the functions behind the operators.
    assert not {'chainer.links', 'chainer.training', 'chainer.compilation'} & set(loaded)
    assert len([name for name in loaded if name.startswith('chainer.functions.')]) < 12


# Reached by attributes after a mere `import chainer`.
REACHED = [
    'compilation.CompiledFunction',
    'computational_graph',
    'dataset.concat_examples',
    'datasets.get_mnist',
    'distributions.Normal',
    'exporters',
    'function_hooks.TimerHook',
    'functions.loss.softmax_cross_entropy.softmax_cross_entropy',
    'functions.activation.relu',
    'functions.mean',
    'gradient_check.check_backward',
    'iterators.SerialIterator',
    'link_hooks.TimerHook',
    'links.caffe.caffe_function.CaffeFunction',
    'links.connection.linear.Linear',
    'links.model.vision.resnet.ResNet50Layers',
    'links.Linear',
    'optimizer_hooks.WeightDecay',
    'optimizers.Adam',
    'serializers.save_npz',
    'training.extensions.LogReport',
    'utils.WalkerAlias',
]


@pytest.mark.parametrize('name', REACHED)
def test_reached_by_attribute(name):
    assert _run(f'import chainer; print(+(chainer.{name} is not None))')


@pytest.mark.parametrize('package', [chainer.functions, chainer.links])
def test_exports(package):
    exports = lazy.exports_of_stub(package.__name__)
    names = {}
    exec(f'from {package.__name__} import *', names)
    assert set(package.__all__) == set(exports) == names.keys() - {'__builtins__'}
    assert set(exports) <= set(dir(package))
    for name in exports:
        assert getattr(package, name) is names[name]
        # The names of a package come before those of its modules.
        assert inspect.ismodule(names[name]) == (exports[name] == f'{package.__name__}.{name}')


def test_set_name_of_package(monkeypatch):
    """The library itself calls the function that a program puts in place of another."""
    monkeypatch.setattr('chainer.functions.tanh', lambda x: 'mine')
    assert chainer._core.names.namespace.F.tanh(1) == 'mine'


@pytest.mark.parametrize(
    'package', [chainer, chainer.functions, chainer.functions.loss, chainer.links, chainer.utils]
)
def test_unknown_attribute(package):
    message = f"module '{package.__name__}' has no attribute 'nothing'"
    with pytest.raises(AttributeError, match=re.escape(message)):
        package.nothing
    with pytest.raises(ImportError):
        exec(f'from {package.__name__} import nothing')


def test_error_in_lazy_module(tmp_path, monkeypatch):
    """What a module cannot import is named, and not taken for the module itself."""
    package = tmp_path / 'lazy_package'
    package.mkdir()
    (package / '__init__.py').write_text(
        'from chainer._core.names import lazy\nlazy.attach_submodules(__name__)\n'
    )
    (package / 'broken.py').write_text('import a_module_that_is_missing\n')
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package

    assert 'broken' in dir(lazy_package)
    with pytest.raises(ModuleNotFoundError, match='a_module_that_is_missing'):
        lazy_package.broken
