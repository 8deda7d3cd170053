"""The stand-in for cuDNN of the emulated CUDA backend, as tests see it."""

import ctypes
import os
from pathlib import Path

import pytest

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
