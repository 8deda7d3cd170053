"""Libraries that are written for the standard run on chainerx arrays."""

import array_api_compat
import einops.array_api
import numpy as np
import opt_einsum
import pytest
from helpers.programs import run_python

import chainerx
from chainerx import array_api as xp


def test_array_api_compat():
    x = chainerx.ones((2, 3))
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, x, 1.0) is xp
    assert array_api_compat.device(x) == x.device
    assert array_api_compat.to_device(x, 'native:1').device.name == 'native:1'
    assert array_api_compat.size(x) == 6
    assert not array_api_compat.is_lazy_array(x)
    assert array_api_compat.is_writeable_array(x)


def test_program_for_any_namespace():
    def standardize(x):
        namespace = array_api_compat.array_namespace(x)
        mean = namespace.mean(x, axis=0, keepdims=True)
        return (x - mean) / namespace.std(x, axis=0, correction=1, keepdims=True)

    a = np.random.RandomState(0).normal(size=(5, 3))
    x = chainerx.array(a).require_grad()
    y = standardize(x)
    np.testing.assert_allclose(chainerx.to_numpy(y), standardize(a), rtol=1e-12)
    y[0].sum().backward()
    assert x.grad.shape == (5, 3)


@pytest.mark.parametrize(
    ('name', 'pattern', 'options'),
    [
        ('rearrange', 'b (h s) c -> b h (s c)', {'s': 2}),
        ('rearrange', 'b h c -> (c b) h', {}),
        ('reduce', 'b (h s) c -> b c', {'s': 2, 'reduction': 'sum'}),
        ('reduce', 'b h c -> h () 1', {'reduction': 'max'}),
        ('repeat', 'b h c -> b (h r) c', {'r': 3}),
    ],
)
def test_einops(name, pattern, options):
    a = np.random.RandomState(0).normal(size=(2, 4, 3))
    x = chainerx.array(a).require_grad()
    y = getattr(einops.array_api, name)(x, pattern, **options)
    np.testing.assert_allclose(chainerx.to_numpy(y), getattr(einops, name)(a, pattern, **options))
    y.sum().backward()
    assert x.grad.shape == a.shape


def test_einops_of_several_arrays():
    arrays = [chainerx.array(np.full((2, n), n)) for n in (1, 3)]
    packed, shapes = einops.array_api.pack(arrays, 'b *')
    assert packed.tolist() == [[1, 3, 3, 3]] * 2
    assert [x.tolist() for x in einops.array_api.unpack(packed, shapes, 'b *')] == [
        x.tolist() for x in arrays
    ]


@pytest.mark.parametrize(
    'formula', ['ij,jk,kl->il', 'bij,bjk->bik', 'ij,ij->', 'ijk,lk,mj->ilm', 'ii,ij->j']
)
def test_opt_einsum(formula):
    sizes = dict(zip('bijklm', (2, 3, 3, 3, 4, 2), strict=True))
    random = np.random.RandomState(0)
    values = [
        random.normal(size=[sizes[c] for c in term])
        for term in formula.partition('->')[0].split(',')
    ]
    arrays = [chainerx.array(a).require_grad() for a in values]
    y = opt_einsum.contract(formula, *arrays)
    np.testing.assert_allclose(chainerx.to_numpy(y), np.einsum(formula, *values), rtol=1e-10)
    y.sum().backward()
    assert all(x.grad.shape == x.shape for x in arrays)


EXTRA = {
    'angle': lambda xpx, xp, x: xpx.angle(x + 1j * x),
    'apply_where': lambda xpx, xp, x: xpx.apply_where(x > 0, x, lambda x: x * 2, fill_value=0.0),
    'at': lambda xpx, xp, x: xpx.at(x, 0).set(3.0),
    'atleast_nd': lambda xpx, xp, x: xpx.atleast_nd(x, ndim=3),
    'cov': lambda xpx, xp, x: xpx.cov(x.T),
    'create_diagonal': lambda xpx, xp, x: xpx.create_diagonal(x[0]),
    'isclose': lambda xpx, xp, x: xpx.isclose(x, x + 1e-9),
    'kron': lambda xpx, xp, x: xpx.kron(x[:2], x[:3]),
    'nunique': lambda xpx, xp, x: xpx.nunique(x > 0),
    'one_hot': lambda xpx, xp, x: xpx.one_hot(xp.astype(x > 0, xp.int64), 2),
    'pad': lambda xpx, xp, x: xpx.pad(x, 2),
    'setdiff1d': lambda xpx, xp, x: xpx.setdiff1d(x[0], x[0, :2]),
    'sinc': lambda xpx, xp, x: xpx.sinc(x),
}


@pytest.mark.parametrize('name', EXTRA)
def test_array_api_extra(name):
    xpx = pytest.importorskip('array_api_extra', '0.11')
    a = np.random.RandomState(0).normal(size=(5, 4))
    y = EXTRA[name](xpx, xp, xp.asarray(a, copy=True))
    expected = EXTRA[name](xpx, np, a)
    assert isinstance(y, chainerx.ndarray)
    np.testing.assert_allclose(chainerx.to_numpy(y), expected, rtol=1e-12, atol=1e-15)


# Both look at the variable SCIPY_ARRAY_API when they are imported.
PROGRAM = """
    import numpy as np
    import chainerx
    from chainerx import array_api as xp
    {imports}

    a = np.random.RandomState(0).normal(size=(30, 4))
    labels = (a[:, 0] > 0).astype('int64')
    functions = {functions}
    for text in functions:
        function = eval('lambda x, y: ' + text)
        got, expected = function(xp.asarray(a), xp.asarray(labels)), function(a, labels)
        if isinstance(expected, np.ndarray):
            assert isinstance(got, chainerx.ndarray), text
            got = chainerx.to_numpy(got)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=text)
"""
SKLEARN = [
    *(
        f'preprocessing.{name}().fit_transform(x)'
        for name in ('StandardScaler', 'MinMaxScaler', 'MaxAbsScaler', 'Normalizer', 'Binarizer')
    ),
    'preprocessing.KernelCenterer().fit_transform(x @ x.T)',
    "decomposition.PCA(2, svd_solver='full').fit(x).explained_variance_",
    "abs(decomposition.PCA(2, svd_solver='covariance_eigh').fit_transform(x))",
    "linear_model.Ridge(solver='svd').fit(x, x[:, 0] * 2).predict(x)",
    'discriminant_analysis.LinearDiscriminantAnalysis().fit(x, y).predict(x)',
    'model_selection.train_test_split(x, random_state=0)[0]',
    'metrics.accuracy_score(y, 1 - y)',
    'metrics.r2_score(x[:, 0], x[:, 0] * 0.5)',
    'metrics.mean_squared_error(x[:, 0], x[:, 1])',
    *(
        f'metrics.pairwise.{name}(x)'
        for name in ('cosine_similarity', 'euclidean_distances', 'rbf_kernel')
    ),
]
SCIPY = [
    *('special.expit(x)', 'special.erf(x)', 'special.logsumexp(x, axis=1)'),
    *('special.softmax(x, axis=1)', 'stats.zscore(x)', 'stats.skew(x)', 'vq.whiten(x)'),
    'stats.ttest_1samp(x, 0.0).statistic',
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ('library', 'least', 'imports', 'functions'),
    [
        (
            'sklearn',
            '1.8',
            'import sklearn; from sklearn import decomposition, discriminant_analysis, linear_model, metrics, '
            'model_selection, preprocessing; sklearn.set_config(array_api_dispatch=True)',
            SKLEARN,
        ),
        ('scipy', '1.16', 'from scipy import special, stats; from scipy.cluster import vq', SCIPY),
    ],
    ids=['sklearn', 'scipy'],
)
def test_programs_of(library, least, imports, functions):
    pytest.importorskip(library, least)
    run_python(PROGRAM.format(imports=imports, functions=functions), SCIPY_ARRAY_API='1')


def test_scipy_fft():
    """All transforms of SciPy, and gradients through those that it leaves to the namespace."""
    pytest.importorskip('scipy', minversion='1.15')
    run_python(
        """
        import numpy as np
        import scipy.fft

        import chainerx

        a = np.random.RandomState(0).normal(size=(4, 6))
        names = [n for n in scipy.fft.__all__ if n.endswith(('t', 'tn', 't2')) and 'fht' not in n]
        assert {'fft', 'irfftn', 'hfft2', 'ihfftn', 'fftshift', 'dct', 'idstn'} <= set(names)
        for name in names:
            is_real = name.startswith(('rfft', 'ihfft', 'dct', 'idct', 'dst', 'idst'))
            values = a if is_real else a + 1j * a[::-1]
            function = getattr(scipy.fft, name)
            x = chainerx.array(values)
            for dtype in x.dtype, 'float32' if is_real else 'complex64':
                y = function(x.astype(dtype))
                expected = function(values.astype(dtype))
                assert isinstance(y, chainerx.ndarray) and y.dtype == expected.dtype, name
                np.testing.assert_allclose(chainerx.to_numpy(y), expected, rtol=1e-5, atol=1e-5)
            # SciPy computes cosine and sine transforms, and some others, itself by NumPy.
            if 'fft' in name and not name.startswith(('hfft2', 'hfftn', 'ihfft2', 'ihfftn')):
                x.require_grad()
                chainerx.real(function(x)).sum().backward()
                assert x.grad.shape == x.shape and x.grad.dtype == x.dtype, name
        for name in 'fftfreq', 'rfftfreq':
            y = getattr(scipy.fft, name)(7, 0.5, xp=chainerx.array_api, device='native:1')
            assert y.device.name == 'native:1'
            np.testing.assert_array_equal(chainerx.to_numpy(y), getattr(np.fft, name)(7, 0.5))
        x = chainerx.array(a)
        y = scipy.fft.fft(x, n=9, axis=0, norm='ortho')
        np.testing.assert_allclose(chainerx.to_numpy(y), np.fft.fft(a, 9, 0, 'ortho'))
        y = scipy.fft.irfftn(x, s=(3, 5), axes=(1, 0))
        np.testing.assert_allclose(chainerx.to_numpy(y), np.fft.irfftn(a, (3, 5), (1, 0)))
        """,
        SCIPY_ARRAY_API='1',
    )
