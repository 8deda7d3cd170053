"""What the tests of Fourier transforms share."""

import numpy as np

#: The kinds of input and result: r is real, c complex.
ONE_AXIS = {'fft': 'cc', 'ifft': 'cc', 'rfft': 'rc', 'irfft': 'cr', 'hfft': 'cr', 'ihfft': 'rc'}
SEVERAL = {'fftn': 'cc', 'ifftn': 'cc', 'rfftn': 'rc', 'irfftn': 'cr'}
TRANSFORMS = {**ONE_AXIS, **SEVERAL}
REAL_INPUT = [name for name, kind in TRANSFORMS.items() if kind[0] == 'r']
REAL_OUTPUT = [name for name, kind in TRANSFORMS.items() if kind[1] == 'r']


def numbers(name, *shape, seed=0):
    """An input of a transform."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape)
    return a if name in REAL_INPUT else a + 1j * rng.normal(size=shape)
