"""Special functions, of SciPy."""

import scipy.special
from cupy._functions import lazily

__getattr__, __dir__ = lazily('cupyx.scipy.special', globals(), scipy.special)
