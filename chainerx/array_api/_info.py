"""What the namespace tells about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainerx import _core
from chainerx._dtypes import DTYPES, isdtype

if TYPE_CHECKING:
    import numpy

    from chainerx._core import Device

#: Dimensions that arrays may have.
_MAX_DIMENSIONS = 16
#: Dtypes of arrays that are not of the standard, which wants only its own to be told.
_NOT_OF_THE_STANDARD = {'float16'}


class Info:
    """What :func:`__array_namespace_info__` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Tells what the namespace can do.

        Returns:
            dict: ``'boolean indexing'``, ``'data-dependent shapes'`` and ``'max dimensions'``.

        .. admonition:: Example

            >>> chainerx.array_api.__array_namespace_info__().capabilities()['boolean indexing']
            True

        """
        return {
            'boolean indexing': True,
            'data-dependent shapes': True,
            'max dimensions': _MAX_DIMENSIONS,
        }

    def default_device(self) -> Device:
        """Tells the device of new arrays.

        Returns:
            ~chainerx.Device: The default device of the thread.

        .. admonition:: Example

            >>> chainerx.array_api.__array_namespace_info__().default_device()
            native:0

        """
        return _core.get_default_device()

    def default_dtypes(self, *, device: Device | str | None = None) -> dict[str, numpy.dtype[Any]]:
        """Tells the dtypes of new arrays.

        Args:
            device (~chainerx.Device or str): All devices have the same ones.

        Returns:
            dict: Dtypes by kind: ``'real floating'``, ``'complex floating'``, ``'integral'`` and
            ``'indexing'``.

        .. admonition:: Example

            >>> chainerx.array_api.__array_namespace_info__().default_dtypes()['integral']
            dtype('int64')

        """
        integer = DTYPES['int64']
        return {
            'real floating': DTYPES['float64'],
            'complex floating': DTYPES['complex128'],
            'integral': integer,
            'indexing': integer,
        }

    def devices(self) -> list[Device]:
        """Tells the devices of the backend of the default device.

        Returns:
            list of ~chainerx.Device: Devices.

        .. admonition:: Example

            >>> chainerx.array_api.__array_namespace_info__().devices()[0]
            native:0

        """
        backend = _core.get_default_device().backend
        return [backend.get_device(i) for i in range(backend.get_device_count())]

    def dtypes(
        self,
        *,
        device: Device | str | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, numpy.dtype[Any]]:
        """Tells the dtypes of the standard that arrays can have; they can have float16 as well.

        Args:
            device (~chainerx.Device or str): All devices have the same ones.
            kind (str or tuple of str): Kinds as :func:`chainerx.isdtype` takes them; all unless
                given.

        Returns:
            dict: Dtypes by name.

        .. admonition:: Example

            >>> list(chainerx.array_api.__array_namespace_info__().dtypes(kind='real floating'))
            ['float32', 'float64']

        """
        return {
            name: dtype
            for name, dtype in DTYPES.items()
            if name not in _NOT_OF_THE_STANDARD and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:
    """Returns what the namespace tells about itself.

    Returns:
        object: It has the methods ``capabilities``, ``default_device``, ``default_dtypes``,
        ``devices`` and ``dtypes``.

    .. admonition:: Example

        >>> chainerx.array_api.__array_namespace_info__().default_device()
        native:0

    """
    return Info()
