"""Weights of other libraries by a table of names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer.serializers import _storage, npz

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MAX_NAMES = 50


class Weight(NamedTuple):
    """Row of a :class:`NameTable`: an array in a file and the values of a link that it holds.

    Attributes:
        theirs (str): Name in the file.
        ours (str or tuple of strs): Name in the link, as :func:`save_npz` writes it. Several names
            share the array: it is their concatenation along our first axis.
        transpose (bool): Whether the file has the axes in reverse order.
        optional (bool): Whether the file may lack the array. The link keeps its value then.

    .. admonition:: Example

        >>> chainer.serializers.Weight('fc.weight', 'l1/W')
        Weight(theirs='fc.weight', ours='l1/W', transpose=False, optional=False)

    """

    theirs: str
    ours: str | tuple[str, ...]
    transpose: bool = False
    optional: bool = False


class _Tensor(NamedTuple):
    """Array in a file: its row of the table, and the values of the link that it holds."""

    row: Weight
    ours: list[str]
    arrays: list[numpy.ndarray]

    @property
    def shape(self) -> tuple[int, ...]:
        first = self.arrays[0].shape
        if len(self.arrays) > 1:
            first = (sum(len(array) for array in self.arrays), *first[1:])
        return first[::-1] if self.row.transpose else first

    def join(self) -> numpy.ndarray:
        """Returns the array as the file has it."""
        array = self.arrays[0] if len(self.arrays) == 1 else numpy.concatenate(self.arrays)
        return array.T if self.row.transpose else array

    def split(self, read: Callable[[], numpy.ndarray]) -> dict[str, Callable[[], numpy.ndarray]]:
        """Returns what reads each value of the link, from what reads the array."""
        if len(self.ours) == 1:
            return {self.ours[0]: (lambda: read().T) if self.row.transpose else read}
        ends = numpy.cumsum([len(array) for array in self.arrays])

        def part(begin, end):
            return lambda: (read().T if self.row.transpose else read())[begin:end]

        return {name: part(b, e) for name, b, e in zip(self.ours, [0, *ends[:-1]], ends)}


class NameTable:
    """Table of the names that another library gives to the weights of a model.

    It loads the weights into a link, and names those of a link for the other library.

    ``{i}``, or any other word in braces, stands for the same text without dots and slashes in both
    names of a row. The first row that fits a name counts.

    Args:
        rows (iterable of Weight): Rows, or tuples of their values.
        ignore (str): Regular expression of names in files that no value of the link corresponds to.
        rename (dict): Regular expressions and what to replace them by in the names of files, before
            anything else: for prefixes, and names of older releases.

    .. seealso:: :func:`open_weights`

    .. admonition:: Example

        A linear layer whose weights another library stores transposed:

        >>> table = chainer.serializers.NameTable([
        ...     ('layers.{i}.weight', '{i}/W', True),
        ...     ('layers.{i}.bias', '{i}/b'),
        ... ], ignore=r'layers\\.\\d+\\.steps')
        >>> model = chainer.Sequential(L.Linear(3, 2))
        >>> tensors = {
        ...     'layers.0.weight': np.arange(6, dtype='f').reshape(3, 2),
        ...     'layers.0.bias': np.zeros(2, 'f'),
        ...     'layers.0.steps': np.array(7),
        ... }
        >>> table.load(tensors, model)
        >>> model[0].W.array
        array([[0., 2., 4.],
               [1., 3., 5.]], dtype=float32)
        >>> {name: array.shape for name, array in table.export(model).items()}
        {'layers.0.weight': (3, 2), 'layers.0.bias': (2,)}
        >>> table.load({'layers.0.weight': np.zeros((2, 3))}, model)
        Traceback (most recent call last):
            ...
        ValueError: the weights do not fit the model:
            missing: layers.0.bias
            wrong: layers.0.weight has the shape (2, 3), (3, 2) is expected

    """

    def __init__(
        self,
        rows: Iterable[Weight | tuple[Any, ...]],
        ignore: str = '',
        rename: Mapping[str, str] | None = None,
    ) -> None:
        self._rows = [Weight(*row) for row in rows]
        self._patterns = [
            (row, n, _pattern(ours)) for row in self._rows for n, ours in enumerate(_names(row))
        ]
        self._ignore = re.compile(ignore) if ignore else None
        self._rename = [(re.compile(old), new) for old, new in (rename or {}).items()]

    def load(self, tensors: Mapping[str, Any], link: Any) -> None:
        """Loads all weights of a link, or none.

        Args:
            tensors (mapping): Arrays by their names in the other library, such as those of
                :func:`open_weights`.
            link (~chainer.Link): Link to fill.

        Raises:
            ValueError: Weights are missing, there are others, or shapes or dtypes differ. The
                message lists all of them, and the link keeps its state.

        """
        expected = self._expected(link)
        names, problems = self._find(tensors)
        stored = {key: _stored(tensors, names[key]) for key in expected if key in names}
        lost = {key: tensor for key, tensor in expected.items() if key not in names}
        problems = {
            'missing': [key for key, tensor in lost.items() if not tensor.row.optional],
            'unexpected': [name for key, name in names.items() if key not in expected],
            'wrong': [
                text
                for key, each in stored.items()
                for text in _differences(names[key], each, expected[key])
            ],
        } | problems
        _raise_if(problems)
        readers: dict[str, Callable[[], numpy.ndarray]] = {}
        for key, each in stored.items():
            readers |= expected[key].split(each.read)
        kept = [name for tensor in lost.values() for name in tensor.ours]
        deserializer = npz.NpzDeserializer(_Readers(readers), ignore_names=kept)
        _storage.load_all_or_nothing(deserializer, link)

    def export(self, link: Any) -> dict[str, numpy.ndarray]:
        """Returns the weights of a link by their names in the other library.

        Args:
            link (~chainer.Link): Link whose parameters have data.

        Returns:
            dict: NumPy arrays by name, for :func:`save_safetensors`.

        Raises:
            ValueError: The table has no row for a value of the link, or a parameter has no data.

        """
        expected = self._expected(link)
        for tensor in expected.values():
            if any(array.dtype.kind == 'O' for array in tensor.arrays):
                raise ValueError(f'a parameter has no data yet: {" or ".join(tensor.ours)}')
        return {name: tensor.join() for name, tensor in expected.items()}

    def _expected(self, link: Any) -> dict[str, _Tensor]:
        """Returns what a file has for a link, by name."""
        found: dict[str, dict[int, str]] = {}
        rows: dict[str, Weight] = {}
        arrays = npz.serialize(link)
        for ours in arrays:
            theirs, row, part = self._translate(ours)
            found.setdefault(theirs, {})[part] = ours
            rows[theirs] = row
        result = {}
        for theirs, parts in found.items():
            names = [parts[part] for part in sorted(parts)]
            if len(names) != len(_names(rows[theirs])):
                raise ValueError(f'the link has only {names} of what {theirs!r} holds')
            result[theirs] = _Tensor(rows[theirs], names, [arrays[name] for name in names])
        return result

    def _translate(self, ours: str) -> tuple[str, Weight, int]:
        for row, part, pattern in self._patterns:
            match = pattern.fullmatch(ours)
            if match:
                return row.theirs.format(**match.groupdict()), row, part
        raise ValueError(f'the table of names has no row for {ours!r}')

    def _find(self, tensors: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
        """Returns the names of a file by those of the table."""
        names: dict[str, str] = {}
        twice = []
        for name in tensors:
            key = name
            for old, new in self._rename:
                key = old.sub(new, key)
            if self._ignore is not None and self._ignore.fullmatch(key):
                continue
            if key in names:
                twice.append(f'{names[key]} and {name}')
            names[key] = name
        return names, {'the same': twice}


class _Readers(Mapping[str, numpy.ndarray]):
    """Mapping that reads an array when it is asked for."""

    def __init__(self, readers: Mapping[str, Callable[[], numpy.ndarray]]) -> None:
        self._readers = readers

    def __getitem__(self, key: str) -> numpy.ndarray:
        return self._readers[key]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)


def _names(row: Weight) -> tuple[str, ...]:
    return (row.ours,) if isinstance(row.ours, str) else row.ours


def _pattern(name: str) -> re.Pattern[str]:
    """Compiles a name in which words in braces stand for any text of one part."""
    parts = re.split(r'\{(\w+)\}', name)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [f'(?P<{part}>[^./]+)' for part in parts[1::2]]
    return re.compile(''.join(parts))


def _stored(tensors: Mapping[str, Any], name: str) -> _storage.Stored:
    if isinstance(tensors, _storage.Archive):
        return tensors.find(name)
    return _storage.Stored.of(numpy.asarray(tensors[name]))


def _differences(name: str, stored: _storage.Stored, tensor: _Tensor) -> Iterator[str]:
    """Yields what is wrong with an array of a file."""
    dtype = tensor.arrays[0].dtype
    if dtype.kind == 'O':  # a parameter that takes the shape of what it gets
        if len(tensor.ours) > 1:
            yield f'{name} holds {tensor.ours}, whose sizes the link does not know yet'
    elif stored.shape != tensor.shape:
        yield f'{name} has the shape {stored.shape}, {tensor.shape} is expected'
    elif not numpy.can_cast(stored.dtype, dtype, 'same_kind'):
        yield f'{name} has the dtype {stored.dtype}, {dtype} is expected'


def _raise_if(problems: Mapping[str, list[str]]) -> None:
    lines = []
    for what, names in problems.items():
        if names:
            more = f' and {len(names) - _MAX_NAMES} more' if len(names) > _MAX_NAMES else ''
            lines.append(f'\n    {what}: {", ".join(names[:_MAX_NAMES])}{more}')
    if lines:
        raise ValueError('the weights do not fit the model:' + ''.join(lines))
