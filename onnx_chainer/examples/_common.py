"""What the examples share."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

import numpy

import chainer
import onnx_chainer

if TYPE_CHECKING:
    from collections.abc import Callable


def read_image(path: str, size: int) -> numpy.ndarray:
    """Reads an image as float32 in the order of channels, rows, columns; it needs Pillow.

    Args:
        path (str): Path of the image.
        size (int): Height and width to which it is resized.

    """
    from PIL import Image

    with Image.open(path) as image:
        return numpy.asarray(image.convert('RGB').resize((size, size)), 'f').transpose(2, 0, 1)


def write(model: chainer.Link, x: Any, output_path: str, gpu: int, only_output: bool) -> None:
    """Exports a model, with a test case unless ``only_output``.

    Args:
        model (~chainer.Link): Model.
        x: Its input, as a NumPy array.
        output_path (str): Path of the file, or folder of the test case.
        gpu (int): Number of the GPU, or -1 for the CPU.
        only_output (bool): Whether to write the model only.

    """
    device = chainer.get_device('@numpy' if gpu < 0 else f'@cupy:{gpu}')
    device.use()
    model.to_device(device)
    x = device.send(x)
    if only_output:
        os.makedirs(os.path.dirname(output_path) or '.', exist_ok=True)
        onnx_chainer.export(model, x, filename=output_path)
    else:
        onnx_chainer.export_testcase(model, x, output_path)


def main(export_onnx: Callable[..., None]) -> None:
    """Command line of an example.

    Args:
        export_onnx (callable): Function of the example.

    """
    parser = argparse.ArgumentParser()
    parser.add_argument('--input-image', '-i', required=True, help='path of an image')
    parser.add_argument('--output', '-o', default='out/model.onnx', help='path of the model')
    parser.add_argument('--gpu', '-g', type=int, default=-1, help='GPU, or -1 for the CPU')
    parser.add_argument('--testcase', action='store_true', help='write inputs and outputs, too')
    args = parser.parse_args()
    export_onnx(args.input_image, args.output, args.gpu, not args.testcase)
