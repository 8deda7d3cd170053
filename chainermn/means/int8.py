r"""Means of gradients that travel as 8-bit integers, with error feedback.

A message has blocks of 256 numbers, each with a scale in float32, so 260 bytes stand for 1024:

.. math::

    Q(u) = s \, \mathrm{round}(u / s), \quad s = \max |u| / 127

in each block. What a rank has not sent is its *residual* :math:`e`, in float32, which it adds to
the next gradients. With the gradients :math:`g_i` of :math:`N` ranks, rank :math:`i` sends
:math:`Q(u_i)` to the rank :math:`k` that owns the elements, and this one sends :math:`y` to all:

.. math::

    u_i &= g_i + e_i \\
    m &= \frac{1}{N} \Bigl( u_k + \sum_{i \neq k} Q(u_i) \Bigr), \quad y = Q(m) \\
    e_i' &= u_i - Q(u_i) \text{ for } i \neq k, \quad e_k' = N (m - y)

Sums are in float32. Since :math:`y = \bar g + \bar e - \bar e'`, where the bar is the mean over the
ranks, the sum of all means differs from the exact one by :math:`\bar e'` only, whatever the number
of steps, and :math:`|e_i'| \le s / 2`, times :math:`N` for the owner.

A block with a number that is not finite arrives as not-a-number, and leaves no residual. Blocks
smaller than 1.5e-36 arrive as zeros, and are residuals as a whole.

See: Seide, Fu, Droppo, Li and Yu, 1-bit stochastic gradient descent and its application to
data-parallel distributed training of speech DNNs, Interspeech 2014; Karimireddy, Rebjock, Stich and
Jaggi, Error feedback fixes SignSGD and other gradient compression schemes, ICML 2019. Zheng, Huang
and Kwok, Communication-efficient distributed blockwise momentum SGD with error-feedback, NeurIPS
2019, also compress what all ranks get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainermn.means import kernels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chainermn.means.buckets import Bucket
    from chainermn.means.messages import Pool
    from chainermn.means.transport import Channel

#: Elements that have a scale.
BLOCK = 256
_LARGEST = 127
_TINY = numpy.finfo(numpy.float32).tiny
_BYTE = numpy.dtype(numpy.uint8)


def count_bytes(size: int) -> int:
    """Returns the bytes of a message of ``size`` numbers."""
    return size + 4 * -(-size // BLOCK)


def mean(
    channel: Channel, pool: Pool, bucket: Bucket, flat: numpy.ndarray[Any, Any]
) -> Iterator[Sequence[Any] | None]:
    """Replaces the flat array of a bucket, or a copy of it on the host, by its mean; collective.

    Args:
        channel: Where the messages travel.
        pool: Memory for messages.
        bucket: Bucket.
        flat: Array of float32.

    """
    tag = channel.next_tag()
    parts = bucket.parts
    own_part = parts[channel.rank]
    sizes = {i: count_bytes(parts[i].stop - parts[i].start) for i in range(channel.size)}
    residual = bucket.residual()
    with numpy.errstate(over='ignore'):
        flat += residual
    messages = {i: pool.take(sizes[i], _BYTE) for i in channel.others}
    for i, message in messages.items():
        encode(flat[parts[i]], message, residual[parts[i]])
    received = {i: pool.take(sizes[channel.rank], _BYTE) for i in channel.others}
    yield channel.exchange(tag, messages, received)
    own = pool.take(sizes[channel.rank], _BYTE)
    _add(channel, flat[own_part], received, own, residual[own_part])
    # The parts of the others have been sent, so their means take the same memory.
    yield channel.exchange(tag + 1, dict.fromkeys(channel.others, own), messages)
    messages[channel.rank] = own
    for i, message in messages.items():
        decode(message, flat[parts[i]])
    for message in [*messages.values(), *received.values()]:
        pool.give(message)


def _add(
    channel: Channel,
    own: numpy.ndarray[Any, Any],
    received: dict[int, numpy.ndarray[Any, Any]],
    message: numpy.ndarray[Any, Any],
    left: numpy.ndarray[Any, Any],
) -> None:
    """Writes the mean of this rank's part to a message, and its residual to ``left``."""
    theirs = {i: _Numbers(data, own.size) for i, data in received.items()}
    result = _Numbers(message, own.size)
    # In the order of the ranks, as everywhere, which makes the rounding reproducible. A piece stays
    # in the cache from decoding to encoding.
    for piece in _pieces(own.size):
        part = own[piece.elements]
        arrays = {i: numbers.decode(piece) for i, numbers in theirs.items()}
        kernels.mean([arrays.get(i, part) for i in range(channel.size)], [part])
        result.encode(piece, part, left[piece.elements])
    left *= channel.size


def encode(
    array: numpy.ndarray[Any, Any], message: numpy.ndarray[Any, Any], left: numpy.ndarray[Any, Any]
) -> None:
    """Writes numbers to a message.

    Args:
        array: Flat array of float32.
        message: Array of :func:`count_bytes` bytes for the result.
        left: Array for what the message leaves out.

    """
    numbers = _Numbers(message, array.size)
    for piece in _pieces(array.size):
        numbers.encode(piece, array[piece.elements], left[piece.elements])


def decode(message: numpy.ndarray[Any, Any], out: numpy.ndarray[Any, Any]) -> None:
    """Reads the numbers of a message, as many as ``out`` has elements."""
    numbers = _Numbers(message, out.size)
    for piece in _pieces(out.size):
        out[piece.elements] = numbers.decode(piece)


class _Piece(NamedTuple):
    """Blocks of equal length that stay in the cache."""

    elements: slice
    blocks: slice
    length: int


def _pieces(size: int) -> Iterator[_Piece]:
    whole = size - size % BLOCK
    for start in range(0, whole, kernels.BLOCK):
        end = min(start + kernels.BLOCK, whole)
        yield _Piece(slice(start, end), slice(start // BLOCK, end // BLOCK), BLOCK)
    if whole < size:
        first = whole // BLOCK
        yield _Piece(slice(whole, size), slice(first, first + 1), size - whole)


class _Numbers:
    """The numbers in a message: first the scales of blocks, then the integers.

    Args:
        message: Bytes.
        size: Number of elements.

    """

    def __init__(self, message: numpy.ndarray[Any, Any], size: int) -> None:
        n_scales = message.size - size
        self._scales = message[:n_scales].view(numpy.float32)
        self._integers = message[n_scales:].view(numpy.int8)

    # Products of the largest numbers may be infinite.
    @numpy.errstate(over='ignore', invalid='ignore')
    def encode(
        self, piece: _Piece, values: numpy.ndarray[Any, Any], left: numpy.ndarray[Any, Any]
    ) -> None:
        """Writes a piece, and to ``left`` what that leaves out."""
        blocks = values.reshape(-1, piece.length)
        scales = abs(blocks).max(axis=1)  # not-a-number if one of them is
        scales /= _LARGEST
        scales[scales < _TINY] = 0  # which has too few bits to divide by
        is_finite = numpy.isfinite(scales)
        scales[~is_finite] = numpy.nan
        rounded = blocks / numpy.where(scales > 0, scales, 1)[:, None]
        numpy.rint(rounded, out=rounded)
        if not is_finite.all():
            rounded[~is_finite] = 0
        self._scales[piece.blocks] = scales
        self._integers[piece.elements] = rounded.reshape(-1)
        rounded *= scales[:, None]
        numpy.subtract(blocks, rounded, out=rounded)
        if not is_finite.all():
            rounded[~is_finite] = 0
        left[...] = rounded.reshape(-1)

    @numpy.errstate(over='ignore')
    def decode(self, piece: _Piece) -> numpy.ndarray[Any, Any]:
        """Reads a piece."""
        values = self._integers[piece.elements].astype(numpy.float32)
        blocks = values.reshape(-1, piece.length)
        blocks *= self._scales[piece.blocks, None]
        return values
