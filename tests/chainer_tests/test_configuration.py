import io
import os
import threading

import numpy
import pytest
from helpers.programs import run_python

import chainer
from chainer import configuration
from chainer._core.settings import environment

DEFAULTS = {
    'autotune': False,
    'chainerx_fallback': 'silent',
    'compute_mode': None,
    'cudnn_deterministic': False,
    'cudnn_fast_batch_normalization': False,
    'debug': False,
    'dtype': numpy.float32,
    'enable_backprop': True,
    'exact_resume': 'auto',
    'in_recomputing': False,
    'keep_graph_on_report': False,
    'lazy_grad_sum': False,
    'schedule_func': None,
    'train': True,
    'type_check': True,
    'use_cudnn': 'auto',
    'use_cudnn_tensor_core': 'auto',
    'use_ideep': 'never',
    'use_native_kernels': 'auto',
    'use_static_graph': True,
    'warn_nondeterministic': False,
}


@pytest.fixture
def configs():
    global_config = configuration.GlobalConfig()
    global_config.train = True
    return global_config, configuration.LocalConfig(global_config)


def run_in_thread(func):
    result = []
    thread = threading.Thread(target=lambda: result.append(func()))
    thread.start()
    thread.join()
    return result[0]


def test_defaults(monkeypatch):
    for name in list(os.environ):
        if name.startswith('CHAINER'):
            monkeypatch.delenv(name)
    assert environment.get_default_config() == DEFAULTS
    assert set(vars(chainer.global_config)) >= set(DEFAULTS)


def test_local_overrides_global(configs):
    global_config, config = configs
    assert isinstance(config, configuration.LocalConfig)
    assert config.train is True
    config.train = False
    assert config.train is False
    assert global_config.train is True
    assert run_in_thread(lambda: config.train) is True
    del config.train
    assert config.train is True
    with pytest.raises(AttributeError):
        del config.train


def test_global_change_is_seen_by_all_threads(configs):
    global_config, config = configs
    global_config.train = 'changed'
    assert config.train == 'changed'
    assert run_in_thread(lambda: config.train) == 'changed'


def test_local_configs_are_independent():
    global_configs = [configuration.GlobalConfig() for _ in range(2)]
    configs = [configuration.LocalConfig(c) for c in global_configs]
    global_configs[0].entry = 0
    assert configs[0].entry == 0
    assert not hasattr(configs[1], 'entry')


def test_own_entries(configs):
    global_config, config = configs
    with pytest.raises(AttributeError, match='my_entry'):
        config.my_entry
    global_config.my_entry = 1
    assert config.my_entry == 1
    del global_config.my_entry
    assert not hasattr(config, 'my_entry')
    config.my_entry = 2
    assert config.my_entry == 2
    assert not hasattr(global_config, 'my_entry')


def test_function_entry_is_not_bound(configs):
    global_config, config = configs

    def schedule(*args):
        return args

    global_config.schedule_func = schedule
    assert config.schedule_func is schedule
    global_config.schedule_func = None
    assert config.schedule_func is None


def test_replaced_methods(configs, monkeypatch):
    """Programs replace the methods of the class, and use the parts of a configuration."""
    everywhere, here = configs

    def get(self, name):
        if name == 'forced':
            return True
        if hasattr(self._local, name):
            return getattr(self._local, name)
        return getattr(self._global, name)

    monkeypatch.setattr(configuration.LocalConfig, '__getattr__', get)
    monkeypatch.setattr(
        configuration.LocalConfig,
        '__setattr__',
        lambda self, name, value: setattr(self._local, name, value),
    )
    everywhere.entry = 1
    assert (here.forced, here.entry, hasattr(here._local, 'entry')) == (True, 1, False)
    with chainer.using_config('entry', 2, here):
        assert (here.entry, here._local.entry, here._global.entry) == (2, 2, 1)
        assert run_in_thread(lambda: (here.entry, hasattr(here._local, 'entry'))) == (1, False)
    assert here.entry == 1


def test_using_config(configs):
    _, config = configs
    with chainer.using_config('train', 1, config):
        with chainer.using_config('train', 2, config=config):
            assert config.train == 2
        assert config.train == 1
        assert run_in_thread(lambda: config.train) is True
    assert config.train is True
    assert 'train' not in vars(config)


def test_using_config_keeps_override(configs):
    _, config = configs
    config.train = 'mine'
    with pytest.raises(ZeroDivisionError):
        with chainer.using_config('train', 1, config):
            raise ZeroDivisionError
    assert config.train == 'mine'


def test_using_config_new_entry(configs):
    _, config = configs
    with chainer.using_config('new_entry', 1, config):
        assert config.new_entry == 1
    assert not hasattr(config, 'new_entry')


def test_using_config_default_config_and_decorator():
    @chainer.using_config('train', False)
    def f(n):
        assert chainer.config.train is False
        return f(n - 1) if n else 'done'

    with chainer.using_config('train', True):
        assert f(2) == 'done'
        assert chainer.config.train is True


def test_show(configs, capsys):
    global_config, config = configs
    global_config.longer_name = 'x'
    config.b = 3
    config.show()
    assert capsys.readouterr().out == 'b           3\nlonger_name x\ntrain       True\n'
    out = io.StringIO()
    global_config.show(out)
    assert out.getvalue() == 'longer_name x\ntrain       True\n'


@pytest.mark.parametrize(
    'name, value, entry, expected',
    [
        ('CHAINER_DEBUG', '1', 'debug', True),
        ('CHAINER_DEBUG', '', 'debug', False),
        ('CHAINER_TYPE_CHECK', '0', 'type_check', False),
        ('CHAINER_KEEP_GRAPH_ON_REPORT', '1', 'keep_graph_on_report', True),
        ('CHAINER_LAZY_GRAD_SUM', '1', 'lazy_grad_sum', True),
        ('CHAINER_CUDNN_FAST_BATCH_NORMALIZATION', '1', 'cudnn_fast_batch_normalization', True),
        ('CHAINER_USE_CUDNN', 'never', 'use_cudnn', 'never'),
        ('CHAINER_USE_IDEEP', 'auto', 'use_ideep', 'auto'),
        ('CHAINER_USE_NATIVE_KERNELS', 'never', 'use_native_kernels', 'never'),
        ('CHAINER_EXACT_RESUME', 'never', 'exact_resume', 'never'),
        ('CHAINERX_FALLBACK', 'raise', 'chainerx_fallback', 'raise'),
        ('CHAINER_DTYPE', 'float64', 'dtype', numpy.dtype('float64')),
        ('CHAINER_DTYPE', 'mixed16', 'dtype', chainer.mixed16),
    ],
)
def test_environment(monkeypatch, name, value, entry, expected):
    monkeypatch.setenv(name, value)
    result = environment.get_default_config()[entry]
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    'name, value, error',
    [
        ('CHAINER_DEBUG', 'yes', ValueError),
        ('CHAINER_USE_CUDNN', 'sometimes', ValueError),
        ('CHAINER_USE_IDEEP', '1', ValueError),
        ('CHAINER_USE_NATIVE_KERNELS', '0', ValueError),
        ('CHAINER_EXACT_RESUME', '1', ValueError),
        ('CHAINERX_FALLBACK', 'never', ValueError),
        ('CHAINER_DTYPE', 'int32', TypeError),
    ],
)
def test_bad_environment(monkeypatch, name, value, error):
    monkeypatch.setenv(name, value)
    with pytest.raises(error, match=f'{name}.*{value}'):
        environment.get_default_config()


def test_environment_sets_config():
    code = 'import chainer; print(chainer.config.debug, chainer.config.dtype)'
    result = run_python(code, CHAINER_DEBUG='1', CHAINER_DTYPE='float16')
    assert result.stdout == 'True float16\n'
