"""Sweeps over all functions: dtypes, devices, gradients, mixed precision, bad input."""

import functools
import warnings

import numpy as np
import pytest
from helpers.function_table import ROWS
from helpers.functions import GPUS, check_function

import chainer
from chainer import functions as F
from tests.helpers.devices import CHX

PUBLIC = sorted(
    name
    for name in dir(F)
    if not name.startswith('_')
    and callable(getattr(F, name))
    and not isinstance(getattr(F, name), type)
)
NAMES = sorted(ROWS)


def _quietly(f):
    """Without the warnings of functions that are deprecated."""

    @functools.wraps(f)
    def call(*args):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            return f(*args)

    return call


def _arrays(f, xs):
    ys = _quietly(f)(*xs)
    ys = ys if isinstance(ys, (tuple, list)) else (ys,)
    return tuple([y.array for y in ys])


def test_the_table_has_every_function():
    table = 'tests/helpers/function_table.py'
    missing = sorted(set(PUBLIC) - set(NAMES))
    assert not missing, f'add a row to {table} for each of these functions: {missing}'
    unknown = sorted(set(NAMES) - set(PUBLIC))
    assert not unknown, f'{table} has rows of what chainer.functions does not have: {unknown}'


@pytest.mark.parametrize('name', NAMES)
def test_every_dtype_and_device(name):
    """The reference is the function itself on float64 NumPy arrays: others have to agree."""
    row = ROWS[name]
    options = {'tolerances': {np.float16: 1e-2}, **row.checks}
    check_function(_quietly(row.f), row.inputs, lambda *xs: _arrays(row.f, xs), **options)


class _Watch(chainer.FunctionHook):
    name = 'Watch'


def _gradients(f, inputs):
    rng = np.random.RandomState(0)
    np.random.seed(0)
    xs = [chainer.Variable(x) for x in inputs]
    ys = _quietly(f)(*xs)
    ys = [y for y in (ys if isinstance(ys, (tuple, list)) else (ys,)) if y.dtype.kind == 'f']
    for y in ys:
        y.grad = np.asarray(rng.uniform(-1, 1, y.shape).astype(y.dtype))
    chainer.backward(ys)
    return [x.grad for x in xs]


@pytest.mark.parametrize('kernels', ['never', 'always'])
@pytest.mark.parametrize('name', NAMES)
def test_hooks_change_no_gradient(name, kernels):
    row = ROWS[name]
    with chainer.using_config('use_native_kernels', kernels):
        expected = _gradients(row.f, row.inputs)
        with _Watch():
            actual = _gradients(row.f, row.inputs)
    for gx, gx_expected in zip(actual, expected):
        assert (gx is None) is (gx_expected is None)
        if gx is not None:
            assert gx.dtype == gx_expected.dtype
            np.testing.assert_allclose(gx, gx_expected, rtol=1e-9, atol=1e-12)


def _second_gradients(row, device):
    """Gradients, and gradients of their weighted sum, as NumPy arrays."""
    rng = np.random.RandomState(0)

    def random(shape):
        return chainer.Variable(device.send(np.asarray(rng.uniform(-1, 1, shape))))

    xs = [chainer.Variable(device.send(x)) for x in row.inputs]
    ys = _quietly(row.f)(*xs)
    ys = [y for y in (ys if isinstance(ys, (tuple, list)) else (ys,)) if y.dtype.kind == 'f']
    targets = [x for x in xs if x.dtype.kind == 'f']
    gys = [random(y.shape) for y in ys]
    gxs = chainer.grad(ys, targets, gys, enable_double_backprop=True)
    total = sum([F.sum(gx * random(gx.shape)) for gx in gxs if gx is not None])
    seconds = chainer.grad([total], [*targets, *gys])
    # A gradient that is nowhere different from zero may also be left out.
    return [
        np.zeros(x.shape) if g is None else chainer.get_device('@numpy').send(g.array)
        for x, g in zip([*targets, *targets, *gys], [*gxs, *seconds])
    ]


DIFFERENTIABLE = [
    name
    for name in NAMES
    if ROWS[name].checks.get('grad', True) and ROWS[name].checks.get('double', True)
]


@pytest.mark.parametrize(
    'device',
    [
        pytest.param(CHX[0], marks=pytest.mark.chainerx),
        *GPUS,
    ],
)
@pytest.mark.parametrize('name', DIFFERENTIABLE)
def test_second_gradients_on_device(name, device):
    if device.startswith(('@cupy', 'cuda')) and ROWS[name].noisy:
        pytest.skip('other noise')
    expected, actual = [
        _second_gradients(ROWS[name], chainer.get_device(d)) for d in ('@numpy', device)
    ]
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, 1e-6, 1e-8)


@pytest.mark.parametrize('device', GPUS)
@pytest.mark.parametrize('name', [name for name in NAMES if not ROWS[name].noisy])
def test_values_on_gpu(name, device):
    row = ROWS[name]
    device = chainer.get_device(device)
    for dtype, tolerance in {'e': 5e-2, 'f': 1e-4, 'd': 1e-7}.items():
        xs = [x.astype(dtype) if x.dtype.kind == 'f' else x for x in row.inputs]
        for y, expected in zip(_arrays(row.f, device.send(xs)), _arrays(row.f, xs)):
            assert isinstance(y, device.xp.ndarray) and y.dtype == expected.dtype
            assert y.device == device.device
            np.testing.assert_allclose(y.get(), expected, tolerance, tolerance, err_msg=dtype)


@pytest.mark.parametrize('device', GPUS)
@pytest.mark.parametrize('name', [name for name in NAMES if ROWS[name].calls])
def test_other_calls_on_gpu(name, device):
    device = chainer.get_device(device)
    for f, *xs in ROWS[name].calls:
        expected, actual = [
            _arrays(f, [chainer.Variable(x) for x in arrays]) for arrays in (xs, device.send(xs))
        ]
        assert len(actual) == len(expected)
        for y, reference in zip(actual, expected):
            assert isinstance(y, device.xp.ndarray) and y.dtype == reference.dtype
            np.testing.assert_allclose(y.get(), reference, 1e-7, 1e-9)


@pytest.mark.parametrize('name', NAMES)
def test_bad_input(name):
    row = ROWS[name]
    with pytest.raises(row.error):
        _quietly(row.bad)()


@pytest.mark.parametrize('name', [name for name in NAMES if ROWS[name].params])
def test_float32_parameters_of_float16_activations(name):
    row = ROWS[name]
    xs = []
    for i, x in enumerate(row.inputs):
        dtype = x.dtype if x.dtype.kind != 'f' else 'f' if i in row.params else 'e'
        xs.append(chainer.Variable(x.astype(dtype)))
    with chainer.using_config('dtype', chainer.mixed16):
        ys = _quietly(row.f)(*xs)
        ys = ys if isinstance(ys, tuple) else (ys,)
        expected = _arrays(row.f, row.inputs)
        for y, reference in zip(ys, expected):
            assert y.dtype == ('f' if name == 'embed_id' else 'e')
            np.testing.assert_allclose(y.array, reference, 2e-2, 2e-2)
        F.sum(F.concat([F.flatten(y) for y in ys], axis=0)).backward()
    for i, x in enumerate(xs):
        if x.dtype.kind == 'f':
            assert x.grad.dtype == x.dtype, f'input {i}'


@pytest.mark.parametrize('name', NAMES)
def test_casts_to_float16_overflow_without_warning(name):
    row = ROWS[name]

    def float16(x):
        with np.errstate(over='ignore'):
            return chainer.Variable((x * 6e4).astype('e'))

    xs = [float16(x) if x.dtype.kind == 'f' else x for x in row.inputs]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        warnings.filterwarnings('error', message='.* encountered in cast')
        ys = row.f(*xs)
        ys = ys if isinstance(ys, (tuple, list)) else (ys,)
        ys = [y for y in ys if isinstance(y, chainer.Variable) and y.dtype.kind == 'f']
        ys = [y for y in ys if y.requires_grad]
        for y in ys:
            y.grad = np.full(y.shape, 3e4, y.dtype)
        if ys:
            chainer.backward(ys)
