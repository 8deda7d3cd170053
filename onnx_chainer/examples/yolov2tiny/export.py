"""Exports Tiny YOLO v2: ``python -m onnx_chainer.examples.yolov2tiny.export -i IMAGE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainer
import chainer.functions as F
import chainer.links as L
from onnx_chainer.examples import _common

if TYPE_CHECKING:
    from chainer.types import VariableLike


class _Block(chainer.Chain):
    """Convolution, batch normalization and leaky ReLU."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(n_in, n_out, 3, pad=1, nobias=True)
            self.bn = L.BatchNormalization(n_out)

    def forward(self, x: VariableLike) -> chainer.Variable:
        return F.leaky_relu(self.bn(self.conv(x)), 0.1)


class YOLOv2Tiny(chainer.Chain):
    """Network of Tiny YOLO v2: from images to a grid of boxes.

    Args:
        n_boxes (int): Number of boxes of each place of the grid.
        n_classes (int): Number of classes.

    See: Redmon and Farhadi, YOLO9000: better, faster, stronger, CVPR 2017.

    """

    insize = 416

    def __init__(self, n_boxes: int = 5, n_classes: int = 20) -> None:
        super().__init__()
        channels = (3, 16, 32, 64, 128, 256, 512, 1024, 1024)
        with self.init_scope():
            self.blocks: chainer.ChainList = chainer.ChainList(
                *[_Block(*pair) for pair in zip(channels, channels[1:])]
            )
            self.out: L.Convolution2D = L.Convolution2D(1024, n_boxes * (5 + n_classes), 1)

    def forward(self, x: VariableLike) -> chainer.Variable:
        """Returns the grid of boxes.

        Args:
            x (~chainer.Variable): Images, of shape ``(batch, 3, 416, 416)``.

        """
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i < 5:
                x = F.max_pooling_2d(x, 2)
            elif i == 5:
                # The sixth one keeps the size.
                x = F.max_pooling_2d(F.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), 'edge'), 2, 1)
        return self.out(x)


def export_onnx(
    input_image_path: str, output_path: str, gpu: int, only_output: bool = True
) -> None:
    """Exports Tiny YOLO v2 with an image as its input.

    Args:
        input_image_path (str): Path of an image.
        output_path (str): Path of the model, or folder of the test case.
        gpu (int): Number of the GPU, or -1 for the CPU.
        only_output (bool): Whether to write the model only, without a test case.

    """
    model = YOLOv2Tiny()
    x = _common.read_image(input_image_path, model.insize) / 255
    _common.write(model, x[None], output_path, gpu, only_output)


if __name__ == '__main__':
    _common.main(export_onnx)
