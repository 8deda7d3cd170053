"""Exports ResNet-50: ``python -m onnx_chainer.examples.resnet50.export -i IMAGE``."""

from __future__ import annotations

import chainer.links as L
from onnx_chainer.examples import _common


def export_onnx(
    input_image_path: str, output_path: str, gpu: int, only_output: bool = True
) -> None:
    """Exports ResNet-50 with an image as its input.

    Args:
        input_image_path (str): Path of an image.
        output_path (str): Path of the model, or folder of the test case.
        gpu (int): Number of the GPU, or -1 for the CPU.
        only_output (bool): Whether to write the model only, without a test case.

    """
    model = L.ResNet50Layers(pretrained_model=None)
    x = L.model.vision.resnet.prepare(_common.read_image(input_image_path, 224).transpose(1, 2, 0))
    _common.write(model, x[None], output_path, gpu, only_output)


if __name__ == '__main__':
    _common.main(export_onnx)
