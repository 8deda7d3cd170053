"""Placeholders for CuPy's names if CuPy is not usable."""

from __future__ import annotations

import typing as tp
from typing import Any

import numpy

if tp.TYPE_CHECKING:
    from chainer._core.settings.types import CupyArray as _Array
else:
    _Array = object

error: Exception | None = None  # why CuPy is not usable, set by `_cupy`


def fail() -> tp.NoReturn:
    """Raises an error that says why CuPy is not usable."""
    raise RuntimeError(
        'CUDA environment is not correctly set up: install a CuPy that fits your CUDA, such '
        f'as cupy-cuda12x.\nReason: {error}'
    )


class CupyPlaceholder:
    """Placeholder for the ``cupy`` module: any use raises an error that says why."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        try:
            fail()
        except RuntimeError as e:
            # An attribute error, so that ``hasattr`` and ``getattr`` with a default work.
            raise AttributeError(f'cupy.{name} cannot be used. {e}') from None

    def __repr__(self) -> str:
        return '<cupy (not available)>'


if tp.TYPE_CHECKING:
    from chainer._core.settings.types import CupyArray as _Array
else:
    _Array = object


class ndarray(_Array):
    """Placeholder for ``cupy.ndarray``, without instances."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fail()

    @property
    def device(self) -> Device:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def get(self, stream: Stream | None = None) -> numpy.ndarray:
        raise NotImplementedError

    def set(self, arr: numpy.ndarray, stream: Stream | None = None) -> None:
        raise NotImplementedError


class Device:
    """Placeholder for ``cupy.cuda.Device``."""

    id: int

    def __init__(self, device: int | None = None) -> None:
        fail()

    def __enter__(self) -> Device:
        raise NotImplementedError

    def __exit__(self, *args: tp.Any) -> None:
        raise NotImplementedError


class Event:
    """Placeholder for ``cupy.cuda.Event``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fail()


class Stream:
    """Placeholder for ``cupy.cuda.Stream``."""

    null = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fail()


for _cls in (ndarray, Device, Event, Stream):
    _cls.__module__ = 'chainer.backends.cuda'
