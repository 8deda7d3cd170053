"""The transforms against those of ``torch.func``, where PyTorch is installed."""

import numpy as np
import pytest

import chainer
import chainer.functions as F

torch = pytest.importorskip('torch')
nn = torch.nn.functional
pytestmark = [
    pytest.mark.filterwarnings('ignore::FutureWarning'),  # of torch.func.jvp itself
    pytest.mark.filterwarnings('ignore::DeprecationWarning'),  # the same of older versions
    pytest.mark.filterwarnings('ignore::chainer.transforms.VmapLoopWarning'),
]
W = np.random.RandomState(1).randn(3, 4) / 2
KERNEL = np.random.RandomState(2).randn(2, 1, 2, 2)

# Function of Chainer, the same of PyTorch, and the shape of an argument.
FUNCTIONS = {
    'sin': (F.sin, torch.sin, (3, 4)),
    'exp': (F.exp, torch.exp, (3, 4)),
    'tanh': (F.tanh, torch.tanh, (3, 4)),
    'sigmoid': (F.sigmoid, torch.sigmoid, (3, 4)),
    'softplus': (F.softplus, nn.softplus, (3, 4)),
    'gelu': (F.gelu, nn.gelu, (3, 4)),
    'softmax': (lambda x: F.softmax(x, axis=-1), lambda x: torch.softmax(x, -1), (3, 4)),
    'log_softmax': (lambda x: F.log_softmax(x, axis=0), lambda x: torch.log_softmax(x, 0), (3, 4)),
    'logsumexp': (lambda x: F.logsumexp(x, axis=1), lambda x: torch.logsumexp(x, 1), (3, 4)),
    'cumprod': (lambda x: F.cumprod(x, axis=1), lambda x: torch.cumprod(x, 1), (3, 4)),
    'product': (lambda x: F.sum(x[0] * x[1] / x[2]), lambda x: (x[0] * x[1] / x[2]).sum(), (3, 4)),
    'matmul': (lambda x: F.matmul(x, W), lambda x: x @ torch.tensor(W), (2, 3)),
    'linear': (lambda x: F.tanh(F.matmul(W, x)), lambda x: torch.tanh(torch.tensor(W) @ x), (4,)),
    'convolution': (
        lambda x: F.convolution_2d(x[None, None], KERNEL) ** 2,
        lambda x: nn.conv2d(x[None, None], torch.tensor(KERNEL)) ** 2,
        (4, 4),
    ),
    'max_pooling': (
        lambda x: F.max_pooling_2d(x[None, None] ** 3, 2),
        lambda x: nn.max_pool2d(x[None, None] ** 3, 2),
        (4, 4),
    ),
    'inverse': (F.inv, torch.linalg.inv, (3, 3)),
    'determinant': (F.det, torch.linalg.det, (3, 3)),
}


@pytest.fixture(params=sorted(FUNCTIONS))
def case(request):
    """A function, the same of PyTorch, and a draw of two arguments."""
    ours, theirs, shape = FUNCTIONS[request.param]
    return ours, theirs, np.random.RandomState(0).randn(2, *shape)


def assert_same(actual, expected):
    np.testing.assert_allclose(chainer.as_array(actual), expected.numpy(), rtol=1e-9, atol=1e-11)


def test_jvp(case):
    ours, theirs, (x, v) = case
    actual = chainer.jvp(ours, x, v)
    expected = torch.func.jvp(theirs, (torch.tensor(x),), (torch.tensor(v),))
    for a, e in zip(actual, expected, strict=True):
        assert_same(a, e)


def test_hvp(case):
    ours, theirs, (x, v) = case
    _, actual = chainer.hvp(lambda x: F.sum(ours(x) ** 2), x, v)
    gradient = torch.func.grad(lambda x: (theirs(x) ** 2).sum())
    _, expected = torch.func.jvp(gradient, (torch.tensor(x),), (torch.tensor(v),))
    assert_same(actual, expected)


@pytest.mark.parametrize('mode', ['reverse', 'forward'])
def test_jacobian(case, mode):
    ours, theirs, (x, _) = case
    assert_same(chainer.jacobian(ours, x, mode), torch.func.jacrev(theirs)(torch.tensor(x)))


def test_vmap(case):
    ours, theirs, xs = case
    assert_same(chainer.vmap(ours)(xs), torch.stack([theirs(x) for x in torch.tensor(xs)]))


def test_gradients_of_samples(case):
    ours, theirs, xs = case
    actual = chainer.vmap(lambda x: chainer.grad([F.sum(ours(x) ** 2)], [x])[0])(xs)
    expected = torch.func.vmap(torch.func.grad(lambda x: (theirs(x) ** 2).sum()))(torch.tensor(xs))
    assert_same(actual, expected)
