"""Named results of several arrays, as the array API standard has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from chainerx._core import ndarray


class UniqueAllResult(NamedTuple):
    """What :func:`chainerx.unique_all` returns."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What :func:`chainerx.unique_counts` returns."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What :func:`chainerx.unique_inverse` returns."""

    values: ndarray
    inverse_indices: ndarray


class EighResult(NamedTuple):
    """What :func:`chainerx.array_api.linalg.eigh` returns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """What :func:`chainerx.array_api.linalg.qr` returns."""

    Q: ndarray
    R: ndarray


class SlogdetResult(NamedTuple):
    """What :func:`chainerx.array_api.linalg.slogdet` returns."""

    sign: ndarray
    logabsdet: ndarray


class SVDResult(NamedTuple):
    """What :func:`chainerx.array_api.linalg.svd` returns."""

    U: ndarray
    S: ndarray
    Vh: ndarray
