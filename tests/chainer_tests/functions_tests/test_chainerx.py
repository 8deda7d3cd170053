"""Every public function on ChainerX: no fallback, and the values and gradients of NumPy."""

import numpy as np
import pytest
from helpers.function_table import ROWS

import chainer
import chainer.functions as F
import chainerx
from chainer.functions._fallbacks import ARGUMENTS, CPU_ONLY
from chainer.utils.type_check import InvalidType
from tests.helpers.devices import CHX, IS_CUDA

pytestmark = [pytest.mark.chainerx, pytest.mark.filterwarnings('ignore::DeprecationWarning')]
CALLS = [(name, call) for name, row in ROWS.items() for call in [(row.f, *row.inputs), *row.calls]]
RANDOM = [(name, call) for name, row in ROWS.items() for call in row.random]
FALLING_BACK = [(name, call) for name, row in ROWS.items() for call in row.falls_back]


def _calls(calls):
    return pytest.mark.parametrize('name, call', calls, ids=[name for name, _ in calls])


def _as_tuple(ys):
    return ys if isinstance(ys, (tuple, list)) else (ys,)


def _results(call, send, double):
    """Outputs, first and second gradients of a call, as NumPy arrays (or ``None``)."""
    np.random.seed(0)
    f, *arrays = call
    xs = [chainer.Variable(send(x)) for x in arrays]
    targets = [x for x in xs if x.dtype.kind == 'f']
    ys = [chainer.as_variable(y) for y in _as_tuple(f(*xs))]
    variables = list(ys)
    rng = np.random.RandomState(1)

    def total(values):
        weights = [send(rng.uniform(-1, 1, v.shape).astype(v.dtype)) for v in values]
        return sum([F.sum(v * w) for v, w in zip(values, weights)])

    ys = [y for y in ys if y.requires_grad and y.dtype == np.float64]
    # The sine gives linear functions a second gradient, too.
    gxs = [None] * len(targets)
    if ys:
        loss = total([F.sin(y) for y in ys])
        gxs = chainer.grad([loss], targets, enable_double_backprop=double)
    variables += gxs
    gxs = [g for g in gxs if g is not None and g.requires_grad]
    if gxs and double:
        variables += chainer.grad([total([F.sin(g) for g in gxs])], targets)
    return [None if v is None else chainer.backends.cuda.to_cpu(v.array) for v in variables]


def _on_chainerx(name, call, mode):
    """Results on ChainerX, and whether a function fell back."""
    double = ROWS[name].checks.get('double', True)
    with chainer.using_config('chainerx_fallback', mode), chainer.FallbackReport() as report:
        results = _results(call, lambda x: chainerx.array(x, device=CHX[1]), double)
    return results, bool(report.summary())


def _compare_with_numpy(name, call, actual):
    expected = _results(call, np.array, ROWS[name].checks.get('double', True))
    assert len(actual) == len(expected)
    for i, (a, b) in enumerate(zip(actual, expected)):
        if a is None or b is None:
            # A gradient that is zero everywhere may be left out.
            assert not np.any(a) if b is None else not np.any(b), i
            continue
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, 1e-7, 1e-9, err_msg=str(i))


@_calls(CALLS)
def test_call(name, call):
    falls_back = IS_CUDA and name in CPU_ONLY
    actual, fell_back = _on_chainerx(name, call, 'silent' if falls_back else 'raise')
    assert fell_back == falls_back
    if not (IS_CUDA and ROWS[name].noisy):
        _compare_with_numpy(name, call, actual)


@_calls(RANDOM)
def test_random_call(name, call):
    _on_chainerx(name, call, 'raise')


@_calls(FALLING_BACK)
def test_call_that_falls_back(name, call):
    if IS_CUDA and name.endswith(('batch_normalization', 'batch_renormalization')):
        pytest.skip('NumPy has no running statistics in device memory')
    actual, fell_back = _on_chainerx(name, call, 'silent')
    assert fell_back
    _compare_with_numpy(name, call, actual)


def test_lists_of_fallbacks():
    assert {name for name, _ in FALLING_BACK} == set(ARGUMENTS)


def _misshaped(arrays):
    """The arrays with one of them cut or with an axis less or more, for each way to do that."""
    for i, x in enumerate(arrays):
        wrong = [x[None], x[..., None]]
        if x.ndim:
            wrong += [x[0], x[:-1], x[..., :-1]]
        for y in wrong:
            yield [*arrays[:i], y, *arrays[i + 1 :]]


@pytest.mark.parametrize('name', ROWS)
def test_shapes_that_do_not_fit(name):
    """What NumPy arrays may not be, ChainerX arrays may not be either."""
    row = ROWS[name]
    for arrays in _misshaped(row.inputs):
        try:
            row.f(*arrays)
        except InvalidType:
            pass
        except Exception:
            continue
        else:
            continue
        with pytest.raises(InvalidType):
            row.f(*[chainerx.array(x, device=CHX[0]) for x in arrays])


@pytest.mark.parametrize('dtypes', [('e', 'f'), ('f', 'd'), ('d', 'f')])
def test_linear_of_two_dtypes(dtypes):
    x, W = [chainerx.ones((2, 2), dtype) for dtype in dtypes]
    assert F.linear(x, W).dtype == dtypes[0]


def test_pad_refuses_unknown_options():
    with pytest.raises(ValueError):
        F.pad(chainerx.ones((2,), 'float32'), 1, 'constant', nonsense=1)


@pytest.mark.parametrize(
    'name',
    [
        'convolution_2d',
        'deconvolution_2d',
        'local_convolution_2d',
        'max_pooling_2d',
        'average_pooling_2d',
        'unpooling_2d',
        'unpooling_nd',
        'batch_normalization',
        'im2col',
        'group_normalization',
        'local_response_normalization',
        'resize_images',
        'shift',
    ],
)
def test_no_samples(name):
    row = ROWS[name]
    x, *params = row.inputs
    results = [
        _results((row.f, x[:0], *params), send, False)
        for send in (np.array, lambda x: chainerx.array(x, device=CHX[0]))
    ]
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)
        assert a.shape == b.shape
