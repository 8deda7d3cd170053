"""Arithmetic of row and column selections (``None``, slice or list of integers)."""

import bisect
import itertools

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
            return as_slice(outer[inner])
    if isinstance(inner, slice):
        return outer[inner]
    return [outer[i] for i in inner]


def as_slice(rows):
    """Returns the slice that selects a range of rows."""
    if len(rows) == 0:
        return slice(0, 0)
    # A range down to row 0 has a negative end, which in a slice counts from the end.
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)


def split(rows, ends):
    """Splits a slice of the rows of tables that follow each other and end at ``ends``.

    Returns:
        list of tuples: Numbers of tables and slices of their rows, in the order of the rows. One
        at least, which may be empty.

    """
    rows = range(*rows.indices(ends[-1]))
    parts = []
    for k, (start, end) in enumerate(zip([0, *ends], ends)):
        part = _between(rows, start, end)
        parts.append((k, range(part.start - start, part.stop - start, part.step)))
    slices = [(k, as_slice(part)) for k, part in parts if len(part) > 0] or [(0, slice(0, 0))]
    return slices if rows.step > 0 else slices[::-1]


def group(rows, ends):
    """Groups rows by their tables, so that each table is asked once.

    Returns:
        Where each row is among those of the groups, ``None`` if there is but one, and pairs of the
        number of a table and its rows. One group at least, which may be empty.

    """
    rows_of: dict[int, list[int]] = {}
    places: dict[int, list[int]] = {}
    for place, i in enumerate(rows):
        k = bisect.bisect_right(ends, i)
        start = ends[k - 1] if k > 0 else 0
        rows_of.setdefault(k, []).append(i - start)
        places.setdefault(k, []).append(place)
    if len(rows_of) <= 1:
        return None, list(rows_of.items()) or [(0, [])]
    order = list(itertools.chain.from_iterable(places.values()))
    return sorted(range(len(order)), key=order.__getitem__), list(rows_of.items())


def _between(rows, start, end):
    """Returns the rows of a range from ``start`` to ``end``."""
    if rows.step < 0:
        return _between(rows[::-1], start, end)[::-1]
    return rows[bisect.bisect_left(rows, start) : bisect.bisect_left(rows, end)]


def join(parts):
    """Joins columns of several tables to lists; those of one table stay what they are."""
    if len(parts) == 1:
        return tuple(parts[0])
    return tuple(list(itertools.chain.from_iterable(columns)) for columns in zip(*parts))


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
        if isinstance(key, (str, bool, numpy.bool_)):
            if key not in names:
                raise KeyError('{} does not exist; the keys are {}'.format(key, ', '.join(names)))
            result.append(names.index(key))
        else:
            if not -len(names) <= key < len(names):
                raise IndexError(f'index {key} is out of bounds for {len(names)} columns')
            result.append(key % len(names))
    return tuple(result)
