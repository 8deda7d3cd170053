"""Ops that have no input arrays, draw at random, or change their arguments. A file tests each of them."""
import numpy as np

from chainerx import ChainerxError, DimensionError, DtypeError
from op_table.bench import Bench, small
from op_table.row import OtherRow, zeros

_LONG = DtypeError, lambda f: f([1], 'clongdouble')
_TEXT = DtypeError, lambda f: f([1, 'a'])
_NEGATIVE = DimensionError, lambda f: f(-1)
_LIKE = [(TypeError, lambda f: f(np.zeros(2))), (DtypeError, lambda f: f(zeros(2), dtype='clongdouble'))]
_DRAWN = [(DimensionError, lambda f: f((-1,), 0.0, 1.0, 'float32')),
          (DtypeError, lambda f: f((2,), 0.0, 1.0, 'int32')),
          (DtypeError, lambda f: f((2,), 0.0, 1.0, 'clongdouble'))]


def creation(name, *example, **options):
    return OtherRow(name, 'test_creation.py', lambda: example, **options)


def like(name, *value, **options):
    return OtherRow(name, 'test_creation.py', lambda: (zeros(2), *value), **options)


def random(name, *example, **options):
    return OtherRow(name, 'test_random.py', lambda: example, **options)


def update(name, n_states, n_scalars):
    return OtherRow(name, 'test_optimizer_steps.py', lambda: ([zeros(2) for _ in range(n_states + 2)], [0.5] * n_scalars))


ROWS = [
    creation('array', [1, 2], wrong=[_TEXT, _LONG], bench=[small("np.array([1.0, 2.0], 'f')", 'torch.tensor([1.0, 2.0])', "xp.array([1.0, 2.0], 'f')")]),
    creation('asarray', [1, 2], wrong=[_TEXT, _LONG], bench=[small('np.asarray(a)', 'torch.as_tensor(a)', 'xp.asarray(a)')]),
    creation('ascontiguousarray', [1, 2], wrong=[_TEXT, _LONG], bench=[Bench('np.ascontiguousarray(a.T)', 'a.T.contiguous()', 'xp.ascontiguousarray(a.T)', a=(1000, 1000)), Bench('np.ascontiguousarray(a.transpose(0, 2, 3, 1))', 'a.permute(0, 2, 3, 1).contiguous()', 'xp.ascontiguousarray(a.transpose(0, 2, 3, 1))', a=(16, 64, 32, 32))]),
    creation('empty', 3, wrong=[_NEGATIVE, (DtypeError, lambda f: f(2, dtype='clongdouble'))]),
    creation('zeros', 3, wrong=[_NEGATIVE, (DtypeError, lambda f: f(2, dtype='clongdouble'))], bench=[small("np.zeros((4, 4), 'f')", 'torch.zeros((4, 4))', "xp.zeros((4, 4), 'f')")]),
    creation('ones', 3, wrong=[_NEGATIVE, (DtypeError, lambda f: f(2, dtype='clongdouble'))]),
    creation('full', 3, 1, wrong=[(DimensionError, lambda f: f(-1, 0)), (DtypeError, lambda f: f(2, 300, 'uint8'))]),
    like('empty_like', wrong=_LIKE),
    like('zeros_like', wrong=_LIKE, bench=[small('xp.zeros_like(a)')]),
    like('ones_like', wrong=_LIKE),
    like('full_like', 1, wrong=[(TypeError, lambda f: f(np.zeros(2), 0)), (DtypeError, lambda f: f(zeros(2), 0, dtype='clongdouble'))]),
    creation('arange', 3, wrong=[(ChainerxError, lambda f: f(0, 1, 0))]),
    creation('linspace', 0, 1, wrong=[(ChainerxError, lambda f: f(0, 1, -1))]),
    creation('identity', 3, wrong=[_NEGATIVE]),
    creation('eye', 3, wrong=[_NEGATIVE]),
    creation('tri', 3, wrong=[_NEGATIVE]),
    creation('frombuffer', bytes(8), wrong=[(ValueError, lambda f: f(bytes(6), 'int32')), (ValueError, lambda f: f(bytes(8), count=9)), (ValueError, lambda f: f(bytes(8), offset=99))]),
    *(OtherRow(name, 'test_complex.py', lambda: (zeros(3, dtype='complex64'),), wrong=[(TypeError, lambda f: f(np.zeros(2, 'complex64')))]) for name in ('real', 'imag', 'conj', 'angle', '_conj')),
    *(OtherRow(f'fft.{name}', 'test_fft.py', lambda: (zeros(4),), wrong=[(TypeError, lambda f: f(np.zeros(4, 'float32'))), (DimensionError, lambda f: f(zeros(4), None, 1)), (ValueError, lambda f: f(zeros(4), 0))]) for name in 'fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft'.split()),
    *(OtherRow(f'fft.{name}', 'test_fft.py', lambda: (zeros(4),), wrong=[(TypeError, lambda f: f(np.zeros(4))), (DimensionError, lambda f: f(zeros(4), 1))]) for name in ('fftshift', 'ifftshift')),
    *(OtherRow(f'fft.{name}', 'test_fft.py', lambda: (4,), wrong=[(ValueError, lambda f: f(0)), (DtypeError, lambda f: f(4, dtype='int32'))]) for name in ('fftfreq', 'rfftfreq')),
    OtherRow('dropout', 'test_random.py', lambda: (zeros(3),), wrong=[(TypeError, lambda f: f(np.zeros(2, 'float32'))), (DtypeError, lambda f: f(zeros(2, dtype='int32'))), (DimensionError, lambda f: f(zeros(2), mask=zeros(3)))]),
    random('_random_uniform', (3,), 0.0, 1.0, 'float32', wrong=_DRAWN),
    random('_random_normal', (3,), 0.0, 1.0, 'float32', wrong=_DRAWN),
    random('_random_integers', (3,), 0, 9, wrong=[(DimensionError, lambda f: f((-1,), 0, 1)), (ChainerxError, lambda f: f((2,), 1, 0))]),
    update('_sgd_update', 0, 1),
    update('_momentum_sgd_update', 1, 2),
    update('_corrected_momentum_sgd_update', 1, 2),
    update('_nesterov_ag_update', 1, 2),
    update('_ada_grad_update', 1, 2),
    update('_ada_delta_update', 2, 2),
    update('_rmsprop_update', 1, 4),
    update('_rmsprop_graves_update', 3, 4),
    update('_smorms3_update', 3, 2),
    update('_adam_update', 2, 8),
    update('_amsgrad_update', 3, 8),
    update('_msvag_update', 2, 6),
]
