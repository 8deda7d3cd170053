"""Versions of the environment, by the names of Chainer 7."""

from __future__ import annotations

from chainer._core.devices.runtime_info import (
    _get_lines,
    print_runtime_info as print_runtime_info,
)


class _RuntimeInfo:
    def __str__(self) -> str:
        return ''.join(f'{line}\n' for line in _get_lines())


def _get_runtime_info():
    return _RuntimeInfo()
