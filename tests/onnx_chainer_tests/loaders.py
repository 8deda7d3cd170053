"""The two loaders of files, :func:`onnx_chainer.load` and :func:`chainerx.onnx.load`, as one."""

import numpy as np

import chainer
import chainerx


class Importer:
    """The loader in Python."""

    name = 'importer'

    def __init__(self):
        import onnx_chainer
        from onnx_chainer.importing import ModelError

        self.error = ModelError
        self._load = onnx_chainer.load

    def load(self, source):
        """What a file, or the bytes of one, computes: a function from arrays to arrays."""
        model = self._load(source)
        return lambda *xs: [_array_of(y) for y in model.run(dict(zip(model.input_names, xs)))]


def _array_of(y):
    if isinstance(y, list):
        return [_array_of(each) for each in y]
    return y if isinstance(y, dict) else np.asarray(getattr(y, 'array', y))


class Runner:
    """The loader in C++."""

    name = 'runner'

    def __init__(self):
        self.error = chainerx.ModelError
        self._load = chainerx.onnx.load

    def load(self, source):
        model = self._load(source)
        return lambda *xs: [_numpy(y) for y in model.run(list(xs))]


def _numpy(y):
    if isinstance(y, list):
        return [_numpy(each) for each in y]
    return chainer.cuda.to_cpu(chainerx.to_numpy(y)) if isinstance(y, chainerx.ndarray) else y
