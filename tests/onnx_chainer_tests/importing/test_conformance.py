"""ONNX's own conformance suite. ``conformance_exceptions.txt`` names the cases that fail, and why."""

import os
import pathlib
import re
import warnings

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx.backend.test.runner import Runner  # noqa: E402

import chainerx  # noqa: E402
from onnx_chainer.backend import ChainerBackend  # noqa: E402

# Making the cases takes seconds, and more on a busy machine.
pytestmark = pytest.mark.timeout(600)

EXCEPTIONS = pathlib.Path(__file__).with_name('conformance_exceptions.txt')
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


class OnCpu(ChainerBackend):
    @classmethod
    def supports_device(cls, device):
        return device == 'CPU'


@pytest.fixture(scope='module')
def suite():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return {
            category: {
                name.removesuffix('_cpu'): item.func
                for name, item in items.items()
                if name.endswith('_cpu')
            }
            for category, items in Runner(OnCpu)._test_items.items()
        }


def exceptions():
    lines = EXCEPTIONS.read_text().splitlines()
    return dict(line.split(': ', 1) for line in lines if line and not line.startswith('#'))


def failures(cases):
    """The first lines of the errors of the cases that fail."""
    failed = {}
    for name, run in cases.items():
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            try:
                run(None)
            except Exception as error:
                failed[name] = str(error).strip().split('\n')[0]
    return failed


def check(cases):
    failed = failures(cases)
    if not LIST_HOLDS:
        assert len(failed.keys() - exceptions().keys()) <= 0.04 * len(cases), failed
        return
    listed = exceptions().keys() & cases.keys()
    assert {name: text for name, text in failed.items() if name not in listed} == {}
    # A case that passes has to leave the list.
    assert listed - failed.keys() == set()


@pytest.mark.skipif(not LIST_HOLDS, reason='the list is for other versions')
def test_exceptions_are_cases_with_reasons(suite):
    known = {name for cases in suite.values() for name in cases}
    assert exceptions().keys() - known == set()
    assert all(re.search(r'\w+ \w+', reason) for reason in exceptions().values())


@pytest.mark.slow
def test_nodes(suite):
    cases = suite['NodeModel']
    check(cases)
    if LIST_HOLDS:
        assert len(cases) - len(exceptions().keys() & cases.keys()) == 1875


@pytest.mark.parametrize('kind', ['SimpleModel', 'PyTorchConvertedModel', 'PyTorchOperatorModel'])
def test_models(suite, kind):
    check(suite[kind])


@pytest.mark.slow
def test_real_models(suite):
    cases = suite['RealModel']
    check({name: run for name, run in cases.items() if name not in LARGE})
