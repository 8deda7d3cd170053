"""The names of ``cupy.cuda.nccl``, which programs of Chainer 7 take from here.

Importing this module needs neither CuPy nor NCCL; using a name of it does.
"""

from __future__ import annotations

from typing import Any

from chainermn._nccl import nccl_of_cupy


def __getattr__(name: str) -> Any:
    if name.startswith('__'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    nccl = nccl_of_cupy()
    if name in ('available', '_available'):
        return nccl is not None
    if nccl is None:
        raise AttributeError(f'chainermn.nccl.{name} needs CuPy with NCCL')
    return getattr(nccl, name)
