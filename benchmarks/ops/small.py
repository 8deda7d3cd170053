"""Calls on 4x4 arrays of float32: nothing but the overhead of a call."""

from ops.base import Row, uniform


def _arrays():
    return {'a': uniform(4, 4, low=0.1), 'b': uniform(4, 4, low=0.2, high=2)}


def _row(name, numpy, torch=None, bare=None, **kwargs):
    return Row(name, _arrays, numpy, torch or numpy, bare or torch or numpy, **kwargs)


_TORCH_GRAD = 'a.requires_grad_()\n'
_BARE_GRAD = 'a.require_grad()\n'

ROWS = [
    _row('a + b', 'a + b'),
    _row('a + b, recorded', 'a + b', (_TORCH_GRAD, 'a + b'), (_BARE_GRAD, 'a + b')),
    _row('a + 1', 'a + 1'),
    _row('a * b', 'a * b'),
    _row('a > b', 'a > b'),
    _row('a += b', 'a.__iadd__(b)', check=False),
    _row('exp', 'np.exp(a)', 'torch.exp(a)', 'chx.exp(a)'),
    _row('relu', 'np.maximum(a, 0)', 'torch.relu(a)', 'chx.relu(a)'),
    _row('sum', 'a.sum()'),
    _row('sum axis 0', 'a.sum(0)'),
    _row('max', 'a.max()'),
    _row('mean', 'a.mean()'),
    _row('argmax', 'a.argmax()'),
    _row('reshape', 'a.reshape(2, 8)'),
    _row('transpose', 'a.transpose()', 'a.t()', 'a.transpose()'),
    _row('a[1]', 'a[1]'),
    _row('a[1:3]', 'a[1:3]'),
    _row('a[:, 1]', 'a[:, 1]'),
    _row('a @ b', 'a @ b'),
    _row('astype', "a.astype('d')", 'a.double()', "a.astype('d')"),
    _row('copy', 'a.copy()', 'a.clone()', 'a.copy()'),
    _row('zeros', "np.zeros((4, 4), 'f')", 'torch.zeros((4, 4))', "chx.zeros((4, 4), 'f')"),
    _row('zeros_like', 'np.zeros_like(a)', 'torch.zeros_like(a)', 'chx.zeros_like(a)'),
    _row('asarray', 'np.asarray(a)', 'torch.as_tensor(a)', 'chx.asarray(a)'),
    _row(
        'array from list',
        "np.array([1.0, 2.0], 'f')",
        'torch.tensor([1.0, 2.0])',
        "chx.array([1.0, 2.0], 'f')",
    ),
    _row('concatenate', 'np.concatenate((a, b))', 'torch.cat((a, b))', 'chx.concatenate((a, b))'),
    _row('where', 'np.where(a > 0, a, b)', 'torch.where(a > 0, a, b)', 'chx.where(a > 0, a, b)'),
    _row('item', 'a.max().item()', check=False),
    Row(
        'backward of a * b',
        _arrays,
        None,
        (_TORCH_GRAD, 'torch.autograd.grad(a * b, a, b)[0]'),
        (_BARE_GRAD, 'chx.grad([a * b], [a], grad_outputs=[b])[0]'),
    ),
    Row(
        'backward of exp(a @ b)',
        _arrays,
        None,
        (_TORCH_GRAD, 'torch.autograd.grad((a @ b).exp(), a, b)[0]'),
        (_BARE_GRAD, 'chx.grad([chx.exp(a @ b)], [a], grad_outputs=[b])[0]'),
    ),
    Row(
        'backward of sum(relu(a))',
        _arrays,
        None,
        (_TORCH_GRAD, 'torch.autograd.grad(a.relu().sum(), a)[0]'),
        (_BARE_GRAD, 'chx.grad([chx.relu(a).sum()], [a])[0]'),
    ),
]
