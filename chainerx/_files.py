"""Files of arrays in NumPy's formats, without pickles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy

from chainerx import _core

if TYPE_CHECKING:
    import os

    from chainerx._core import Device, ndarray


def _values(array: ndarray, function: str, name: str) -> numpy.ndarray:
    if not isinstance(array, _core.ndarray):
        raise TypeError(f'{function}: {name} must be chainerx.ndarray, not {type(array).__name__}')
    values = _core.to_numpy(array.as_grad_stopped(), copy=False)
    if values.dtype.kind == 'V':
        raise _core.DtypeError(
            f'{function}: files of NumPy do not have the dtype {values.dtype}: convert {name} to '
            'float32, which has all its numbers'
        )
    return values


def save(file: str | os.PathLike[str] | BinaryIO, arr: ndarray) -> None:
    """Writes an array to a file in NumPy's format, for :func:`load` and :func:`numpy.load`.

    Args:
        file: Path, to which ``.npy`` is added if it is missing; or file open for writing bytes.
        arr (~chainerx.ndarray): Array on any device. Graphs are not saved.

    Raises:
        TypeError: If ``arr`` is no array of ChainerX.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainerx.save(file, chainerx.array([1., 2.]))
        >>> _ = file.seek(0)
        >>> chainerx.load(file)
        array([1., 2.], shape=(2,), dtype=float64, device='native:0')

    """
    numpy.save(file, _values(arr, 'save', 'arr'), allow_pickle=False)


def savez(file: str | os.PathLike[str] | BinaryIO, *args: ndarray, **kwds: ndarray) -> None:
    """Writes several arrays to a file, for :func:`load` and :func:`numpy.load`.

    Args:
        file: Path, to which ``.npz`` is added if it is missing; or file open for writing bytes.
        *args (~chainerx.ndarray): Arrays, which are called ``arr_0``, ``arr_1`` and so on.
        **kwds (~chainerx.ndarray): Arrays, which are called by the keywords.

    Raises:
        TypeError: If anything else than arrays of ChainerX is given.
        ValueError: If a keyword is ``arr_`` and the number of another array.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainerx.savez(file, x=chainerx.ones(2), y=chainerx.zeros(3))
        >>> _ = file.seek(0)
        >>> sorted(chainerx.load(file))
        ['x', 'y']

    """
    _savez(numpy.savez, file, args, kwds)


def savez_compressed(
    file: str | os.PathLike[str] | BinaryIO, *args: ndarray, **kwds: ndarray
) -> None:
    """Writes several arrays to a compressed file; otherwise like :func:`savez`.

    Args:
        file: Path, to which ``.npz`` is added if it is missing; or file open for writing bytes.
        *args (~chainerx.ndarray): Arrays, which are called ``arr_0``, ``arr_1`` and so on.
        **kwds (~chainerx.ndarray): Arrays, which are called by the keywords.

    Raises:
        TypeError: If anything else than arrays of ChainerX is given.
        ValueError: If a keyword is ``arr_`` and the number of another array.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainerx.savez_compressed(file, chainerx.zeros(1000, dtype='float32'))
        >>> len(file.getvalue()) < 4000
        True

    """
    _savez(numpy.savez_compressed, file, args, kwds)


def _savez(write: Any, file: Any, args: Any, kwds: Any) -> None:
    args = [_values(a, write.__name__, f'argument {i}') for i, a in enumerate(args)]
    kwds = {name: _values(a, write.__name__, name) for name, a in kwds.items()}
    # Saved arrays hold no objects, so nothing is pickled. Only NumPy 2.1 takes allow_pickle.
    write(file, *args, **kwds)


def load(
    file: str | os.PathLike[str] | BinaryIO, device: Device | str | None = None
) -> ndarray | dict[str, ndarray]:
    """Reads what :func:`save` or :func:`savez`, or NumPy's functions of these names, wrote.

    Files with pickled objects are refused: unpickling can run any code.

    Args:
        file: Path, or file open for reading bytes.
        device (~chainerx.Device): Device of the arrays; the default one unless given.

    Returns:
        ~chainerx.ndarray: The array; or, of a file of several, a dictionary of arrays by names.

    Raises:
        ValueError: If the file has pickled objects or another format.
        ~chainerx.DtypeError: If ChainerX does not have the dtype of an array.

    .. admonition:: Example

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'x.npy')
        ...     chainerx.save(path, chainerx.arange(3))
        ...     x = chainerx.load(path)
        >>> x
        array([0, 1, 2], shape=(3,), dtype=int32, device='native:0')

    """
    try:
        found = numpy.load(file, allow_pickle=False)
        if not isinstance(found, numpy.ndarray):
            with found:
                found = {name: found[name] for name in found.files}
    except ValueError as error:
        if 'pickle' not in str(error):
            raise
        raise ValueError(
            "load: the file is not in NumPy's formats, or has pickled objects, which are refused"
        ) from error
    if isinstance(found, dict):
        return {name: _core.array(array, device=device) for name, array in found.items()}
    return _core.array(found, device=device)
