"""Arithmetic of row and column selections (``None``, slice or list of integers)."""

import numpy


def normalize_rows(rows, length):
    """Normalizes the rows argument to ``None``, a slice or a list of integers >= 0."""
    if rows is None or isinstance(rows, slice):
        return rows
    array = numpy.asarray(rows)
    if array.ndim != 1:
        raise TypeError(f'rows must be given by a slice or a sequence, got {rows!r}')
    if array.dtype == bool:
        if len(array) != length:
            raise ValueError(f'{len(array)} booleans are given for {length} rows')
        return numpy.flatnonzero(array).tolist()
    result = []
    for i in array.tolist():
        if not -length <= i < length:
            raise IndexError(f'index {i} is out of bounds for {length} rows')
        result.append(i + length if i < 0 else i)
    return result


def compose(outer, inner, length):
    """Returns the selection ``inner`` of the rows that ``outer`` selects from ``length``."""
    if inner is None:
        return outer
    if outer is None:
        return inner
    if isinstance(outer, slice):
        outer = range(*outer.indices(length))
    if isinstance(inner, slice):
        return list(outer[inner])
    return [outer[i] for i in inner]


def count(rows, length):
    """Returns the number of selected rows."""
    if rows is None:
        return length
    if isinstance(rows, slice):
        return len(range(*rows.indices(length)))
    return len(rows)


def as_list(rows, length):
    """Returns the selection as a list of integers."""
    if rows is None:
        return list(range(length))
    if isinstance(rows, slice):
        return list(range(*rows.indices(length)))
    return list(rows)


def take(column, rows):
    """Returns the selected values of a list or array."""
    if rows is None:
        return column
    if isinstance(rows, slice) or not isinstance(column, list):
        return column[rows]
    return [column[i] for i in rows]


def normalize_keys(keys, names):
    """Turns names or numbers of columns into a tuple of numbers."""
    result = []
    for key in keys:
        if isinstance(key, str):
            if key not in names:
                raise KeyError('{} does not exist; the keys are {}'.format(key, ', '.join(names)))
            result.append(names.index(key))
        else:
            if not -len(names) <= key < len(names):
                raise IndexError(f'index {key} is out of bounds for {len(names)} columns')
            result.append(key % len(names))
    return tuple(result)
