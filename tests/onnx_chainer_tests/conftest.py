import pytest
from onnx_chainer_tests import loaders

import chainerx


def pytest_collection_modifyitems(items):
    for name in 'onnx', 'onnxruntime':
        try:
            __import__(name)
        except ImportError:
            for item in items:
                if 'onnx_chainer_tests' in str(item.path):
                    item.add_marker(pytest.mark.skip(reason=f'needs {name}'))


_RUNNER = pytest.param(
    loaders.Runner,
    id='runner',
    marks=[
        pytest.mark.chainerx,
        pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built'),
    ],
)


@pytest.fixture(params=[pytest.param(loaders.Importer, id='importer'), _RUNNER])
def loader(request):
    """Each of the two loaders of files."""
    return request.param()
