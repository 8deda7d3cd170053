"""Linear algebra, of NumPy."""

import numpy.linalg
from cupy._functions import lazily

__getattr__, __dir__ = lazily('cupy.linalg', globals(), numpy.linalg)
