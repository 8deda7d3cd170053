"""Conditional skipping of the doctests in the documentation."""

from __future__ import annotations

import sys
import unittest

from chainer.backends import cuda
from chainer.testing import helper


def skipif(condition: bool) -> None:
    """Skips the rest of a doctest if the condition holds.

    Args:
        condition (bool): Condition.

    Raises:
        unittest.SkipTest: If it holds; under pytest, the exception of ``pytest.skip``.

    .. admonition:: Example

        >>> from chainer.testing import doctest_helper
        >>> doctest_helper.skipif(not hasattr(np, 'zeros'))
        >>> np.zeros(2)
        array([0., 0.])

    """
    if not condition:
        return
    pytest = sys.modules.get('pytest')
    if pytest is not None:
        pytest.skip('doctest condition')
    raise unittest.SkipTest('doctest condition')


def skipif_requires_satisfied(*requirements: str) -> None:
    """Skips the rest of a doctest if all the requirements are met.

    Args:
        requirements (str): Requirements in the form of PEP 508.

    Raises:
        unittest.SkipTest: If they are met; under pytest, the exception of ``pytest.skip``.

    .. admonition:: Example

        >>> from chainer.testing import doctest_helper
        >>> doctest_helper.skipif_requires_satisfied('numpy<1')

    """
    skipif(all(helper._is_satisfied(r) for r in requirements))


def skipif_not_enough_cuda_devices(device_count: int) -> None:
    """Skips the rest of a doctest if there are too few CUDA devices.

    Args:
        device_count (int): Required number of devices.

    Raises:
        unittest.SkipTest: If there are fewer; under pytest, the exception of ``pytest.skip``.

    .. admonition:: Example

        >>> from chainer.testing import doctest_helper
        >>> doctest_helper.skipif_not_enough_cuda_devices(0)

    """
    found = cuda.cupy.cuda.runtime.getDeviceCount() if cuda.available else 0
    skipif(found < device_count)
