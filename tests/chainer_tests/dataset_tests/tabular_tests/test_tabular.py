import itertools

import numpy
import pytest

from chainer import dataset
from chainer.dataset import tabular


class Table(dataset.TabularDataset):
    """Columns a, b, c of 6 rows; records what is asked for."""

    def __init__(self, mode=tuple, as_list=False):
        self.data = numpy.arange(18).reshape(3, 6) * numpy.array([[1], [10], [100]])
        self._mode = mode
        self._as_list = as_list
        self.requests = []

    def __len__(self):
        return 6

    @property
    def keys(self):
        return ('a', 'b', 'c') if self._mode is not None else ('a',)

    @property
    def mode(self):
        return self._mode

    def get_examples(self, indices, key_indices):
        self.requests.append((indices, key_indices))
        if indices is None:
            indices = slice(None)
        if key_indices is None:
            key_indices = range(len(self.keys))
        columns = tuple(self.data[k][indices] for k in key_indices)
        return tuple(list(c) for c in columns) if self._as_list else columns


a, b, c = (column.tolist() for column in Table().data)


def values(data):
    if isinstance(data, tuple):
        return tuple(values(column) for column in data)
    if isinstance(data, dict):
        return {key: values(column) for key, column in data.items()}
    return [int(x) for x in data]


@pytest.mark.parametrize('as_list', [False, True])
class TestBase:
    def test_tuple(self, as_list):
        table = Table(tuple, as_list)
        assert table[2] == (a[2], b[2], c[2])
        assert table[1:3] == [(a[1], b[1], c[1]), (a[2], b[2], c[2])]
        assert values(table.fetch()) == (a, b, c)
        assert [row[0] for row in table] == a

    def test_dict(self, as_list):
        table = Table(dict, as_list)
        assert table[2] == {'a': a[2], 'b': b[2], 'c': c[2]}
        assert values(table.fetch()) == {'a': a, 'b': b, 'c': c}

    def test_unary(self, as_list):
        table = Table(None, as_list)
        assert table[2] == a[2]
        assert values(table.fetch()) == a

    def test_convert(self, as_list):
        for mode in tuple, dict, None:
            table = Table(mode, as_list)
            converted = table.convert(table.fetch())
            assert values(converted) == values(table.fetch())
            first = converted
            if mode is tuple:
                first = converted[0]
            elif mode is dict:
                first = converted['a']
            assert isinstance(first, numpy.ndarray)

    def test_modes(self, as_list):
        table = Table(dict, as_list).astuple()
        assert table.mode is tuple and table[0] == (a[0], b[0], c[0])
        table = Table(tuple, as_list).asdict()
        assert table.mode is dict and table[0] == {'a': a[0], 'b': b[0], 'c': c[0]}

    @pytest.mark.parametrize(
        'rows',
        [
            slice(None),
            slice(1, 5, 2),
            slice(None, None, -1),
            [3, 1, -1],
            [],
            numpy.array([2, 2]),
            [True, False, True, False, False, True],
        ],
    )
    @pytest.mark.parametrize(
        'keys,selected',
        [(None, 'abc'), (('a', 'c'), 'ac'), ((2, 'a'), 'ca'), ((-1,), 'c'), ((), '')],
    )
    def test_slice(self, as_list, rows, keys, selected):
        table = Table(tuple, as_list)
        view = table.slice[rows] if keys is None else table.slice[rows, keys]
        assert view.keys == tuple(selected)
        index = [] if isinstance(rows, list) and not rows else numpy.arange(6)[rows]
        expected = tuple([{'a': a, 'b': b, 'c': c}[k][i] for i in index] for k in selected)
        assert values(view.fetch()) == expected
        if expected:
            assert len(view) == len(expected[0])
            assert view[:] == list(zip(*expected))

    def test_concat(self, as_list):
        table = Table(tuple, as_list).concat(Table(tuple, as_list), Table(tuple, as_list))
        assert len(table) == 18
        assert values(table.fetch()) == (a * 3, b * 3, c * 3)
        view = table.slice[[17, 0, 7, 1, 6], ('b',)]
        assert values(view.fetch()) == ([b[5], b[0], b[1], b[1], b[0]],)
        assert values(table.slice[4:8].fetch())[0] == [a[4], a[5], a[0], a[1]]
        assert values(table.slice[[]].fetch()) == ([], [], [])


class TestSlice:
    def test_only_needed_columns_are_fetched(self):
        table = Table()
        table.slice[[3, 1]].slice[::-1, ('c', 'a')].slice[:, 'a'].fetch()
        assert table.requests == [([1, 3], (0,))]

    def test_slices_reach_the_dataset(self):
        table = Table()
        table.slice[1:5].fetch()
        table.slice[1:].slice[::2].fetch()
        table.slice[::-1].slice[:-3:2, 'b'].fetch()
        table.slice[4:1].fetch()
        table.slice[:4].transform('s', lambda a, b, c: a).fetch()
        table.join(tabular.from_data({'d': list(range(6))})).slice[2:].fetch()
        rows = [list(range(6))[indices] for indices, _ in table.requests]
        assert all(isinstance(indices, slice) for indices, _ in table.requests)
        assert rows == [[1, 2, 3, 4], [1, 3, 5], [5, 3], [], [0, 1, 2, 3], [2, 3, 4, 5]]

    def test_unary(self):
        view = Table().slice[1:3, 'b']
        assert view.mode is None and view.keys == ('b',)
        assert view[0] == b[1]
        assert Table(None).slice[:, ('a',)].mode is tuple

    @pytest.mark.parametrize(
        'args,error',
        [
            (([6],), IndexError),
            (([-7],), IndexError),
            (([True],), ValueError),
            ((slice(None), ('d',)), KeyError),
            ((slice(None), [False, True, False]), KeyError),
            ((slice(None), 3), IndexError),
            ((3,), TypeError),
        ],
    )
    def test_errors(self, args, error):
        with pytest.raises(error):
            Table().slice[args if len(args) > 1 else args[0]]


class TestConcat:
    @pytest.mark.parametrize('first', [tuple, dict])
    @pytest.mark.parametrize('second', [tuple, dict])
    def test_modes(self, first, second):
        dataset = Table(first).concat(Table(second))
        assert dataset.mode is first
        assert dataset[len(Table())] == Table(first)[0]

    def test_slices(self):
        tables = [
            tabular.from_data(('k', numpy.arange(start, stop)))
            for start, stop in ((0, 3), (3, 3), (3, 7), (7, 9))
        ]
        joined = tables[0].concat(*tables[1:])
        bounds = [None, *range(-10, 11)]
        for start, stop, step in itertools.product(bounds, bounds, [None, 1, 2, 5, -1, -2, -7]):
            rows = slice(start, stop, step)
            assert list(joined.slice[rows].fetch()) == list(range(9))[rows]
            for inner in slice(1, 4), slice(None, None, -1), slice(-3, None, 2), slice(-2, 0, -2):
                expected = list(range(9))[rows][inner]
                assert list(joined.slice[rows].slice[inner].fetch()) == expected

    def test_requests(self):
        first, second = Table(), Table()
        joined = first.concat(second)
        joined.fetch()
        joined.slice[4:9].fetch()
        joined.slice[10:2:-3].fetch()
        joined.slice[7:].fetch()
        joined.slice[[7, 0, 1]].fetch()
        rows = [list(range(6))[i] if isinstance(i, slice) else i for i, _ in first.requests]
        assert rows == [None, [4, 5], [4], [0, 1]]
        rows = [list(range(6))[i] if isinstance(i, slice) else i for i, _ in second.requests]
        assert rows == [None, [0, 1, 2], [4, 1], [1, 2, 3, 4, 5], [1]]

    def test_columns_of_several_datasets_are_lists(self):
        joined = Table().concat(Table())
        for rows in slice(None), slice(4, 8), [4, 7]:
            assert {type(column) for column in joined.slice[rows].fetch()} == {list}
        for rows in slice(1, 4), [4, 5]:
            assert {type(column) for column in joined.slice[rows].fetch()} == {numpy.ndarray}

    def test_negative_and_missing_rows(self):
        first, second = tabular.from_data(('k', [1, 2])), tabular.from_data(('k', [3, 4]))
        dataset = first.concat(second)
        assert [dataset[i] for i in (-1, -2, -3, -4)] == [4, 3, 2, 1]
        for i in 4, -5:
            with pytest.raises(IndexError, match='out of bounds'):
                dataset[i]

    def test_errors(self):
        with pytest.raises(ValueError, match='same keys'):
            Table(tuple).concat(Table(tuple).slice[:, ('a', 'b')])


class TestJoin:
    def test_values(self):
        table = Table(dict).join(tabular.from_data(('d', list('xyzuvw'))))
        assert table.mode is dict and table.keys == ('a', 'b', 'c', 'd')
        assert table[1] == {'a': a[1], 'b': b[1], 'c': c[1], 'd': 'y'}
        view = table.slice[[2, 0], ('d', 'b', 'd')]
        assert view.get_examples(None, None)[0] == ['z', 'x']
        assert [int(x) for x in view.get_examples(None, (1,))[0]] == [b[2], b[0]]

    @pytest.mark.parametrize('modes', list(itertools.product([tuple, dict, None], repeat=3)))
    def test_mode(self, modes):
        """A mode of several columns decides, as one column alone has no mode."""
        tables = []
        for name, mode in zip('xyz', modes):
            table = tabular.from_data((name, [name, 2]))
            if mode is not None:
                table = table.asdict() if mode is dict else table.astuple()
            assert table.mode is mode
            tables.append(table)
        joined = tables[0].join(*tables[1:])
        expected = ([mode for mode in modes if mode is not None] or [tuple])[0]
        assert joined.mode is expected
        assert joined[0] == (dict(x='x', y='y', z='z') if expected is dict else ('x', 'y', 'z'))

    def test_errors(self):
        with pytest.raises(ValueError, match='same length'):
            Table().join(tabular.from_data(('d', [1])))
        with pytest.raises(ValueError, match='unique'):
            Table().join(Table())


class TestTransform:
    @pytest.mark.parametrize('mode', [tuple, dict, None])
    @pytest.mark.parametrize('out', [tuple, dict, None])
    def test_transform(self, mode, out):
        def transform(*args, **kwargs):
            total = sum(args) + sum(kwargs.values())
            if out is tuple:
                return total, -total
            return {'n': -total, 'p': total} if out is dict else total

        table = Table(mode).transform('p' if out is None else ('p', 'n'), transform)
        total = (numpy.array(a) if mode is None else numpy.sum([a, b, c], axis=0)).tolist()
        assert table.mode is out
        assert len(table) == 6
        negative = [-x for x in total]
        expected = {tuple: (total, negative), dict: {'p': total, 'n': negative}, None: total}
        assert values(table.fetch()) == expected[out]
        assert (
            table[3]
            == {
                tuple: (total[3], -total[3]),
                dict: {'p': total[3], 'n': -total[3]},
                None: total[3],
            }[out]
        )
        if out is not None:
            assert values(table.slice[[1], ('n',)].fetch()) in (([-total[1]],), {'n': [-total[1]]})

    @pytest.mark.parametrize('mode', [tuple, dict, None])
    def test_transform_batch(self, mode):
        def transform(*args, **kwargs):
            return numpy.sum([*args, *kwargs.values()], axis=0)

        table = Table(mode).transform_batch('p', transform)
        total = (numpy.array(a) if mode is None else numpy.sum([a, b, c], axis=0)).tolist()
        assert values(table.slice[1:].fetch()) == total[1:]
        assert table.mode is None

    def test_inconsistent(self):
        table = tabular.from_data([0, 1]).transform(('x',), lambda i: (i,) if i == 0 else {'x': i})
        with pytest.raises(ValueError, match='same form'):
            table.fetch()
        with pytest.raises(ValueError, match='returned 2 values'):
            tabular.from_data([0]).transform('x', lambda i: (i, i)).fetch()

    def test_empty(self):
        table = Table().transform(('x', 'y'), lambda a, b, c: (a, b)).slice[[]]
        assert values(table.get_examples(None, None)) == ([], [])


def test_with_converter():
    table = Table(tuple).with_converter(lambda a, b, c: a + b)
    assert values(table.convert(table.fetch())) == (numpy.array(a) + b).tolist()
    table = Table(dict).with_converter(lambda a, b, c: c)
    assert values(table.convert(table.fetch())) == c
    # Selections and joins keep the converter of their base.
    assert values(table.slice[:2].convert(table.slice[:2].fetch())) == c[:2]


def test_delegate():
    table = tabular.DelegateDataset(Table(dict))
    assert len(table) == 6 and table.keys == ('a', 'b', 'c') and table.mode is dict
    assert table[1] == Table(dict)[1]


class TestFromData:
    def test_unary(self):
        for data in [3, 4, 5], numpy.array([3, 4, 5]):
            table = tabular.from_data(data)
            assert table.mode is None and len(table) == 3 and table[1] == 4
            assert len(table.keys) == 1
        assert tabular.from_data(('x', [1])).keys == ('x',)

    def test_tuple(self):
        table = tabular.from_data(([1, 2], ('y', numpy.array([3, 4])), lambda i: -i))
        assert table.mode is tuple and table[1] == (2, 4, -1)
        assert table.keys[1] == 'y'

    def test_dict(self):
        table = tabular.from_data(
            {'x': [1, 2], 'y': lambda i: i, ('z', 'w'): lambda i: {'w': 'w', 'z': i * 2}}
        )
        assert table.keys == ('x', 'y', 'z', 'w')
        assert table[1] == {'x': 2, 'y': 1, 'z': 2, 'w': 'w'}

    def test_function(self):
        table = tabular.from_data(('x', lambda i: i * i), size=4)
        assert table.mode is None and table.fetch() == [0, 1, 4, 9]
        table = tabular.from_data((('x', 'y'), lambda i: (i, -i)), size=3)
        assert table.fetch() == ([0, 1, 2], [0, -1, -2])

    def test_errors(self):
        with pytest.raises(ValueError, match='size must be specified'):
            tabular.from_data(lambda i: i)
        with pytest.raises(ValueError, match='size is 2'):
            tabular.from_data(([1, 2], [1, 2, 3]))
        with pytest.raises(ValueError, match='only a function'):
            tabular.from_data((('x', 'y'), [1]))

    def test_abstract(self):
        base = dataset.TabularDataset()
        for get in (
            lambda: len(base),
            lambda: base.keys,
            lambda: base.mode,
            lambda: base.get_examples(None, None),
        ):
            with pytest.raises(NotImplementedError):
                get()
