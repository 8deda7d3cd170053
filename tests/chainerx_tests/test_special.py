"""Special functions far out, at poles, and in every dtype; the table of operations has the rest."""

import numpy as np
import pytest
import scipy.special

import chainerx

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan]
WIDE = np.concatenate(
    [np.linspace(-40, 40, 801), 10.0 ** np.arange(-20, 8), -(10.0 ** np.arange(-20, 8)), EDGES]
)
UNIT = np.concatenate(
    [
        np.linspace(0, 1, 801),
        10.0 ** np.arange(-300.0, 0, 5),
        1 - 10.0 ** np.arange(-15.0, 0),
        [-0.1, 1.1, np.nan],
    ]
)


@pytest.mark.parametrize(
    'name, reference, x, rtol',
    [
        ('erfc', scipy.special.erfc, WIDE[abs(WIDE) < 26], 1e-13),
        ('erfcx', scipy.special.erfcx, WIDE[WIDE > -26], 1e-14),
        ('ndtr', scipy.special.ndtr, WIDE[WIDE > -37], 1e-13),
        ('log_ndtr', scipy.special.log_ndtr, WIDE, 1e-10),
        ('erfinv', scipy.special.erfinv, np.concatenate([UNIT, -UNIT]), 1e-14),
        ('erfcinv', scipy.special.erfcinv, 2 * UNIT, 1e-14),
        ('ndtri', scipy.special.ndtri, UNIT, 1e-14),
        ('lgamma', scipy.special.gammaln, WIDE[WIDE > -np.inf], 1e-11),
        ('digamma', scipy.special.digamma, WIDE[WIDE != 0], 1e-11),
    ],
)
def test_range(name, reference, x, rtol):
    function = getattr(chainerx, name)
    np.testing.assert_allclose(
        chainerx.to_numpy(function(chainerx.array(x))), reference(x), rtol, 1e-15
    )
    x = x[abs(x) < 5]
    for dtype, tolerance in ((np.float32, 2e-6), (np.float16, 2e-3)):
        x = x.astype(dtype)
        y = chainerx.to_numpy(function(chainerx.array(x)))
        assert y.dtype == dtype
        with np.errstate(over='ignore', under='ignore'):
            expected = reference(x.astype(float)).astype(dtype)
        np.testing.assert_allclose(y, expected, tolerance, tolerance)


@pytest.mark.parametrize('s', [0.5, 1.0, 1.1, 2.0, 3.0, 5.5, 10.0])
def test_zeta(s):
    q = np.concatenate([np.linspace(-9.3, 30, 300), 10.0 ** np.arange(-8.0, 9), [0, -1, np.nan]])
    y = chainerx.zeta(chainerx.full(q.shape, s, 'd'), chainerx.array(q))
    np.testing.assert_allclose(chainerx.to_numpy(y), scipy.special.zeta(s, q), 1e-12)


def test_zeta_has_no_gradient_for_its_order():
    s, q = [chainerx.array([2.5, 3.0]).require_grad() for _ in range(2)]
    gs, gq = chainerx.grad([chainerx.zeta(s, q).sum()], [s, q])
    assert gs is None
    np.testing.assert_allclose(
        chainerx.to_numpy(gq), -np.array([2.5, 3.0]) * scipy.special.zeta([3.5, 4.0], [2.5, 3.0])
    )
