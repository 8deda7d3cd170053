"""ChainerX: n-dimensional arrays with automatic differentiation, in C++.

Arrays have NumPy's interface; computations on arrays that require gradients are recorded and
differentiated by :func:`backward` and :func:`grad`. The module needs its compiled core, which is
built with ``CHAINER_BUILD_CHAINERX=1 pip install .``; :func:`is_available` tells whether it is there.
"""
try:
    from chainerx import _core
except ImportError as error:
    _core = None
    _reason = str(error)
else:
    _reason = None


def is_available():
    """Returns whether the compiled core of ChainerX is built and can be loaded."""
    return _core is not None


if is_available():
    from numpy import (  # noqa: F401
        bool_, dtype, e, euler_gamma, float16, float32, float64, inf, int8, int16, int32, int64,
        nan, newaxis, pi, uint8)

    from chainerx._core import *  # noqa: F403
    from chainerx._core import ndarray  # noqa: F401
else:
    class ndarray:
        """Stands for the array class of ChainerX, which is not built: nothing is an instance."""

        def __init__(self, *args, **kwargs):
            raise RuntimeError(_message())

    def _message():
        return ('ChainerX is not available. Build it with CHAINER_BUILD_CHAINERX=1 pip install . '
                f'(reason: {_reason})')

    def __getattr__(name):
        if name.startswith('__'):
            raise AttributeError(name)
        raise RuntimeError(f'chainerx.{name}: {_message()}')
