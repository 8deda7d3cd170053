"""Runs a benchmark in each library, after comparing what the libraries compute."""

import timeit

import numpy as np

ENGINES = ('numpy', 'torch', 'bare')
_TOLERANCE = 2e-3


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
        return {'np': np, 'xp': np}
    if engine == 'torch':
        import torch

        return {'torch': torch, 'xp': torch, 'F': torch.nn.functional}
    import chainerx

    return {'xp': chainerx}


def _to_numpy(value):
    if hasattr(value, 'detach'):
        return value.detach().numpy()
    if hasattr(value, 'device') and type(value).__module__.startswith('chainerx'):
        import chainerx

        return chainerx.to_numpy(value.as_grad_stopped())
    return np.asarray(value)


def make_timers(bench, clock):
    """Returns a timer for each library that has the operation."""
    random = np.random.default_rng(0)
    arrays = {name: x.make(bench.dtype, random) for name, x in bench.arrays.items()}
    timers = {}
    reference = None
    for engine in ENGINES:
        source = bench.sources[engine]
        if source is None:
            continue
        setup, expression = source if isinstance(source, tuple) else ('', source)
        scope = _namespace(engine)
        scope.update((key, _to_engine(engine, array)) for key, array in arrays.items())
        exec(setup, scope)
        if bench.check:
            value = _to_numpy(eval(expression, scope))
            if reference is None:
                reference = value
            scale = float(abs(reference.astype('d')).max()) if reference.size else 0.0
            np.testing.assert_allclose(
                value, reference, _TOLERANCE, _TOLERANCE * scale, err_msg=f'{bench.label}: {engine}'
            )
        timers[engine] = timeit.Timer(expression, timer=clock, globals=scope)
    return timers
