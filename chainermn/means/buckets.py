"""Gradients of a model, joined in contiguous memory."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd import variable_gradient
from chainer._core.devices.array_context import using_device_of
from chainermn import _arrays
from chainermn.means import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer.variable import Parameter
    from chainermn.means.residuals import Residuals

#: Bytes of an array on the host that travels alone: the copy to join it costs more than a message.
ALONE = 1 << 18
# A last group of fewer bytes completes soon after the previous one, so its own messages do not pay.
_SMALL = 1 << 16


def group(sizes: Sequence[int], dtypes: Sequence[object], least: int) -> list[list[int]]:
    """Groups gradients that backward sends together.

    Large groups need fewer messages; small ones start earlier in backward.

    Args:
        sizes: Bytes of the gradients, in the order in which backward completes them.
        dtypes: Their dtypes. Gradients are joined in one dtype, so another one starts a group.
        least: Bytes after which a group is full.

    Returns:
        Numbers of the gradients of each group.

    """
    groups: list[list[int]] = []
    total = 0
    for i, (size, dtype) in enumerate(zip(sizes, dtypes)):
        if not groups or total >= least or dtype != dtypes[i - 1]:
            groups.append([])
            total = 0
        groups[-1].append(i)
        total += size
    if len(groups) > 1 and total < _SMALL:
        rest = groups.pop()
        groups[-1] += rest
    return groups


def bounds_of(size: int, n_ranks: int) -> list[int]:
    """Returns where the parts of the ranks begin in an array of ``size`` elements, and its end."""
    return [size * i // n_ranks for i in range(n_ranks + 1)]


def parts_of(size: int, n_ranks: int) -> list[slice]:
    """Returns the elements that each rank adds of an array of ``size``."""
    bounds = bounds_of(size, n_ranks)
    return [slice(a, b) for a, b in zip(bounds, bounds[1:])]


def cut(starts: Sequence[int], low: int, high: int) -> list[tuple[int, int, int]]:
    """Returns what is between two elements of arrays that follow each other.

    Args:
        starts: Where the arrays begin, and the end of the last one.
        low: First element.
        high: Element after the last one.

    Returns:
        Number of each array, its first element and the one after its last.

    """
    return [
        (i, max(a, low) - a, min(b, high) - a)
        for i, (a, b) in enumerate(zip(starts, starts[1:]))
        if max(a, low) < min(b, high)
    ]


class Bucket:
    """Gradients that are sent together.

    Args:
        params: Parameters, whose gradients have one dtype and are all on the host or on one GPU.
        setting: The configuration ``allreduce_grad_dtype``.
        n_ranks: Number of ranks.
        residuals: What messages have left out of gradients.

    """

    def __init__(
        self,
        params: Sequence[Parameter],
        setting: str | None,
        n_ranks: int,
        residuals: Residuals,
    ) -> None:
        self.params: list[Parameter] = list(params)
        self.grads: list[Any] = []
        #: Dtype in which gradients are added, and the narrow one in which they are sent, if any.
        self.dtype: numpy.dtype[Any]
        self.wire: str | None
        self.dtype, self.wire = dtypes.dtypes_of(params[0].dtype, setting)
        self.size: int = sum([param.size for param in params])
        self.on_host: bool = _is_on_host(params[0])
        #: Elements that each rank adds.
        self.parts: list[slice] = parts_of(self.size, n_ranks)
        #: Memory that the ranks share, if any: a row for each, see :class:`SharedRows`.
        self.rows: list[Any] = []
        #: Shared memory where backward may have made the gradient, if any, see :class:`Slots`.
        self.slots: Any = None
        #: The joined gradients, from :meth:`pack` to :meth:`unpack`.
        self.flat: Any = None
        self._memory: Any = None
        self._pieces: list[Any] = []  # of the memory, for the gradients
        self._is_gradient = False
        self._residuals = residuals
        self._residual: Any = None
        self._residual_pieces: list[Any] = []  # of the parameters

    @property
    def can_share(self) -> bool:
        """Whether the gradients may go through memory that the ranks share.

        Those that are sent as 8 bits may: no network is there to save.
        """
        return self.on_host and self.wire in (None, dtypes.INT8)

    @property
    def slot_bytes(self) -> int:
        """Bytes of the gradient if backward should make it in shared memory, or zero."""
        n_bytes = self.size * self.dtype.itemsize
        is_alone = len(self.params) == 1 and self.params[0].dtype == self.dtype
        return n_bytes if self.can_share and is_alone and n_bytes >= ALONE else 0

    def share(self, rows: list[Any], rank: int) -> None:
        """Takes memory that the ranks share, one row for each."""
        self.rows = rows
        self._use(rows[rank])

    def _use(self, memory: Any) -> None:
        self._memory = memory
        pieces = zip(self.params, self._split(memory))
        self._pieces = [piece.reshape(param.shape) for param, piece in pieces]

    def _split(self, memory: Any) -> list[Any]:
        bounds = [0, *itertools.accumulate([param.size for param in self.params])]
        return [memory[start:end] for start, end in zip(bounds, bounds[1:])]

    def residual(self) -> numpy.ndarray[Any, Any]:
        """Returns what messages have left out of the gradients so far, as one array of float32."""
        if self._residual is None:
            self._residual = numpy.empty(self.size, numpy.float32)
            self._residual_pieces = self._split(self._residual)
        self._residuals.join(self.params, self._residual_pieces)
        return self._residual

    def fill_grads(self) -> None:
        """Sets missing gradients to zeros."""
        for param in self.params:
            variable_gradient.fill_missing_grad(param)

    def pack(self) -> Any:
        """Joins the gradients; returns the flat array, which may be the memory of the gradient."""
        self.grads = [_arrays.plain(param.grad) for param in self.params]
        first = self.grads[0]
        # A single gradient of the right dtype is its own flat array: nothing is copied.
        self._is_gradient = len(self.grads) == 1 and self._is_flat(first)
        self.flat = first.reshape(-1) if self._is_gradient else self._join(first)
        return self.flat

    def _is_flat(self, grad: Any) -> bool:
        return (
            type(grad) is numpy.ndarray
            and grad.dtype == self.dtype
            and grad.flags.c_contiguous
            and grad.flags.writeable
        )

    def _join(self, first: Any) -> Any:
        """Copies the gradients to the memory of the bucket, which it makes if there is none."""
        xp = backend.get_array_module(first)
        with using_device_of(first):
            if not isinstance(self._memory, xp.ndarray):
                self._use(xp.empty(self.size, self.dtype))
            # Assignments convert dtypes, which a concatenation into an array does not.
            if xp in (numpy, chainerx) or first.dtype != self.dtype:
                for piece, grad in zip(self._pieces, self.grads):
                    piece[...] = grad
            else:  # one kernel copies many gradients
                xp.concatenate([grad.reshape(-1) for grad in self.grads], out=self._memory)
        return self._memory

    def unpack(self) -> None:
        """Writes the flat array back to the gradients."""
        if not self._is_gradient:
            with using_device_of(self.flat):
                for piece, grad in zip(self._pieces, self.grads):
                    grad[...] = piece
        self.flat = None
        self.grads = []


def _is_on_host(param: Parameter) -> bool:
    return backend.get_device_from_array(param.array).name.startswith(('@numpy', 'native'))


def divide(
    params: Iterable[Parameter],
    setting: str | None,
    limit: int | None,
    n_ranks: int,
    residuals: Residuals,
) -> list[Bucket]:
    """Divides parameters into buckets, the same on all ranks.

    Args:
        params: Parameters in an order that all ranks share.
        setting: The configuration ``allreduce_grad_dtype``.
        limit: Most bytes of a bucket of several gradients; ``None`` joins all that should be.
        n_ranks: Number of ranks.
        residuals: What messages have left out of gradients.

    """
    packer = _Packer(limit)
    for param in params:
        packer.add(param)
    return [Bucket(bucket, setting, n_ranks, residuals) for bucket in packer.buckets]


class _Packer:
    """Divides parameters by whose gradients are joined: of one dtype, on the host or not.

    Args:
        limit: Most bytes of a bucket of several gradients.

    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.buckets: list[list[Parameter]] = []
        self._open: dict[Any, list[Parameter]] = {}  # the bucket of each kind that takes more
        self._sizes: dict[Any, int] = {}

    def add(self, param: Parameter) -> None:
        on_host = _is_on_host(param)
        n_bytes = param.array.nbytes
        # A copy into a bucket costs more than a message of its own saves.
        is_full = self._limit is not None and n_bytes >= self._limit
        if is_full or (on_host and n_bytes >= ALONE):
            self.buckets.append([param])
            return
        key = numpy.dtype(param.dtype).name, on_host
        # A full bucket stays in the list; the next gradient of its kind starts another one.
        if key not in self._open or not self._fits(self._sizes[key] + n_bytes):
            self._open[key], self._sizes[key] = [], 0
            self.buckets.append(self._open[key])
        self._open[key].append(param)
        self._sizes[key] += n_bytes

    def _fits(self, n_bytes: int) -> bool:
        return self._limit is None or n_bytes <= self._limit
