import numpy as np
import pytest

from chainer.functions._scatter import add_rows


@pytest.mark.parametrize(
    'shape, n',
    [
        ((5,), 3),
        ((5, 3), 4),
        ((5, 3), 0),
        ((50, 8), 2000),
        ((50, 8, 2), 900),
        ((50, 300), 200),
        ((4000, 8), 600),
        ((2, 3000), 5),
    ],
)
@pytest.mark.parametrize('dtype', 'efd')
@pytest.mark.parametrize('repeated', [False, True])
def test_add_rows(shape, n, dtype, repeated):
    rng = np.random.RandomState(0)
    index = rng.randint(-shape[0], 2 if repeated else shape[0], n)
    rows = rng.uniform(-1, 1, (n, *shape[1:])).astype(dtype)
    target = rng.uniform(-1, 1, shape).astype(dtype)
    expected = target.astype('d')
    np.add.at(expected, index, rows.astype('d'))
    add_rows(target, index, rows)
    assert target.dtype == dtype
    tolerance = {'e': 5e-2, 'f': 1e-4, 'd': 1e-10}[dtype]
    np.testing.assert_allclose(target, expected, tolerance, tolerance)
