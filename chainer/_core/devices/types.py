"""Types for annotations: devices in all their forms."""

from __future__ import annotations

import typing as tp

import numpy

if tp.TYPE_CHECKING:
    from types import ModuleType

    import chainerx
    from chainer._core.devices.device import Device
    from chainer.backends import _cupy_absent

#: GPU: its device of CuPy or its number.
CudaDeviceSpec = tp.Union['_cupy_absent.Device', int, numpy.integer[tp.Any]]
#: Device in any form that :func:`chainer.get_device` takes, such as its name.
DeviceSpec = tp.Union[
    'Device',
    'chainerx.Device',
    '_cupy_absent.Device',
    str,
    int,
    tuple[str, int],
    'ModuleType',
    tuple['ModuleType', int],
]
