"""ChainerX: n-dimensional arrays with automatic differentiation, in C++.

Arrays have NumPy's interface; computations on arrays that require gradients are recorded and
differentiated by :func:`backward` and :func:`grad`. The module needs its compiled core, which is
built with ``CHAINER_BUILD_CHAINERX=1 pip install .``; :func:`is_available` tells whether it is
there.
"""

from __future__ import annotations

import builtins
import os as _os
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


def get_cmake_dir() -> str:
    """Returns the folder with which CMake's ``find_package(ChainerX)`` finds the C++ library.

    CMake takes it as ``-DChainerX_DIR=FOLDER``.

    Returns:
        str: Path of a folder in the installed package.

    Raises:
        RuntimeError: The package has no such folder: it is an editable install, or ChainerX is not
            built.

    .. admonition:: Example

        >>> try:
        ...     folder = chainerx.get_cmake_dir()
        ... except RuntimeError:  # an editable install
        ...     folder = None

    """
    # Sources may use a core that is installed elsewhere.
    package = _core.__file__ if is_available() else __file__
    path = _os.path.join(_os.path.dirname(_os.path.abspath(package)), 'cmake')
    if not _os.path.isdir(path):
        raise RuntimeError(
            f'there is no {path}: editable installs and builds without ChainerX have no files for '
            'C++ programs; "cmake --install build/chainerx --component cpp --prefix FOLDER" '
            'installs them'
        )
    return path


if TYPE_CHECKING or is_available():
    import numpy as _numpy
    from numpy import (
        bool_ as bool_,
        complex64 as complex64,
        complex128 as complex128,
        dtype as dtype,
        e as e,
        euler_gamma as euler_gamma,
        float16 as float16,
        float32 as float32,
        float64 as float64,
        inf as inf,
        int8 as int8,
        int16 as int16,
        int32 as int32,
        int64 as int64,
        nan as nan,
        newaxis as newaxis,
        pi as pi,
        uint8 as uint8,
        uint16 as uint16,
        uint32 as uint32,
        uint64 as uint64,
    )

    from chainerx import (
        _core,
        array_api as array_api,
        fft as fft,
        linalg as linalg,
        onnx as onnx,
        random as random,
        testing as testing,
    )
    from chainerx._aliases import (
        abs as abs,
        acos as acos,
        acosh as acosh,
        around as around,
        asin as asin,
        asinh as asinh,
        atan as atan,
        atan2 as atan2,
        atanh as atanh,
        bitwise_invert as bitwise_invert,
        bitwise_left_shift as bitwise_left_shift,
        bitwise_right_shift as bitwise_right_shift,
        concat as concat,
        max as max,
        min as min,
        mod as mod,
        permute_dims as permute_dims,
        pow as pow,
        true_divide as true_divide,
    )
    from chainerx._core import *  # noqa: F403
    from chainerx._core import __version__ as __version__, ndarray as ndarray
    from chainerx._dtypes import (
        DTYPES as _DTYPES,
        astype as astype,
        bfloat16 as _bfloat16,
        can_cast as can_cast,
        finfo as finfo,
        iinfo as iinfo,
        isdtype as isdtype,
        result_type as result_type,
    )
    from chainerx._files import (
        load as load,
        save as save,
        savez as savez,
        savez_compressed as savez_compressed,
    )
    from chainerx._routines import (
        asanyarray as asanyarray,
        broadcast_arrays as broadcast_arrays,
        fix as fix,
        fromfile as fromfile,
        fromfunction as fromfunction,
        fromiter as fromiter,
        fromstring as fromstring,
        loadtxt as loadtxt,
        meshgrid as meshgrid,
    )
    from chainerx._standard import (
        cumulative_prod as cumulative_prod,
        cumulative_sum as cumulative_sum,
        isin as isin,
        positive as positive,
        unique_all as unique_all,
        unique_counts as unique_counts,
        unique_inverse as unique_inverse,
        unique_values as unique_values,
        unstack as unstack,
    )

    bool = bool_  # as in NumPy 2
    float = builtins.float
    int = builtins.int
    Inf: float = inf
    Infinity: float = inf
    PINF: float = inf
    infty: float = inf
    NINF: float = -inf
    NAN: float = nan
    NaN: float = nan
    PZERO: float = 0.0
    NZERO: float = -0.0

    #: The real dtypes that arrays can have, but for bfloat16, which NumPy does not have itself.
    all_dtypes: tuple[type[_numpy.generic], ...] = tuple(
        d.type for d in _DTYPES.values() if d.kind != 'c'
    )

    if TYPE_CHECKING:
        bfloat16: type[_numpy.generic]
    else:

        def __getattr__(name: str) -> Any:
            if name == 'bfloat16':
                return _bfloat16()
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')

else:

    class ndarray:  # type: ignore[no-redef]
        """Stands for the array class of ChainerX, which is not built: nothing is an instance."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise RuntimeError(_availability.message())

    def __getattr__(name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        raise _availability.NotBuiltError(f'chainerx.{name}: {_availability.message()}')
