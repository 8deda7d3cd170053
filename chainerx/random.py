"""Arrays of random numbers, drawn by NumPy's global generator (:func:`numpy.random.seed`)."""
import numpy

from chainerx import _core


def normal(*args, device=None, **kwargs):
    """Draws samples of normal distributions.

    Args:
        loc, scale, size: As in :func:`numpy.random.normal`.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples of dtype float64.
    """
    return _core.array(numpy.random.normal(*args, **kwargs), device=device)


def uniform(*args, device=None, **kwargs):
    """Draws samples of uniform distributions.

    Args:
        low, high, size: As in :func:`numpy.random.uniform`.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples of dtype float64.
    """
    return _core.array(numpy.random.uniform(*args, **kwargs), device=device)
