"""The stand-in for cuDNN of the emulated CUDA backend, as tests see it."""

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

import chainer
from tests.helpers.cuda_emulation import is_emulated

#: Marks tests of what the stand-in shows.
emulated = pytest.mark.skipif(not is_emulated(), reason='a GPU cannot show which kernels ran')


class StandIn:
    """The calls that the stand-in for cuDNN gets, and failures that it answers with."""

    def __init__(self):
        folder = Path(os.environ['CHAINERX_PATH']).resolve()
        self._library = ctypes.CDLL(str(folder / 'nvidia' / 'cudnn' / 'lib' / 'libcudnn.so.9'))
        self._library.cudnnEmulatedCalls.restype = ctypes.c_char_p
        self._failing = []

    def calls(self):
        """Calls since the last time, by function."""
        calls = {}
        for line in self._library.cudnnEmulatedCalls().decode().splitlines():
            name, *details = line.split()
            calls[name] = {key: int(value) for key, value in (d.split('=') for d in details)}
        return calls

    def fail(self, function, status):
        """Lets calls of a function fail until `restore`."""
        self._failing.append(function)
        self._library.cudnnEmulatedFail(function.encode(), status)

    def restore(self):
        for function in self._failing:
            self._library.cudnnEmulatedFail(function.encode(), 0)


#: Of results by cuDNN
TOLERANCE = {'float16': 4e-3, 'float32': 2e-5, 'float64': 1e-12}


def assert_equal_to_plain_and_native(run, dtype):
    """Holds results by cuDNN against those of plain kernels, and these against the CPU's.

    Args:
        run: Returns NumPy arrays that are computed on the device of a name.
        dtype: Their dtype.

    """
    results = run('cuda:0')
    with chainer.using_config('use_cudnn', 'never'):
        plain = run('cuda:0')
    tolerance = TOLERANCE[dtype]
    for result, reference, other in zip(results, plain, run('native:0')):
        assert result.dtype == reference.dtype == other.dtype
        np.testing.assert_allclose(result, reference, rtol=tolerance, atol=5 * tolerance)
        np.testing.assert_allclose(reference, other, rtol=tolerance, atol=5 * tolerance)
