"""A suite of tests as other projects write them, under the runners that they use."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chainer

pytestmark = pytest.mark.slow  # a process for each

SUITE = """
import unittest

import numpy as np
import pytest

import chainer.functions as F
import chainer.links as L
from chainer import initializers, testing
from chainer.testing import attr, condition


@testing.parameterize(*testing.product({
    'shape,n': [((3, 2), 6), ((), 1)],
    'dtype': [np.float32, np.float64],
}))
class TestScale(unittest.TestCase):

    def setUp(self):
        self.x = np.random.uniform(-1, 1, self.shape).astype(self.dtype)

    @condition.retry(3)
    def test_cpu(self):
        testing.assert_allclose(F.square(self.x).array, self.x ** 2)
        self.assertEqual(self.x.size, self.n)

    @attr.gpu
    def test_gpu(self):
        self.fail()


@testing.parameterize(
    {'init': initializers.Normal(), 'names': {'W', 'b'}, 'x': np.float32(0.5)},
    {'init': np.zeros(2), 'names': None, 'x': (np.int64(1),)},
)
class TestNames(object):

    def test_init(self):
        assert self.init is not None

    @staticmethod
    def test_static():
        pass


@testing.parameterize({'a': 1}, {'a': 2})
@testing.fix_random()
@testing.parameterize_pytest('b,c', [(3, 4), (5, 6)])
class TestNested(object):

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.path = tmp_path

    def test_all(self):
        assert self.path.exists() and self.c == self.b + 1

    @pytest.mark.parametrize('d', [7, 8])
    def test_more(self, d):
        assert d > self.a


@testing.inject_backend_tests(
    None, testing.product({'use_cuda': [False, True]})
    + [{'use_chainerx': True, 'chainerx_device': 'native:0'}])
class TestSelect(testing.FunctionTestCase):

    check_backward_options = {'atol': 1e-2, 'rtol': 1e-2, 'dtype': np.float64}
    check_double_backward_options = {'atol': 1e-2, 'rtol': 1e-2}

    def generate_inputs(self):
        return np.random.rand(2, 3).astype('f'), np.array([2, 0], 'i')

    def forward(self, inputs, device):
        return F.select_item(*inputs) ** 2,

    def forward_expected(self, inputs):
        x, i = inputs
        return x[np.arange(2), i] ** 2,


@testing.parameterize({'n_in': 3}, {'n_in': None})
@testing.inject_backend_tests(['test_forward', 'test_backward'], [{}])
class TestLinear(testing.LinkTestCase):

    param_names = ('W',)
    check_backward_options = {'atol': 1e-2, 'rtol': 1e-2}

    def generate_params(self):
        return np.random.rand(2, 3).astype('f'), initializers.Constant(1)

    def generate_inputs(self):
        return np.random.rand(4, 3).astype('f'),

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(self.n_in, 2, initialW=W, initial_bias=b)

    def forward_expected(self, link, inputs):
        x, = inputs
        return x.dot(link.W.array.T) + 1,


@testing.with_requires('numpy>=1000')
class TestFuture(object):

    def test_fail(self):
        assert False


@attr.multi_gpu(99)
@testing.parameterize({'a': 1})
class TestManyGpus(unittest.TestCase):

    def test_fail(self):
        self.fail()


testing.run_module(__name__, __file__)
"""


def suffix(**settings):
    defaults = {
        'use_chainerx': 'false',
        'chainerx_device': None,
        'use_cuda': 'false',
        'cuda_device': None,
        'use_cudnn': 'never',
        'cudnn_deterministic': 'false',
        'autotune': 'false',
        'cudnn_fast_batch_normalization': 'false',
        'use_ideep': 'never',
    }
    return '__'.join(f'{name}_{value}' for name, value in {**defaults, **settings}.items())


SUFFIXES = [
    suffix(),
    suffix(use_cuda='true'),
    suffix(use_chainerx='true', chainerx_device='native:0'),
]
IDS = {
    *[
        f'TestScale_param_{i}_{{{params}}}::test_{device}'
        for i, params in enumerate(
            [
                'dtype=float32, n=6, shape=(3, 2)',
                'dtype=float32, n=1, shape=()',
                'dtype=float64, n=6, shape=(3, 2)',
                'dtype=float64, n=1, shape=()',
            ]
        )
        for device in ('cpu', 'gpu')
    ],
    *[
        f'TestNames_param_{i}_{{{params}}}::{test}'
        for i, params in enumerate(
            [
                "init=<chainer.initializers.normal.Normal object>, names={'W', 'b'}, x=0.5",
                'init=array(shape=(2,), dtype=float64), names=None, x=(1,)',
            ]
        )
        for test in ('test_init', 'test_static')
    ],
    *[
        f'TestNested_param_{i}_{{b={2 * i + 3}, c={2 * i + 4}}}_param_{j}_{{a={j + 1}}}::{test}'
        for i in range(2)
        for j in range(2)
        for test in ('test_all', 'test_more[7]', 'test_more[8]')
    ],
    *[
        f'TestSelect::test_{kind}__{suffix}'
        for kind in ('forward', 'backward', 'double_backward')
        for suffix in SUFFIXES
    ],
    *[
        f'TestLinear_param_{i}_{{n_in={n_in}}}::test_{kind}__{suffix()}'
        for i, n_in in enumerate([3, None])
        for kind in ('forward', 'backward')
    ],
    'TestFuture::test_fail',
    'TestManyGpus_param_0_{a=1}::test_fail',
}


@pytest.fixture
def run(tmp_path):
    (tmp_path / 'test_suite.py').write_text(SUITE, encoding='utf-8')
    root = str(Path(chainer.__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get('PYTHONPATH')])])
    env = {**os.environ, 'PYTHONPATH': path, 'PYTHONHASHSEED': 'random'}
    # The suite is no part of the run that this test belongs to.
    env = {name: value for name, value in env.items() if not name.startswith('PYTEST_')}

    def run(*args):
        result = subprocess.run(
            [sys.executable, *args],
            cwd=tmp_path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert result.returncode == 0, result.stdout
        return result.stdout

    return run


def test_ids(run):
    out = run('-m', 'pytest', '-q', '--collect-only', 'test_suite.py')
    found = re.findall(r'^test_suite\.py::(.*)$', out, re.MULTILINE)
    assert sorted(found) == sorted(IDS)


@pytest.mark.parametrize('options', [(), ('-n', '2')], ids=['alone', 'workers'])
def test_pytest(run, options):
    out = run('-m', 'pytest', '-q', *options, 'test_suite.py')
    passed, skipped = [int(re.search(rf'(\d+) {word}', out)[1]) for word in ('passed', 'skipped')]
    assert passed + skipped == len(IDS)
    assert skipped >= 2  # whatever the machine has


def test_unittest(run):
    out = run('-m', 'unittest', '-v', 'test_suite')
    count = sum('TestScale' in i or 'Select' in i or 'Linear' in i or 'Gpus' in i for i in IDS)
    # Python 3.12.1 alone leaves those that are skipped out of "Ran N tests".
    assert len(re.findall(r' \.\.\. (?:ok|skipped)', out)) == count
    assert '\nOK' in out


def test_script(run):
    assert f'collected {len(IDS)} items' in run('test_suite.py')
