"""``chainer.vmap`` against loops of the function itself."""

import importlib
import warnings

import numpy as np
import pytest
from helpers.function_table import ROWS, draw, ints
from helpers.functions import devices

import chainer
from chainer import functions as F
from chainer.transforms import VmapLoopWarning
from chainer.transforms._rules import RULES

# Functions that have no rule for all samples: a loop computes them.
LOOPED = set(
    """
    as_strided batch_normalization batch_renormalization bilinear binary_accuracy cholesky
    classification_summary connectionist_temporal_classification contrastive cross_covariance
    cumprod decorrelated_batch_normalization decov dropout f1_score fbeta_score
    fixed_batch_normalization fixed_batch_renormalization fixed_decorrelated_batch_normalization
    forget gaussian hinge huber_loss local_convolution_2d n_step_bigru n_step_bilstm n_step_birnn
    n_step_gru n_step_lstm n_step_rnn negative_sampling pad_sequence polygamma precision prelu
    r2_score recall roi_average_align_2d roi_average_pooling_2d roi_max_align_2d roi_max_pooling_2d
    roi_pooling_2d rrelu scatter_add sigmoid_cross_entropy simplified_dropconnect swish tensordot
    transpose_sequence triplet upsampling_2d
    """.split()
)
# Functions that read elements of their arguments outside of function nodes.
REFUSED = {'argmax_crf1d', 'sparse_matmul'}
SCALES = 1.0, 0.9, 0.8
X, W = draw(3, 2, 4), draw(4, 5, seed=1)


def _numpy(values):
    values = values if isinstance(values, (tuple, list)) else (values,)
    return [chainer.get_device('@numpy').send(chainer.as_array(v)) for v in values]


def _samples(x):
    """Different samples of a floating point input, and equal ones of another."""
    return np.stack([x * s if x.dtype.kind == 'f' else x for s in SCALES])


def _results(call, xs):
    """Outputs, and gradients of their sum with weights, as NumPy arrays."""
    xs = [chainer.Variable(x) if x.dtype.kind == 'f' else x for x in xs]
    ys = call(*xs)
    ys = ys if isinstance(ys, (tuple, list)) else (ys,)
    sources = [x for x in xs if isinstance(x, chainer.Variable)]
    roots = [y for y in ys if y.dtype.kind == 'f' and y.requires_grad]
    gxs = chainer.grad([F.sum(y * y + y) for y in roots], sources) if roots else []
    return _numpy(ys) + _numpy(
        [x.xp.zeros_like(x.array) if gx is None else gx for x, gx in zip(sources, gxs)]
    )


def _by_loop(f, xs):
    """What each sample gives alone."""
    results = [_results(f, [x[i] for x in xs]) for i in range(len(SCALES))]
    return [np.stack(parts) for parts in zip(*results)]


def _cast(x):
    x = np.asarray(x)
    return x.astype('d') if x.dtype.kind == 'f' else x


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('name', sorted(ROWS))
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_every_function(name, device):
    row = ROWS[name]
    send = chainer.get_device(device).send
    xs = [send(_samples(_cast(x))) for x in row.inputs]
    if name in REFUSED:
        with pytest.raises((TypeError, AttributeError)):
            chainer.vmap(row.f)(*xs)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        actual = _results(chainer.vmap(row.f), xs)
    has_looped = any(issubclass(w.category, VmapLoopWarning) for w in caught)
    assert has_looped is (name in LOOPED)
    # Zoneout draws for all samples at once, and the seed of the table is not that of GPUs.
    if name == 'zoneout' or (row.noisy and 'cuda' in device):
        return
    for a, b in zip(actual, _by_loop(row.f, xs)):
        np.testing.assert_allclose(a, b, 1e-6, 1e-6)


CALLS = [
    pytest.param(f, inputs, id=f'{name}-{i}')
    for name, row in sorted(ROWS.items())
    if name not in REFUSED | {'permutate', 'copy'}
    for i, (f, *inputs) in enumerate(row.calls)
]


@pytest.mark.parametrize('f, inputs', CALLS)
@pytest.mark.filterwarnings(
    'ignore::DeprecationWarning', 'ignore::chainer.transforms.VmapLoopWarning'
)
def test_other_arguments(f, inputs):
    xs = [_samples(_cast(x)) for x in inputs]
    for a, b in zip(_results(chainer.vmap(f), xs), _by_loop(f, xs)):
        np.testing.assert_allclose(a, b, 1e-6, 1e-6)


def _condition(x):
    return chainer.as_variable(x).device.send(draw(2, 3, seed=3) > 0)


# Calls whose arguments are mapped or shared in all ways: of functions with several arguments.
SHARED = [
    (F.add, draw(2, 3), draw(3)),
    (F.maximum, draw(3), draw(2, 3)),
    (F.matmul, draw(2, 3), draw(3, 4)),
    (F.matmul, draw(3), draw(3, 4)),
    (F.matmul, draw(2, 3), draw(3)),
    (F.matmul, draw(3), draw(3)),
    (F.matmul, draw(2, 2, 3), draw(3, 4)),
    (lambda a, b: F.matmul(a, b, True, True), draw(3, 2), draw(4, 3)),
    (F.linear, draw(2, 3), draw(4, 3), draw(4)),
    (F.convolution_2d, draw(2, 2, 4, 4), draw(3, 2, 3, 3), draw(3)),
    (lambda *xs: F.convolution_2d(*xs, groups=2), draw(2, 2, 4, 4), draw(4, 1, 3, 3), draw(4)),
    (F.deconvolution_2d, draw(2, 2, 3, 3), draw(2, 3, 2, 2), draw(3)),
    (F.convolution_1d, draw(2, 2, 4), draw(3, 2, 3)),
    (F.embed_id, ints(1, 0), draw(3, 2)),
    (F.layer_normalization, draw(4, 3), draw(3), draw(3, seed=1)),
    (F.rms_normalization, draw(4, 3), draw(3)),
    (lambda x, g, b: F.group_normalization(x, 2, g, b), draw(2, 4, 3), draw(4), draw(4, seed=1)),
    (lambda x, y: F.where(_condition(x), x, y), draw(2, 3), draw(3)),
    (lambda *xs: F.concat(xs, -1), draw(2, 3), draw(2, 1)),
    (lambda *xs: F.stack(xs, 1), draw(2, 3), draw(2, 3, seed=1)),
    (lambda *xs: F.einsum('ij,j->i', *xs), draw(2, 3), draw(3)),
    (F.softmax_cross_entropy, draw(4, 3), ints(0, 2, -1, 1)),
    (F.mean_squared_error, draw(4, 3), draw(4, 3, seed=1)),
    (lambda *xs: F.broadcast(*xs), draw(2, 3), draw(3)),
    (F.accuracy, draw(4, 3), ints(0, 2, 1, 1)),
]


@pytest.mark.parametrize('device', devices())
@pytest.mark.parametrize('case', SHARED)
def test_shared_arguments(case, device):
    f, *inputs = case
    send = chainer.get_device(device).send
    for choice in range(1, 2 ** len(inputs)):
        axes = [0 if choice >> i & 1 else None for i in range(len(inputs))]
        xs = [_samples(x) if a == 0 else x for x, a in zip(inputs, axes)]
        actual = chainer.vmap(f, axes)(*map(send, xs))
        expected = [
            _numpy(f(*[send(x[i] if a == 0 else x) for x, a in zip(xs, axes)]))
            for i in range(len(SCALES))
        ]
        for a, b in zip(_numpy(actual), zip(*expected)):
            np.testing.assert_allclose(a, np.stack(b), 1e-9, 1e-9)


def test_rules_name_classes():
    for name in RULES:
        module, cls = name.rsplit('.', 1)
        assert getattr(importlib.import_module(module), cls).__module__ == module


@pytest.mark.parametrize('device', devices())
def test_axes(device):
    x = chainer.get_device(device).send(X)
    product = X @ W
    w = chainer.get_device(device).send(W)
    for axis in 0, 1, 2, -1:
        arg = x.transpose({0: (0, 1, 2), 1: (1, 0, 2)}.get(axis, (1, 2, 0)))
        y = chainer.vmap(F.matmul, (axis, None))(arg, w)
        np.testing.assert_allclose(_numpy(y)[0], product, atol=1e-14)
    y, z = chainer.vmap(lambda x: (F.matmul(x, w), F.sum(x)), out_axes=(-1, 0))(x)
    np.testing.assert_allclose(_numpy(y)[0], product.transpose(1, 2, 0), atol=1e-14)
    np.testing.assert_allclose(_numpy(z)[0], X.sum((1, 2)))


@pytest.mark.parametrize('device', devices())
def test_what_a_function_sees(device):
    x = chainer.get_device(device).send(X.astype('f'))

    def f(x, scale=1):
        assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2, 4), 2, 8, np.float32, 2)
        assert x.device == chainer.get_device(device)
        return F.sum(x[0] - 2 * chainer.as_variable(x[1].array)) * scale

    y = chainer.vmap(f)(x, scale=3)
    assert y.dtype == np.float32
    np.testing.assert_allclose(_numpy(y)[0], 3 * (X[:, 0] - 2 * X[:, 1]).sum(1), 1e-5, 1e-5)


@pytest.mark.parametrize('device', devices())
def test_conditions_of_samples(device):
    send = chainer.get_device(device).send
    y = chainer.vmap(F.where, (0, 0, None))(send(X > 0), send(X), send(X[0, 0]))
    np.testing.assert_allclose(_numpy(y)[0], np.where(X > 0, X, X[0, 0]))
    y = chainer.vmap(F.where, (0, None, 0))(send(X[:, 0, 0] > 0), send(X[0]), send(X[:, 0]))
    np.testing.assert_allclose(_numpy(y)[0], np.where(X[:, :1, :1] > 0, X[0], X[:, :1]))


@pytest.mark.parametrize('device', devices())
def test_nested(device):
    x, w = [chainer.get_device(device).send(a) for a in (X[:, 0], W.T[:2])]
    table = chainer.vmap(lambda x: chainer.vmap(lambda w: F.sum(x * w))(w))(x)
    np.testing.assert_allclose(_numpy(table)[0], X[:, 0] @ W[:, :2])


@pytest.mark.parametrize('device', devices())
def test_derivatives_of_samples(device):
    x = chainer.get_device(device).send(X)

    def gradient(x):
        return chainer.grad([F.sum(x**3)], [x], enable_double_backprop=True)[0]

    np.testing.assert_allclose(_numpy(chainer.vmap(gradient)(x))[0], 3 * X**2)
    _, dy = chainer.vmap(lambda x: chainer.jvp(lambda y: y**3, x, x))(x)
    np.testing.assert_allclose(_numpy(dy)[0], 3 * X**3)
    _, hv = chainer.vmap(lambda x: chainer.hvp(lambda y: F.sum(y**3), x, x))(x)
    np.testing.assert_allclose(_numpy(hv)[0], 6 * X**2)
    jacobian = chainer.vmap(lambda x: chainer.jacobian(lambda y: y**3, x))(x[:, 0])
    np.testing.assert_allclose(_numpy(jacobian)[0], [np.diag(3 * row**2) for row in X[:, 0]])


@pytest.mark.parametrize('device', devices())
def test_derivatives_of_a_mapped_function(device):
    x = chainer.Variable(chainer.get_device(device).send(X))
    F.sum(chainer.vmap(lambda x: F.sum(x) ** 2)(x)).backward()
    expected = np.broadcast_to(2 * X.sum((1, 2), keepdims=True), X.shape)
    np.testing.assert_allclose(_numpy(x.grad)[0], expected)


class _Cumulative(chainer.FunctionNode):
    """Function of a user, which has no rule."""

    def forward(self, inputs):
        return (inputs[0].cumsum(axis=0),)

    def backward(self, indexes, grad_outputs):
        return (F.flip(F.cumsum(F.flip(grad_outputs[0], 0), 0), 0),)


@pytest.mark.parametrize('device', devices())
def test_loop_says_so(device):
    x = chainer.get_device(device).send(X)
    with pytest.warns(VmapLoopWarning, match='calls _Cumulative for each sample'):
        actual = _results(chainer.vmap(lambda x: _Cumulative().apply((x,))[0]), [x])
    np.testing.assert_allclose(actual[0], X.cumsum(axis=1))


def test_a_class_derived_from_one_with_a_rule_has_none():
    relu = importlib.import_module('chainer.functions.activation.relu').ReLU

    class Other(relu):
        def forward(self, inputs):
            return (inputs[0] - inputs[0].mean(),)

    with pytest.warns(VmapLoopWarning, match='Other'):
        y = chainer.vmap(lambda x: Other().apply((x,))[0])(X)
    np.testing.assert_allclose(y.array, X - X.mean((1, 2), keepdims=True))


def test_indexes():
    index = ints(1, 0, 1)
    for f in (
        lambda x, i: x[:, 1],
        lambda x, i: x[..., None, ::2],
        lambda x, i: x[[1, 0]],
        lambda x, i: x[1, ints(0, 2)],
        lambda x, i: x[x.array.shape[0] - 1],
    ):
        y = chainer.vmap(f)(X, index)
        np.testing.assert_allclose(y.array, np.stack([f(chainer.Variable(x), 0).array for x in X]))
    for f in (lambda x, i: x[i], lambda x, i: x[0][:, None, i.array] if x.ndim > 2 else x[:, i]):
        with pytest.warns(VmapLoopWarning, match='GetItem'):
            y = chainer.vmap(f)(X, index)
        expected = [
            f(chainer.Variable(x), chainer.Variable(np.array(i))).array for x, i in zip(X, index)
        ]
        np.testing.assert_allclose(y.array, np.stack(expected))


def _escape():
    kept = []
    chainer.vmap(lambda x: kept.append(x) or x)(X)
    return kept[0] + 1


@pytest.mark.parametrize(
    'call, error, message',
    [
        (lambda: chainer.vmap(F.sum, 'x')(X), TypeError, "in_axes must be an int or a tuple.*'x'"),
        (lambda: chainer.vmap(F.add, (0,))(X, X), ValueError, 'in_axes has 1 elements for 2'),
        (lambda: chainer.vmap(F.add, (0, 1))(X, X), ValueError, 'one number of samples'),
        (lambda: chainer.vmap(F.sum, 3)(X), ValueError, 'argument 0 has no axis 3.*3, 2, 4'),
        (lambda: chainer.vmap(F.sum, (None,))(X), ValueError, 'nothing is mapped'),
        (lambda: chainer.vmap(lambda x: 1)(X), TypeError, 'f must return a variable'),
        (lambda: chainer.vmap(lambda x: x.array + 1)(X), TypeError, 'cannot be read or changed'),
        (lambda: chainer.vmap(lambda x: np.sin(x.array))(X), TypeError, 'BatchedArray|ufunc'),
        (lambda: chainer.vmap(lambda x: x.array.sum())(X), AttributeError, '^sum: elements'),
        (lambda: chainer.vmap(lambda x: float(x.array))(X[:, 0, 0]), TypeError, 'cannot be read'),
        (lambda: chainer.vmap(lambda x: F.sum(x).backward())(X), TypeError, 'cannot be read'),
        (lambda: chainer.vmap(F.where, (0, None, None))(X > 0, X[0], X[0]), Exception, 'mapped'),
        (_escape, RuntimeError, 'used after its call'),
        (
            lambda: chainer.vmap(lambda x, w: chainer.grad([F.sum(x * w)], [w])[0], (0, None))(
                X, chainer.Variable(X[0])
            ),
            ValueError,
            r'inputs\[0\] is shared',
        ),
        (
            lambda: chainer.vmap(lambda x: chainer.grad([F.sum(x)], [x], set_grad=True)[0])(X),
            ValueError,
            'set_grad is not supported',
        ),
        (lambda: chainer.vmap(lambda x: F.reshape(x, (3, 3)))(X), Exception, 'Reshape|shape'),
    ],
)
@pytest.mark.filterwarnings('ignore::chainer.transforms.VmapLoopWarning')
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize('device', devices())
def test_no_samples_and_one(device):
    send = chainer.get_device(device).send
    y = chainer.vmap(lambda x: F.sum(F.exp(x), axis=0))(send(X[:0]))
    assert y.shape == (0, 4)
    y = chainer.vmap(lambda x: F.sum(F.exp(x), axis=0))(send(X[:1]))
    np.testing.assert_allclose(_numpy(y)[0], np.exp(X[:1]).sum(1))
