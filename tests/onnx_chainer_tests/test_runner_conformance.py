"""ONNX's own conformance suite on the C++ runner.

``runner_conformance_exceptions.txt`` names the cases that fail, and why.
"""

import pathlib

import pytest

onnx = pytest.importorskip('onnx')
from onnx_chainer_tests.helpers_of_conformance import Exceptions, cases_of  # noqa: E402

import chainerx  # noqa: E402
from onnx_chainer.chainerx_backend import ChainerXBackend  # noqa: E402

# Making the cases takes seconds, and more on a busy machine.
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.chainerx,
    pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
]

EXCEPTIONS = Exceptions(pathlib.Path(__file__).with_name('runner_conformance_exceptions.txt'))
LIST_HOLDS = onnx.__version__.startswith('1.23.')  # other versions have other cases

# NumPy 1 computes their references in float64.
MAY_PASS = {'test_dft_inverse', 'test_dft_inverse_opset19'}


@pytest.fixture(scope='module')
def suite():
    return cases_of(ChainerXBackend)


@pytest.mark.skipif(not LIST_HOLDS, reason='the list is for other versions')
def test_exceptions_are_cases_with_reasons(suite):
    EXCEPTIONS.check_names(suite)


@pytest.mark.slow
def test_nodes(suite):
    cases = suite['NodeModel']
    EXCEPTIONS.check(cases, LIST_HOLDS, MAY_PASS)
    if LIST_HOLDS:
        assert len(cases) - len(EXCEPTIONS.keys() & cases.keys()) >= 1663


@pytest.mark.parametrize('kind', ['SimpleModel', 'PyTorchConvertedModel', 'PyTorchOperatorModel'])
def test_models(suite, kind):
    EXCEPTIONS.check(suite[kind], LIST_HOLDS)
