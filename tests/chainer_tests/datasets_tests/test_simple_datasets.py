"""Tuple, dict, sub, concatenated and transformed datasets."""

import numpy
import pytest

from chainer import datasets


class TestTupleDataset:
    def test_get(self):
        x, y = numpy.arange(6).reshape(3, 2), [5, 6, 7]
        dataset = datasets.TupleDataset(x, y)
        assert len(dataset) == 3
        numpy.testing.assert_array_equal(dataset[1][0], x[1])
        assert isinstance(dataset[1], tuple) and dataset[1][1] == 6
        assert [example[1] for example in dataset[1:]] == [6, 7]
        assert isinstance(dataset[:2], list)

    def test_index_array(self):
        dataset = datasets.TupleDataset(numpy.arange(3), numpy.arange(3) * 2)
        assert dataset[numpy.array([2, 0])] == [(2, 4), (0, 0)]
        assert dataset[[2, 0]] == [(2, 4), (0, 0)]

    def test_errors(self):
        with pytest.raises(ValueError, match='no datasets'):
            datasets.TupleDataset()
        with pytest.raises(ValueError, match='index 1 has a wrong length 2'):
            datasets.TupleDataset([1], [1, 2])
        with pytest.raises(IndexError):
            datasets.TupleDataset([1], [1])[1]


class TestDictDataset:
    def test_get(self):
        dataset = datasets.DictDataset(x=[1, 2, 3], y=numpy.array([4, 5, 6]))
        assert len(dataset) == 3
        assert dataset[0] == {'x': 1, 'y': 4}
        assert dataset[1:] == [{'x': 2, 'y': 5}, {'x': 3, 'y': 6}]

    def test_errors(self):
        with pytest.raises(ValueError, match='no datasets'):
            datasets.DictDataset()
        with pytest.raises(ValueError, match='length conflicts at "y"'):
            datasets.DictDataset(x=[1], y=[1, 2])


def test_transform():
    dataset = datasets.TransformDataset(
        datasets.TupleDataset([1, 2], [3, 4]), lambda example: example[0] * example[1]
    )
    assert len(dataset) == 2
    assert dataset[:] == [3, 8]


class TestConcatenated:
    def test_get(self):
        dataset = datasets.ConcatenatedDataset([0, 1], [], numpy.array([2, 3, 4]), [5])
        assert len(dataset) == 6
        assert dataset[:] == [0, 1, 2, 3, 4, 5]
        assert dataset[[5, 0, 2]] == [5, 0, 2]

    @pytest.mark.parametrize('i', [-1, 3, 100])
    def test_out_of_range(self, i):
        with pytest.raises(IndexError):
            datasets.ConcatenatedDataset([0], [1, 2])[i]

    def test_empty(self):
        assert len(datasets.ConcatenatedDataset()) == 0


class TestSubDataset:
    def test_get(self):
        subset = datasets.SubDataset([0, 1, 2, 3, 4], 1, 4)
        assert len(subset) == 3
        assert subset[:] == [1, 2, 3]
        assert subset[-1] == 3 and subset[-3] == 1

    def test_order(self):
        subset = datasets.SubDataset([0, 1, 2, 3, 4], 1, 4, [4, 3, 2, 1, 0])
        assert subset[:] == [3, 2, 1]

    @pytest.mark.parametrize('i', [3, -4])
    def test_out_of_range(self, i):
        with pytest.raises(IndexError):
            datasets.SubDataset([0, 1, 2, 3, 4], 1, 4)[i]

    @pytest.mark.parametrize('args', [(-1, 2), (0, 6), (0, 2, [1, 2])])
    def test_errors(self, args):
        with pytest.raises(ValueError):
            datasets.SubDataset([0, 1, 2, 3, 4], *args)


class TestSplit:
    def test_split(self):
        first, second = datasets.split_dataset([0, 1, 2, 3], 1)
        assert first[:] == [0] and second[:] == [1, 2, 3]
        first, second = datasets.split_dataset([0, 1, 2, 3], numpy.int64(3), [3, 1, 2, 0])
        assert first[:] == [3, 1, 2] and second[:] == [0]

    @pytest.mark.parametrize(
        'at,error', [(-1, ValueError), (5, ValueError), (1.5, TypeError), ('1', TypeError)]
    )
    def test_errors(self, at, error):
        with pytest.raises(error, match='split_at'):
            datasets.split_dataset([0, 1, 2, 3], at)

    def test_random(self):
        data = list(range(20))
        first, second = datasets.split_dataset_random(data, 5, seed=3)
        assert len(first) == 5 and sorted(first[:] + second[:]) == data
        again, _ = datasets.split_dataset_random(data, 5, seed=3)
        assert again[:] == first[:]
        expected = numpy.random.RandomState(3).permutation(20)[:5]
        assert first[:] == expected.tolist()

    def test_n(self):
        parts = datasets.split_dataset_n(list(range(7)), 3)
        assert [part[:] for part in parts] == [[0, 1], [2, 3], [4, 5]]
        parts = datasets.split_dataset_n_random(list(range(7)), 3, seed=0)
        assert [len(part) for part in parts] == [2, 2, 2]
        assert len(set(sum((part[:] for part in parts), []))) == 6


class TestCrossValidation:
    @pytest.mark.parametrize(
        'n,sizes',
        [(6, [2, 2, 2]), (7, [3, 2, 2]), (8, [3, 3, 2]), (4, [1, 1, 1, 1]), (10, [3, 2, 3, 2])],
    )
    def test_folds(self, n, sizes):
        data = list(range(n))
        k = len(sizes)
        for splits in (
            datasets.get_cross_validation_datasets(data, k),
            datasets.get_cross_validation_datasets_random(data, k, seed=0),
        ):
            assert len(splits) == k
            for train, test in splits:
                assert sorted(train[:] + test[:]) == data
            assert sorted(sum((test[:] for _, test in splits), [])) == data
            assert [len(test) for _, test in splits] == sizes

    def test_bad_number_of_folds(self):
        for split in (
            datasets.get_cross_validation_datasets,
            datasets.get_cross_validation_datasets_random,
        ):
            with pytest.raises(ZeroDivisionError):
                split([1, 2], 0)
            for n_folds in -1, 3:
                with pytest.raises(ValueError, match='n_folds must be from 1'):
                    split([1, 2], n_folds)

    def test_order_is_kept(self):
        order = [2, 0, 1]
        ((train, test),) = datasets.get_cross_validation_datasets([0, 1, 2], 3, order=order)[:1]
        assert train[:] == [2, 0] and test[:] == [1]
        assert order == [2, 0, 1]

    def test_old_argument(self):
        with pytest.warns(DeprecationWarning, match='use `n_folds`'):
            ((train, test),) = datasets.get_cross_validation_datasets([1], n_fold=1)
        assert train[:] == [] and test[:] == [1]
        with pytest.raises(TypeError, match='unexpected'):
            datasets.get_cross_validation_datasets([1], 1, folds=1)
