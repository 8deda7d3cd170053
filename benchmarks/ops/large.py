"""Operations on about a million elements."""

import numpy as np

from ops.base import Row, uniform

_SIZE = 1000000


def _unary(name, numpy, torch=None, bare=None, low=-3.0, high=3.0, dtype='f'):
    torch = f'torch.{name}(a)' if torch is None else torch
    bare = f'chx.{name}(a)' if bare is None else bare
    label = name if dtype == 'f' else f'{name} {np.dtype(dtype).name}'
    return Row(
        label, lambda: {'a': uniform(_SIZE, low=low, high=high, dtype=dtype)}, numpy, torch, bare
    )


def _pair(label, expression, torch=None, bare=None, dtype='f', low=0.1, high=3.0):
    return Row(
        label,
        lambda: {
            'a': uniform(_SIZE, low=low, high=high, dtype=dtype),
            'b': uniform(_SIZE, low=low, high=high, dtype=dtype, seed=1),
            'c': uniform(_SIZE, seed=2) > 0,
        },
        expression,
        torch or expression,
        bare or torch or expression,
    )


_ELEMENTWISE = [
    _pair('a + b', 'a + b'),
    _pair('a + b float16', 'a + b', dtype='e'),
    _pair('a + b float64', 'a + b', dtype='d'),
    _pair('a + b int32', 'a + b', dtype='i', low=-99, high=99),
    _pair('a * b', 'a * b'),
    _pair('a / b', 'a / b'),
    _pair('a > b', 'a > b'),
    _pair('maximum', 'np.maximum(a, b)', 'torch.maximum(a, b)', 'chx.maximum(a, b)'),
    _pair('where', 'np.where(c, a, b)', 'torch.where(c, a, b)', 'chx.where(c, a, b)'),
    _pair('pow', 'a ** b'),
    _pair('pow 3', 'a ** 3'),
    _pair('pow float64', 'a ** b', dtype='d'),
    _pair('arctan2', 'np.arctan2(a, b)', 'torch.atan2(a, b)', 'chx.arctan2(a, b)'),
    _unary('sqrt', 'np.sqrt(a)', low=0.1),
    _unary('square', 'np.square(a)'),
    _unary('exp', 'np.exp(a)'),
    _unary('exp', 'np.exp(a)', dtype='d'),
    _unary('exp2', 'np.exp2(a)'),
    _unary('expm1', 'np.expm1(a)'),
    _unary('log', 'np.log(a)', low=0.1),
    _unary('log2', 'np.log2(a)', low=0.1),
    _unary('log10', 'np.log10(a)', low=0.1),
    _unary('log1p', 'np.log1p(a)', low=0.1),
    _unary('sin', 'np.sin(a)'),
    _unary('cos', 'np.cos(a)'),
    _unary('tan', 'np.tan(a)', low=-1.5, high=1.5),
    _unary('arcsin', 'np.arcsin(a)', low=-1, high=1),
    _unary('arctan', 'np.arctan(a)'),
    _unary('sinh', 'np.sinh(a)'),
    _unary('cosh', 'np.cosh(a)'),
    _unary('tanh', 'np.tanh(a)'),
    _unary('arcsinh', 'np.arcsinh(a)'),
    _unary('erf', None),
    _unary('sigmoid', '1 / (1 + np.exp(-a))'),
    _unary('relu', 'np.maximum(a, 0)'),
    _unary('leaky_relu', None, 'F.leaky_relu(a, 0.2)'),
    _unary('elu', None, 'F.elu(a)'),
    _unary('softplus', None, 'F.softplus(a)'),
    _unary('silu', None, 'F.silu(a)'),
    _unary('gelu', None, 'F.gelu(a)'),
    _unary('tanh', 'np.tanh(a)', dtype='e'),
    _unary('floor', 'np.floor(a)'),
    _unary('astype float64', "a.astype('d')", 'a.double()', "a.astype('d')"),
    _unary('astype float16', "a.astype('e')", 'a.half()', "a.astype('e')"),
]


def _matrix(label, numpy, torch=None, bare=None, shape=(1000, 1000), low=-1, high=1, **kwargs):
    return Row(
        label,
        lambda: {'a': uniform(*shape, low=low, high=high)},
        numpy,
        torch or numpy,
        bare or torch or numpy,
        **kwargs,
    )


_REDUCTIONS = [
    _matrix('sum', 'a.sum()'),
    _matrix('sum axis 0', 'a.sum(0)'),
    _matrix('sum axis 1', 'a.sum(1)'),
    _matrix('sum axes (0, 2, 3)', 'a.sum((0, 2, 3))', shape=(16, 64, 32, 32)),
    _matrix('mean axis 1', 'a.mean(1)'),
    _matrix('var', 'a.var()', 'a.var(correction=0)', 'a.var()'),
    _matrix('var axis 1', 'a.var(1)', 'a.var(1, correction=0)', 'a.var(1)'),
    _matrix('max', 'a.max()', 'a.amax()', 'a.max()'),
    _matrix('max axis 0', 'a.max(0)', 'a.amax(0)', 'a.max(0)'),
    _matrix('max axis 1', 'a.max(1)', 'a.amax(1)', 'a.max(1)'),
    _matrix('argmax', 'a.argmax()'),
    _matrix('argmax axis 0', 'a.argmax(0)'),
    _matrix('argmax axis 1', 'a.argmax(1)'),
    _matrix('prod axis 1', 'a.prod(1)', low=0.9, high=1.1),
    _matrix('cumsum axis 0', 'a.cumsum(0)'),
    _matrix('cumsum axis 1', 'a.cumsum(1)'),
    _matrix('all', '(a > -2).all()'),
]

_MOVES = [
    _matrix('copy', 'a.copy()', 'a.clone()', 'a.copy()'),
    _matrix(
        'copy of the transpose',
        'np.ascontiguousarray(a.T)',
        'a.T.contiguous()',
        'chx.ascontiguousarray(a.T)',
    ),
    _matrix(
        'copy, axes (0, 2, 3, 1)',
        'np.ascontiguousarray(a.transpose(0, 2, 3, 1))',
        'a.permute(0, 2, 3, 1).contiguous()',
        'chx.ascontiguousarray(a.transpose(0, 2, 3, 1))',
        shape=(16, 64, 32, 32),
    ),
    _matrix('a + a.T', 'a + a.T'),
    _matrix('a + row', 'a + a[0]'),
    _matrix('a + column', 'a + a[:, :1]'),
    _matrix(
        'concatenate axis 0',
        'np.concatenate((a, a))',
        'torch.cat((a, a))',
        'chx.concatenate((a, a))',
    ),
    _matrix(
        'concatenate axis 1',
        'np.concatenate((a, a), 1)',
        'torch.cat((a, a), 1)',
        'chx.concatenate((a, a), 1)',
    ),
    _matrix(
        'stack axis 1', 'np.stack((a, a), 1)', 'torch.stack((a, a), 1)', 'chx.stack((a, a), 1)'
    ),
    _matrix('a[:, ::2] + 1', 'a[:, ::2] + 1'),
    _matrix('sort', 'np.sort(a.ravel())', 'torch.sort(a.ravel())[0]', 'chx.sort(a.ravel())'),
    _matrix('sort axis 0', 'np.sort(a, 0)', 'torch.sort(a, 0)[0]', 'chx.sort(a, 0)'),
    _matrix('sort axis 1', 'np.sort(a, 1)', 'torch.sort(a, 1)[0]', 'chx.sort(a, 1)'),
    _matrix(
        'argsort',
        'np.argsort(a.ravel())',
        'torch.argsort(a.ravel())',
        'chx.argsort(a.ravel())',
        check=False,
    ),
    _matrix(
        'argsort axis 1',
        'np.argsort(a, 1)',
        'torch.argsort(a, 1)',
        'chx.argsort(a, 1)',
        check=False,
    ),
]


def _indexed(label, numpy, torch=None, bare=None):
    def arrays():
        random = np.random.RandomState(0)
        a = uniform(20000, 64)
        return {
            'a': a,
            'rows': random.randint(0, 20000, 10000),
            'numbers': random.randint(0, 20000 * 64, 100000),
            'mask': a[:, 0] > 0,
            'masks': a > 0,
            'flat': a.ravel(),
            'g': uniform(10000, 64),
        }

    return Row(label, arrays, numpy, torch or numpy, bare or torch or numpy)


_INDEXING = [
    _indexed('take rows', 'a.take(rows, 0)', 'a.index_select(0, rows)', 'a.take(rows, 0)'),
    _indexed('take elements', 'flat.take(numbers)', 'flat.take(numbers)', 'flat.take(numbers, 0)'),
    _indexed('a[rows]', 'a[rows]'),
    _indexed('a[mask], rows', 'a[mask]'),
    _indexed('a[mask], elements', 'a[masks]'),
    _indexed('a[rows, rows % 64]', 'a[rows, rows % 64]'),
    _indexed(
        'copy of a[1000:-1000, 8:-8]',
        'a[1000:-1000, 8:-8].copy()',
        'a[1000:-1000, 8:-8].clone()',
        'a[1000:-1000, 8:-8].copy()',
    ),
    _indexed('embed_id', 'a[rows]', 'F.embedding(rows, a)', 'chx.embed_id(rows, a)'),
    Row(
        'embed_id backward',
        _indexed('', '').arrays,
        None,
        (
            'a.requires_grad_()\ny = F.embedding(rows, a)',
            'torch.autograd.grad(y, a, g, retain_graph=True)[0]',
        ),
        (
            'a.require_grad()\ny = chx.embed_id(rows, a)',
            'chx.grad([y], [a], grad_outputs=[g], enable_double_backprop=True)[0]',
        ),
    ),
]


def _product(m, n, k, left='a', right='b'):
    def arrays():
        a = uniform(*((k, m) if 'T' in left else (m, k)))
        b = uniform(*((n, k) if 'T' in right else (k, n)))
        return {'a': a, 'b': b}

    label = f'{left} @ {right}, {m}x{k}x{n}'
    expression = f'{left} @ {right}'
    return Row(label, arrays, expression, expression, expression)


_PRODUCTS = [
    _product(512, 512, 512),
    _product(512, 512, 512, left='a.T'),
    _product(512, 512, 512, right='b.T'),
    _product(512, 512, 512, left='a.T', right='b.T'),
    _product(100, 1000, 784, right='b.T'),
    _product(1000, 784, 100, left='a.T'),
    _product(20, 2048, 512, right='b.T'),
    _product(1, 1000, 1000),
    _product(1, 1000, 1000, right='b.T'),
    _product(4000, 8, 8),
    _product(8, 8, 4000),
    _product(16, 16, 16),
    _product(32, 32, 32),
    _product(64, 64, 64),
    _product(100, 10, 1000, right='b.T'),
    Row(
        'batched a @ b, 64 of 32x64x32',
        lambda: {'a': uniform(64, 32, 64), 'b': uniform(64, 64, 32)},
        'a @ b',
        'a @ b',
        'a @ b',
    ),
]

ROWS = _ELEMENTWISE + _REDUCTIONS + _MOVES + _INDEXING + _PRODUCTS
