"""iDeep, a discontinued accelerator.

The module stays importable for scripts that ask for iDeep, and works with an installed
``ideep4py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import configuration
from chainer._core.devices import device as _backend
from chainer.backends import _transfer
from chainer.backends._ideep import error as _error, ideep as ideep, mdarray as mdarray

if TYPE_CHECKING:
    from collections.abc import Sequence


_USE_IDEEP_LEVELS = {
    '==always': {'always': True, 'auto': False, 'never': False},
    '>=auto': {'always': True, 'auto': True, 'never': False},
}


class Intel64Device(_backend.Device):
    """Device of iDeep, which computes with NumPy and iDeep arrays.

    Raises:
        RuntimeError: If iDeep is not available.

    .. admonition:: Example

        >>> device = chainer.get_device('@intel64')  # doctest: +SKIP
        >>> device.send(np.zeros((2, 3), np.float32))  # doctest: +SKIP

    """

    name: str = '@intel64'
    xp = numpy
    supported_array_types: tuple[type, ...] = (numpy.ndarray, mdarray)

    def __init__(self) -> None:
        check_ideep_available()

    def __repr__(self) -> str:
        return f'<{type(self).__name__}>'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intel64Device)

    def __hash__(self) -> int:
        return hash(Intel64Device)

    @staticmethod
    def from_array(array: object) -> Intel64Device | None:
        """Returns the device if ``array`` is an iDeep array, else ``None``."""
        return Intel64Device() if isinstance(array, mdarray) else None

    def is_array_supported(self, array: object) -> bool:
        return isinstance(array, (numpy.ndarray, mdarray))

    def send_array(self, array: Any) -> Any:
        return _array_to_intel64(array)


def _array_to_intel64(array: Any) -> Any:
    if array is None or isinstance(array, mdarray):
        return array
    array = _transfer.to_cpu(array)
    if array.ndim in (1, 2, 4) and array.size > 0 and array.dtype == numpy.float32:
        return ideep.array(array, itype=ideep.wgt_array)
    return array


def is_ideep_available() -> bool:
    """Tells whether iDeep is available.

    Returns:
        bool: Whether it can be imported.

    .. admonition:: Example

        >>> from chainer.backends import intel64
        >>> intel64.is_ideep_available() == (intel64.ideep is not None)
        True

    """
    return ideep is not None


def check_ideep_available() -> None:
    """Raises an error that says why, if iDeep is not available.

    Raises:
        RuntimeError: If iDeep is not available.

    .. admonition:: Example

        >>> from chainer.backends import intel64
        >>> try:
        ...     intel64.check_ideep_available()
        ... except RuntimeError as e:
        ...     print(str(e).splitlines()[0])
        iDeep is not available.

    """
    if ideep is None:
        raise RuntimeError(f'iDeep is not available.\nReason: {type(_error).__name__}: {_error}')


def should_use_ideep(level: str) -> bool:
    """Tells whether to use iDeep, by ``chainer.config.use_ideep``.

    Args:
        level (str): ``'==always'`` or ``'>=auto'``: which settings ask for it.

    Returns:
        bool: Always ``False`` if iDeep is not available.

    Raises:
        ValueError: If the level or the configuration is invalid.

    .. admonition:: Example

        >>> from chainer.backends import intel64
        >>> with chainer.using_config('use_ideep', 'never'):
        ...     intel64.should_use_ideep('>=auto')
        False

    """
    if level not in _USE_IDEEP_LEVELS:
        raise ValueError(
            f'invalid iDeep use level: {level!r} (must be either of "==always" or ">=auto")'
        )
    flags = _USE_IDEEP_LEVELS[level]
    use_ideep = configuration.config.use_ideep
    if use_ideep not in flags:
        raise ValueError(
            f'invalid use_ideep configuration: {use_ideep!r} '
            '(must be either of "always", "auto", or "never")'
        )
    return is_ideep_available() and flags[use_ideep]


def inputs_all_ready(inputs: Sequence[object], supported_ndim: tuple[int, ...] = (2, 4)) -> bool:
    """Tells whether iDeep can compute with the inputs.

    Args:
        inputs: Arrays, variables or ``None``.
        supported_ndim (tuple of int): Supported numbers of dimensions.

    Returns:
        bool: Always ``False`` if iDeep is not available.

    .. admonition:: Example

        >>> from chainer.backends import intel64
        >>> intel64.inputs_all_ready((np.zeros(3, np.float64),))  # of one dimension
        False

    """
    if ideep is None:
        return False
    arrays = [getattr(x, 'array', x) for x in inputs if x is not None]
    return all(isinstance(x, (numpy.ndarray, mdarray)) for x in arrays) and ideep.all_ready(
        arrays, supported_ndim
    )
