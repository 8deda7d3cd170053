import pytest


def pytest_collection_modifyitems(items):
    for name in 'onnx', 'onnxruntime':
        try:
            __import__(name)
        except ImportError:
            for item in items:
                if 'onnx_chainer_tests' in str(item.path):
                    item.add_marker(pytest.mark.skip(reason=f'needs {name}'))
