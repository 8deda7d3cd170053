"""Devices for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainer

if TYPE_CHECKING:
    from chainer.backend import Device


def get_device(device_id: int | None = None, use_chainerx: bool = False) -> Device:
    """Returns the device that a test asks for.

    Args:
        device_id (int): Number of a GPU, or ``None`` for the CPU.
        use_chainerx (bool): Whether to use ChainerX.

    .. admonition:: Example

        >>> chainermn.testing.get_device()
        <CpuDevice (numpy)>

    """
    if device_id is None:
        return chainer.get_device('native:0' if use_chainerx else '@numpy')
    return chainer.get_device(f'cuda:{device_id}' if use_chainerx else f'@cupy:{device_id}')
