"""ONNX files: :func:`load` gives a link that computes what a file describes."""

from onnx_chainer.importing import load as load
