"""One row of the tables: the same operation written for NumPy, PyTorch and chainerx."""

import timeit

import numpy as np

ENGINES = ('numpy', 'torch', 'bare')


def uniform(*shape, low=-1.0, high=1.0, dtype='f', seed=0):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(dtype)


def _to_engine(engine, array):
    if engine == 'numpy':
        return array
    if engine == 'torch':
        import torch

        return torch.from_numpy(array)
    import chainerx

    return chainerx.array(array)


def _namespace(engine):
    if engine == 'numpy':
        return {'np': np}
    if engine == 'torch':
        import torch

        return {'torch': torch, 'F': torch.nn.functional}
    import chainerx

    return {'chx': chainerx}


def _to_numpy(value):
    if hasattr(value, 'detach'):
        return value.detach().numpy()
    if hasattr(value, 'device') and type(value).__module__.startswith('chainerx'):
        import chainerx

        return chainerx.to_numpy(value.as_grad_stopped())
    return np.asarray(value)


class Row:
    """An operation on some arrays.

    ``numpy``, ``torch`` and ``bare`` (chainerx) are expressions of the arrays' names, or pairs of
    code that runs once before and such an expression; None where the library has no such operation.
    """

    def __init__(self, name, arrays, numpy=None, torch=None, bare=None, check=True, rtol=2e-3):
        self.name = name
        self.arrays = arrays
        self.sources = {'numpy': numpy, 'torch': torch, 'bare': bare}
        self.check = check
        self.rtol = rtol

    def timers(self, clock):
        """Returns a timer for each engine, after comparing what they compute."""
        arrays = self.arrays()
        timers = {}
        reference = None
        for engine in ENGINES:
            source = self.sources[engine]
            if source is None:
                continue
            setup, expression = source if isinstance(source, tuple) else ('', source)
            scope = _namespace(engine)
            scope.update((key, _to_engine(engine, array)) for key, array in arrays.items())
            exec(setup, scope)
            if self.check:
                value = _to_numpy(eval(expression, scope))
                if reference is None:
                    reference = value
                scale = float(abs(reference.astype('d')).max()) if reference.size else 0.0
                np.testing.assert_allclose(
                    value, reference, self.rtol, self.rtol * scale, err_msg=f'{self.name}: {engine}'
                )
            timers[engine] = timeit.Timer(expression, timer=clock, globals=scope)
        return timers
