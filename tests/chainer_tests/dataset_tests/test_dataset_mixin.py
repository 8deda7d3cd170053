import numpy
import pytest

from chainer import dataset


class Squares(dataset.DatasetMixin):
    def __len__(self):
        return 5

    def get_example(self, i):
        if i >= len(self):
            raise IndexError
        return i * i


@pytest.mark.parametrize(
    'index,expected',
    [
        (2, 4),
        (numpy.int32(3), 9),
        (numpy.array(3), 9),
        (slice(None), [0, 1, 4, 9, 16]),
        (slice(3, None, -2), [9, 1]),
        (slice(-2, 100), [9, 16]),
        ([1, 3], [1, 9]),
        ([], []),
        (numpy.array([4, 0]), [16, 0]),
        ([True, False, False, True, False], [0, 9]),
        (numpy.array([False, True, False, False, False]), [1]),
    ],
)
def test_index(index, expected):
    assert Squares()[index] == expected


def test_iteration():
    assert list(Squares()) == [0, 1, 4, 9, 16]


def test_wrong_boolean():
    with pytest.raises(ValueError, match='length 2'):
        Squares()[[True, False]]


def test_abstract():
    base = dataset.DatasetMixin()
    with pytest.raises(NotImplementedError):
        len(base)
    with pytest.raises(NotImplementedError):
        base[0]
    with pytest.raises(NotImplementedError):
        next(dataset.Iterator())
