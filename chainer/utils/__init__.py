"""Utilities."""

from __future__ import annotations

import collections.abc as collections_abc  # noqa: F401
import contextlib
import importlib
from typing import TYPE_CHECKING, Any

import numpy

# Names of other packages that scripts reach through this one.
from chainer._core.names import lazy as _lazy
from chainer.utils.argument import (  # noqa: F401
    assert_kwargs_empty as assert_kwargs_empty,
    check_unexpected_kwargs as check_unexpected_kwargs,
    parse_kwargs as parse_kwargs,
)
from chainer.utils.array import (
    _cast,
    size_of_shape as size_of_shape,
    sum_to as sum_to,
)
from chainer.utils.cache import cached_property as cached_property  # noqa: F401
from chainer.utils.conv import (  # noqa: F401
    get_conv_outsize as get_conv_outsize,
    get_deconv_outsize as get_deconv_outsize,
)
from chainer.utils.error import _format_array_props  # noqa: F401
from chainer.utils.experimental import experimental as experimental  # noqa: F401
from chainer.utils.meta import enable_final as enable_final, final as final  # noqa: F401
from chainer.utils.nondeterministic import nondeterministic as nondeterministic  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer._core.settings.types import DTypeSpec as DTypeSpec


def _raise_from(exc_type, message, orig_exc):
    """Raises an exception that tells its cause in its message, too."""
    cause = f'{type(orig_exc).__name__}: {orig_exc}'
    raise exc_type(f'{message}\n\n(caused by)\n{cause}\n') from orig_exc


def force_array(x: Any, dtype: DTypeSpec = None) -> Any:
    """Converts a scalar, which 0-dimensional NumPy operations return, to an array.

    Args:
        x: Array or scalar.
        dtype: Dtype to cast to; that of ``x`` by default.

    Returns:
        Array.

    .. admonition:: Example

        >>> from chainer import utils
        >>> x = np.array(3, np.float32)
        >>> utils.force_array(x * x)  # the product is a scalar of NumPy
        array(9., dtype=float32)
        >>> utils.force_array(2, np.float32)
        array(2., dtype=float32)

    """
    if dtype is None:
        return numpy.array(x) if numpy.isscalar(x) else x
    return _cast(numpy.asarray(x) if numpy.isscalar(x) else x, dtype)


def force_type(dtype: DTypeSpec, value: Any) -> Any:
    """Casts a scalar or an array to a dtype if necessary.

    Args:
        dtype: Dtype.
        value: Scalar or array.

    Returns:
        Scalar of NumPy, or array.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.force_type(np.float16, np.array([1, 2]))
        array([1., 2.], dtype=float16)

    """
    if numpy.isscalar(value):
        scalar_type: type[Any] = numpy.dtype(dtype).type
        return scalar_type(value)
    return value if value.dtype == dtype else _cast(value, dtype)


@contextlib.contextmanager
def tempdir(**kwargs: Any) -> Iterator[str]:
    """Makes a temporary folder and removes it after the ``with`` statement.

    Args:
        kwargs: Arguments of :func:`tempfile.mkdtemp`, and ``ignore_errors`` (bool): whether to
            ignore errors of the removal.

    .. admonition:: Example

        >>> import os
        >>> from chainer import utils
        >>> with utils.tempdir(prefix='example') as path:
        ...     os.path.isdir(path)
        True
        >>> os.path.exists(path)
        False

    """
    import shutil
    import tempfile

    ignore_errors = kwargs.pop('ignore_errors', False)
    path = tempfile.mkdtemp(**kwargs)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=ignore_errors)


# They are built on variables and devices, which are built on this package.
_lazy.attach(
    __name__,
    {
        'CooMatrix': 'chainer.utils.sparse',
        'get_order': 'chainer.utils.sparse',
        'to_coo': 'chainer.utils.sparse',
        'WalkerAlias': 'chainer.utils.walker_alias',
    },
)
