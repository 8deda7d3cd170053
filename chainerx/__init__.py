"""ChainerX: n-dimensional arrays with automatic differentiation, in C++.

Arrays have NumPy's interface; computations on arrays that require gradients are recorded and
differentiated by :func:`backward` and :func:`grad`. The module needs its compiled core, which is
built with ``CHAINER_BUILD_CHAINERX=1 pip install .``; :func:`is_available` tells whether it is
there.
"""

from chainerx import _availability


def is_available():
    """Tells whether the compiled core of ChainerX is built and can be loaded.

    Returns:
        bool: Whether arrays can be made.

    .. admonition:: Example

        >>> if chainerx.is_available():
        ...     x = chainerx.ones(3)

    """
    return _availability.reason is None


if is_available():
    from numpy import (  # noqa: F401
        bool_,
        dtype,
        e,
        euler_gamma,
        float16,
        float32,
        float64,
        inf,
        int8,
        int16,
        int32,
        int64,
        nan,
        newaxis,
        pi,
        uint8,
    )

    from chainerx import linalg, random, testing  # noqa: F401
    from chainerx._core import *  # noqa: F403
    from chainerx._core import __version__, ndarray  # noqa: F401
    from chainerx._core import absolute as abs
    from chainerx._core import amax as max
    from chainerx._core import amin as min
    from chainerx._core import divide as true_divide
    from chainerx._core import remainder as mod
    from chainerx._routines import (  # noqa: F401
        asanyarray,
        broadcast_arrays,
        fix,
        fromfile,
        fromfunction,
        fromiter,
        fromstring,
        loadtxt,
        meshgrid,
    )

    bool = bool_  # as in NumPy 2
    Inf = Infinity = PINF = infty = inf
    NINF = -inf
    NAN = NaN = nan
    PZERO = 0.0
    NZERO = -0.0

    #: The dtypes that arrays can have.
    all_dtypes = (bool_, int8, int16, int32, int64, uint8, float16, float32, float64)
else:

    class ndarray:  # type: ignore[no-redef]
        """Stands for the array class of ChainerX, which is not built: nothing is an instance."""

        def __init__(self, *args, **kwargs):
            raise RuntimeError(_availability.message())

    def __getattr__(name):
        if name.startswith('__'):
            raise AttributeError(name)
        raise _availability.NotBuiltError(f'chainerx.{name}: {_availability.message()}')
