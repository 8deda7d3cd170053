"""The examples of the package, on a small picture."""

import importlib

import numpy as np
import pytest
from onnx_chainer_tests import helpers_of_export

from onnx_chainer import _opsets
from onnx_chainer.testing import test_onnxruntime as checks


@pytest.mark.slow
@pytest.mark.parametrize(
    ('name', 'shape'), [('resnet50', (1, 1000)), ('yolov2tiny', (1, 125, 13, 13))]
)
def test_export_onnx(name, shape, tmp_path, monkeypatch):
    import onnx

    image = pytest.importorskip('PIL.Image')
    monkeypatch.setattr(_opsets, 'MAXIMUM_OPSET_VERSION', helpers_of_export.newest_opset())
    picture = np.random.RandomState(0).randint(0, 256, (40, 50, 3)).astype(np.uint8)
    image.fromarray(picture).save(tmp_path / 'picture.png')
    example = importlib.import_module(f'onnx_chainer.examples.{name}.export')
    path = tmp_path / 'out' / 'model.onnx'
    example.export_onnx(str(tmp_path / 'picture.png'), str(path), -1)
    model = onnx.load(path)
    dims = model.graph.output[0].type.tensor_type.shape.dim
    assert tuple(d.dim_value for d in dims) == shape
    example.export_onnx(str(tmp_path / 'picture.png'), str(tmp_path / 'case'), -1, False)
    checks.check_model_expect(str(tmp_path / 'case'), None, 1e-3, 1e-4)
