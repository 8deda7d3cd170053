"""ChainerX: n-dimensional arrays with automatic differentiation, in C++.

Arrays have NumPy's interface; computations on arrays that require gradients are recorded and
differentiated by :func:`backward` and :func:`grad`. The module needs its compiled core, which is
built with ``CHAINER_BUILD_CHAINERX=1 pip install .``; :func:`is_available` tells whether it is
there.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from chainerx import _availability


def is_available() -> builtins.bool:
    """Tells whether the compiled core of ChainerX is built and can be loaded.

    Returns:
        bool: Whether arrays can be made.

    .. admonition:: Example

        >>> if chainerx.is_available():
        ...     x = chainerx.ones(3)

    """
    return _availability.reason is None


if TYPE_CHECKING or is_available():
    import numpy as _numpy
    from numpy import bool_ as bool_
    from numpy import dtype as dtype
    from numpy import e as e
    from numpy import euler_gamma as euler_gamma
    from numpy import float16 as float16
    from numpy import float32 as float32
    from numpy import float64 as float64
    from numpy import inf as inf
    from numpy import int8 as int8
    from numpy import int16 as int16
    from numpy import int32 as int32
    from numpy import int64 as int64
    from numpy import nan as nan
    from numpy import newaxis as newaxis
    from numpy import pi as pi
    from numpy import uint8 as uint8

    from chainerx import _core
    from chainerx import linalg as linalg
    from chainerx import random as random
    from chainerx import testing as testing
    from chainerx._core import *  # noqa: F403
    from chainerx._core import __version__ as __version__
    from chainerx._core import ndarray as ndarray
    from chainerx._routines import asanyarray as asanyarray
    from chainerx._routines import broadcast_arrays as broadcast_arrays
    from chainerx._routines import fix as fix
    from chainerx._routines import fromfile as fromfile
    from chainerx._routines import fromfunction as fromfunction
    from chainerx._routines import fromiter as fromiter
    from chainerx._routines import fromstring as fromstring
    from chainerx._routines import loadtxt as loadtxt
    from chainerx._routines import meshgrid as meshgrid

    abs = _core.absolute
    max = _core.amax
    min = _core.amin
    mod = _core.remainder
    true_divide = _core.divide
    bool = bool_  # as in NumPy 2
    Inf: float = inf
    Infinity: float = inf
    PINF: float = inf
    infty: float = inf
    NINF: float = -inf
    NAN: float = nan
    NaN: float = nan
    PZERO: float = 0.0
    NZERO: float = -0.0

    #: The dtypes that arrays can have.
    all_dtypes: tuple[type[_numpy.generic], ...] = (
        bool_,
        int8,
        int16,
        int32,
        int64,
        uint8,
        float16,
        float32,
        float64,
    )
else:

    class ndarray:  # type: ignore[no-redef]
        """Stands for the array class of ChainerX, which is not built: nothing is an instance."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError(_availability.message())

    def __getattr__(name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        raise _availability.NotBuiltError(f'chainerx.{name}: {_availability.message()}')
