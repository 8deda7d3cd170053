"""Conditional skipping of the doctests in the documentation."""
import sys
import unittest

from chainer.backends import cuda
from chainer.testing import helper


def skipif(condition):
    """Skips the rest of a doctest if the condition holds."""
    if not condition:
        return
    pytest = sys.modules.get('pytest')
    if pytest is not None:
        pytest.skip('doctest condition')
    raise unittest.SkipTest('doctest condition')


def skipif_requires_satisfied(*requirements):
    """Skips the rest of a doctest if all the requirements (PEP 508) are met."""
    skipif(all(helper._is_satisfied(r) for r in requirements))


def skipif_not_enough_cuda_devices(device_count):
    """Skips the rest of a doctest if there are fewer CUDA devices than ``device_count``."""
    found = cuda.cupy.cuda.runtime.getDeviceCount() if cuda.available else 0
    skipif(found < device_count)
