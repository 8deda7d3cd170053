"""Special functions, of SciPy."""

import scipy.special
from cupy._functions import lazily as _lazily

__getattr__, __dir__ = _lazily('cupyx.scipy.special', globals(), scipy.special)
