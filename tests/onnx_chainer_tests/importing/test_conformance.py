"""ONNX's own conformance suite. ``conformance_exceptions.txt`` names the cases that fail, and why."""

import os
import pathlib

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx_chainer_tests.helpers_of_conformance import Exceptions, cases_of  # noqa: E402

import chainerx  # noqa: E402
from onnx_chainer.backend import ChainerBackend  # noqa: E402

# Making the cases takes seconds, and more on a busy machine.
pytestmark = pytest.mark.timeout(600)

EXCEPTIONS = Exceptions(pathlib.Path(__file__).with_name('conformance_exceptions.txt'))
# Other versions of ONNX have other cases. NumPy 1.26 cannot compare small floats, and without
# ChainerX's kernels a case or two of float16 round otherwise.
LIST_HOLDS = (
    onnx.__version__.startswith('1.23.')
    and np.lib.NumpyVersion(np.__version__) >= '2.0.0'
    and chainerx.is_available()
    and os.environ.get('CHAINER_USE_NATIVE_KERNELS') != 'never'
)
# Models of hundreds of megabytes, which take most of the time.
LARGE = 'test_densenet121', 'test_resnet50', 'test_vgg19', 'test_zfnet512', 'test_inception_v2'


@pytest.fixture(scope='module')
def suite():
    return cases_of(ChainerBackend)


@pytest.mark.skipif(not LIST_HOLDS, reason='the list is for other versions')
def test_exceptions_are_cases_with_reasons(suite):
    EXCEPTIONS.check_names(suite)


@pytest.mark.slow
def test_nodes(suite):
    cases = suite['NodeModel']
    EXCEPTIONS.check(cases, LIST_HOLDS)
    if LIST_HOLDS:
        assert len(cases) - len(EXCEPTIONS.keys() & cases.keys()) == 1873


@pytest.mark.parametrize('kind', ['SimpleModel', 'PyTorchConvertedModel', 'PyTorchOperatorModel'])
def test_models(suite, kind):
    EXCEPTIONS.check(suite[kind], LIST_HOLDS)


@pytest.mark.slow
def test_real_models(suite):
    cases = suite['RealModel']
    EXCEPTIONS.check({name: run for name, run in cases.items() if name not in LARGE}, LIST_HOLDS)
