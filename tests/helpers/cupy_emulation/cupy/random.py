"""Random numbers, of NumPy's generator: one for each device. Numbers differ from CuPy's."""

import os

import numpy

from cupy._api import API as _API, signature as _signature
from cupy._array import call as _call
from cupy.cuda import _device

_REAL = frozenset(
    'uniform normal standard_normal random_sample rand randn random ranf sample gumbel laplace '
    'logistic lognormal exponential standard_exponential beta gamma standard_gamma chisquare '
    'dirichlet f noncentral_chisquare noncentral_f pareto power rayleigh standard_cauchy '
    'standard_t triangular vonmises wald weibull'.split()
)


def _other_seed(seed):
    """What NumPy's generator is seeded with, so that it draws other numbers than NumPy's own."""
    return None if seed is None else [int(seed), 1]


class RandomState:
    def __init__(self, seed=None, method=100):
        _device.initialize()
        self._host = numpy.random.RandomState(_other_seed(seed))

    def seed(self, seed=None):
        self._host.seed(_other_seed(seed))

    def _draw(self, name, kind, args, kwargs):
        known = _signature(kind)
        if known is not None:
            arguments = known.bind(*args, **kwargs).arguments
            if len(args) > (
                place := list(known.parameters).index('dtype')
                if 'dtype' in known.parameters
                else len(args)
            ):
                args = args[:place]
            dtype = kwargs.pop('dtype', arguments.get('dtype'))
        else:
            dtype = kwargs.pop('dtype', None)
        if dtype is not None and name in _REAL and numpy.dtype(dtype).char not in 'fd':
            raise TypeError('cupy.random only supports float32 and float64')
        if dtype is not None and name == 'randint':
            kwargs['dtype'] = dtype
        result = _call(getattr(self._host, name), args, kwargs)
        return result if dtype is None else _array(result).astype(dtype, copy=False)


def _array(value):
    import cupy

    return cupy.asarray(value)


def _draws(state):
    def decorate(name, kind):
        def draw(*args, **kwargs):
            result = state(args)._draw(name, kind, args[state.skip :], dict(kwargs))
            return _array(result) if isinstance(result, (int, float)) else result

        draw.__name__ = name
        return draw

    return decorate


def _own(args):
    return args[0]


def _global(args):
    return get_random_state()


_own.skip, _global.skip = 1, 0
_states = {}


def get_random_state():
    device = _device.current()
    if device not in _states:
        _states[device] = RandomState(os.environ.get('CUPY_SEED'))
    return _states[device]


def set_random_state(rs):
    if not isinstance(rs, RandomState):
        raise TypeError(f'Random state must be an instance of RandomState, not {type(rs)}')
    _states[_device.current()] = rs


def reset_states():
    _states.clear()


def seed(seed=None):
    get_random_state().seed(seed)


for _name, _kind in _API.items():
    _module, _, _short = _name.rpartition('.')
    if not hasattr(numpy.random.RandomState, _short) or 'seed' in _short or _short.startswith('_'):
        continue
    if _module == 'cupy.random.RandomState':
        setattr(RandomState, _short, _draws(_own)(_short, _kind))
    elif _module == 'cupy.random':
        globals()[_short] = _draws(_global)(_short, _kind)
